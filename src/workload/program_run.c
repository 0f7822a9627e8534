/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The run of a command; see program.h.
 *
 *	directories -> setup -> sync, drop caches -> exec, measured -> cleanup -> figures
 *
 * The directories are removed on every way out, after every process of the program has
 * been ended, so that nothing writes into them any more.  What was printed is kept in the
 * bundle, also of a run that failed.
 */

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "core/fileio.h"
#include "core/process.h"
#include "core/strbuf.h"
#include "core/supervise.h"
#include "core/units.h"
#include "workload/program.h"
#include "workload/files.h"
#include "workload/trees.h"

enum { OUTPUT_LIMIT = 4 << 20, TAIL_LINES = 5, TAIL_COLUMNS = 160 };

/* Variables of ours, in the environment of the program and in its command line. */
enum own_variable { OWN_DIR, OWN_LAST_DIR, OWN_DIRS, OWN_OUT, OWN_COMMANDS, OWN_SEED,
	OWN_VARIABLES };
static const char *const own_names[OWN_VARIABLES] = {
	[OWN_DIR] = "JBDLAB_DIR",
	[OWN_LAST_DIR] = "JBDLAB_LAST_DIR",
	[OWN_DIRS] = "JBDLAB_DIRS",
	[OWN_OUT] = "JBDLAB_OUT",
	[OWN_COMMANDS] = "JBDLAB_COMMANDS",
	[OWN_SEED] = "JBDLAB_SEED",
};

struct program_job {
	const struct program *c;
	struct supervise_user user;
	const struct workload_env *env;
	char *own[OWN_VARIABLES];
	char **environment; /* NULL-ended */
	uint64_t timeout_ns;
	struct result_run *run;
	struct result_phase *phase; /* of the metric that was read last */
	struct program_output output;
};

static void job_deinit(struct program_job *job)
{
	for (size_t i = 0; i < OWN_VARIABLES; i++)
		free(job->own[i]);
	program_words_free(job->environment);
}

static const char *lookup(const void *data, const char *name)
{
	const struct program_job *job = data;

	for (size_t i = 0; i < OWN_VARIABLES; i++)
		if (!strcmp(name, own_names[i]))
			return job->own[i] ? job->own[i] : "";
	return program_variable(job->c, name);
}

int program_check_lines(const struct program *c, struct err *e)
{
	static const struct {
		enum program_field field;
		const char *key;
	} lines[] = {{PROGRAM_SETUP, "setup"}, {PROGRAM_EXEC, "exec"},
		{PROGRAM_CLEANUP, "cleanup"}};
	const struct program_job job = {.c = c};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		const char *line = program_field(c, lines[i].field);
		char **argv = NULL;
		int r = line && *line ? program_words(line, lookup, &job, &argv, e) : 0;

		program_words_free(argv);
		if (r)
			return err_wrap(e, r, "%s", lines[i].key);
	}
	return 0;
}

static int add_to_environment(
	struct program_job *job, size_t *count, const char *name, const char *value)
{
	char **more = reallocarray(job->environment, *count + 2, sizeof(*more));

	if (!more)
		return -ENOMEM;
	job->environment = more;
	more[*count + 1] = NULL;
	if (asprintf(&more[*count], "%s=%s", name, value) < 0) {
		more[*count] = NULL;
		return -ENOMEM;
	}
	++*count;
	return 0;
}

static int fill_environment(struct program_job *job, struct err *e)
{
	const struct program_settings *const both[] = {&job->c->shipped, &job->c->own};
	size_t count = 0;
	int r = 0;

	for (size_t i = 0; !r && i < OWN_VARIABLES; i++)
		r = add_to_environment(
			job, &count, own_names[i], job->own[i] ? job->own[i] : "");
	/* The later of two with one name wins: the plan's. */
	for (size_t i = 0; i < ARRAY_SIZE(both); i++)
		for (size_t k = 0; !r && k < both[i]->variable_count; k++)
			r = add_to_environment(job, &count, both[i]->variables[k].name,
				both[i]->variables[k].value);
	return r ? err_set(e, ENOMEM, "environment of a command") : 0;
}

