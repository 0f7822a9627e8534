/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A running experiment; see report_watch.h.  Once in a second the size of runs.jsonl is
 * looked at: only a new result costs a new report.  Bundles are written so that they can
 * be read at any moment; nothing is locked and nothing written here.
 */

#include "cli/report_watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/run_state.h"
#include "cli/signals.h"
#include "core/printable.h"
#include "report/cells.h"
#include "report/format.h"
#include "report/report.h"

enum { PHASES_MAX = 4, SLACK = 2 };

struct watch {
	const char *path;
	bool terminal;
	size_t printed;		 /* results that have had their line */
	size_t seen;		 /* results in the bundle, while they are counted */
	off_t size;		 /* of runs.jsonl when it was read last */
	struct strbuf overview;	 /* of the report at that time */
	unsigned ended;		 /* looks in a row at which nobody worked on it */
};

static off_t size_of_runs(const struct watch *w)
{
	_cleanup_free_ char *path = NULL;
	struct stat st;

	if (asprintf(&path, "%s/runs.jsonl", w->path) < 0)
		path = NULL;
	return path && !stat(path, &st) ? st.st_size : -1;
}

static const struct result_metric *main_metric(const struct result_phase *phase)
{
	const struct result_metric *rate = result_phase_metric(phase, "rate");

	if (!rate)
		rate = result_phase_metric(phase, "operations");
	return rate || !phase->metric_count ? rate : &phase->metrics[0];
}

static void print_phase(const struct result_phase *phase, bool first)
{
	const struct result_metric *m = main_metric(phase);
	struct report_cell cell = {.type = CELL_MISSING};
	char text[CELL_TEXT_MAX];

	if (m)
		cell = (struct report_cell){.type = report_unit_cell(m->unit), .number = m->value};
	printf("%s %s %s", first ? "" : ",", phase->name, format_cell(&cell, text));
}

/* "block 2, arm ssd, dd: write 105 MiB/s, read 1.43 GiB/s" */
static int print_run(void *data, struct result_run *run, struct err *e _unused_)
{
	static const char *const stages[] = {[STAGE_MEASURE] = "",
		[STAGE_WARMUP] = "warm-up, ", [STAGE_CALIBRATE] = "calibration, "};
	struct watch *w = data;

	if (w->seen++ < w->printed)
		return 0;
	printf("%sblock %u, arm %s, %s:", stages[run->stage], run->block + 1, run->arm,
		run->workload);
	for (size_t i = 0; i < run->phase_count && i < PHASES_MAX; i++)
		print_phase(&run->phases[i], !i);
	if (run->phase_count > PHASES_MAX)
		printf(", and %zu more", run->phase_count - PHASES_MAX);
	putchar('\n');
	return 0;
}

static int print_new_runs(struct watch *w, struct err *e)
{
	_cleanup_(bundle_deinit) struct bundle bundle = {0};
	int r = bundle_load(&bundle, w->path, e);

	w->seen = 0;
	if (!r)
		r = bundle_each_run(&bundle, print_run, w, e);
	w->printed = w->seen;
	return r;
}

static int make_overview(struct watch *w, struct err *e)
{
	_cleanup_(report_deinit) struct report report = {0};
	int r = report_load(&report, w->path, e);

	strbuf_deinit(&w->overview);
	if (!r)
		r = render_overview(&report, &w->overview, e);
	printable_make(&w->overview);
	return r;
}

/* A line that would wrap pushes the others off; what does not fit is not drawn. */
static void draw_line(const char *text, size_t length, size_t columns)
{
	printf("%.*s\033[K\n", (int)printable_cut(text, MIN(length, columns)), text);
}

static void draw(const struct watch *w, const char *where)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	const char *line = strbuf_text(&w->overview);
	size_t rows, columns;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	rows = size.ws_row > SLACK ? size.ws_row - SLACK : 22;
	columns = size.ws_col ? size.ws_col : 80;
	fputs("\033[H", stdout);
	for (size_t row = 1; *line && row < rows; row++) {
		size_t length = strcspn(line, "\n");

		draw_line(line, length, columns);
		line += length + (line[length] == '\n');
	}
	draw_line(where, strlen(where), columns);
	fputs("\033[J", stdout);
}

/* Does anybody see it still?  A pipe may have lost its reader, or a terminal be gone. */
static int check_output(struct err *e)
{
	struct pollfd out = {.fd = STDOUT_FILENO};

	if (fflush(stdout) || ferror(stdout))
		return err_set(e, errno, "write to standard output");
	if (poll(&out, 1, 0) > 0 && out.revents & POLLERR)
		return err_set(e, EPIPE, "write to standard output");
	return 0;
}

static int look(struct watch *w, const char *where, struct err *e)
{
	off_t size = size_of_runs(w);
	int r = 0;

	if (size != w->size) {
		r = w->terminal ? make_overview(w, e) : print_new_runs(w, e);
		w->size = size;
	}
	if (!r && w->terminal)
		draw(w, where);
	return r ? r : check_output(e);
}

/* What it has come to. */
static int finish(struct watch *w, struct err *e)
{
	_cleanup_(bundle_deinit) struct bundle bundle = {0};
	_cleanup_(strbuf_deinit) struct strbuf reason = {0};
	int r = w->terminal ? 0 : print_new_runs(w, e);

	if (!r)
		r = make_overview(w, e);
	if (!r)
		r = bundle_load(&bundle, w->path, e);
	if (r)
		return r;
	printable_add(&reason, bundle.info.reason);
	if (w->terminal)
		fputs("\033[H\033[J", stdout);
	fputs(strbuf_text(&w->overview), stdout);
	if (bundle.info.state == BUNDLE_RUNNING)
		printf("The run ended without a word; jbdlab run --resume %s goes on.\n",
			w->path);
	else
		printf("The run is %s%s%s.\n", bundle_state_word(bundle.info.state),
			*bundle.info.reason ? ": " : "", strbuf_text(&reason));
	return 0;
}

/* Twice in a row: between two processes that carry out a run nobody may hold it. */
static bool has_ended(struct watch *w, struct strbuf *where)
{
	w->ended = run_state_read(w->path, where) ? 0 : w->ended + 1;
	return w->ended > 1;
}

int report_watch(const char *bundle, struct err *e)
{
	const volatile sig_atomic_t *stop = signals_catch();
	const struct timespec second = {.tv_sec = 1};
	_cleanup_(strbuf_deinit) struct strbuf where = {0};
	struct watch w = {
		.path = bundle, .terminal = isatty(STDOUT_FILENO), .size = -2};
	int r = 0;

	if (w.terminal)
		fputs("\033[2J", stdout);
	while (!r && !*stop && !has_ended(&w, &where)) {
		r = look(&w, strbuf_text(&where), e);
		strbuf_deinit(&where);
		if (!r && !*stop)
			nanosleep(&second, NULL);
	}
	if (!r && *stop)
		r = err_interrupted(e, *stop);
	else if (!r)
		r = finish(&w, e);
	strbuf_deinit(&w.overview);
	return r;
}
