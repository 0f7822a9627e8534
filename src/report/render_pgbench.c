/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Transactions; see render_pgbench.h.  Times have three significant digits, because on
 * fast devices they are fractions of a millisecond. */

#include "report/render_pgbench.h"

#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "report/layouts.h"

enum { TEXT = 24 };

static const struct result_phase *find(
	const struct result_run *run, const char *kind, unsigned clients)
{
	char name[TEXT];

	snprintf(name, sizeof(name), "%s/t%u", kind, clients);
	for (size_t i = 0; i < run->phase_count; i++)
		if (!strcmp(run->phases[i].name, name))
			return &run->phases[i];
	return NULL;
}

static void add_tps(const struct result_phase *phase, struct strbuf *out)
{
	const struct result_metric *m =
		phase ? result_phase_metric(phase, "operations") : NULL;

	if (m)
		strbuf_addf(out, " %9.0f", m->value);
	else
		strbuf_addf(out, " %9s", "-");
}

static void add_percentile(const struct hist *h, double q, struct strbuf *out)
{
	double ms = (double)hist_quantile_ns(h, q) / NS_PER_MS;

	strbuf_addf(out, " %8.*f", ms >= 100 ? 0 : ms >= 10 ? 1 : ms >= 1 ? 2 : 3, ms);
}

static void add_row(const struct result_run *run, unsigned clients, struct strbuf *out)
{
	static const double quantiles[] = {.50, .80, .90, .95};
	const struct result_phase *both = find(run, "wal", clients);
	const struct result_phase *reads = find(run, "wal-readonly", clients);
	const struct hist *h = both ? both->latency : reads ? reads->latency : NULL;

	strbuf_addf(out, "%7u", clients);
	add_tps(both, out);
	add_tps(reads, out);
	for (size_t i = 0; h && i < ARRAY_SIZE(quantiles); i++)
		add_percentile(h, quantiles[i], out);
	strbuf_add(out, "\n");
}

void render_pgbench(const struct result_run *run, struct strbuf *out)
{
	strbuf_addf(out, "%27s Service Time Percentile, millis\n", "");
	strbuf_add(out, "Clients   R/W TPS   R-O TPS     50th     80th     90th     95th\n");
	for (size_t i = 0; i < run->phase_count; i++) {
		const struct result_phase *p = &run->phases[i];
		bool both = !strncmp(p->name, "wal/", 4);
		bool reads = !strncmp(p->name, "wal-readonly/", 13);

		/* Read-only ones have a row of their own only when they are alone. */
		if (both || (reads && !find(run, "wal", p->counters.threads)))
			add_row(run, p->counters.threads, out);
	}
}

static void add_run(
	const struct result_run *run, const char *identifier _unused_, struct strbuf *out)
{
	render_pgbench(run, out);
}

static bool has_transactions(const struct result_run *run)
{
	for (size_t i = 0; i < run->phase_count; i++)
		if (!strncmp(run->phases[i].name, "wal", 3))
			return true;
	return false;
}

const struct report_layout report_layout_pgbench = {
	.name = "pgbench",
	.type = "commit",
	.has = has_transactions,
	.lacks = " with transactions (kind wal)",
	.render = add_run,
};
