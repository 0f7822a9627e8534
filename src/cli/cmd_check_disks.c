/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * jbdlab check-disks: what may be done with each disk, and why.  Nothing is written.  Of
 * disks that are named, by hand or by a configuration of xfstests, the exit status tells
 * whether all that would be overwritten may be.
 */

#include <errno.h>
#include <jansson.h>
#include <libsmartcols.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/disk_verdict.h"
#include "cli/show_text.h"
#include "cli/xfstests.h"
#include "core/units.h"
#include "device/find.h"

#define CHECK_DISKS_SCHEMA "jbdlab-check-disks/1"

enum { OPTION_XFSTESTS = 1, OPTION_ENVIRONMENT };

static const struct option_spec options[] = {
	{ OPTION_XFSTESTS, 0, "xfstests", "FILE",
		"the disks that this local.config names (SCRATCH_DEV, SCRATCH_LOGDEV...)" },
	{ OPTION_ENVIRONMENT, 0, "environment", NULL,
		"the disks that SCRATCH_DEV, SCRATCH_LOGDEV... in the environment name" },
	{ 0 },
};

struct row {
	const char *role; /* NULL: named by hand, or found */
	char *path;
	struct disk_judgement judgement;
};

struct rows {
	struct row *items;
	size_t count;
};

static void rows_deinit(struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		free(rows->items[i].path);
		disk_judgement_deinit(&rows->items[i].judgement);
	}
	free(rows->items);
}

/* A device that is not there is a row, too. */
static int add(struct rows *rows, const char *role, const char *spec, bool hold, struct err *e)
{
	_cleanup_(err_clear) struct err why = { 0 };
	struct row *more = reallocarray(rows->items, rows->count + 1, sizeof(*more)), *row;

	if (!more)
		return err_set(e, ENOMEM, "check-disks");
	rows->items = more;
	row = &more[rows->count];
	*row = (struct row){ .role = role, .judgement.verdict = DISK_UNKNOWN };
	rows->count++;
	if (!device_find(spec, &row->path, &why))
		return disk_judge(&row->judgement, row->path, hold, e);
	row->path = strdup(spec);
	row->judgement.reason = strdup(err_message(&why));
	return row->path && row->judgement.reason ? 0 : err_set(e, ENOMEM, "check-disks");
}

static int add_all(struct rows *rows, struct err *e)
{
	char **paths;
	size_t count;
	int r = device_list(&paths, &count, e);

	for (size_t i = 0; !r && i < count; i++)
		r = add(rows, NULL, paths[i], false, e);
	if (count || !r)
		device_list_free(paths, count);
	return r;
}

static json_t *text_or_null(const char *text)
{
	_cleanup_free_ char *printable = text ? show_printable(text) : NULL;

	return printable ? json_string(printable) : json_null();
}

static json_t *row_json(const struct row *row)
{
	const struct disk_judgement *j = &row->judgement;
	const struct device_identity *id = &j->identity;

	return json_pack("{so,so,ss,sb,so,so,so,so,so,so,so,so}", "device",
		text_or_null(row->path), "role", text_or_null(row->role), "verdict",
		disk_verdict_word(j->verdict), "may_be_overwritten",
		disk_may_be_overwritten(j), "reason", text_or_null(j->reason), "content",
		text_or_null(j->content), "size_bytes",
		id->path ? json_integer((json_int_t)id->size_bytes) : json_null(), "model",
		text_or_null(id->model), "serial", text_or_null(id->serial), "wwn",
		text_or_null(id->wwn), "partuuid", text_or_null(id->partuuid), "stable_name",
		text_or_null(id->stable_name));
}

static int print_json(const struct rows *rows, struct err *e)
{
	json_t *list = json_array(), *o;
	bool ok = true;

	for (size_t i = 0; i < rows->count; i++)
		ok = !json_array_append_new(list, row_json(&rows->items[i])) && ok;
	o = json_pack("{ss,so}", "schema", CHECK_DISKS_SCHEMA, "disks", list);
	ok = ok && o && !json_dumpf(o, stdout, JSON_INDENT(2)) && putchar('\n') != EOF;
	json_decref(o);
	return ok ? 0 : err_set(e, errno, "write to standard output");
}

