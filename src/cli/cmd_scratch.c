/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * "jbdlab scratch": disks that may be overwritten.  The first operand says what to do;
 * each of these is a row of a table that says which options it takes.
 */

#include <errno.h>
#include <jansson.h>
#include <libsmartcols.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/scratch_lease.h"
#include "core/nearest.h"
#include "core/strbuf.h"
#include "core/units.h"
#include "scratch/loopdisk.h"
#include "scratch/model_control.h"
#include "scratch/model_device.h"
#include "scratch/model_json.h"
#include "scratch/model_parameters.h"

#define SCRATCH_SCHEMA "jbdlab-scratch-list/1"
#define DISK_SCHEMA "jbdlab-scratch-disk/1"
#define MODELS_SCHEMA "jbdlab-disk-models/1"

enum {
	OPTION_NAME = 1,
	OPTION_SIZE,
	OPTION_MODEL,
	OPTION_DIRECTORY,
	OPTION_ALL,
	OPTION_RESET,
	OPTION_SERIAL,
};

static const struct option_spec options[] = {
	{ OPTION_NAME, 'n', "name", "NAME", "create: what it will be called" },
	{ OPTION_SIZE, 's', "size", "SIZE", "create: of the disk (400M, 2G)" },
	{ OPTION_MODEL, 'm', "model", "MODEL",
		"create: none, hdd-7200, hdd-10k, ssd, with ,parameter=value..." },
	{ OPTION_DIRECTORY, 'd', "directory", "DIR",
		"create: where the data file goes (default /var/tmp)" },
	{ OPTION_ALL, 0, "all", NULL, "destroy: every scratch disk" },
	{ OPTION_RESET, 0, "reset", NULL, "stats: set the counters to zero afterwards" },
	{ OPTION_SERIAL, 0, "serial", "S",
		"lease: the disk's serial number, in scripts, with --yes" },
	{ 0 },
};

struct scratch_command {
	struct scratch_options create;
	bool all, reset;
	const char *serial;
	unsigned given; /* bit for each option id */
	const char *const *names;
	size_t count;
};

struct action {
	const char *name;
	unsigned takes; /* bit for each option id */
	size_t names_min, names_max;
	bool json;
	int (*run)(struct cli *cli, const struct scratch_command *c, struct err *e);
};

static json_t *disk_json(const struct scratch_disk *d)
{
	return json_pack("{ss,ss*,ss*,ss*,sI,sb}", "name", d->name, "model", d->model,
		"device", d->device, "file", d->file, "size_bytes",
		(json_int_t)d->size_bytes, "running", d->running);
}

static int print_json(json_t *o, struct err *e)
{
	_cleanup_free_ char *text = o ? json_dumps(o, JSON_INDENT(2)) : NULL;

	json_decref(o);
	if (!text)
		return err_set(e, ENOMEM, "print JSON");
	puts(text);
	return STATUS_DONE;
}

static int create(struct cli *cli, const struct scratch_command *c, struct err *e)
{
	_cleanup_(scratch_disk_deinit) struct scratch_disk d = { 0 };
	struct scratch_options o = c->create;
	int r;

	if (!o.name || !o.size_bytes)
		return err_usage(e, "scratch create needs --name and --size");
	if (!o.model)
		o.model = "none";
	o.log = cli_log(cli);
	r = scratch_create(&o, &d, e);
	if (r)
		return r;
	if (cli_json(cli)) {
		json_t *json = disk_json(&d);

		json_object_set_new(json, "schema", json_string(DISK_SCHEMA));
		return print_json(json, e);
	}
	log_line(cli_log(cli), LOG_NOTE, "scratch disk %s: model %s, data in %s", d.name,
		d.model, d.file);
	puts(d.device);
	return STATUS_DONE;
}

static const char *state_of(const struct scratch_disk *d)
{
	if (!d->model)
		return "record damaged";
	if (d->running)
		return "running";
	return d->device ? "model died" : "broken";
}

static int add_line(struct libscols_table *t, const struct scratch_disk *d)
{
	struct libscols_line *line = scols_table_new_line(t, NULL);
	char size[16];

	if (!line)
		return -ENOMEM;
	units_format_bytes(d->size_bytes, size);
	if (scols_line_set_data(line, 0, d->name) ||
		scols_line_set_data(line, 1, d->device ? d->device : "-") ||
		scols_line_set_data(line, 2, d->size_bytes ? size : "-") ||
		scols_line_set_data(line, 3, d->model ? d->model : "-") ||
		scols_line_set_data(line, 4, state_of(d)) ||
		scols_line_set_data(line, 5, d->file ? d->file : "-"))
		return -ENOMEM;
	return 0;
}

