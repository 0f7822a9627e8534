/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The expected flushes.
 *
 * Measured on Linux 6.18 (and read in fs/jbd2/commit.c): a commit record is written with
 * PREFLUSH and FUA.  On a device without FUA that is two flushes, one before the record
 * and one behind it; with FUA it is one.  journal_async_commit leaves out the first.  With
 * an external journal the data disk is flushed once more, before the commit record, if the
 * transaction waits for new data; with data=journal, fsync writes in place and flushes the
 * data disk itself.  An fsync that needs no commit (an overwrite within one tick of the
 * clock) is one flush of the data disk.
 *
 *				data disk		journal
 *	inline			2 C (FUA: 1 C)		the same disk
 *	inline, data=journal	3 C (FUA: 2 C)		the same disk
 *	external		1 sync or commit	2 C (FUA, async: 1 C)
 *	no journal		1 sync
 *
 * C is the number of commits that jbd2 counts itself, so that group commit is taken into
 * account; several threads may share a flush, so the syncs are a bound only for one
 * thread.  The kernel also commits by its timer: more flushes than expected are normal.
 */

#include "evidence/judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"

#define TOLERANCE 0.95

/* Twice what a disk of 15,000 rpm can do at one synced write for each revolution. */
#define ROTATIONAL_SYNCS_MAX 500

static const struct evidence_disk *disk_with(const struct result_evidence *v, unsigned role)
{
	for (size_t i = 0; i < v->disk_count; i++)
		if (!v->disks[i].below && v->disks[i].roles & role)
			return &v->disks[i];
	return NULL;
}

/* Flushes of a partition, dm or md are counted on a disk below it. */
static const struct evidence_disk *counted_with(const struct result_evidence *v,
	unsigned role)
{
	const struct evidence_disk *d = disk_with(v, role);

	for (size_t i = 0; (!d || !d->flushes_counted) && i < v->disk_count; i++)
		if (v->disks[i].roles & role && v->disks[i].flushes_counted &&
			v->disks[i].counts)
			d = &v->disks[i];
	return d && d->flushes_counted ? d : NULL;
}

struct evidence_expected evidence_expect(const struct evidence_arm *arm,
	const struct result_evidence *v, uint64_t syncs, uint32_t threads)
{
	double commits = (double)v->journal.requested;
	const struct evidence_disk *log = counted_with(v,
		arm->placement == ARM_EXTERNAL ? EVIDENCE_JOURNAL : EVIDENCE_DATA);
	double for_commit = commits * ((log && log->fua) || arm->async_commit ? 1 : 2);
	double own = threads == 1 ? (double)syncs : commits;
	struct evidence_expected x = { 0 };

	if (!arm->barrier)
		return x;
	switch (arm->placement) {
	case ARM_NO_JOURNAL:
		x.data_flushes = threads == 1 ? (double)syncs : 1;
		break;
	case ARM_INLINE:
		x.data_flushes = for_commit + (arm->data == ARM_JOURNAL ? commits : 0);
		/* Each sync is at least one flush, commit or not. */
		x.data_flushes = MAX(x.data_flushes, own);
		break;
	case ARM_EXTERNAL:
		x.data_flushes = arm->new_data ? own : 0;
		x.journal_flushes = for_commit;
		break;
	}
	return x;
}

/* Bytes written to a disk beyond those of the partitions that it counts flushes for.  Who
 * only reads does not flush. */
static uint64_t foreign_bytes(const struct result_evidence *v, const struct evidence_disk *d)
{
	uint64_t all = d->write_bytes, ours = 0;
	bool any = false;

	for (size_t i = 0; i < v->disk_count; i++)
		if (!strcmp(v->disks[i].counted_on, d->name)) {
			ours += v->disks[i].write_bytes;
			any = true;
		}
	return any && all > ours ? all - ours : 0;
}

static void say(struct result_evidence *v, enum evidence_verdict verdict,
	const char *fmt, ...) _printf_(3, 4);

static void say(struct result_evidence *v, enum evidence_verdict verdict,
	const char *fmt, ...)
{
	va_list ap;

	v->verdict = verdict;
	va_start(ap, fmt);
	vsnprintf(v->reason, sizeof(v->reason), fmt, ap);
	va_end(ap);
}

/* Flushes are missing on a disk: none at all is worse than too few. */
static bool missing(struct result_evidence *v, const struct evidence_disk *d,
	const char *what, double expected)
{
	if (!d->write_back || expected < 1 || (double)d->flushes >= TOLERANCE * expected)
		return false;
	if (!d->flushes)
		say(v, EVIDENCE_FAILED,
			"the %s disk %s has a volatile write cache and got no flush, where %.0f "
			"were due: what was synced could be lost",
			what, d->name, expected);
	else
		say(v, EVIDENCE_SUSPECT,
			"the %s disk %s got %llu flush%s, where at least %.0f were due", what,
			d->name, (unsigned long long)d->flushes, d->flushes == 1 ? "" : "es",
			expected);
	return true;
}