static bool add_line(struct libscols_table *t, const struct row *row, bool roles)
{
	struct libscols_line *line = scols_table_new_line(t, NULL);
	const struct disk_judgement *j = &row->judgement;
	_cleanup_free_ char *path = show_printable(row->path);
	_cleanup_free_ char *reason = show_printable(j->reason);
	char size[16] = "";
	size_t at = 0;

	if (j->identity.path)
		units_format_bytes(j->identity.size_bytes, size);
	return line && path && reason &&
	       (!roles || !scols_line_set_data(line, at++, row->role ? row->role : "")) &&
	       !scols_line_set_data(line, at++, path) &&
	       !scols_line_set_data(line, at++, size) &&
	       !scols_line_set_data(line, at++, disk_verdict_word(j->verdict)) &&
	       !scols_line_set_data(line, at++, reason);
}

static int print_table(const struct rows *rows, bool roles, struct err *e)
{
	static const char *const titles[] = { "ROLE", "DEVICE", "SIZE", "VERDICT", "REASON" };
	struct libscols_table *t = scols_new_table();
	bool ok = t;

	for (size_t i = roles ? 0 : 1; ok && i < ARRAY_SIZE(titles); i++)
		ok = scols_table_new_column(t, titles[i], 0.1,
			i == 2 ? SCOLS_FL_RIGHT : i == 4 ? SCOLS_FL_WRAP : 0);
	for (size_t i = 0; ok && i < rows->count; i++)
		ok = add_line(t, &rows->items[i], roles);
	ok = ok && (!rows->count || !scols_print_table(t));
	scols_unref_table(t);
	return ok ? 0 : err_set(e, EIO, "print the table");
}

static bool are_fit(const struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->items[i];

		if ((!row->role || xfstests_overwrites(row->role)) &&
			!disk_may_be_overwritten(&row->judgement))
			return false;
	}
	return true;
}

/* SCRATCH_DEV and TEST_DEV on one disk: what is to be kept would be overwritten. */
static int check_distinct(const struct rows *rows, struct err *e)
{
	for (size_t i = 0; i < rows->count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct row *a = &rows->items[k], *b = &rows->items[i];
			dev_t devno = b->judgement.identity.devno;

			if (a->role && b->role && devno &&
				devno == a->judgement.identity.devno &&
				strcmp(a->role, b->role))
				return err_refuse(e, "%s and %s are the same device, %s",
					a->role, b->role, b->path);
		}
	return 0;
}

static int gather(struct option_parser *p, struct xfstests_disks *named, bool *has_roles,
	struct rows *rows, struct err *e)
{
	const char *value;
	const char *const *operands;
	size_t count;
	int id, r = 0;

	while (!r && (id = option_next(p, &value, e)) != 0) {
		if (id < 0)
			return id;
		*has_roles = true;
		r = id == OPTION_XFSTESTS ? xfstests_from_file(named, value, e)
					  : xfstests_from_environment(named, e);
	}
	operands = option_operands(p, &count);
	if (!r && *has_roles && !named->count)
		r = err_usage(e, "no SCRATCH_DEV, SCRATCH_LOGDEV or other disk of xfstests is "
				 "named there");
	for (size_t i = 0; !r && i < named->count; i++)
		r = add(rows, named->items[i].role, named->items[i].device, true, e);
	for (size_t i = 0; !r && i < count; i++)
		r = add(rows, NULL, operands[i], true, e);
	return r;
}

static int run(struct cli *cli, struct option_parser *p, struct err *e)
{
	_cleanup_(xfstests_deinit) struct xfstests_disks named = { 0 };
	_cleanup_(rows_deinit) struct rows rows = { 0 };
	bool has_roles = false, all;
	int r = gather(p, &named, &has_roles, &rows, e);

	all = !rows.count;
	if (!r && all)
		r = add_all(&rows, e);
	if (!r)
		r = cli_json(cli) ? print_json(&rows, e) : print_table(&rows, has_roles, e);
	if (!r)
		r = check_distinct(&rows, e);
	if (r)
		return r;
	return all || are_fit(&rows) ? STATUS_DONE : STATUS_REFUSED;
}

const struct command command_check_disks = {
	.name = "check-disks",
	.arguments = "[DEV...] [--xfstests FILE] [--environment]",
	.summary = "say of each disk whether it may be overwritten, and why not",
	.options = options,
	.flags = COMMAND_JSON,
	.run = run,
};
