/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The flush ledger; see ledger.h.
 *
 * jbd2 gives means over all transactions since the mount, rounded to whole numbers.  The
 * mean of a phase is taken from the two totals and is as coarse as their rounding.
 */

#include "evidence/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/clock.h"
#include "evidence/diskstats.h"
#include "evidence/jbd2.h"
#include "evidence/procio.h"

/* As the models write it. */
struct model_counts {
	uint64_t busy_ns, untrue;
};

struct snapshot {
	struct diskstats disks[EVIDENCE_DISKS_MAX];
	struct model_counts models[EVIDENCE_DISKS_MAX]; /* of those that are modelled */
	struct jbd2_info journal;
	struct procio process;
	bool has_journal, has_process;
};

struct ledger {
	struct result_evidence blank; /* names and properties, all counters zero */
	dev_t devno[EVIDENCE_DISKS_MAX];
	int busy[EVIDENCE_DISKS_MAX]; /* open files; -1: none */
	struct snapshot before;
	uint64_t begun_ns; /* once it was taken */
};

/* The disk of a partition is the directory above it. */
static void find_disk_of(char out[static EVIDENCE_NAME_BYTES], dev_t partition)
{
	_cleanup_free_ char *path = NULL, *real = NULL;
	char *slash;

	if (asprintf(&path, "/sys/dev/block/%u:%u/..", major(partition),
		    minor(partition)) < 0) {
		path = NULL;
		return;
	}
	real = realpath(path, NULL);
	slash = real ? strrchr(real, '/') : NULL;
	if (slash)
		snprintf(out, EVIDENCE_NAME_BYTES, "%s", slash + 1);
	for (; *out; out++)
		if (*out == '!')
			*out = '/';
}

int ledger_new(struct ledger **out, const struct ledger_setup *setup, struct err *e)
{
	struct ledger *l = calloc(1, sizeof(*l));

	if (!l)
		return err_set(e, ENOMEM, "flush ledger");
	for (size_t i = 0; i < MIN(setup->disk_count, (size_t)EVIDENCE_DISKS_MAX); i++) {
		const struct ledger_disk *from = &setup->disks[i];
		struct evidence_disk *to = &l->blank.disks[i];
		struct disk_facts facts;

		disk_facts_read(&facts, from->devno);
		l->devno[i] = from->devno;
		l->blank.disk_count = i + 1;
		snprintf(to->name, sizeof(to->name), "%s", from->name);
		to->roles = from->roles;
		to->below = from->below;
		to->counts = from->counts;
		to->flushes_counted = !facts.partition && facts.requests && facts.accounts;
		if (facts.partition)
			find_disk_of(to->counted_on, from->devno);
		to->write_back = facts.write_back;
		to->fua = facts.fua;
		to->rotational = facts.rotational;
		l->busy[i] = from->busy ? open(from->busy, O_RDONLY | O_CLOEXEC) : -1;
		to->modelled = l->busy[i] >= 0;
	}
	if (setup->journal_name)
		snprintf(l->blank.journal.name, sizeof(l->blank.journal.name), "%s",
			setup->journal_name);
	*out = l;
	return 0;
}

struct ledger *ledger_free(struct ledger *l)
{
	for (size_t i = 0; l && i < l->blank.disk_count; i++)
		closep(&l->busy[i]);
	free(l);
	return NULL;
}

static void take_busy(struct ledger *l, struct snapshot *s)
{
	for (size_t i = 0; i < l->blank.disk_count; i++)
		if (l->blank.disks[i].modelled &&
			pread(l->busy[i], &s->models[i], sizeof(s->models[i]), 0) !=
				sizeof(s->models[i]))
			l->blank.disks[i].modelled = false;
}

static void take(struct ledger *l, struct snapshot *s)
{
	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < l->blank.disk_count; i++)
		if (diskstats_read(&s->disks[i], l->devno[i]) || !s->disks[i].has_flushes)
			l->blank.disks[i].flushes_counted = false;
	take_busy(l, s);
	s->has_journal = l->blank.journal.name[0] &&
		!jbd2_read(&s->journal, l->blank.journal.name);
	s->has_process = !procio_read(&s->process);
}

