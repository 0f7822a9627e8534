/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * jbdlab compare A [B]: bundles, published outputs, or one of each; or bundles of many
 * hosts.
 *
 * An operand that is a directory is a bundle, everything else is imported.  Two arms are
 * compared: those that were named, the two of a single operand, or the only ones of both.
 */

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/hosts_report.h"
#include "cli/import_files.h"
#include "core/printable.h"
#include "core/strbuf.h"
#include "report/match.h"
#include "result/bundle.h"

enum { OPTION_BASELINE = 1, OPTION_ARM, OPTION_ALL, OPTION_FORMAT, OPTION_CORRECT,
	OPTION_HOSTS };

static const struct option_spec options[] = {
	{OPTION_BASELINE, 'b', "baseline", "ARM", "the arm to compare with"},
	{OPTION_ARM, 'a', "arm", "ARM", "the arm that is compared"},
	{OPTION_ALL, 0, "all", NULL, "all metrics, not only rates and longest latencies"},
	{OPTION_FORMAT, 'f', "format", "NAME", "import only what is of this format"},
	{OPTION_CORRECT, 'c', "correct", NULL, "import with known faults taken out"},
	{OPTION_HOSTS, 0, "hosts", NULL,
		"bundles of one experiment on many hosts, also of one or two: compare arms "
		"within each host, then over hosts"},
	{0},
};

struct words {
	const char *arms[2]; /* baseline, other; NULL: not said */
	bool all, hosts;
	struct import_options import;
	const char *const *files;
	size_t count;
};

/* One arm of one operand, with its runs. */
struct arm {
	const char *file;
	char *name, *placement;
	struct result_run *runs;
	size_t run_count;
};

/* An operand: all its arms. */
struct source {
	struct arm *arms;
	size_t count;
};

static int parse(struct option_parser *p, struct words *o, struct err *e)
{
	const char *value;
	int id;

	while ((id = option_next(p, &value, e)) != 0) {
		if (id == OPTION_BASELINE)
			o->arms[0] = value;
		else if (id == OPTION_ARM)
			o->arms[1] = value;
		else if (id == OPTION_ALL)
			o->all = true;
		else if (id == OPTION_FORMAT)
			o->import.format = value;
		else if (id == OPTION_CORRECT)
			o->import.correct = true;
		else if (id == OPTION_HOSTS)
			o->hosts = true;
		else
			return id;
	}
	o->files = option_operands(p, &o->count);
	o->hosts |= o->count > 2;
	if (o->hosts && (o->import.format || o->import.correct))
		return err_usage(e, "bundles of hosts are not imported: no --%s",
			o->import.format ? "format" : "correct");
	return o->count ? 0 : err_usage(e, "compare takes files or bundles, and there is none");
}

static void source_deinit(struct source *s)
{
	for (size_t i = 0; i < s->count; i++) {
		for (size_t k = 0; k < s->arms[i].run_count; k++)
			result_run_deinit(&s->arms[i].runs[k]);
		free(s->arms[i].runs);
		free(s->arms[i].name);
		free(s->arms[i].placement);
	}
	free(s->arms);
	*s = (struct source){0};
}

static int add_arm(struct source *s, const char *file, const char *name,
	const char *placement, struct err *e)
{
	struct arm *arms = reallocarray(s->arms, s->count + 1, sizeof(*arms));

	if (!arms)
		return err_set(e, ENOMEM, "read %s", file);
	s->arms = arms;
	arms += s->count++;
	*arms = (struct arm){
		.file = file, .name = strdup(name), .placement = strdup(placement)};
	return arms->name && arms->placement ? 0 : err_set(e, ENOMEM, "read %s", file);
}

static struct arm *find_arm(const struct source *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->arms[i].name, name))
			return &s->arms[i];
	return NULL;
}

/* Takes a run over; histograms are not compared, and large. */
static int take_run(void *data, struct result_run *run, struct err *e)
{
	struct arm *arm = find_arm(data, run->arm);
	struct result_run *runs;

	if (!arm)
		return err_say(e, EBADMSG, "there is no arm \"%s\" in bundle.json", run->arm);
	runs = reallocarray(arm->runs, arm->run_count + 1, sizeof(*runs));
	if (!runs)
		return err_set(e, ENOMEM, "read %s", arm->file);
	arm->runs = runs;
	for (size_t i = 0; i < run->phase_count; i++) {
		free(take_ptr(run->phases[i].latency));
		free(take_ptr(run->phases[i].sync_latency));
	}
	runs[arm->run_count++] = *run;
	*run = (struct result_run){0};
	return 0;
}

static int load_bundle(struct source *s, const char *path, struct err *e)
{
	_cleanup_(bundle_deinit) struct bundle b = {0};
	int r = bundle_load(&b, path, e);

	if (r)
		return r;
	for (size_t i = 0; !r && i < b.info.arm_count; i++)
		r = add_arm(s, path, b.info.arms[i].name, b.info.arms[i].placement, e);
	return r ? r : bundle_each_run(&b, take_run, s, e);
}

static int load_import(struct source *s, const char *path,
	const struct import_options *o, const struct log *log, struct err *e)
{
	_cleanup_(import_set_deinit) struct import_set set = {0};
	int r = import_set_add(&set, path, o, log, e);

	for (size_t i = 0; !r && i < set.imports[0].arm_count; i++) {
		struct import_arm *from = &set.imports[0].arms[i];

		r = add_arm(s, path, from->name, "unknown", e);
		if (r)
			break;
		s->arms[s->count - 1].runs = take_ptr(from->runs);
		s->arms[s->count - 1].run_count = from->run_count;
		from->run_count = 0;
	}
	return r;
}

