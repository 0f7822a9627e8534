/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * jbdlab keys: what may stand in an experiment file, from the tables that read it.  The
 * test of jbdlab.ini(5) compares the page with this list.
 */

#include <stdio.h>

#include "cli/command.h"
#include "cli/key_text.h"
#include "plan/plan_keys.h"
#include "workload/workload.h"

static void print_section(const struct plan_section_kind *kind)
{
	printf("[%s%s]\n", kind->word, kind->named ? " NAME" : "");
	for (size_t i = 0; i < kind->key_count; i++)
		key_text_print(kind->keys[i].name, kind->keys[i].value,
			kind->keys[i].default_value, kind->keys[i].help);
}

static void print_workload(const struct workload_type *type)
{
	printf("\n[workload NAME] type = %s\n  (%s)\n", type->name, type->summary);
	for (size_t i = 0; i < type->key_count; i++)
		key_text_print(type->keys[i].name, type->keys[i].value,
			type->keys[i].default_value, type->keys[i].help);
}

static int run(struct cli *cli _unused_, struct option_parser *p, struct err *e)
{
	const char *value;
	size_t count;
	int r = option_next(p, &value, e);

	if (r)
		return r;
	option_operands(p, &count);
	if (count)
		return err_usage(e, "keys takes no operand");
	for (size_t k = 0; k < SECTION_KINDS; k++) {
		if (k)
			putchar('\n');
		print_section(&plan_section_kinds[k]);
	}
	for (size_t i = 0; i < workload_type_count(); i++)
		print_workload(workload_type_at(i));
	return STATUS_DONE;
}

const struct command command_keys = {
	.name = "keys",
	.arguments = "",
	.summary = "list the sections and keys of an experiment file",
	.run = run,
};
