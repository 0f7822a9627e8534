/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The arithmetic of a disk; see model.h.
 *
 * A request passes the port (command overhead and transfer between host and disk, one at
 * a time) and then, unless the cache serves it, the medium (one of `channels`, a disk with
 * moving parts has one).  Each of them is a clock that says when it will be free; a
 * request starts at the later of that time and its arrival, in order of arrival.  There is
 * no queue that reorders, except that writing out the cache goes by address.
 *
 * The medium of a disk pays a seek by the root of the distance (none within a track, and
 * a track is what passes the head in one turn), then the wait for the platter, then the
 * transfer.  `rotation=average` waits half a turn each time, so that equal work takes
 * equal time; with `angle` the wait is what is left of the turn, as on a real disk, with
 * its resonances.  While the medium works without a pause, a place a little further on
 * is reached by letting the gap pass below the head, if that is quicker.  A sequential
 * read goes on without being asked, up to `prefetch` bytes ahead of the requests.
 *
 * A write is done when it is in the cache.  Dirty data stays there until a flush, which
 * writes all of it, upwards from the head and then once more from the lowest address, and
 * then takes the fixed flush time; a flush with nothing written since the last one costs
 * a command.  Like FLUSH CACHE of SATA, it keeps the port.  Above half of the cache the
 * medium writes out by itself whenever it is free; below, it does nothing by itself, also
 * when idle, so that what an fsync costs does not depend on how long the host thought
 * before it.  A write that finds no room waits until the medium has made some.
 */

#include "scratch/model.h"

#include <math.h>
#include <stdlib.h>

#include "core/clock.h"
#include "scratch/extents.h"

/* What the medium writes out at a time, so that a read need not wait for all. */
#define DESTAGE_BYTES (UINT64_C(512) << 10)
#define CACHE_LINE_BYTES 4096 /* the cache holds at most one range for each of these */

struct model {
	struct model_parameters p;
	uint64_t size_bytes;
	uint64_t turn_ns, track_bytes;

	uint64_t port_free_ns;
	uint64_t *medium_free_ns; /* one for each channel */
	uint64_t head;		  /* address behind the last one that was passed */
	bool streaming;		  /* the medium's last work was a read */
	uint64_t stream_start;	  /* where that sequential read began */

	struct extents dirty;
	bool unflushed;		    /* something was written since the last flush */
	uint64_t pressure_since_ns; /* when the cache became more than half full */

	uint64_t busy_until_ns;
	uint64_t busy_ns; /* since the disk was made */
	struct model_stats stats;
};

const char *const model_kind_names[MODEL_KINDS] = {
	[MODEL_READ] = "read",
	[MODEL_WRITE] = "write",
	[MODEL_FLUSH] = "flush",
	[MODEL_DISCARD] = "discard",
};

/* Time for bytes at a rate; rate 0 takes no time. */
static uint64_t rate_ns(uint64_t bytes, uint64_t bytes_per_s)
{
	if (!bytes_per_s)
		return 0;
	return (uint64_t)((unsigned __int128)bytes * NS_PER_S / bytes_per_s);
}

struct model *model_new(const struct model_parameters *p, uint64_t size_bytes)
{
	_cleanup_(model_freep) struct model *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->p = *p;
	m->size_bytes = size_bytes;
	if (p->rpm) {
		m->turn_ns = 60 * NS_PER_S / p->rpm;
		m->track_bytes = (uint64_t)((unsigned __int128)p->transfer_bytes_per_s *
					    m->turn_ns / NS_PER_S);
	}
	m->medium_free_ns = calloc(p->channels, sizeof(*m->medium_free_ns));
	if (!m->medium_free_ns ||
		extents_init(&m->dirty, 1 + p->cache_bytes / CACHE_LINE_BYTES))
		return NULL;
	return take_ptr(m);
}

struct model *model_free(struct model *m)
{
	if (!m)
		return NULL;
	free(m->medium_free_ns);
	extents_deinit(&m->dirty);
	free(m);
	return NULL;
}

static uint64_t *first_free_channel(struct model *m)
{
	uint64_t *best = m->medium_free_ns;

	for (uint64_t i = 1; i < m->p.channels; i++)
		if (m->medium_free_ns[i] < *best)
			best = &m->medium_free_ns[i];
	return best;
}

static uint64_t all_channels_free_ns(const struct model *m)
{
	uint64_t last = 0;

	for (uint64_t i = 0; i < m->p.channels; i++)
		last = MAX(last, m->medium_free_ns[i]);
	return last;
}

