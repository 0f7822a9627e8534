/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * command: any program as a workload.  It runs in a directory of its own on the volume,
 * under a time limit, and what it prints is searched for figures.  Nothing is taken for
 * granted: a program that fails, is killed, hangs, prints without end or lacks a figure
 * is a failed run.
 *
 * Programs that are worth measuring come with the program as definitions, files of the
 * same keys; a section names one and may change it.
 */

#include "workload/program.h"

#include <errno.h>
#include <string.h>

#include "core/nearest.h"
#include "core/supervise.h"
#include "core/units.h"
#include "workload/types.h"

static const struct workload_key keys[] = {
	{"command", "NAME", "",
		"a definition that \"jbdlab workloads\" lists, or FILE.ini; the other keys "
		"change it"},
	{"exec", "COMMAND", "", "the program with its arguments; no shell is involved"},
	{"setup", "COMMAND", "", "runs before it, not measured"},
	{"cleanup", "COMMAND", "", "runs after it, whatever became of it"},
	{"timeout", "TIME", "",
		"ends each of the three, and the run has failed (without: 1h)"},
	{"space", "[COUNT*]SIZE...", "", "bytes of its files; the sum of all values"},
	{"duration", "TIME", "", "that it is told to take, for the estimate of a run's time"},
	{"needs", "PROGRAM (PACKAGE), ...", "", "what must be installed"},
	{"user", "NAME", "", "whose rights the three have, and none of root's"},
	{"env.NAME", "VALUE", "", "a variable of its environment, $NAME in the others"},
	{"metric.NAME", "UNIT DIRECTION SOURCE", "",
		"a figure in what it prints, for instance ops/s higher regex ([0-9.]+) tps"},
};

static int set(void *options, const char *key, const char *value, struct err *e)
{
	struct program *c = options;

	return strcmp(key, "command") ? program_settings_set(&c->own, key, value, e)
				      : program_load(c, value, e);
}

/* A misspelt variable of a definition would change nothing, in silence. */
static int check_variables(const struct program *c, struct err *e)
{
	if (!c->name || c->own.fields[PROGRAM_EXEC])
		return 0;
	for (size_t i = 0; i < c->own.variable_count; i++) {
		const char *name = c->own.variables[i].name;
		struct nearest near = {.word = name};

		if (program_settings_variable(&c->shipped, name))
			continue;
		for (size_t k = 0; k < c->shipped.variable_count; k++)
			nearest_offer(&near, c->shipped.variables[k].name);
		return err_usage(e, "%s has no \"env.%s\"%s%s%s", c->name, name,
			near.best ? "; did you mean \"env." : "",
			near.best ? near.best : "", near.best ? "\"?" : "");
	}
	return 0;
}

static const char *lookup(const void *data, const char *name)
{
	return program_variable(data, name);
}

/* "SIZE" or "COUNT*SIZE" */
static int add_space(const char *word, uint64_t *sum, struct err *e)
{
	const char *star = strchr(word, '*');
	_cleanup_free_ char *left = star ? strndup(word, (size_t)(star - word)) : NULL;
	uint64_t count = 1, bytes = 0;
	int r = 0;

	if (star && !left)
		return err_set(e, ENOMEM, "space");
	if (star)
		r = units_parse_count(left, 0, UINT64_MAX, &count, e);
	if (!r)
		r = units_parse_bytes(star ? star + 1 : word, &bytes, e);
	if (!r && (__builtin_mul_overflow(count, bytes, &bytes) ||
			  __builtin_add_overflow(*sum, bytes, sum)))
		r = err_usage(e, "more than there can be");
	return r;
}

/* The sum of the sizes in "space". */
static int sum_space(const struct program *c, uint64_t *sum, struct err *e)
{
	const char *text = program_field(c, PROGRAM_SPACE);
	_cleanup_free_ char *copy = NULL;
	char *save = NULL, *word;
	int r;

	*sum = 0;
	if (!text || !*text)
		return 0;
	r = program_expand(text, lookup, c, &copy, e);
	for (word = r ? NULL : strtok_r(copy, " \t", &save); !r && word;
		word = strtok_r(NULL, " \t", &save))
		r = add_space(word, sum, e);
	return r ? err_wrap(e, r, "space") : 0;
}

/* What "duration" says, with its variables; 0: nothing. */
static int read_duration(const struct program *c, uint64_t *ns, struct err *e)
{
	const char *text = program_field(c, PROGRAM_DURATION);
	_cleanup_free_ char *copy = NULL;
	int r;

	*ns = 0;
	if (!text || !*text)
		return 0;
	r = program_expand(text, lookup, c, &copy, e);
	if (!r)
		r = units_parse_duration(copy, ns, e);
	return r ? err_wrap(e, r, "duration") : 0;
}

static int check(const void *options, struct err *e)
{
	const struct program *c = options;
	struct program_needs needs;
	uint64_t space, ns;
	int r;

	if (!program_field(c, PROGRAM_EXEC))
		return err_usage(e, "command needs a \"command\" or an \"exec\"");
	if (!c->shipped.metric_count && !c->own.metric_count)
		return err_usage(e, "without a \"metric.NAME\" nothing is measured");
	r = check_variables(c, e);
	if (!r)
		r = program_check_lines(c, e);
	if (!r)
		r = sum_space(c, &space, e);
	if (!r)
		r = read_duration(c, &ns, e);
	if (!r)
		r = program_needs_read(&needs, c, e);
	if (!r)
		program_needs_deinit(&needs);
	return r;
}

static uint64_t space(const void *options)
{
	uint64_t sum;

	return sum_space(options, &sum, NULL) ? 0 : sum;
}

static uint64_t duration_ns(const void *options)
{
	uint64_t ns;

	return read_duration(options, &ns, NULL) ? 0 : ns;
}

/* What it waits for is not ours to know; its end is, see program_measure(). */
static uint64_t quiet_ns(const void *options)
{
	const char *limit = program_field(options, PROGRAM_TIMEOUT);
	uint64_t ns = PROGRAM_TIMEOUT_NS;

	if (limit && units_parse_duration(limit, &ns, NULL))
		return PROGRAM_TIMEOUT_NS;
	return ns;
}

static int ready(const void *options, struct err *e)
{
	const struct program *c = options;
	struct program_needs needs = {0};
	int r = program_user_read(c, &(struct supervise_user){0}, e);

	if (!r)
		r = program_needs_read(&needs, c, e);

	for (size_t i = 0; !r && i < needs.count; i++) {
		const struct program_need *n = &needs.at[i];

		if (n->installed)
			continue;
		r = err_refuse(e, "%s is not installed%s%s%s", n->program,
			n->package ? "; it is in Debian's package " : "",
			n->package ? n->package : "",
			n->package ? ": install that first" : "");
	}
	program_needs_deinit(&needs);
	return r;
}

static int run(const void *options, const struct workload_env *env,
	struct result_run *result, struct err *e)
{
	return program_measure(options, env, result, e);
}

const struct workload_type workload_command = {
	.name = "command",
	.summary = "any program, and figures in what it prints",
	.keys = keys,
	.key_count = ARRAY_SIZE(keys),
	.options_bytes = sizeof(struct program),
	.set = set,
	.check = check,
	.ready = ready,
	.bytes = space,
	.duration_ns = duration_ns,
	.quiet_ns = quiet_ns,
	.space = space,
	.run = run,
	.deinit = program_deinit,
};