static int print_table(const struct scratch_disk *disks, size_t count, struct err *e)
{
	static const char *const titles[] = { "NAME", "DEVICE", "SIZE", "MODEL", "STATE",
		"FILE" };
	struct libscols_table *t = scols_new_table();
	int r = t ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < ARRAY_SIZE(titles); i++)
		if (!scols_table_new_column(t, titles[i], 0.1,
			    i == 2 ? SCOLS_FL_RIGHT : 0))
			r = -ENOMEM;
	for (size_t i = 0; !r && i < count; i++)
		r = add_line(t, &disks[i]);
	/* A row that is too wide for the terminal is easier to read broken at its end than
	 * in each of its columns. */
	if (!r)
		r = scols_table_set_termforce(t, SCOLS_TERMFORCE_NEVER);
	if (!r)
		r = scols_print_table(t);
	scols_unref_table(t);
	return r ? err_set(e, -r, "print the table") : STATUS_DONE;
}

static int list(struct cli *cli, const struct scratch_command *c _unused_, struct err *e)
{
	struct scratch_disk *disks = NULL;
	json_t *leases = NULL;
	size_t count = 0, lease_count = 0;
	json_t *array;
	int r = scratch_list(&disks, &count, e);

	if (r)
		return r;
	if (cli_json(cli)) {
		array = json_array();
		for (size_t i = 0; i < count; i++)
			json_array_append_new(array, disk_json(&disks[i]));
		r = scratch_leases_to_json(&leases, e);
		if (r)
			json_decref(array);
		else
			r = print_json(json_pack("{ss,so,so}", "schema", SCRATCH_SCHEMA,
					       "disks", array, "leases", leases),
				e);
	} else {
		if (count)
			r = print_table(disks, count, e);
		if (!r)
			r = scratch_leases_print(count > 0, &lease_count, e);
		if (!r && !count && !lease_count)
			log_line(cli_log(cli), LOG_NOTE,
				"there are no scratch disks and no leases");
	}
	scratch_list_free(disks, count);
	return r;
}

/* Goes on after a failure, and reports the first one. */
static int destroy_all(struct cli *cli, struct err *e)
{
	struct scratch_disk *disks = NULL;
	size_t count = 0;
	int r = scratch_list(&disks, &count, e);

	for (size_t i = 0; i < count; i++) {
		_cleanup_(err_clear) struct err one = { 0 };

		if (!scratch_destroy(disks[i].name, cli_log(cli), &one) || one.code == ENOENT)
			continue;
		if (r)
			log_line(cli_log(cli), LOG_WARNING, "%s", err_message(&one));
		else
			r = one.kind == ERR_REFUSED ? err_refuse(e, "%s", err_message(&one))
						    : err_say(e, one.code, "%s", err_message(&one));
	}
	scratch_list_free(disks, count);
	return r;
}

static int destroy(struct cli *cli, const struct scratch_command *c, struct err *e)
{
	int r = 0;

	if (c->all == (c->count > 0))
		return err_usage(e, "scratch destroy takes names of scratch disks, or --all");
	if (c->all)
		return destroy_all(cli, e);
	for (size_t i = 0; !r && i < c->count; i++)
		r = scratch_destroy(c->names[i], cli_log(cli), e);
	return r;
}

static void print_models(void)
{
	const struct model_parameters *m;
	char value[32];

	printf("%-13s", "");
	for (size_t i = 0; (m = model_builtin(i)); i++)
		printf(" %8s", m->base);
	printf("\n");
	for (const struct model_parameter *t = model_parameter_table; t->name; t++) {
		_cleanup_(strbuf_deinit) struct strbuf b = {0};

		strbuf_addf(&b, "%-13s", t->name);
		for (size_t i = 0; (m = model_builtin(i)); i++) {
			model_parameter_format(m, t, value);
			strbuf_addf(&b, " %8s", value);
		}
		cli_print_entry(strbuf_text(&b), 41, t->help);
	}
	printf("\n\"none\" is the plain data file, without a model.  A value is changed with a\n"
	       "comma: --model hdd-7200,seek_max=8ms,cache=0\n");
}

static int models(struct cli *cli, const struct scratch_command *c _unused_,
	struct err *e)
{
	const struct model_parameters *m;
	json_t *array;

	if (!cli_json(cli)) {
		print_models();
		return STATUS_DONE;
	}
	array = json_array();
	for (size_t i = 0; (m = model_builtin(i)); i++)
		json_array_append_new(array, model_parameters_json(m));
	return print_json(json_pack("{ss,so}", "schema", MODELS_SCHEMA, "models", array), e);
}

static int stats(struct cli *cli _unused_, const struct scratch_command *c, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	int r = model_control_stats(c->names[0], &text, e);

	if (!r && c->reset)
		r = model_control(c->names[0], MODEL_CONTROL_RESET, e);
	if (r)
		return r;
	puts(text);
	return STATUS_DONE;
}

static int wake(struct cli *cli _unused_, const struct scratch_command *c, struct err *e)
{
	return model_control(c->names[0], MODEL_CONTROL_WAKE, e);
}

static int fault(struct cli *cli _unused_, const struct scratch_command *c, struct err *e)
{
	struct model_parameters p = *model_builtin(0); /* only to see what is wrong */
	_cleanup_free_ char *line = NULL;
	int r = model_parameters_parse_faults(c->names[1], &p, e);

	if (r)
		return r;
	if (asprintf(&line, MODEL_CONTROL_FAULT " %s", c->names[1]) < 0) {
		line = NULL;
		return err_set(e, ENOMEM, "set faults");
	}
	return model_control(c->names[0], line, e);
}

