/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * From events to a timeline; see timeline_make.h.
 *
 * Which fsync is taken apart: the one whose duration is the median of all that were seen
 * whole, since a mean would show one that never happened.  What belongs to it: every
 * request to the disks of the arm that was under way between the call and its return,
 * whoever issued it; the journal thread writes for all, and a request of somebody else
 * that keeps the disk busy is part of the truth.
 *
 * A write is told by where it goes.  The commit record is the write that jbd2 queues with
 * a flush before it or with FUA; journal_async_commit has neither, so there it counts
 * among the blocks of the journal.
 */

#include "evidence/timeline_make.h"

#include <errno.h>
#include <string.h>

#include "core/clock.h"

enum { SECTOR_BYTES = 512, FLIGHTS_MAX = 1024, MARKS_MAX = 16, THREADS_MAX = 1024 };

/* Fsyncs. */

struct sync_pair {
	size_t enter, exit; /* events */
	uint64_t ns;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct sync_pair *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->enter < y->enter ? -1 : 1;
}

/* Pairs of call and return, by thread. */
static size_t find_pairs(struct sync_pair *pairs, const struct trace_event *events,
	size_t count)
{
	size_t open[THREADS_MAX], open_count = 0, n = 0;

	for (size_t i = 0; i < count; i++) {
		size_t k = 0;

		if (events[i].kind != TRACE_SYNC_ENTER && events[i].kind != TRACE_SYNC_EXIT)
			continue;
		while (k < open_count && events[open[k]].thread != events[i].thread)
			k++;
		if (events[i].kind == TRACE_SYNC_ENTER) {
			if (k < THREADS_MAX)
				open[k] = i;
			open_count = MAX(open_count, MIN(k + 1, (size_t)THREADS_MAX));
		} else if (k < open_count) {
			pairs[n++] = (struct sync_pair){ open[k], i,
				events[i].ns - events[open[k]].ns };
			open[k] = open[--open_count];
		}
	}
	return n;
}

static size_t count_kind(const struct trace_event *events, size_t count,
	enum trace_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += events[i].kind == kind;
	return n;
}

/* Requests. */

struct flight {
	const struct trace_disk *disk;
	uint64_t sector, end_sector;
	bool flush;
	enum timeline_what what;
	int step; /* -1: not yet in the timeline */
};

struct maker {
	const struct trace_map *map;
	struct timeline *t;
	uint64_t enter_ns, exit_ns;
	struct flight flights[FLIGHTS_MAX];
	size_t flight_count;
	uint64_t idle_since_ns; /* with no flights */
	uint64_t end_ns[TIMELINE_STEPS_MAX];
	int last_step[EVIDENCE_DISKS_MAX]; /* of a disk; -1: none */
	struct mark { /* queued with a flush before it or with FUA */
		dev_t devno;
		uint64_t sector;
	} marks[MARKS_MAX];
	size_t mark_count;
};

static const struct trace_disk *find_disk(const struct maker *m, dev_t devno)
{
	for (size_t i = 0; i < m->map->disk_count; i++)
		if (m->map->disks[i].devno == devno)
			return &m->map->disks[i];
	return NULL;
}

static const struct trace_range *find_range(const struct maker *m,
	const struct trace_event *v)
{
	for (size_t i = 0; i < m->map->range_count; i++) {
		const struct trace_range *r = &m->map->ranges[i];

		if (r->devno == v->devno && v->sector >= r->first_sector &&
			v->sector - r->first_sector < r->sectors)
			return r;
	}
	return NULL;
}

static void mark(struct maker *m, const struct trace_event *v)
{
	m->marks[m->mark_count++ % MARKS_MAX] = (struct mark){ v->devno, v->sector };
}

static bool is_marked(const struct maker *m, const struct trace_event *v)
{
	for (size_t i = 0; i < MIN(m->mark_count, (size_t)MARKS_MAX); i++)
		if (m->marks[i].devno == v->devno && m->marks[i].sector == v->sector)
			return true;
	return false;
}

static enum timeline_what classify(const struct maker *m, const struct trace_event *v)
{
	const struct trace_range *range = find_range(m, v);

	if (!v->sectors)
		return TIMELINE_FLUSH;
	if (v->rwbs[0] == 'R')
		return TIMELINE_READ;
	if (!range || !trace_write(v))
		return TIMELINE_OTHER;
	if (!range->journal)
		return trace_metadata(v) ? TIMELINE_METADATA : TIMELINE_DATA;
	if (v->sector == range->superblock_sector)
		return TIMELINE_JOURNAL_SUPERBLOCK;
	return is_marked(m, v) ? TIMELINE_COMMIT : TIMELINE_JOURNAL;
}