static int load(struct source *s, const char *path, const struct import_options *o,
	const struct log *log, struct err *e)
{
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return load_bundle(s, path, e);
	return load_import(s, path, o, log, e);
}

static int no_arm(const struct source *s, const char *what, const char *name, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf names = {0};

	for (size_t i = 0; i < s->count; i++)
		strbuf_addf(&names, "%s\"%s\"", i ? ", " : "", s->arms[i].name);
	if (name)
		return err_usage(e, "there is no arm \"%s\" in %s, but %s", name,
			s->arms[0].file, strbuf_text(&names));
	return err_usage(e, "say with %s which arm of %s: %s", what, s->arms[0].file,
		strbuf_text(&names));
}

/* Is this what a journal was before somebody moved it? */
static bool is_default(const struct arm *arm)
{
	static const char *const words[] = {
		"default", "same disk", "inline", "internal", "baseline"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasestr(arm->name, words[i]))
			return true;
	return !strncmp(arm->placement, "inline", 6);
}

/* The two arms of one operand. */
static int choose_two(const struct source *s, const struct words *o,
	const struct arm *out[2], struct err *e)
{
	for (size_t side = 0; side < 2; side++) {
		out[side] = o->arms[side] ? find_arm(s, o->arms[side]) : NULL;
		if (o->arms[side] && !out[side])
			return no_arm(s, NULL, o->arms[side], e);
	}
	assert(s->count); /* neither a bundle nor an import is without */
	if (s->count < 2)
		return err_usage(e, "%s has only one arm, \"%s\": name a second file",
			s->arms[0].file, s->arms[0].name);
	if (!out[0] && !out[1] && s->count == 2)
		out[0] = &s->arms[is_default(&s->arms[1]) && !is_default(&s->arms[0])];
	if (s->count == 2 && !out[0])
		out[0] = &s->arms[out[1] == &s->arms[0]];
	if (s->count == 2 && !out[1])
		out[1] = &s->arms[out[0] == &s->arms[0]];
	for (size_t side = 0; side < 2; side++)
		if (!out[side])
			return no_arm(s, side ? "--arm" : "--baseline", NULL, e);
	return out[0] == out[1] ? err_usage(e, "\"%s\" is compared with itself",
					  out[0]->name)
				: 0;
}

/* One arm of each of two operands: the named, the only one, or the one that both have. */
static int choose_each(const struct source s[2], const struct words *o,
	const struct arm *out[2], struct err *e)
{
	for (size_t side = 0; side < 2; side++) {
		const char *name = o->arms[side] ? o->arms[side] : o->arms[!side];

		out[side] = name ? find_arm(&s[side], name) : NULL;
		if (!out[side] && o->arms[side])
			return no_arm(&s[side], NULL, name, e);
		if (!out[side] && s[side].count == 1)
			out[side] = &s[side].arms[0];
		if (!out[side])
			return no_arm(&s[side], side ? "--arm" : "--baseline", NULL, e);
	}
	return 0;
}

static int status_of(enum match_outcome outcome)
{
	switch (outcome) {
	case MATCH_SAME:
		return STATUS_DONE;
	case MATCH_DIFFERENT:
		return STATUS_DIFFERENCE;
	case MATCH_INCONCLUSIVE:
		break;
	}
	return STATUS_INCONCLUSIVE;
}

static int compare(struct cli *cli, const struct words *o, const struct arm *const arms[2],
	struct err *e)
{
	_cleanup_(match_deinit) struct match m = {0};
	_cleanup_(strbuf_deinit) struct strbuf out = {0};
	struct match_side sides[2];
	int r;

	assert(arms[0] && arms[1]);
	for (size_t i = 0; i < 2; i++)
		sides[i] = (struct match_side){arms[i]->file, arms[i]->name,
			arms[i]->placement, arms[i]->runs, arms[i]->run_count};
	r = match_build(&m, sides, o->count == 1, e);
	if (!r)
		r = cli_json(cli) ? render_match_json(&m, &out, e)
				  : render_match(&m, o->all, &out, e);
	if (r)
		return r;
	if (!cli_json(cli))
		printable_make(&out);
	fputs(strbuf_text(&out), stdout);
	return status_of(match_outcome(&m));
}

static int run(struct cli *cli, struct option_parser *p, struct err *e)
{
	struct source sources[2] = {0};
	const struct arm *arms[2] = {0};
	struct words o = {0};
	int r = parse(p, &o, e);

	if (!r && o.hosts)
		return hosts_report(cli,
			&(struct hosts_request){.bundles = o.files,
				.count = o.count,
				.options = {.baseline = o.arms[0], .arm = o.arms[1]},
				.all = o.all},
			e);
	for (size_t i = 0; !r && i < o.count; i++)
		r = load(&sources[i], o.files[i], &o.import, cli_log(cli), e);
	if (!r)
		r = o.count == 1 ? choose_two(&sources[0], &o, arms, e)
				 : choose_each(sources, &o, arms, e);
	if (!r)
		r = compare(cli, &o, arms, e);
	source_deinit(&sources[0]);
	source_deinit(&sources[1]);
	return r;
}

static void offer(int id, struct strbuf *words)
{
	for (size_t i = 0; id == OPTION_FORMAT && import_format_name(i); i++)
		strbuf_addf(words, " %s", import_format_name(i));
}

const struct command command_compare = {
	.name = "compare",
	.arguments = "A [B...] [options]",
	.summary = "compare two arms, bundles or published outputs",
	.options = options,
	.flags = COMMAND_JSON | COMMAND_FILES,
	.offer = offer,
	.run = run,
};