static uint64_t seek_ns(const struct model *m, uint64_t to)
{
	uint64_t distance = to > m->head ? to - m->head : m->head - to;
	double part;

	if (distance == 0 || distance < m->track_bytes)
		return 0;
	part = sqrt((double)distance / (double)m->size_bytes);
	return m->p.seek_min_ns +
	       (uint64_t)(part * (double)(m->p.seek_max_ns - m->p.seek_min_ns));
}

/* From the time at which the head is on the track until the address comes by. */
static uint64_t rotation_ns(const struct model *m, uint64_t to, uint64_t at_ns)
{
	uint64_t phase;

	if (!m->turn_ns)
		return 0;
	if (m->p.rotation == ROTATION_AVERAGE)
		return m->turn_ns / 2;
	phase = rate_ns(to, m->p.transfer_bytes_per_s) % m->turn_ns;
	return (phase + m->turn_ns - at_ns % m->turn_ns) % m->turn_ns;
}

/* Is letting the gap pass quicker than positioning anew?  Only while the medium moves. */
static bool passes(const struct model *m, uint64_t to, uint64_t at_ns)
{
	uint64_t seek = seek_ns(m, to);

	return to >= m->head && rate_ns(to - m->head, m->p.transfer_bytes_per_s) <=
					seek + rotation_ns(m, to, at_ns + seek);
}

/* Moves the head to an address, from start_ns on; returns the time that it takes. */
static uint64_t position(struct model *m, uint64_t to, uint64_t start_ns, bool moving)
{
	uint64_t seek = seek_ns(m, to);
	uint64_t turn;

	if (moving && passes(m, to, start_ns)) {
		seek = 0;
		turn = rate_ns(to - m->head, m->p.transfer_bytes_per_s);
	} else {
		turn = rotation_ns(m, to, start_ns + seek);
	}
	m->stats.seeks += seek > 0;
	m->stats.seek_ns += seek;
	m->stats.rotations += turn > 0;
	m->stats.rotation_ns += turn;
	m->head = to;
	return seek + turn;
}

static uint64_t transfer(struct model *m, uint64_t bytes)
{
	uint64_t ns = rate_ns(bytes, m->p.transfer_bytes_per_s);

	m->stats.transfer_ns += ns;
	m->head += bytes;
	return ns;
}

/* Writes the next range by address out of the cache, beginning at start_ns. */
static void destage_one(struct model *m, uint64_t start_ns, bool moving)
{
	size_t i = extents_find(&m->dirty, m->head);
	struct extent x = m->dirty.items[i < m->dirty.count ? i : 0];
	uint64_t ns = m->p.write_ns;

	x.end = MIN(x.end, x.start + DESTAGE_BYTES);
	ns += position(m, x.start, start_ns, moving);
	ns += transfer(m, x.end - x.start);
	extents_remove(&m->dirty, x.start, x.end); /* takes from the front: needs no room */
	*m->medium_free_ns = start_ns + ns;
	m->streaming = false;
	m->stats.destaged_extents++;
	m->stats.destaged_bytes += x.end - x.start;
}

static bool under_pressure(const struct model *m)
{
	return m->dirty.bytes > m->p.cache_bytes / 2;
}

static void destage_by_itself(struct model *m)
{
	uint64_t free_ns = *m->medium_free_ns;

	destage_one(m, MAX(free_ns, m->pressure_since_ns), free_ns >= m->pressure_since_ns);
}

/* What the medium has done by itself before until_ns. */
static void catch_up(struct model *m, uint64_t until_ns)
{
	while (under_pressure(m) &&
		MAX(*m->medium_free_ns, m->pressure_since_ns) < until_ns)
		destage_by_itself(m);
}

/* The request's turn at the port, not before from_ns; returns when it has passed. */
static uint64_t pass_port(struct model *m, uint64_t from_ns, uint64_t bytes)
{
	uint64_t start = MAX(from_ns, m->port_free_ns);

	m->port_free_ns =
		start + m->p.overhead_ns + rate_ns(bytes, m->p.interface_bytes_per_s);
	return m->port_free_ns;
}

static bool read_is_cached(const struct model *m, uint64_t start, uint64_t end)
{
	uint64_t kept = m->head > m->p.prefetch_bytes ? m->head - m->p.prefetch_bytes : 0;

	if (m->streaming && start >= MAX(m->stream_start, kept) && end <= m->head)
		return true;
	return extents_overlap(&m->dirty, start, end) == end - start;
}