static int fill_own(struct program_job *job, const struct trees *trees, const char *out,
	struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf all = {0};

	for (size_t i = 0; i < trees->count; i++) {
		char path[PATH_MAX];

		if (!realpath(trees->paths[i], path))
			return err_set(e, errno, "directory %s", trees->paths[i]);
		strbuf_addf(&all, "%s%s", i ? ":" : "", path);
		if (!i)
			job->own[OWN_DIR] = strdup(path);
		if (i + 1 == trees->count)
			job->own[OWN_LAST_DIR] = strdup(path);
	}
	job->own[OWN_DIRS] = strbuf_take(&all);
	job->own[OWN_OUT] = realpath(out, NULL);
	if (!job->own[OWN_OUT])
		return err_set(e, errno, "directory %s", out);
	job->own[OWN_COMMANDS] = strdup(job->c->directory ? job->c->directory : "");
	/* Programs keep seeds in an int, and some take 0 for "random". */
	if (asprintf(&job->own[OWN_SEED], "%llu",
		    (unsigned long long)(job->env->seed % INT32_MAX + 1)) < 0)
		job->own[OWN_SEED] = NULL;
	for (size_t i = 0; i < OWN_VARIABLES; i++)
		if (!job->own[i])
			return err_set(e, ENOMEM, "environment of a command");
	return fill_environment(job, e);
}

/* The last lines of a stream, fit for a terminal. */
static void add_tail(struct strbuf *b, const char *stream)
{
	const char *text = process_tail(stream, TAIL_LINES);
	size_t column = 0;

	if (*text && b->length)
		strbuf_add(b, "\n");
	for (; *text; text++) {
		char c = *text;

		if (c == '\n' && !text[1])
			break;
		column = c == '\n' ? 0 : column + 1;
		if (column > TAIL_COLUMNS)
			continue;
		if (c != '\n' && c != '\t' && !isprint((unsigned char)c))
			c = '?';
		strbuf_addn(b, &c, 1);
	}
}

/* Of both: which of them has the reason differs from program to program. */
static char *tail_of(const struct supervise_outcome *o)
{
	struct strbuf b = {0};

	add_tail(&b, o->output);
	add_tail(&b, o->errors);
	if (!b.length)
		strbuf_add(&b, "(nothing)");
	return strbuf_take(&b);
}

/* What became of the program, as an error if it was no good end. */
static int judge_end(const struct program_job *job, const char *program,
	const struct supervise_outcome *o, struct err *e)
{
	_cleanup_free_ char *tail = tail_of(o);
	const char *last = tail ? tail : "";
	char limit[24];

	switch (o->end) {
	case SUPERVISE_STOPPED:
		return err_interrupted(e, *job->env->stop);
	case SUPERVISE_TIMEOUT:
		units_format_duration(job->timeout_ns, limit);
		return err_say(e, ETIMEDOUT,
			"%s did not end within %s (\"timeout\") and was ended; its last "
			"lines:\n%s",
			program, limit, last);
	case SUPERVISE_FLOODED:
		return err_say(e, EFBIG,
			"%s printed more than %d MiB and was ended; its last lines:\n%s",
			program, OUTPUT_LIMIT >> 20, last);
	case SUPERVISE_EXITED:
		break;
	}
	if (o->signal)
		return err_say(e, EIO,
			"%s was killed by signal %d (%s); its last lines:\n%s", program,
			o->signal, strsignal(o->signal), last);
	if (o->status)
		return err_say(e, EIO, "%s ended with status %d; its last lines:\n%s",
			program, o->status, last);
	return 0;
}

static int keep_text(const struct program_job *job, const char *name, const char *suffix,
	const char *text, size_t bytes, struct err *e)
{
	_cleanup_free_ char *path = NULL;

	if (!bytes)
		return 0;
	if (asprintf(&path, "%s/%s%s", job->env->keep, name, suffix) < 0) {
		path = NULL;
		return err_set(e, ENOMEM, "keep the output");
	}
	return fileio_write_durable(path, text, bytes, 0644, e);
}

/* The command line as it was run, and what it printed. */
static int keep_output(const struct program_job *job, const char *name,
	char *const argv[], const struct supervise_outcome *o, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf line = {0};
	int r;

	if (!job->env->keep)
		return 0;
	for (size_t i = 0; argv[i]; i++)
		strbuf_addf(&line, "%s\n", argv[i]);
	if (strbuf_failed(&line))
		return err_set(e, ENOMEM, "keep the output");
	r = keep_text(job, name, ".command", strbuf_text(&line), line.length, e);
	if (!r)
		r = keep_text(job, name, ".stdout", o->output, o->output_bytes, e);
	return r ? r : keep_text(job, name, ".stderr", o->errors, o->errors_bytes, e);
}

