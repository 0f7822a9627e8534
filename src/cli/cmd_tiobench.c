/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * jbdlab tiobench: takes the options of tiobench.pl and prints its report, so that it can
 * stand in its place in scripts.  Names are matched whole: there "--dir", the old name of
 * --target, is taken for an abbreviation of --directio and tests the current directory.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "cli/bench.h"
#include "core/strbuf.h"
#include "report/render_phases.h"
#include "report/render_tiobench.h"
#include "report/render_tiotest.h"

enum {
	OPTION_TARGET = 1,
	OPTION_DIR,
	OPTION_SIZE,
	OPTION_BLOCK,
	OPTION_THREADS,
	OPTION_RANDOM,
	OPTION_NUMRUNS,
	OPTION_IDENTIFIER,
	OPTION_NOFRAG,
	OPTION_DIRECTIO,
	OPTION_FLUSH,
	OPTION_TIMEOUT,
	OPTION_PROGRESS,
	OPTION_DEBUG,
	OPTION_DUMP,
	OPTION_RAW,
	OPTION_FORMAT,
	OPTION_PERCENTILES,
	OPTION_SEED,
	OPTION_SET,
};

static const struct option_spec options[] = {
	{OPTION_TARGET, 0, "target", "DIR", "directory to test (repeatable; default .)"},
	{OPTION_DIR, 0, "dir", "DIR", "the old name of --target"},
	{OPTION_SIZE, 0, "size", "SIZE",
		"all files together; a number alone is MB (repeatable; default 2x-ram)"},
	{OPTION_BLOCK, 0, "block", "SIZE",
		"one operation; a number alone is bytes (repeatable; default 4096)"},
	{OPTION_THREADS, 0, "threads", "COUNT", "(repeatable; default 1, 2, 4 and 8)"},
	{OPTION_RANDOM, 0, "random", "COUNT",
		"random operations of all threads together (default 4000)"},
	{OPTION_NUMRUNS, 0, "numruns", "COUNT", "runs to average over (default 1)"},
	{OPTION_IDENTIFIER, 0, "identifier", "TEXT",
		"first column (default: release of the kernel)"},
	{OPTION_NOFRAG, 0, "nofrag", NULL, "write the files one after another"},
	{OPTION_DIRECTIO, 0, "directio", NULL, "O_DIRECT in all phases"},
	{OPTION_FLUSH, 0, "flushCaches", NULL,
		"drop the whole page cache between phases, not only that of the files "
		"(root)"},
	{OPTION_TIMEOUT, 0, "timeout", "SECONDS",
		"begin no further combination after it"},
	{OPTION_PROGRESS, 0, "progress", NULL,
		"accepted; progress is shown unless --no-progress is given"},
	{OPTION_DEBUG, 0, "debug", "LEVEL", "accepted; see --verbose"},
	{OPTION_DUMP, 0, "dump", NULL, "refused; see --json"},
	{OPTION_RAW, 0, "raw", NULL,
		"the targets are devices, scratch or leased, and are overwritten"},
	{OPTION_FORMAT, 0, "format", "NAME",
		"wide (as tiobench since 2020, the default), classic (as 0.3.3), tiotest "
		"or tiotest-terse"},
	{OPTION_PERCENTILES, 0, "percentiles", NULL,
		"add a table with percentiles, p50 to p99.9, and the syncs"},
	{OPTION_SEED, 0, "seed", "NUMBER", "seed of data and places; without, a new one"},
	{OPTION_SET, 0, "set", "KEY=VALUE",
		"sets a key of the workload that has no option here (repeatable)"},
	{0},
};

struct tiobench_options {
	const char **directories;
	size_t directory_count;
	struct strbuf sizes, blocks, threads; /* lists, empty: the default */
	const char *identifier;
	enum tiobench_format format;
	bool tiotest, percentiles;
	enum tiotest_format tiotest_format;
};

static void options_deinit(struct tiobench_options *o)
{
	free(o->directories);
	strbuf_deinit(&o->sizes);
	strbuf_deinit(&o->blocks);
	strbuf_deinit(&o->threads);
}

static int add_directory(struct tiobench_options *o, const char *path, struct err *e)
{
	const char **more =
		reallocarray(o->directories, o->directory_count + 1, sizeof(*more));

	if (!more)
		return err_set(e, ENOMEM, "directories");
	o->directories = more;
	o->directories[o->directory_count++] = path;
	return 0;
}

/* The options that set a key of the workload; lists are collected first. */
static int set_key(struct bench *b, struct tiobench_options *o, int id, const char *value,
	struct err *e)
{
	switch (id) {
	case OPTION_SIZE: /* "64" is megabytes here */
		strbuf_addf(&o->sizes, " %s%s", value,
			*value && !value[strspn(value, "0123456789")] ? "M" : "");
		return 0;
	case OPTION_BLOCK:
		strbuf_addf(&o->blocks, " %s", value);
		return 0;
	case OPTION_THREADS:
		strbuf_addf(&o->threads, " %s", value);
		return 0;
	case OPTION_RANDOM:
		return workload_set(b->workload, "random", value, e);
	case OPTION_NUMRUNS:
		return workload_set(b->workload, "runs", value, e);
	case OPTION_NOFRAG:
		return workload_set(b->workload, "nofrag", "yes", e);
	case OPTION_DIRECTIO:
		return workload_set(b->workload, "direct", "yes", e);
	case OPTION_TIMEOUT:
		return workload_set(b->workload, "timeout", value, e);
	default:
		return bench_set(b->workload, value, e);
	}
}

