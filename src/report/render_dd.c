/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * dd's line; see render_dd.h.  GNU dd shows sizes with a decimal only below 10 ("2.6 GB",
 * "42 MB") but rates up to four characters ("51.0 MB/s", "521 MB/s"), sizes in powers of
 * 1000 and of 1024, and seconds as %g.
 */

#include "report/render_dd.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/units.h"
#include "report/layouts.h"

enum { TEXT = 32 };

static const char si_letters[] = "\0kMGTPE", iec_letters[] = "\0KMGTPE";

/* Divides by base until it is below it; how often. */
static unsigned scale(double *value, double base)
{
	unsigned n = 0;

	for (; *value >= base && n < sizeof(si_letters) - 2; n++)
		*value /= base;
	return n;
}

static void format_size(uint64_t bytes, bool iec, char out[TEXT])
{
	double value = (double)bytes, base = iec ? 1024 : 1000;
	unsigned n = scale(&value, base);

	if (n && value >= base - .5 && n < sizeof(si_letters) - 2) {
		value /= base; /* would be rounded to 1000 */
		n++;
	}
	snprintf(out, TEXT, "%.*f %.1s%sB", n && value < 9.95 ? 1 : 0, value,
		iec ? &iec_letters[n] : &si_letters[n], iec && n ? "i" : "");
}

static void format_rate(double bytes_per_second, char out[TEXT])
{
	double value = bytes_per_second;
	unsigned n = scale(&value, 1000);

	snprintf(out, TEXT, "%.*f %.1sB/s", value < 99.95 ? 1 : 0, value, &si_letters[n]);
}

static double seconds_of(const struct result_phase *phase)
{
	return (double)phase->counters.wall_ns / NS_PER_S;
}

/* The line of a dd whose output is all that is left of it: what it does not say is "?". */
static void add_published(const struct result_phase *phase, struct strbuf *out)
{
	const struct result_metric *m = result_phase_metric(phase, "rate");
	char rate[TEXT] = "? B/s";

	if (m)
		format_rate(m->value, rate);
	strbuf_add(out, "? bytes copied, ");
	if (result_knows(&phase->counters, RESULT_WALL))
		strbuf_addf(out, "%g s, %s", seconds_of(phase), rate);
	else
		strbuf_addf(out, "? s, %s", rate);
}

void render_dd_line(const struct result_phase *phase, struct strbuf *out)
{
	uint64_t bytes = phase->counters.bytes;
	double seconds = seconds_of(phase);
	char si[TEXT], iec[TEXT], rate[TEXT] = "Infinity B/s";

	if (phase->counters.unknown & (RESULT_BYTES | RESULT_WALL)) {
		add_published(phase, out);
		return;
	}
	format_size(bytes, false, si);
	format_size(bytes, true, iec);
	if (phase->counters.wall_ns)
		format_rate((double)bytes / seconds, rate);
	strbuf_addf(out, "%llu byte%s", (unsigned long long)bytes, PLURAL(bytes));
	if (bytes >= 1024)
		strbuf_addf(out, " (%s, %s)", si, iec);
	else if (bytes >= 1000)
		strbuf_addf(out, " (%s)", si);
	strbuf_addf(out, " copied, %g s, %s", seconds, rate);
}

static void add_syncs(const struct result_phase *phase, struct strbuf *out)
{
	const struct result_counters *c = &phase->counters;
	const struct hist *h = phase->sync_latency;
	char text[24];

	strbuf_addf(out, ", %llu sync%s", (unsigned long long)c->syncs,
		PLURAL(c->syncs));
	if (!h || !h->count)
		return;
	units_format_duration((uint64_t)hist_mean_ns(h), text);
	strbuf_addf(out, " of %s", text);
}

void render_dd_detail(const struct result_phase *phase, struct strbuf *out)
{
	const struct result_counters *c = &phase->counters;
	double seconds = seconds_of(phase);
	double rate = c->wall_ns ? (double)c->bytes / seconds : 0;
	char block[16];

	units_format_bytes(c->block_bytes, block);
	strbuf_addf(out, "%llu bytes in %.6f s: %.3f MiB/s, %.3f MB/s; %llu of %s",
		(unsigned long long)c->bytes, seconds, rate / (1 << 20), rate / 1e6,
		(unsigned long long)c->operations, block);
	if (strcmp(phase->name, "read"))
		add_syncs(phase, out);
}

void render_dd(const struct result_run *run, struct strbuf *out)
{
	for (size_t i = 0; i < run->phase_count; i++) {
		const struct result_phase *phase = &run->phases[i];

		strbuf_addf(out, "%s: ", phase->title);
		render_dd_line(phase, out);
		strbuf_addf(out, "\n%*s", (int)strlen(phase->title) + 2, "");
		render_dd_detail(phase, out);
		strbuf_add(out, "\n");
	}
}

static void add_lines(
	const struct result_run *run, const char *identifier _unused_, struct strbuf *out)
{
	for (size_t i = 0; i < run->phase_count; i++) {
		if (run->phase_count > 1)
			strbuf_addf(out, "%s: ", run->phases[i].title);
		render_dd_line(&run->phases[i], out);
		strbuf_add(out, "\n");
	}
}

const struct report_layout report_layout_dd = {
	.name = "dd",
	.type = "dd",
	.each_run = true,
	.render = add_lines,
};