static bool too_fast(struct result_evidence *v, const struct evidence_disk *data,
	const struct result_counters *c)
{
	double seconds = (double)c->wall_ns / NS_PER_S;
	double rate = seconds > 0 ? (double)c->syncs / seconds / MAX(c->threads, 1u) : 0;

	if (!data->rotational || !data->write_back || rate <= ROTATIONAL_SYNCS_MAX ||
		c->syncs < 100)
		return false;
	say(v, EVIDENCE_IMPLAUSIBLE,
		"%.0f syncs/s for each thread is more than a rotating disk can do; a cache "
		"between us and %s acknowledges flushes that it does not make",
		rate, data->name);
	return true;
}

/* Others flush the same disk, too, and nobody knows which flush is whose. */
static bool shared(struct result_evidence *v, const struct evidence_disk *d)
{
	uint64_t foreign = foreign_bytes(v, d);

	if (!foreign)
		return false;
	say(v, EVIDENCE_UNKNOWN,
		"flushes of a partition are counted on its disk, and %s wrote %llu bytes for "
		"others meanwhile: nobody knows whose flushes it counted",
		d->name, (unsigned long long)foreign);
	return true;
}

static void say_ok(struct result_evidence *v, const struct evidence_disk *data,
	const struct evidence_disk *log, uint64_t syncs)
{
	char where[EVIDENCE_NAME_BYTES + 32] = "";

	if (data->below)
		snprintf(where, sizeof(where), ", counted on %s", data->name);
	say(v, EVIDENCE_OK, "%llu sync%s, %llu flush%s of the data disk%s%s",
		(unsigned long long)syncs, PLURAL(syncs), (unsigned long long)data->flushes,
		data->flushes == 1 ? "" : "es", where,
		log != data ? " and the journal was flushed too" : "");
}

bool evidence_judge_models(struct result_evidence *v)
{
	for (size_t i = 0; i < v->disk_count; i++) {
		const struct evidence_disk *d = &v->disks[i];

		if (!d->model_untrue)
			continue;
		say(v, EVIDENCE_FAILED,
			"the %s disk %s acknowledged %llu writes and flushes that it did not "
			"carry out, as its model says: what was synced could be lost",
			d->roles & EVIDENCE_DATA ? "data" : "journal", d->name,
			(unsigned long long)d->model_untrue);
		return true;
	}
	return false;
}

void evidence_judge(struct result_evidence *v, const struct result_counters *c,
	const struct evidence_arm *arm)
{
	const struct evidence_disk *data = counted_with(v, EVIDENCE_DATA);
	const struct evidence_disk *log = arm->placement == ARM_EXTERNAL
		? counted_with(v, EVIDENCE_JOURNAL)
		: data;
	struct evidence_expected x = evidence_expect(arm, v, c->syncs, c->threads);

	/* An operation may sync a directory besides its data, and that needs the journal
	 * only.  Threads may share flushes, but each syncs its data one after another. */
	if (arm->placement == ARM_EXTERNAL && c->operations && c->operations < c->syncs)
		x.data_flushes = MIN(x.data_flushes,
			(double)c->operations / MAX(c->threads, 1u));
	/* Two partitions of one disk: it counts for both. */
	if (log == data)
		x.data_flushes += x.journal_flushes;
	if (evidence_judge_models(v))
		return;
	if (!c->syncs) {
		say(v, EVIDENCE_NOT_APPLICABLE, "nothing was synced in this phase");
	} else if (!data || !log) {
		say(v, EVIDENCE_UNKNOWN,
			"the kernel counts no flushes for the %s device, or queue/iostats of its "
			"disk is 0",
			data ? "journal" : "data");
	} else if (!data->write_back && !log->write_back) {
		say(v, EVIDENCE_NOT_APPLICABLE,
			"the disks report a write-through cache: no flush is needed, none is "
			"sent");
	} else if (!arm->barrier) {
		say(v, EVIDENCE_FAILED,
			"mounted without barriers on a disk with a volatile write cache: what was "
			"synced could be lost");
	} else if (!missing(v, data, "data", x.data_flushes) &&
		!(log != data && missing(v, log, "journal", x.journal_flushes)) &&
		!too_fast(v, data, c) && !shared(v, data) && !shared(v, log)) {
		if (arm->placement == ARM_NO_JOURNAL || v->journal.name[0])
			say_ok(v, data, log, c->syncs);
		else
			say(v, EVIDENCE_UNKNOWN,
				"how many commits there were is not known: /proc/fs/jbd2 does not "
				"show the journal");
	}
}