static int lease(struct cli *cli, const struct scratch_command *c, struct err *e)
{
	return scratch_lease(cli, c->names[0], c->serial, e);
}

static int unlease(struct cli *cli, const struct scratch_command *c, struct err *e)
{
	return scratch_unlease(cli, c->names[0], e);
}

#define BIT(id) (1U << (id))

static const struct action actions[] = {
	{ "create", BIT(OPTION_NAME) | BIT(OPTION_SIZE) | BIT(OPTION_MODEL) | BIT(OPTION_DIRECTORY),
		0, 0, true, create },
	{ "list", 0, 0, 0, true, list },
	{ "destroy", BIT(OPTION_ALL), 0, SIZE_MAX, false, destroy },
	{ "models", 0, 0, 0, true, models },
	{ "stats", BIT(OPTION_RESET), 1, 1, true, stats },
	{ "fault", 0, 2, 2, false, fault },
	{ "wake", 0, 1, 1, false, wake },
	{ "lease", BIT(OPTION_SERIAL), 1, 1, false, lease },
	{ "unlease", 0, 1, 1, false, unlease },
};

static int set_option(struct scratch_command *c, int id, const char *value, struct err *e)
{
	c->given |= BIT(id);
	switch (id) {
	case OPTION_NAME:
		c->create.name = value;
		break;
	case OPTION_SIZE:
		return units_parse_bytes(value, &c->create.size_bytes, e);
	case OPTION_MODEL:
		c->create.model = value;
		break;
	case OPTION_DIRECTORY:
		c->create.directory = value;
		break;
	case OPTION_ALL:
		c->all = true;
		break;
	case OPTION_RESET:
		c->reset = true;
		break;
	case OPTION_SERIAL:
		c->serial = value;
		break;
	}
	return 0;
}

static int find_action(const struct action **out, const char *word, struct err *e)
{
	struct nearest near = { .word = word ? word : "" };

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		if (word && !strcmp(actions[i].name, word)) {
			*out = &actions[i];
			return 0;
		}
		nearest_offer(&near, actions[i].name);
	}
	if (!word)
		return err_usage(e, "scratch needs a word: create, list, destroy, models, stats, "
				    "fault, wake, lease or unlease");
	if (near.best)
		return err_usage(e, "scratch cannot \"%s\"; did you mean \"%s\"?", word,
			near.best);
	return err_usage(e, "scratch cannot \"%s\"", word);
}

static int check_words(const struct action *a, const struct scratch_command *c, bool json,
	struct err *e)
{
	for (const struct option_spec *o = options; o->id; o++)
		if (c->given & ~a->takes & BIT(o->id))
			return err_usage(e, "scratch %s has no --%s", a->name, o->name);
	if (json && !a->json)
		return err_usage(e, "scratch %s has no --json", a->name);
	if (c->count < a->names_min)
		return err_usage(e, "scratch %s: which %s?", a->name,
			c->count ? "faults" : "disk");
	if (c->count > a->names_max)
		return err_usage(e, "scratch %s: what is \"%s\"?", a->name,
			c->names[a->names_max]);
	return 0;
}

static int run(struct cli *cli, struct option_parser *p, struct err *e)
{
	struct scratch_command c = { 0 };
	const struct action *a = NULL;
	const char *value;
	int id, r = 0;

	while (!r && (id = option_next(p, &value, e)) != 0)
		r = id < 0 ? id : set_option(&c, id, value, e);
	if (r)
		return r;
	c.names = option_operands(p, &c.count);
	r = find_action(&a, c.names[0], e);
	if (r)
		return r;
	c.names++;
	c.count--;
	r = check_words(a, &c, cli_json(cli), e);
	if (!r)
		r = a->run(cli, &c, e);
	if (r < 0 && geteuid() && (e->code == EACCES || e->code == EPERM) &&
		e->kind == ERR_FAILED)
		return err_refuse(e, "%s: scratch %s needs root", err_message(e), a->name);
	return r;
}

static void offer(int id, struct strbuf *words)
{
	for (size_t i = 0; !id && i < ARRAY_SIZE(actions); i++)
		strbuf_addf(words, " %s", actions[i].name);
	if (id == OPTION_MODEL)
		strbuf_add(words, " none");
	for (size_t i = 0; id == OPTION_MODEL && model_builtin(i); i++)
		strbuf_addf(words, " %s", model_builtin(i)->base);
}

const struct command command_scratch = {
	.name = "scratch",
	.arguments = "create --name NAME --size SIZE [options]\n"
		     "list\n"
		     "destroy NAME...|--all\n"
		     "models\n"
		     "stats NAME [--reset]\n"
		     "fault NAME FAULTS|none\n"
		     "wake NAME\n"
		     "lease DEV [--serial S --yes]\n"
		     "unlease DEV|IDENTITY",
	.summary = "make scratch disks with a disk model, or lease real disks",
	.options = options,
	.flags = COMMAND_JSON | COMMAND_DESTRUCTIVE,
	.offer = offer,
	.run = run,
};