static int parse_format(struct tiobench_options *o, const char *value, struct err *e)
{
	bool terse = !strcmp(value, "tiotest-terse");

	o->tiotest = terse || !strcmp(value, "tiotest");
	o->tiotest_format = terse ? TIOTEST_TERSE : TIOTEST_BOX;
	return o->tiotest ? 0 : tiobench_format_parse(value, &o->format, e);
}

static int apply(struct bench *b, struct tiobench_options *o, int id, const char *value,
	struct err *e)
{
	switch (id) {
	case OPTION_TARGET:
	case OPTION_DIR:
		return add_directory(o, value, e);
	case OPTION_IDENTIFIER:
		o->identifier = value;
		return 0;
	case OPTION_FLUSH:
		b->drop_caches = true;
		return 0;
	case OPTION_PROGRESS:
	case OPTION_DEBUG:
		return 0;
	case OPTION_DUMP:
		return err_usage(e, "--dump is not supported; --json has all numbers");
	case OPTION_RAW:
		b->raw = true;
		return workload_set(b->workload, "raw", "yes", e);
	case OPTION_FORMAT:
		return parse_format(o, value, e);
	case OPTION_PERCENTILES:
		o->percentiles = true;
		return 0;
	case OPTION_SEED:
		b->seed = value;
		return 0;
	default:
		return set_key(b, o, id, value, e);
	}
}

static int set_list(
	struct bench *b, const char *key, const struct strbuf *list, struct err *e)
{
	if (strbuf_failed(list))
		return err_set(e, ENOMEM, "%s", key);
	return list->length ? workload_set(b->workload, key, strbuf_text(list), e) : 0;
}

static int parse(struct cli *cli, struct option_parser *p, struct bench *b,
	struct tiobench_options *o, struct err *e)
{
	const char *value;
	size_t operands;
	int id, r = 0;

	while (!r && (id = option_next(p, &value, e)) != 0)
		r = id < 0 ? id : apply(b, o, id, value, e);
	if (r)
		return r;
	option_operands(p, &operands);
	if (operands)
		return err_usage(e, "name directories with --target");
	if (!o->directory_count)
		r = add_directory(o, ".", e);
	if (!o->sizes.length)
		log_line(cli_log(cli), LOG_NOTE,
			"no size given: twice the memory is used");
	if (!r)
		r = set_list(b, "size", &o->sizes, e);
	if (!r)
		r = set_list(b, "block", &o->blocks, e);
	if (!r)
		r = set_list(b, "threads", &o->threads, e);
	b->directories = o->directories;
	b->directory_count = o->directory_count;
	return r;
}

static int print(struct cli *cli, const struct tiobench_options *o,
	const struct result_run *run, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};
	struct utsname system;
	int r = 0;

	if (cli_json(cli))
		return bench_print_json(run, e);
	if (uname(&system))
		return err_set(e, errno, "uname");
	if (o->tiotest) {
		render_tiotest(run, o->tiotest_format, &b);
	} else {
		render_tiobench_units(o->format, &b);
		render_tiobench(run, o->identifier ? o->identifier : system.release,
			o->format, &b);
	}
	if (o->percentiles) {
		strbuf_add(&b, "\n");
		r = render_phases(run, &b, e);
	}
	if (!r && strbuf_failed(&b))
		r = err_set(e, ENOMEM, "print results");
	if (!r)
		fputs(strbuf_text(&b), stdout);
	return r;
}

static int tiobench(struct cli *cli, struct option_parser *p, struct err *e)
{
	_cleanup_(result_run_deinit) struct result_run run = {0};
	_cleanup_(options_deinit) struct tiobench_options o = {0};
	_cleanup_(workload_freep) struct workload *workload = NULL;
	struct bench b = {0};
	int r = workload_new(&workload, workload_type_find("tiobench"), "tiobench", e);

	b.workload = workload;
	if (!r)
		r = parse(cli, p, &b, &o, e);
	if (!r)
		r = bench_run(cli, &b, &run, e);
	cli_progress_done(cli);
	return r ? r : print(cli, &o, &run, e);
}

static void offer(int id, struct strbuf *words)
{
	if (id != OPTION_FORMAT)
		return;
	for (size_t i = 0; tiobench_format_words[i]; i++)
		strbuf_addf(words, " %s", tiobench_format_words[i]);
	strbuf_add(words, " tiotest tiotest-terse");
}

const struct command command_tiobench = {
	.name = "tiobench",
	.arguments = "[--target DIR] [--size MB] [--threads N] [options]",
	.summary = "tiobench: its options, its report, in directories",
	.options = options,
	.flags = COMMAND_JSON,
	.offer = offer,
	.run = tiobench,
};