static int run_program(const struct program_job *job, const char *name, char **argv,
	const struct workload_observer *observer, struct result_evidence *evidence,
	struct supervise_outcome *o, struct err *e)
{
	const struct supervise_job program = {
		.argv = (const char *const *)argv,
		.environment = (const char *const *)job->environment,
		.directory = job->own[OWN_DIR],
		.user = job->user,
		.rights = PRIVILEGE_COMMAND,
		.timeout_ns = job->timeout_ns,
		.output_limit = OUTPUT_LIMIT,
		/* A cleanup must run whatever has happened. */
		.stop = strcmp(name, "cleanup") ? job->env->stop : NULL,
	};
	_cleanup_(err_clear) struct err late = {0};
	int r, kept;

	if (observer)
		observer->begin(observer->data);
	r = supervise_run(&program, o, e);
	if (observer)
		observer->end(observer->data, evidence);
	if (r)
		return r;
	if (o->left_over)
		log_line(job->env->log, LOG_WARNING,
			"%s left %u process%s behind, which %s killed", argv[0],
			o->left_over, o->left_over == 1 ? "" : "es",
			o->left_over == 1 ? "was" : "were");
	r = judge_end(job, argv[0], o, e);
	kept = keep_output(job, name, argv, o, r ? &late : e);
	if (r && kept)
		log_line(job->env->log, LOG_WARNING, "%s", err_message(&late));
	return r ? r : kept;
}

/* One of the three command lines, if there is one. */
static int run_line(const struct program_job *job, enum program_field field,
	const char *name, const struct workload_observer *observer,
	struct result_evidence *evidence, struct supervise_outcome *o, struct err *e)
{
	const char *line = program_field(job->c, field);
	char **argv = NULL;
	int r;

	if (!line || !*line)
		return 0;
	r = program_words(line, lookup, job, &argv, e);
	if (!r)
		r = run_program(job, name, argv, observer, evidence, o, e);
	program_words_free(argv);
	return r ? err_wrap(e, r, "%s", name) : 0;
}

static struct result_phase *find_phase(struct result_run *run, const char *name)
{
	for (size_t i = 0; i < run->phase_count; i++)
		if (!strcmp(run->phases[i].name, name))
			return &run->phases[i];
	return NULL;
}

static int add_metric(void *data, const struct program_metric *m, struct err *e)
{
	struct program_job *job = data;
	double value = 0;
	int r = program_metric_read(m, &job->output, &value, e);

	if (r)
		return r;
	job->phase = find_phase(job->run, m->phase);
	if (!job->phase)
		r = result_run_add_phase(job->run, m->phase, m->phase, &job->phase, e);
	return r ? r
		 : result_phase_add_metric(job->phase, m->name, m->unit, m->direction,
			   value, e);
}

/* All figures of what exec printed.  A missing one is shown with what was printed. */
static int read_figures(struct program_job *job, const struct supervise_outcome *o,
	enum result_cache cache, struct err *e)
{
	_cleanup_free_ char *tail = tail_of(o), *why = NULL;
	int r;

	job->output = (struct program_output){
		.text = o->output,
		.errors = o->errors,
		.text_bytes = o->output_bytes,
		.elapsed_ns = o->wall_ns,
	};
	r = program_each_metric(job->c, add_metric, job, e);
	if (r == -ENODATA || r == -EBADMSG) {
		why = strdup(err_message(e));
		return err_say(e, -r, "%s; the last lines:\n%s", why ? why : "a figure",
			tail ? tail : "");
	}
	for (size_t i = 0; !r && i < job->run->phase_count; i++) {
		struct result_phase *phase = &job->run->phases[i];

		phase->cache = cache;
		phase->counters.wall_ns = o->wall_ns;
		phase->counters.user_ns = o->user_ns;
		phase->counters.system_ns = o->system_ns;
	}
	return r;
}

static int add_evidence(struct result_run *run, const struct result_evidence *v,
	struct err *e)
{
	struct result_evidence *copy = malloc(sizeof(*copy));

