/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * jbdlab show: every volume and journal device, or those named.
 *
 * Without names, or with --columns: a table, one line each.  Named devices: a block each,
 * with everything that is known.  Nothing is ever opened for writing.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <libsmartcols.h>

#include "cli/command.h"
#include "cli/show.h"
#include "cli/show_text.h"
#include "core/nearest.h"
#include "core/strbuf.h"

#define COLUMNS_MAX 64
#define LABEL_WIDTH 21

enum { OPTION_COLUMNS = 1 };

static const struct option_spec options[] = {
	{ OPTION_COLUMNS, 'o', "columns", "LIST",
		"print a table of these columns; \"help\" lists them" },
	{ 0 },
};

struct show_options {
	const struct show_column *columns[COLUMNS_MAX]; /* NULL-ended */
	bool table;					/* --columns was given */
	bool help_columns;
};

static int find_column(const struct show_column **out, const char *name, size_t length,
	struct err *e)
{
	_cleanup_free_ char *word = strndup(name, length);
	struct nearest near = { .word = word };

	if (!word)
		return err_set(e, ENOMEM, "find column");
	for (const struct show_column *c = show_columns; c->key; c++) {
		if (!strcmp(c->key, word)) {
			*out = c;
			return 0;
		}
		nearest_offer(&near, c->key);
	}
	if (near.best)
		return err_usage(e, "there is no column \"%s\"; did you mean \"%s\"?",
			word, near.best);
	return err_usage(e, "there is no column \"%s\"; --columns help lists them", word);
}

static int parse_columns(struct show_options *o, const char *list, struct err *e)
{
	size_t n = 0;

	while (*list) {
		size_t length = strcspn(list, ",");
		int r;

		if (n == COLUMNS_MAX - 1)
			return err_usage(e, "too many columns");
		r = find_column(&o->columns[n++], list, length, e);
		if (r)
			return r;
		list += length;
		list += *list == ',';
	}
	o->columns[n] = NULL;
	return n ? 0 : err_usage(e, "--columns needs at least one name");
}

static int parse(struct show_options *o, struct option_parser *p, struct err *e)
{
	const char *value;
	int id, r;

	r = parse_columns(o, show_default_columns, e);
	while (!r && (id = option_next(p, &value, e)) != 0) {
		if (id < 0)
			return id;
		o->table = true;
		o->help_columns = !strcmp(value, "help");
		if (!o->help_columns)
			r = parse_columns(o, value, e);
	}
	return r;
}

static int print_column_help(void)
{
	for (const struct show_column *c = show_columns; c->key; c++)
		cli_print_entry(c->key, 20, c->help);
	return STATUS_DONE;
}

static int fill_line(struct libscols_line *line, const struct show_options *o,
	const struct inventory *inv, const struct inventory_item *item)
{
	for (size_t i = 0; o->columns[i]; i++) {
		char *text = o->columns[i]->text(inv, item);
		int r = scols_line_refer_data(line, i, text ? text : strdup("-"));

		if (r)
			return r;
	}
	return 0;
}

static int fill_table(struct libscols_table *table, const struct show_options *o,
	const struct inventory *inv)
{
	for (size_t i = 0; o->columns[i]; i++) {
		const struct show_column *c = o->columns[i];
		int flags = (c->right ? SCOLS_FL_RIGHT : 0) |
			    (c->may_cut ? SCOLS_FL_TRUNC : 0);

		if (!scols_table_new_column(table, c->title, 0, flags))
			return -ENOMEM;
	}
	for (size_t i = 0; i < inv->count; i++) {
		struct libscols_line *line;
		int r;

		if (!inv->items[i].named)
			continue;
		line = scols_table_new_line(table, NULL);
		r = line ? fill_line(line, o, inv, &inv->items[i]) : -ENOMEM;
		if (r)
			return r;
	}
	return 0;
}

static int print_table(const struct show_options *o, const struct inventory *inv,
	struct err *e)
{
	struct libscols_table *table = scols_new_table();
	int r = table ? fill_table(table, o, inv) : -ENOMEM;

	if (!r)
		r = scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
	if (!r)
		r = scols_print_table(table);
	scols_unref_table(table);
	return r ? err_set(e, -r, "print the table") : 0;
}

static void print_fact(const char *label, const char *text)
{
	char name[LABEL_WIDTH + 1];

	snprintf(name, sizeof(name), "%s:", label);
	cli_print_entry(name, LABEL_WIDTH - 1, text);
}

static void print_block(const struct inventory *inv, const struct inventory_item *item)
{
	for (const struct show_column *c = show_columns; c->key; c++) {
		_cleanup_free_ char *text = NULL;

		if (!c->label)
			continue;
		text = c->block_text ? c->block_text(inv, item) : c->text(inv, item);
		if (text && *text)
			print_fact(c->label, text);
	}
	for (size_t i = 0; i < item->note_count; i++) {
		_cleanup_free_ char *text = show_printable(item->notes[i]);

		print_fact("Note", text ? text : "");
	}
}

