/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Advice as text: facts with their source, bounds with their assumptions. */

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "advise/advice.h"
#include "core/clock.h"
#include "core/units.h"
#include "core/wrap.h"

enum { LABEL_WIDTH = 17 };

static void add(struct strbuf *out, const char *label, const char *fmt, ...)
	_printf_(3, 4);

static void add(struct strbuf *out, const char *label, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	strbuf_addf(out, "%-*s", LABEL_WIDTH, label);
	if (!text)
		out->failed = true;
	else
		wrap_text(out, text, LABEL_WIDTH, LABEL_WIDTH);
}

static const char *duration(double ns, char out[static 24])
{
	units_format_duration((uint64_t)MAX(ns, 0.0), out);
	return out;
}

static void add_volume(const struct advice *a, struct strbuf *out)
{
	const struct inventory_item *v = a->volume;
	char size[16];

	units_format_bytes(a->journal_bytes, size);
	add(out, "Volume:", "%s, %s, mounted on %s (%s)", v->identity.path, a->type,
		a->mounted_on, a->options);
	if (a->journal)
		add(out, "Journal:", "external on %s, %s%s", a->journal->identity.path, size,
			v->shares_disk == DEVICE_YES
				? ", which lies on the same disk as the volume"
				: "");
	else
		add(out, "Journal:", "inline, %s", size);
}

static void add_commits(const struct advice *a, struct strbuf *out)
{
	const struct watch *w = &a->watch;
	const struct commits_sum *t = &w->trace;
	double n = (double)MAX(t->count, UINT64_C(1));
	char watched[24], mean[24], longest[24], locked[24], flushing[24], logging[24];

	add(out, "Watched:", "%s%s", duration((double)w->elapsed_ns, watched),
		w->stopped ? ", then stopped" : "");
	add(out, "Commits:", "%" PRIu64 ", %.3g a second; %" PRIu64 " asked for by syncs",
		w->commits,
		(double)w->commits * NS_PER_S / (double)MAX(w->elapsed_ns, UINT64_C(1)),
		w->requested);
	if (w->traced && t->count)
		add(out, "A commit waits:",
			"%s on average, at most %s: %s for the transaction to close, %s for data, "
			"%s for its log (traced)",
			duration((double)(t->locked_ns + t->flushing_ns + t->logging_ns) / n,
				mean),
			duration((double)t->longest_ns, longest),
			duration((double)t->locked_ns / n, locked),
			duration((double)t->flushing_ns / n, flushing),
			duration((double)t->logging_ns / n, logging));
	else if (w->commits)
		add(out, "A commit waits:",
			"about %s: jbd2's own sliding mean, data and log together",
			duration(w->commit_ns, mean));
	if (w->traced)
		add(out, "Journal full:", "%" PRIu64 " times somebody had to empty it to go on",
			t->full);
	else
		add(out, "Journal full:", "unknown: jbd2 counts it nowhere, and %s", w->untraced);
	if (t->lost)
		add(out, "", "(the tracer lost %" PRIu64 " events: traced figures are of the "
			"last %s only)", t->lost, duration((double)t->covered_ns, watched));
}

static void add_cost(const struct advice *a, struct strbuf *out)
{
	char low[16], high[16];

	if (isnan(a->volume_busy))
		add(out, "Device time:", "the kernel counts none for this device");
	else
		add(out, "Device time:", "the device of the volume was at work %.1f %% of the "
			"time, with all that it does", 100 * a->volume_busy);
	if (a->journal && !isnan(a->journal_busy))
		add(out, "", "the device of the journal %.1f %%: that is the journal, if nothing "
			"else lies on it", 100 * a->journal_busy);
	if (a->watch.traced)
		add(out, "For the log:", "%s%.1f %% of the time: so long commits wrote it%s",
			a->journal ? "" : "at most ", 100 * a->logging.high,
			a->journal ? " (with the flush of the volume's device that comes before "
				     "the record)"
				   : "");
	else
		add(out, "For the log:", "at most %.1f %% of the time, at least %.1f %% waiting "
			"for it: from jbd2's means since the mount, which are rounded to ticks",
			100 * a->logging.high, 100 * a->logging.low);
	if (!a->journal)
		add(out, "", "how much of this the device worked cannot be told: the block layer "
			"counts an inline journal together with the data");
	units_format_bytes((uint64_t)a->log_bytes.low, low);
	units_format_bytes((uint64_t)a->log_bytes.high, high);
	if (a->log_bytes.low < a->log_bytes.high)
		add(out, "Written to it:", "%s to %s", low, high);
	else if (isnan(a->log_bytes_share))
		add(out, "Written to it:", "%s", high);
	else
		add(out, "Written to it:", "%s, %.1f %% of all that was written", high,
			100 * a->log_bytes_share);
	if (volume_has_feature(&a->volume->volume, "fast_commit"))
		add(out, "", "(fast commits are on; jbd2 does not count them, so they are in none "
			"of these figures)");
}

static void add_bound(const struct advice *a, struct strbuf *out)
{
	if (a->journal) {
		add(out, "Saving:", "none by an external journal: it is external");
		return;
	}
	if (!a->watch.commits) {
		add(out, "Saving:", "nothing: there was no commit in this time");
		return;
	}
	if (isinf(a->speed_limit)) {
		add(out, "Saving:", "no bound can be given from these counters%s",
			a->watch.traced ? "" : "; with root and tracefs there is one");
	} else {
		add(out, "Saving:", "an external journal saves at most %.1f %% of the time; who "
			"waits for commits all the time gets at most %.3g times as fast",
			100 * a->logging.high, a->speed_limit);
	}
	if (a->commit_left > 0.005)
		add(out, "", "a single commit takes at least %.0f %% of what it takes now",
			100 * a->commit_left);
	add(out, "Assumes:", "a journal device that needs no time at all; everything else takes "
		"as long as now; the load stays as it was");
	if (a->volume->identity.rotational != DEVICE_NO)
		add(out, "", "not in it: on a rotating disk the head's way back to the data after "
			"each of the %" PRIu64 " commits would be saved, too", a->watch.commits);
	add(out, "", "this is a bound, no forecast: the flush of the volume's device stays, and "
		"is in what is said to be saved");
}

static void add_size(const struct advice *a, struct strbuf *out)
{
	char wanted[16], home[24];

	if (!a->size_bytes) {
		add(out, "Size:", "nothing was committed, so nothing can be said");
		return;
	}
	units_format_bytes(a->size_bytes, wanted);
	if (a->size_bytes <= a->journal_bytes)
		add(out, "Size:", "what there is suffices; %s would do", wanted);
	else
		add(out, "Size:", "%s", wanted);
	add(out, "", "(a rule: what is logged at %s in the %s after which the kernel writes "
		"metadata home by itself, and half as much again for the transaction that runs)",
		a->size_is_bound ? "the highest rate that jbd2's means allow"
				 : "the rate of the busiest 5s",
		duration((double)a->home_ns, home));
}

void advice_text(const struct advice *a, struct strbuf *out)
{
	add_volume(a, out);
	add_commits(a, out);
	add_cost(a, out);
	add_bound(a, out);
	add_size(a, out);
	strbuf_add(out, "\nThe experiment that would show it:\n\n");
	advice_experiment(a, out);
}