	if (!copy)
		return err_set(e, ENOMEM, "evidence");
	*copy = *v;
	/* One execution: its counters are not told apart by phase. */
	run->phases[0].evidence = copy;
	return 0;
}

static int measure(struct program_job *job, struct err *e)
{
	const struct workload_observer *observer = job->env->observer;
	struct supervise_outcome set_up = {0}, o = {0};
	struct result_evidence evidence = {0};
	enum result_cache cache = RESULT_CACHE_KEPT;
	int r = run_line(job, PROGRAM_SETUP, "setup", NULL, NULL, &set_up, e);

	supervise_outcome_deinit(&set_up);
	if (!r)
		r = trees_settle(job->env, e);
	if (!r)
		r = files_drop_caches(job->env, &cache, e);
	if (!r)
		r = run_line(job, PROGRAM_EXEC, "exec", observer, &evidence, &o, e);
	if (!r)
		r = read_figures(job, &o, cache, e);
	if (!r && observer)
		r = add_evidence(job->run, &evidence, e);
	supervise_outcome_deinit(&o);
	return r;
}

static int clean_up(struct program_job *job, int failed, struct err *e)
{
	_cleanup_(supervise_outcome_deinit) struct supervise_outcome o = {0};
	_cleanup_(err_clear) struct err late = {0};
	int r = run_line(job, PROGRAM_CLEANUP, "cleanup", NULL, NULL, &o,
		failed ? &late : e);

	if (r && failed)
		log_line(job->env->log, LOG_WARNING, "%s", err_message(&late));
	return failed ? failed : r;
}

int program_user_read(const struct program *c, struct supervise_user *u, struct err *e)
{
	const char *name = program_field(c, PROGRAM_USER);
	const struct passwd *entry;

	*u = (struct supervise_user){0};
	if (!name || !*name)
		return 0;
	entry = getpwnam(name);
	if (!entry)
		return err_refuse(e, "there is no user \"%s\" on this machine", name);
	if (geteuid() && entry->pw_uid != getuid())
		return err_refuse(e, "to run a command as user \"%s\" needs root", name);
	*u = (struct supervise_user){name, entry->pw_uid, entry->pw_gid};
	return 0;
}

/* The directory for what is kept: in the bundle, or one that goes with us.  Another user
 * gets one beside his files: in the bundle he could lay links that we would write through. */
static int make_out(
	const struct program_job *job, struct trees **temporary, const char **out,
	struct err *e)
{
	const struct workload_env *env = job->env;
	const char *place = getenv("TMPDIR");
	struct workload_env beside = *env;
	int r;

	if (job->user.name) {
		r = env->keep ? fileio_make_dirs(env->keep, 0755, e) : 0;
		if (!r)
			r = trees_new(temporary, env, "output", 1, e);
		if (!r)
			r = trees_give(*temporary, job->user.uid, job->user.gid, e);
		if (!r)
			*out = (*temporary)->paths[0];
		return r;
	}
	if (env->keep) {
		*out = env->keep;
		return fileio_make_dirs(env->keep, 0755, e);
	}
	if (!place || !*place)
		place = "/tmp";
	beside.directories = &place;
	beside.directory_count = 1;
	r = trees_new(temporary, &beside, "output", 1, e);
	if (!r)
		*out = (*temporary)->paths[0];
	return r;
}

int program_measure(const struct program *c, const struct workload_env *env,
	struct result_run *run, struct err *e)
{
	_cleanup_(job_deinit) struct program_job job = {
		.c = c, .env = env, .run = run, .timeout_ns = PROGRAM_TIMEOUT_NS};
	_cleanup_(trees_freep) struct trees *temporary = NULL, *trees = NULL;
	const char *limit = program_field(c, PROGRAM_TIMEOUT), *out = NULL;
	int r = limit ? units_parse_duration(limit, &job.timeout_ns, e) : 0;

	if (!r)
		r = program_user_read(c, &job.user, e);
	if (!r)
		r = make_out(&job, &temporary, &out, e);
	if (!r)
		r = trees_new(&trees, env, "command", env->directory_count, e);
	if (!r && job.user.name)
		r = trees_give(trees, job.user.uid, job.user.gid, e);
	if (!r)
		r = fill_own(&job, trees, out, e);
	if (!r) {
		r = measure(&job, e);
		r = clean_up(&job, r, e);
	}
	return r;
}