/* The step that a request belongs to: the last one of its disk if it is of the same sort,
 * else a new one. */
static int step_for(struct maker *m, const struct flight *f, uint64_t now_ns)
{
	int *last = &m->last_step[f->disk - m->map->disks];
	struct timeline_step *step;

	if (*last >= 0 && m->t->steps[*last].what == f->what && f->what != TIMELINE_FLUSH)
		return *last;
	if (m->t->step_count == TIMELINE_STEPS_MAX) {
		m->t->steps_left_out++;
		return -1;
	}
	*last = (int)m->t->step_count++;
	step = &m->t->steps[*last];
	*step = (struct timeline_step){ .what = f->what, .roles = f->disk->roles,
		.start_ns = now_ns - m->enter_ns };
	memcpy(step->disk, f->disk->name, sizeof(step->disk));
	m->end_ns[*last] = now_ns;
	return *last;
}

static void show(struct maker *m, struct flight *f, uint64_t now_ns)
{
	f->step = step_for(m, f, now_ns);
	if (f->step < 0)
		return;
	m->t->steps[f->step].requests++;
	m->t->steps[f->step].bytes += (f->end_sector - f->sector) * SECTOR_BYTES;
}

static bool in_window(const struct maker *m, const struct trace_event *v)
{
	return v->ns >= m->enter_ns;
}

static void begin_request(struct maker *m, const struct trace_disk *disk,
	const struct trace_event *v)
{
	struct flight *f;

	/* Behind the data of a request with a flush the queue ends it once more, empty. */
	if (!v->sectors && !(disk->bio_based ? trace_flush_first(v) : trace_flush_only(v)))
		return;
	if (m->flight_count == FLIGHTS_MAX) /* the end of some was lost */
		m->flight_count = 0;
	if (!m->flight_count && in_window(m, v))
		m->t->idle_ns += v->ns - m->idle_since_ns;
	f = &m->flights[m->flight_count++];
	*f = (struct flight){ disk, v->sector, v->sector + v->sectors, !v->sectors,
		classify(m, v), -1 };
	if (in_window(m, v))
		show(m, f, v->ns);
}

static struct flight *find_flight(struct maker *m, const struct trace_disk *disk,
	const struct trace_event *v)
{
	bool flush = disk->bio_based ? !v->sectors : trace_flush_only(v);

	for (size_t i = 0; i < m->flight_count; i++) {
		struct flight *f = &m->flights[i];

		if (f->disk == disk && f->flush == flush &&
			(flush || (v->sectors && v->sector >= f->sector &&
					v->sector < f->end_sector)))
			return f;
	}
	return NULL;
}

static void end_request(struct maker *m, const struct trace_disk *disk,
	const struct trace_event *v)
{
	struct flight *f = find_flight(m, disk, v);

	/* A request may end in parts. */
	if (!f || (!f->flush && v->sector + v->sectors < f->end_sector))
		return;
	if (f->step >= 0)
		m->end_ns[f->step] = MAX(m->end_ns[f->step], v->ns);
	memmove(f, f + 1, (size_t)(m->flights + m->flight_count - (f + 1)) * sizeof(*f));
	if (!--m->flight_count)
		m->idle_since_ns = MAX(v->ns, m->enter_ns);
}

static void take_event(struct maker *m, const struct trace_event *v)
{
	const struct trace_disk *disk = find_disk(m, v->devno);

	if (!disk)
		return;
	switch (v->kind) {
	case TRACE_QUEUE:
		if (v->sectors && (trace_flush_first(v) || trace_fua(v)))
			mark(m, v);
		if (disk->bio_based)
			begin_request(m, disk, v);
		break;
	case TRACE_ISSUE:
		if (!disk->bio_based)
			begin_request(m, disk, v);
		break;
	case TRACE_COMPLETE:
		if (!disk->bio_based)
			end_request(m, disk, v);
		break;
	case TRACE_BIO_COMPLETE:
		if (disk->bio_based)
			end_request(m, disk, v);
		break;
	default:
		break;
	}
}