static void print_blocks(const struct inventory *inv)
{
	bool first = true;

	for (size_t i = 0; i < inv->count; i++) {
		if (!inv->items[i].named)
			continue;
		if (!first)
			putchar('\n');
		first = false;
		print_block(inv, &inv->items[i]);
	}
}

static int print_json(const struct inventory *inv, struct err *e)
{
	json_t *root = show_json(inv);
	int failed = root ? json_dumpf(root, stdout, JSON_INDENT(2)) : -1;

	json_decref(root);
	if (failed)
		return err_set(e, ENOMEM, "write JSON");
	putchar('\n');
	return 0;
}

/* Messages may quote what stands on a disk. */
static void say(struct cli *cli, enum log_level level, const char *path, const char *text)
{
	_cleanup_free_ char *printable = show_message(text);

	log_line(cli_log(cli), level, "%s%s%s", path ? path : "", path ? ": " : "",
		printable ? printable : "");
}

/* Beside a table: what is wrong or dangerous does not fit into its columns. */
static void print_notes(struct cli *cli, const struct inventory *inv)
{
	for (size_t i = 0; i < inv->count; i++) {
		const struct inventory_item *item = &inv->items[i];

		for (size_t n = 0; item->named && n < item->note_count; n++)
			say(cli, LOG_NOTE, item->identity.path, item->notes[n]);
	}
}

/* Devices that the user may not read, in one line: without root there are many. */
static void warn_unreadable(struct cli *cli, const struct inventory *inv)
{
	_cleanup_(strbuf_deinit) struct strbuf denied = { 0 };

	for (size_t i = 0; i < inv->failure_count; i++) {
		const struct inventory_failure *f = &inv->failures[i];

		if (f->code == EACCES || f->code == EPERM)
			strbuf_addf(&denied, "%s%s", denied.length ? ", " : "", f->path);
		else
			say(cli, LOG_WARNING, NULL, f->reason);
	}
	if (denied.length)
		log_line(cli_log(cli), LOG_WARNING,
			"not shown, for lack of permission: %s", strbuf_text(&denied));
}

/* Each named device that could not be looked at; the last one becomes the error, which is
 * a refusal when reading failed for none. */
static int report_named(struct cli *cli, const struct inventory *inv, struct err *e)
{
	const struct inventory_failure *last = NULL;
	_cleanup_free_ char *text = NULL;
	bool all_refused = true;
	int r;

	for (size_t i = 0; i < inv->failure_count; i++) {
		if (!inv->failures[i].named)
			continue;
		all_refused &= inv->failures[i].refused;
		if (last)
			say(cli, LOG_WARNING, NULL, last->reason);
		last = &inv->failures[i];
	}
	if (!last)
		return 0;
	text = show_message(last->reason);
	r = err_say(e, last->code ? last->code : EIO, "%s", text ? text : "");
	if (all_refused)
		e->kind = ERR_REFUSED;
	return r;
}

static size_t count_named(const struct inventory *inv)
{
	size_t n = 0;

	for (size_t i = 0; i < inv->count; i++)
		n += inv->items[i].named;
	return n;
}

static int print(struct cli *cli, const struct show_options *o,
	const struct inventory *inv, bool named, struct err *e)
{
	size_t shown = count_named(inv);
	int r = 0;

	if (cli_json(cli))
		return print_json(inv, e);
	if (named && !o->table) {
		print_blocks(inv);
		return 0;
	}
	if (shown)
		r = print_table(o, inv, e);
	else if (!named)
		log_line(cli_log(cli), LOG_NOTE,
			"no ext2, ext3 or ext4 volume and no journal device was found");
	if (!r && !o->table)
		print_notes(cli, inv);
	return r;
}

static int run(struct cli *cli, struct option_parser *p, struct err *e)
{
	_cleanup_(inventory_deinit) struct inventory inv = { 0 };
	struct show_options o = { 0 };
	const char *const *names;
	size_t count;
	int r = parse(&o, p, e);

	if (r)
		return r;
	if (o.help_columns)
		return print_column_help();
	names = option_operands(p, &count);
	r = inventory_read(&inv, count ? names : NULL, count, e);
	if (!r)
		r = print(cli, &o, &inv, count > 0, e);
	if (r)
		return r;
	if (count)
		return report_named(cli, &inv, e);
	warn_unreadable(cli, &inv);
	return STATUS_DONE;
}

const struct command command_show = {
	.name = "show",
	.arguments = "[DEV...] [options]",
	.summary = "show volumes, journal devices and where their journals are",
	.options = options,
	.flags = COMMAND_JSON,
	.run = run,
};