static uint64_t serve_read(struct model *m, const struct model_request *r)
{
	uint64_t ready = pass_port(m, r->arrival_ns, r->bytes);
	uint64_t ahead = rate_ns(m->p.prefetch_bytes, m->p.transfer_bytes_per_s);
	uint64_t *free_ns = first_free_channel(m);
	uint64_t start = MAX(ready, *free_ns);

	if (read_is_cached(m, r->offset, r->offset + r->bytes)) {
		m->stats.cache_hits++;
		return ready;
	}
	if (m->streaming && ahead && passes(m, r->offset, start)) {
		start = MAX(*free_ns, ready > ahead ? ready - ahead : 0);
		start += position(m, r->offset, start, true);
	} else {
		start += position(m, r->offset, start, r->seen_ns < *free_ns) + m->p.read_ns;
		m->stream_start = r->offset;
	}
	m->streaming = true;
	*free_ns = start + transfer(m, r->bytes);
	return MAX(ready, *free_ns);
}

static uint64_t write_through(struct model *m, const struct model_request *r)
{
	uint64_t ready = pass_port(m, r->arrival_ns, r->bytes);
	uint64_t *free_ns = first_free_channel(m);
	uint64_t start = MAX(ready, *free_ns);

	start += position(m, r->offset, start, r->seen_ns < *free_ns) + m->p.write_ns;
	m->streaming = false;
	*free_ns = start + transfer(m, r->bytes);
	return *free_ns;
}

static uint64_t serve_write(struct model *m, const struct model_request *r)
{
	uint64_t end = r->offset + r->bytes;
	uint64_t room_ns = 0, fresh, done;
	bool before = under_pressure(m);

	m->unflushed = true;
	if (!m->p.cache_bytes)
		return write_through(m, r);
	if (!before)
		m->pressure_since_ns = MAX(r->arrival_ns, m->port_free_ns);
	for (;;) {
		fresh = r->bytes - extents_overlap(&m->dirty, r->offset, end);
		if (!m->dirty.count || (m->dirty.bytes + fresh <= m->p.cache_bytes &&
					       m->dirty.count < m->dirty.room))
			break;
		destage_by_itself(m);
		room_ns = *m->medium_free_ns;
	}
	done = pass_port(m, MAX(r->arrival_ns, room_ns), r->bytes);
	extents_add(&m->dirty, r->offset, end);
	if (!before)
		m->pressure_since_ns = done;
	m->stats.dirty_bytes_max = MAX(m->stats.dirty_bytes_max, m->dirty.bytes);
	return done;
}

static uint64_t serve_flush(struct model *m, const struct model_request *r)
{
	uint64_t free_ns = all_channels_free_ns(m);
	uint64_t done = MAX(pass_port(m, r->arrival_ns, 0), free_ns);
	bool moving = r->seen_ns < free_ns;

	for (; m->dirty.count; moving = true) {
		destage_one(m, done, moving);
		done = *m->medium_free_ns;
	}
	if (m->unflushed)
		done += m->p.flush_ns;
	m->unflushed = false;
	m->port_free_ns = done;
	return done;
}

static uint64_t serve_discard(struct model *m, const struct model_request *r)
{
	extents_remove(&m->dirty, r->offset, r->offset + r->bytes);
	return pass_port(m, r->arrival_ns, 0);
}

static void account(struct model *m, const struct model_request *r, uint64_t done)
{
	struct model_kind_stats *k = &m->stats.kinds[r->kind];
	uint64_t from = MAX(r->arrival_ns, m->busy_until_ns);

	k->requests++;
	k->bytes += r->bytes;
	k->latency_ns += done - r->arrival_ns;
	if (done > from) {
		k->charged_ns += done - from;
		m->stats.busy_ns += done - from;
		m->busy_ns += done - from;
		m->busy_until_ns = done;
	}
	m->stats.dirty_bytes = m->dirty.bytes;
}

uint64_t model_serve(struct model *m, const struct model_request *r)
{
	static uint64_t (*const serve[])(struct model *, const struct model_request *) = {
		[MODEL_READ] = serve_read,
		[MODEL_WRITE] = serve_write,
		[MODEL_FLUSH] = serve_flush,
		[MODEL_DISCARD] = serve_discard,
	};
	uint64_t done;

	catch_up(m, r->arrival_ns);
	done = serve[r->kind](m, r);
	account(m, r, done);
	return done;
}

const struct model_stats *model_stats(const struct model *m)
{
	return &m->stats;
}

void model_stats_reset(struct model *m)
{
	m->stats = (struct model_stats){ .dirty_bytes = m->dirty.bytes,
		.dirty_bytes_max = m->dirty.bytes };
}

uint64_t model_busy_ns(const struct model *m)
{
	return m->busy_ns;
}

const struct model_parameters *model_parameters(const struct model *m)
{
	return &m->p;
}
