/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Watching a volume; see watch.h.
 *
 * jbd2 tells means over all transactions since the mount, rounded down.  A mean m of n of
 * them says that their total lies in [n m, n (m + step)); the difference of two such
 * totals is all that is known of the time between, and it is wide when the volume has been
 * mounted for long.  The sliding mean of the commit time is read every second and weighed
 * by the commits since.
 */

#include "advise/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "core/clock.h"
#include "core/units.h"
#include "evidence/jbd2.h"

#define LOOK_NS NS_PER_S

struct watcher {
	const struct watch_setup *setup;
	struct watch *w;
	struct commits *commits; /* NULL: nothing can be traced */
	uint64_t begun_ns;
	struct jbd2_info first, last;
	struct diskstats volume, journal; /* at the start */
	double commit_ns_sum;
};

struct watch_bound watch_between(uint64_t n0, uint64_t mean0, uint64_t n1, uint64_t mean1,
	double step)
{
	double low0 = (double)n0 * (double)mean0, low1 = (double)n1 * (double)mean1;
	struct watch_bound b = { low1 - (low0 + (double)n0 * step),
		low1 + (double)n1 * step - low0 };

	b.low = MAX(b.low, 0.0);
	b.high = n1 > n0 ? MAX(b.high, b.low) : 0;
	return n1 > n0 ? b : (struct watch_bound){ 0 };
}

static void look(struct watcher *t, const struct jbd2_info *now)
{
	uint64_t n = now->transactions - MIN(now->transactions, t->last.transactions);

	t->commit_ns_sum += (double)n * (double)now->commit_us * NS_PER_US;
	t->last = *now;
}

static bool stopped(const struct watch_setup *s)
{
	return s->stop && *s->stop;
}

static void tell_progress(const struct watcher *t, uint64_t now_ns)
{
	uint64_t spent = now_ns - t->begun_ns;
	char gone[24], all[24];

	units_format_duration(spent / NS_PER_S * NS_PER_S, gone);
	units_format_duration(t->setup->duration_ns, all);
	log_line(t->setup->log, LOG_PROGRESS, "watched %s of %s: %" PRIu64 " commits", gone,
		all, t->last.transactions - t->first.transactions);
}

/* Sleeps to the next look, shorter when a signal comes. */
static void pause_until(uint64_t end_ns)
{
	uint64_t now_ns = clock_now_ns(), left = end_ns - MIN(now_ns, end_ns);
	struct timespec ts;

	left = MIN(left, LOOK_NS);
	ts.tv_sec = (time_t)(left / NS_PER_S);
	ts.tv_nsec = (long)(left % NS_PER_S);
	nanosleep(&ts, NULL);
}

static int watch_until(struct watcher *t, uint64_t end_ns, struct err *e)
{
	struct jbd2_info now;

	do {
		pause_until(end_ns);
		if (jbd2_read(&now, t->setup->journal_name))
			return err_say(e, ENODEV,
				"the journal %s is gone: the volume was unmounted meanwhile",
				t->setup->journal_name);
		look(t, &now);
		tell_progress(t, clock_now_ns());
	} while (clock_now_ns() < end_ns && !stopped(t->setup));
	return 0;
}

static void try_to_trace(struct watcher *t)
{
	_cleanup_(err_clear) struct err e = { 0 };

	if (!commits_open(&t->commits, t->setup->volume, &e) &&
		!commits_start(t->commits, &e))
		return;
	t->commits = commits_close(t->commits);
	snprintf(t->w->untraced, sizeof(t->w->untraced), "%s", err_message(&e));
}

static void take_trace(struct watcher *t)
{
	_cleanup_(err_clear) struct err e = { 0 };

	if (!t->commits)
		return;
	t->w->traced = !commits_finish(t->commits, t->begun_ns, &t->w->trace, &e);
	snprintf(t->w->untraced, sizeof(t->w->untraced), "%s", err_message(&e));
}

static bool take_disk(struct diskstats *out, dev_t devno, const struct diskstats *before)
{
	struct diskstats now;

	if (!devno || diskstats_read(&now, devno))
		return false;
	*out = before ? diskstats_difference(before, &now) : now;
	return true;
}

/* Also of a device whose counters are switched off. */
static bool counts(dev_t devno)
{
	struct disk_facts f;

	disk_facts_read(&f, devno);
	return f.accounts;
}

static void add_up(struct watcher *t)
{
	const struct jbd2_info *a = &t->first, *b = &t->last;
	uint64_t n0 = a->transactions, n1 = b->transactions;
	double tick = JBD2_TICK_MAX_MS;
	struct watch *w = t->w;

	w->commits = n1 - MIN(n0, n1);
	w->requested = b->requested - MIN(a->requested, b->requested);
	w->flushing_ns = watch_between(n0, a->flushing_ms, n1, b->flushing_ms, tick);
	w->logging_ns = watch_between(n0, a->logging_ms, n1, b->logging_ms, tick);
	w->flushing_ns.low *= NS_PER_MS;
	w->flushing_ns.high *= NS_PER_MS;
	w->logging_ns.low *= NS_PER_MS;
	w->logging_ns.high *= NS_PER_MS;
	w->logged_blocks = watch_between(n0, a->logged_blocks, n1, b->logged_blocks, 1);
	w->commit_ns = w->commits ? t->commit_ns_sum / (double)w->commits : 0;
}

int watch_run(struct watch *w, const struct watch_setup *setup, struct err *e)
{
	struct watcher t = { .setup = setup, .w = w };
	int r;

	*w = (struct watch){ 0 };
	if (jbd2_read(&t.first, setup->journal_name))
		return err_say(e, ENOENT, "there is no /proc/fs/jbd2/%s/info",
			setup->journal_name);
	try_to_trace(&t);
	t.begun_ns = clock_now_ns();
	/* Again: to begin the trace took its time.  One that is gone is noticed below. */
	(void)!jbd2_read(&t.first, setup->journal_name);
	t.last = t.first;
	w->volume_counts = counts(setup->volume) &&
		take_disk(&t.volume, setup->volume, NULL);
	w->journal_counts = setup->journal && counts(setup->journal) &&
		take_disk(&t.journal, setup->journal, NULL);
	r = watch_until(&t, t.begun_ns + setup->duration_ns, e);
	w->elapsed_ns = clock_now_ns() - t.begun_ns;
	w->stopped = stopped(setup);
	w->volume_counts &= take_disk(&w->volume, setup->volume, &t.volume);
	w->journal_counts &= take_disk(&w->journal, setup->journal, &t.journal);
	take_trace(&t);
	commits_close(t.commits);
	if (!r)
		add_up(&t);
	return r;
}
