/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Files that are imported; see import_files.h. */

#include "cli/import_files.h"

#include <errno.h>
#include <string.h>

#include "core/strbuf.h"

/* Do they say the same, but for numbers? */
static bool is_alike(const struct import_note *a, const struct import_note *b)
{
	static const char digits[] = "0123456789.";
	const char *x = a->text, *y = b->text;

	for (;;) {
		x += strspn(x, digits);
		y += strspn(y, digits);
		if (*x != *y)
			return false;
		if (!*x)
			return true;
		x++;
		y++;
	}
}

/* What is said of one row of a table holds for others, too: once, with their lines; of
 * each with --verbose. */
static void say_notes(const struct import *im, const struct log *log)
{
	for (size_t i = 0; i < im->note_count; i++) {
		const struct import_note *note = &im->notes[i];
		_cleanup_(strbuf_deinit) struct strbuf more = {0};
		size_t first = 0, others = 0;

		while (!is_alike(&im->notes[first], note))
			first++;
		if (first < i) {
			log_line(log, LOG_DETAIL, "%s:%u: %s", im->name, note->line,
				note->text);
			continue;
		}
		for (size_t k = i + 1; k < im->note_count; k++)
			if (is_alike(&im->notes[k], note))
				strbuf_addf(&more, "%s%u", others++ ? ", " : " ",
					im->notes[k].line);
		if (note->line)
			log_line(log, LOG_WARNING, "%s:%u: %s%s%s%s", im->name, note->line,
				note->text, others ? "; also in line" : "",
				others > 1 ? "s" : "", strbuf_text(&more));
		else
			log_line(log, LOG_WARNING, "%s: %s", im->name, note->text);
	}
}

int import_set_add(struct import_set *set, const char *path,
	const struct import_options *options, const struct log *log, struct err *e)
{
	struct import *imports =
		reallocarray(set->imports, set->count + 1, sizeof(*imports));
	int r;

	if (!imports)
		return err_set(e, ENOMEM, "import %s", path);
	set->imports = imports;
	r = import_file(&imports[set->count], path, options, e);
	if (r)
		return r;
	say_notes(&imports[set->count++], log);
	return 0;
}

static int name_arm(struct import_arm *arm, const char *name, struct err *e)
{
	char *copy = strdup(name);

	if (!copy)
		return err_set(e, ENOMEM, "arm %s", name);
	free(arm->name);
	arm->name = copy;
	for (size_t i = 0; i < arm->run_count; i++) {
		copy = strdup(name);
		if (!copy)
			return err_set(e, ENOMEM, "arm %s", name);
		free(arm->runs[i].arm);
		arm->runs[i].arm = copy;
	}
	return 0;
}

int import_set_name_arms(
	struct import_set *set, const struct import_names *names, struct err *e)
{
	size_t at = 0;
	int r = 0;

	for (size_t i = 0; i < set->count; i++)
		for (size_t k = 0; !r && k < set->imports[i].arm_count; k++)
			if (at < names->count)
				r = name_arm(&set->imports[i].arms[k],
					names->names[at++], e);
	if (!r && at < names->count)
		r = err_usage(e, "--arm %s: only %zu arm%s found", names->names[at], at,
			at == 1 ? " was" : "s were");
	return r;
}

void import_set_deinit(struct import_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		import_deinit(&set->imports[i]);
	free(set->imports);
	*set = (struct import_set){0};
}
