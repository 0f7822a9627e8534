/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The tracer of an arm; see tracer.h.  The kernel filters by device, so that other disks
 * and volumes of the machine take no room in the buffers. */

#include "evidence/tracer.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/strbuf.h"
#include "evidence/tracefs.h"

/* Far more than the buffers of tracefs.c hold. */
enum { EVENTS_MAX = 2000000 };

struct tracer {
	struct tracefs *fs;
	struct tracer_setup setup;
	struct timeline **timelines; /* number 1 is the first */
	uint32_t count;
	struct err failure;
	bool recording;
};

/* "dev == 8388608 || dev == 8388624": as the kernel packs a number. */
static void add_device(struct strbuf *b, dev_t devno)
{
	strbuf_addf(b, "%sdev == %u", b->length ? " || " : "",
		major(devno) << 20 | minor(devno));
}

static int enable_all(struct tracer *t, const char *const *events, size_t count,
	const struct strbuf *filter, struct err *e)
{
	int r = strbuf_failed(filter) ? err_set(e, ENOMEM, "trace") : 0;

	for (size_t i = 0; !r && filter->length && i < count; i++)
		r = tracefs_enable(t->fs, events[i], strbuf_text(filter), e);
	return r;
}

static int enable(struct tracer *t, struct err *e)
{
	static const char *const of_volumes[] = { "ext4/ext4_sync_file_enter",
		"ext4/ext4_sync_file_exit", "jbd2/jbd2_commit_locking",
		"jbd2/jbd2_commit_flushing", "jbd2/jbd2_commit_logging",
		"jbd2/jbd2_run_stats" };
	static const char *const of_disks[] = { "block/block_bio_queue",
		"block/block_rq_issue", "block/block_rq_complete" };
	static const char *const of_bio_disks[] = { "block/block_bio_complete" };
	_cleanup_(strbuf_deinit) struct strbuf volumes = { 0 }, disks = { 0 }, bio = { 0 };
	int r;

	for (size_t i = 0; i < t->setup.volume_count; i++)
		add_device(&volumes, t->setup.volumes[i]);
	for (size_t i = 0; i < t->setup.map.disk_count; i++) {
		add_device(&disks, t->setup.map.disks[i].devno);
		if (t->setup.map.disks[i].bio_based)
			add_device(&bio, t->setup.map.disks[i].devno);
	}
	r = enable_all(t, of_volumes, ARRAY_SIZE(of_volumes), &volumes, e);
	if (!r)
		r = enable_all(t, of_disks, ARRAY_SIZE(of_disks), &disks, e);
	if (!r)
		r = enable_all(t, of_bio_disks, ARRAY_SIZE(of_bio_disks), &bio, e);
	return r;
}

static int copy_setup(struct tracer_setup *to, const struct tracer_setup *from,
	struct err *e)
{
	*to = *from;
	to->map.ranges = calloc(from->map.range_count + 1, sizeof(*to->map.ranges));
	if (!to->map.ranges)
		return err_set(e, ENOMEM, "trace");
	for (size_t i = 0; i < from->map.range_count; i++)
		to->map.ranges[i] = from->map.ranges[i];
	return 0;
}

int tracer_new(struct tracer **out, const struct tracer_setup *setup, struct err *e)
{
	_cleanup_(tracer_freep) struct tracer *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return err_set(e, ENOMEM, "trace");
	r = copy_setup(&t->setup, setup, e);
	if (!r)
		r = tracefs_open(&t->fs, setup->process ? setup->process : getpid(), e);
	if (!r)
		r = enable(t, e);
	if (!r)
		*out = take_ptr(t);
	return r;
}

struct tracer *tracer_free(struct tracer *t)
{
	if (!t)
		return NULL;
	tracer_forget(t);
	tracefs_close(t->fs);
	free(t->setup.map.ranges);
	err_clear(&t->failure);
	free(t);
	return NULL;
}

/* The first failure stands. */
static struct err *failure_of(struct tracer *t)
{
	return t->failure.code ? NULL : &t->failure;
}

void tracer_begin(struct tracer *t)
{
	t->recording = !tracefs_start(t->fs, failure_of(t));
}

struct reading {
	struct trace_event *events;
	size_t count, room;
	uint64_t from_ns;
};

static int take_line(void *data, const char *line, struct err *e)
{
	struct reading *rd = data;

	if (rd->count == EVENTS_MAX)
		return 0;
	if (rd->count == rd->room) {
		size_t room = MAX(rd->room * 2, (size_t)4096);
		struct trace_event *more = reallocarray(rd->events, room, sizeof(*more));

		if (!more)
			return err_set(e, ENOMEM, "read the trace");
		rd->events = more;
		rd->room = room;
	}
	if (!trace_parse(&rd->events[rd->count], line) &&
		rd->events[rd->count].ns >= rd->from_ns)
		rd->count++;
	return 0;
}

static int keep(struct tracer *t, struct timeline *one, struct err *e)
{
	struct timeline **more = reallocarray(t->timelines, t->count + 1, sizeof(*more));

	if (!more)
		return err_set(e, ENOMEM, "read the trace");
	t->timelines = more;
	more[t->count++] = one;
	return 0;
}

static int read_timeline(struct tracer *t, struct err *e)
{
	_cleanup_(timeline_freep) struct timeline *one = NULL;
	struct reading rd = { 0 };
	struct tracefs_loss loss;
	int r = tracefs_loss(t->fs, &loss, e);

	rd.from_ns = loss.complete_from_ns;
	if (!r)
		r = tracefs_each_line(t->fs, take_line, &rd, e);
	if (!r)
		r = timeline_make(&one, &t->setup.map, rd.events, rd.count, e);
	free(rd.events);
	if (r)
		return r;
	one->lost_events = loss.events;
	r = keep(t, one, e);
	if (!r)
		one = NULL;
	return r;
}

uint32_t tracer_end(struct tracer *t)
{
	if (!t->recording)
		return 0;
	t->recording = false;
	if (tracefs_stop(t->fs, failure_of(t)) || read_timeline(t, failure_of(t)))
		return 0;
	return t->count;
}

int tracer_take(struct tracer *t, uint32_t number, struct timeline **out, struct err *e)
{
	int r = -t->failure.code;

	*out = number && number <= t->count ? take_ptr(t->timelines[number - 1]) : NULL;
	if (!r)
		return 0;
	if (e) {
		err_clear(e);
		*e = t->failure;
		t->failure = (struct err){ 0 };
	}
	err_clear(&t->failure);
	return r;
}

void tracer_forget(struct tracer *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		timeline_free(t->timelines[i]);
	free(take_ptr(t->timelines));
	t->count = 0;
}