static int take_apart(struct timeline *t, const struct trace_map *map,
	const struct trace_event *events, const struct sync_pair *pair, struct err *e)
{
	_cleanup_free_ struct maker *m = calloc(1, sizeof(*m));

	if (!m)
		return err_set(e, ENOMEM, "trace");
	m->map = map;
	m->t = t;
	m->enter_ns = m->idle_since_ns = events[pair->enter].ns;
	m->exit_ns = events[pair->exit].ns;
	memset(m->last_step, 0xff, sizeof(m->last_step));
	for (size_t i = 0; i < pair->enter; i++)
		take_event(m, &events[i]);
	for (size_t i = 0; i < m->flight_count; i++)
		show(m, &m->flights[i], m->enter_ns);
	for (size_t i = pair->enter; i < pair->exit; i++)
		take_event(m, &events[i]);
	for (size_t i = 0; i < m->flight_count; i++)
		if (m->flights[i].step >= 0)
			m->end_ns[m->flights[i].step] = m->exit_ns;
	if (!m->flight_count)
		t->idle_ns += m->exit_ns - m->idle_since_ns;
	for (size_t i = 0; i < t->step_count; i++)
		t->steps[i].duration_ns = m->end_ns[i] - m->enter_ns - t->steps[i].start_ns;
	t->duration_ns = pair->ns;
	t->data_only = events[pair->enter].data_only;
	return 0;
}

static int make_fsync(struct timeline *t, const struct trace_map *map,
	const struct trace_event *events, size_t count, struct err *e)
{
	size_t most = count_kind(events, count, TRACE_SYNC_EXIT), n;
	_cleanup_free_ struct sync_pair *pairs = calloc(most + 1, sizeof(*pairs));

	if (!pairs)
		return err_set(e, ENOMEM, "trace");
	n = find_pairs(pairs, events, count);
	t->fsync_count = n;
	if (!n)
		return 0;
	qsort(pairs, n, sizeof(*pairs), compare_pairs);
	t->median_ns = pairs[(n - 1) / 2].ns;
	return take_apart(t, map, events, &pairs[(n - 1) / 2], e);
}

/* Transactions. */

/* The commit that a journal's thread is making; times are 0 until they come. */
struct commit {
	int thread;
	uint32_t tid;
	uint64_t locking_ns, flushing_ns, logging_ns;
};

static struct commit *commit_of(struct commit *commits, const struct trace_event *v)
{
	for (size_t i = 0; i < EVIDENCE_DISKS_MAX; i++)
		if (!commits[i].thread || commits[i].thread == v->thread) {
			if (commits[i].tid != v->tid)
				commits[i] = (struct commit){ .thread = v->thread,
					.tid = v->tid };
			return &commits[i];
		}
	return NULL;
}

static uint64_t span(uint64_t from_ns, uint64_t to_ns, uint32_t otherwise_ms)
{
	return from_ns && to_ns ? to_ns - from_ns : otherwise_ms * NS_PER_MS;
}

static void add_transaction(struct timeline *t, const struct commit *c,
	const struct trace_event *v)
{
	if (t->transaction_count++ >= TIMELINE_TRANSACTIONS_MAX)
		return;
	t->transactions[t->kept_count++] = (struct timeline_transaction){
		.tid = v->tid,
		.wait_ns = v->wait_ms * NS_PER_MS,
		.running_ns = v->running_ms * NS_PER_MS,
		.locked_ns = span(c->locking_ns, c->flushing_ns, v->locked_ms),
		.flushing_ns = span(c->flushing_ns, c->logging_ns, v->flushing_ms),
		.logging_ns = span(c->logging_ns, v->ns, v->logging_ms),
		.handles = v->handles,
		.blocks = v->blocks,
		.logged_blocks = v->logged_blocks,
	};
}

static int make_transactions(struct timeline *t, const struct trace_event *events,
	size_t count, struct err *e)
{
	struct commit commits[EVIDENCE_DISKS_MAX] = { 0 };
	size_t n = MIN(count_kind(events, count, TRACE_RUN_STATS),
		(size_t)TIMELINE_TRANSACTIONS_MAX);

	t->transactions = calloc(n + 1, sizeof(*t->transactions));
	if (!t->transactions)
		return err_set(e, ENOMEM, "trace");
	for (size_t i = 0; i < count; i++) {
		const struct trace_event *v = &events[i];
		struct commit *c;

		if (v->kind < TRACE_COMMIT_LOCKING || v->kind > TRACE_RUN_STATS ||
			!(c = commit_of(commits, v)))
			continue;
		if (v->kind == TRACE_COMMIT_LOCKING)
			c->locking_ns = v->ns;
		else if (v->kind == TRACE_COMMIT_FLUSHING)
			c->flushing_ns = v->ns;
		else if (v->kind == TRACE_COMMIT_LOGGING)
			c->logging_ns = v->ns;
		else
			add_transaction(t, c, v);
	}
	return 0;
}

int timeline_make(struct timeline **out, const struct trace_map *map,
	const struct trace_event *events, size_t count, struct err *e)
{
	_cleanup_(timeline_freep) struct timeline *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return err_set(e, ENOMEM, "trace");
	t->events = count;
	r = make_fsync(t, map, events, count, e);
	if (!r)
		r = make_transactions(t, events, count, e);
	if (!r)
		*out = take_ptr(t);
	return r;
}
