/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Traced commits; see commits.h.
 *
 * A journal has one commit at a time.  It locks the running transaction, waits for the data
 * of ordered mode (flushing), writes the log and its commit record (logging), and tells its
 * figures at the end (jbd2_run_stats).  A log that has no room for a new handle is emptied
 * by who needs the room: that is jbd2_checkpoint, which an unmount and a freeze make, too.
 */

#include "advise/commits.h"

#include <errno.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/clock.h"
#include "evidence/trace_text.h"
#include "evidence/tracefs.h"

struct commits {
	struct tracefs *fs;
};

int commits_open(struct commits **out, dev_t volume, struct err *e)
{
	static const char *const events[] = { "jbd2/jbd2_commit_locking",
		"jbd2/jbd2_commit_flushing", "jbd2/jbd2_commit_logging",
		"jbd2/jbd2_run_stats", "jbd2/jbd2_checkpoint" };
	_cleanup_(commits_closep) struct commits *c = calloc(1, sizeof(*c));
	char filter[32];
	int r;

	if (!c)
		return err_set(e, ENOMEM, "trace");
	/* As the kernel packs a number. */
	snprintf(filter, sizeof(filter), "dev == %u", major(volume) << 20 | minor(volume));
	r = tracefs_open(&c->fs, getpid(), e);
	for (size_t i = 0; !r && i < ARRAY_SIZE(events); i++)
		r = tracefs_enable(c->fs, events[i], filter, e);
	if (!r)
		*out = take_ptr(c);
	return r;
}

struct commits *commits_close(struct commits *c)
{
	if (c)
		tracefs_close(c->fs);
	free(c);
	return NULL;
}

int commits_start(struct commits *c, struct err *e)
{
	return tracefs_start(c->fs, e);
}

static void end_stretch(struct commits_reader *rd)
{
	rd->sum.stretch_blocks = MAX(rd->sum.stretch_blocks, rd->stretch_blocks);
	rd->stretch_blocks = 0;
}

static void add_blocks(struct commits_reader *rd, const struct trace_event *v)
{
	uint64_t stretch = (v->ns - rd->from_ns) / COMMITS_STRETCH_NS;
	uint64_t blocks = v->logged_blocks; /* with the record at the end */

	if (stretch != rd->stretch)
		end_stretch(rd);
	rd->stretch = stretch;
	rd->stretch_blocks += blocks;
	rd->sum.logged_blocks += blocks;
	rd->sum.most_blocks = MAX(rd->sum.most_blocks, blocks);
}

/* A commit that had begun before the recording counts from there on. */
static void end_commit(struct commits_reader *rd, const struct trace_event *v)
{
	uint64_t logging = rd->logging_ns ? rd->logging_ns
					  : MAX(rd->from_ns, rd->flushing_ns);
	uint64_t flushing = rd->flushing_ns ? rd->flushing_ns : logging;
	uint64_t locking = rd->locking_ns ? rd->locking_ns : flushing;

	rd->sum.count++;
	rd->sum.locked_ns += flushing - locking;
	rd->sum.flushing_ns += logging - flushing;
	rd->sum.logging_ns += v->ns - logging;
	rd->sum.longest_ns = MAX(rd->sum.longest_ns, v->ns - locking);
	rd->locking_ns = rd->flushing_ns = rd->logging_ns = 0;
	add_blocks(rd, v);
}

void commits_read_line(struct commits_reader *rd, const char *line)
{
	struct trace_event v;

	if (trace_parse(&v, line) || v.ns < rd->from_ns)
		return;
	switch (v.kind) {
	case TRACE_COMMIT_LOCKING:
		rd->locking_ns = v.ns;
		break;
	case TRACE_COMMIT_FLUSHING:
		rd->flushing_ns = v.ns;
		break;
	case TRACE_COMMIT_LOGGING:
		rd->logging_ns = v.ns;
		break;
	case TRACE_RUN_STATS:
		end_commit(rd, &v);
		break;
	case TRACE_CHECKPOINT:
		rd->sum.full++;
		break;
	default:
		break;
	}
}

static int visit(void *data, const char *line, struct err *e _unused_)
{
	commits_read_line(data, line);
	return 0;
}

int commits_finish(struct commits *c, uint64_t begun_ns, struct commits_sum *sum,
	struct err *e)
{
	struct commits_reader rd = { .from_ns = begun_ns };
	uint64_t ended_ns = clock_now_ns();
	struct tracefs_loss loss;
	int r = tracefs_stop(c->fs, e);

	if (!r)
		r = tracefs_loss(c->fs, &loss, e);
	if (r)
		return r;
	rd.from_ns = MAX(begun_ns, loss.complete_from_ns);
	r = tracefs_each_line(c->fs, visit, &rd, e);
	if (r)
		return r;
	end_stretch(&rd);
	/* What a commit at work had done so far. */
	if (rd.logging_ns && rd.logging_ns < ended_ns)
		rd.sum.logging_ns += ended_ns - rd.logging_ns;
	rd.sum.lost = loss.events;
	rd.sum.covered_ns = ended_ns - rd.from_ns;
	*sum = rd.sum;
	return 0;
}
