/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Adding up evidence; see evidence.h. */

#include "result/evidence.h"

#include <string.h>

static void add_disk(struct evidence_disk *sum, const struct evidence_disk *more)
{
	sum->reads += more->reads;
	sum->read_bytes += more->read_bytes;
	sum->writes += more->writes;
	sum->write_bytes += more->write_bytes;
	sum->flushes += more->flushes;
	sum->flush_ns += more->flush_ns;
	sum->flushes_counted = sum->flushes_counted && more->flushes_counted;
}

static void add_disks(struct result_evidence *sum, const struct result_evidence *more)
{
	for (size_t i = 0; i < more->disk_count; i++)
		for (size_t k = 0; k < sum->disk_count; k++)
			if (!strcmp(sum->disks[k].name, more->disks[i].name)) {
				add_disk(&sum->disks[k], &more->disks[i]);
				break;
			}
}

static double mean_of(double a, uint64_t a_count, double b, uint64_t b_count)
{
	uint64_t count = a_count + b_count;

	return count ? (a * (double)a_count + b * (double)b_count) / (double)count : 0;
}

static void add_journal(struct evidence_journal *sum, const struct evidence_journal *more)
{
	uint64_t a = sum->transactions, b = more->transactions;

	sum->handles = mean_of(sum->handles, a, more->handles, b);
	sum->blocks = mean_of(sum->blocks, a, more->blocks, b);
	sum->logged_blocks = mean_of(sum->logged_blocks, a, more->logged_blocks, b);
	sum->commit_ns = mean_of(sum->commit_ns, a, more->commit_ns, b);
	sum->transactions += b;
	sum->requested += more->requested;
}

static void add_process(struct evidence_process *sum, const struct evidence_process *more)
{
	sum->known = sum->known && more->known;
	sum->read_calls += more->read_calls;
	sum->write_calls += more->write_calls;
	sum->read_bytes += more->read_bytes;
	sum->write_bytes += more->write_bytes;
	sum->device_read_bytes += more->device_read_bytes;
}

void evidence_add(struct result_evidence *sum, const struct result_evidence *more)
{
	add_disks(sum, more);
	add_journal(&sum->journal, &more->journal);
	add_process(&sum->process, &more->process);
	sum->ended_ns = more->ended_ns;
	sum->trace = more->trace;
}