void ledger_begin(struct ledger *l)
{
	take(l, &l->before);
	l->begun_ns = clock_now_ns();
}

static void add_disk(struct evidence_disk *sum, const struct diskstats *before,
	const struct diskstats *after)
{
	struct diskstats d = diskstats_difference(before, after);

	sum->reads += d.reads;
	sum->read_bytes += d.read_bytes;
	sum->writes += d.writes;
	sum->write_bytes += d.write_bytes;
	sum->flushes += d.flushes;
	sum->flush_ns += d.flush_ns;
}

/* A model that was started anew meanwhile counts from zero. */
static void add_model(struct evidence_disk *sum, const struct model_counts *before,
	const struct model_counts *after)
{
	if (after->busy_ns > before->busy_ns)
		sum->model_busy_ns += after->busy_ns - before->busy_ns;
	if (after->untrue > before->untrue)
		sum->model_untrue += after->untrue - before->untrue;
}

/* Mean of the transactions between two totals. */
static double mean_between(uint64_t n0, uint64_t mean0, uint64_t n1, uint64_t mean1)
{
	double sum = (double)n1 * (double)mean1 - (double)n0 * (double)mean0;

	return n1 > n0 && sum > 0 ? sum / (double)(n1 - n0) : 0;
}

/* Weighted mean of what was there and of n more. */
static void merge_mean(double *mean, uint64_t had, double more, uint64_t n)
{
	if (had + n)
		*mean = (*mean * (double)had + more * (double)n) / (double)(had + n);
}

static void add_journal(struct evidence_journal *sum, const struct jbd2_info *a,
	const struct jbd2_info *b)
{
	uint64_t n0 = a->transactions, n1 = b->transactions, had = sum->transactions;
	uint64_t n = n1 > n0 ? n1 - n0 : 0;

	merge_mean(&sum->handles, had, mean_between(n0, a->handles, n1, b->handles), n);
	merge_mean(&sum->blocks, had, mean_between(n0, a->blocks, n1, b->blocks), n);
	merge_mean(&sum->logged_blocks, had,
		mean_between(n0, a->logged_blocks, n1, b->logged_blocks), n);
	/* A sliding average already: the last value stands. */
	merge_mean(&sum->commit_ns, had, (double)b->commit_us * NS_PER_US, n);
	sum->transactions += n;
	sum->requested += b->requested > a->requested ? b->requested - a->requested : 0;
}

static void add_process(struct evidence_process *sum, const struct procio *a,
	const struct procio *b)
{
	sum->known = true;
	sum->read_calls += b->read_calls - a->read_calls;
	sum->write_calls += b->write_calls - a->write_calls;
	sum->read_bytes += b->read_bytes - a->read_bytes;
	sum->write_bytes += b->write_bytes - a->write_bytes;
	sum->device_read_bytes += b->device_read_bytes - a->device_read_bytes;
}

void ledger_end(struct ledger *l, struct result_evidence *sum)
{
	uint64_t ended_ns = clock_now_ns();
	struct snapshot after;

	take(l, &after);
	if (!sum->begun_ns) {
		*sum = l->blank;
		sum->begun_ns = l->begun_ns;
	}
	sum->ended_ns = ended_ns;
	for (size_t i = 0; i < l->blank.disk_count; i++) {
		sum->disks[i].flushes_counted = l->blank.disks[i].flushes_counted;
		add_disk(&sum->disks[i], &l->before.disks[i], &after.disks[i]);
		sum->disks[i].modelled = l->blank.disks[i].modelled;
		add_model(&sum->disks[i], &l->before.models[i], &after.models[i]);
	}
	if (l->before.has_journal && after.has_journal)
		add_journal(&sum->journal, &l->before.journal, &after.journal);
	else
		sum->journal.name[0] = '\0'; /* nothing is known of it */
	if (l->before.has_process && after.has_process)
		add_process(&sum->process, &l->before.process, &after.process);
}
