/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * iozone's lines; see render_iozone.h.  Their blanks and tabs differ from kind to kind,
 * and programs that read them count on that.
 */

#include "report/render_iozone.h"

#include <string.h>

#include "report/layouts.h"

static const struct {
	const char *title, *end;
	int width; /* of the number of children before it */
} kinds[] = {
	{"initial writers", " \t= ", 2},
	{"rewriters", " \t= ", 2},
	{"readers", " \t\t= ", 2},
	{"re-readers", " \t= ", 1},
	{"random readers", " \t= ", 1},
	{"random writers", " \t= ", 1},
};

static double kilobytes(const struct result_phase *phase, const char *metric)
{
	const struct result_metric *m = result_phase_metric(phase, metric);

	return m ? m->value / 1024 : 0;
}

static void add_see(const struct result_phase *phase, const char *who, const char *metric,
	struct strbuf *out)
{
	unsigned children = phase->counters.threads;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(phase->title, kinds[i].title))
			continue;
		strbuf_addf(out, "\t%s throughput for %*u %s%s%10.2f kB/sec\n", who,
			kinds[i].width, children, kinds[i].title, kinds[i].end,
			kilobytes(phase, metric));
	}
}

static void add_phase(const struct result_phase *phase, struct strbuf *out)
{
	add_see(phase, "Children see", "children", out);
	add_see(phase, "Parent sees", "parent", out);
	strbuf_addf(out, "\tMin throughput per process \t\t\t= %10.2f kB/sec \n",
		kilobytes(phase, "child_min"));
	strbuf_addf(out, "\tMax throughput per process \t\t\t= %10.2f kB/sec\n",
		kilobytes(phase, "child_max"));
	strbuf_addf(out, "\tAvg throughput per process \t\t\t= %10.2f kB/sec\n",
		kilobytes(phase, "child_avg"));
	strbuf_addf(out, "\tMin xfer \t\t\t\t\t= %10.2f kB\n\n",
		kilobytes(phase, "min_xfer"));
}

void render_iozone(const struct result_run *run, struct strbuf *out)
{
	for (size_t i = 0; i < run->phase_count; i++) {
		const struct result_counters *c = &run->phases[i].counters;

		if (!i || c->threads != run->phases[i - 1].counters.threads)
			strbuf_addf(out,
				"\tThroughput test with %u process%s\n"
				"\tEach process writes a %llu kByte file in %llu kByte "
				"records\n\n",
				c->threads, c->threads == 1 ? "" : "es",
				(unsigned long long)(c->requested_bytes /
						     MAX(c->threads, 1u) / 1024),
				(unsigned long long)(c->block_bytes / 1024));
		add_phase(&run->phases[i], out);
	}
}

static void add_run(
	const struct result_run *run, const char *identifier _unused_, struct strbuf *out)
{
	render_iozone(run, out);
}

static bool has_children(const struct result_run *run)
{
	for (size_t i = 0; i < run->phase_count; i++)
		if (!result_phase_metric(&run->phases[i], "children"))
			return false;
	return true;
}

const struct report_layout report_layout_iozone = {
	.name = "iozone",
	.type = "throughput",
	.each_run = true,
	.has = has_children,
	.lacks = " with the figures of its children",
	.render = add_run,
};
