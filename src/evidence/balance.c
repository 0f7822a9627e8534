/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Who did the I/O; see balance.h.  What of a device can be ours, at most:
 *
 *	reads of all devices together	read_bytes of our process: the kernel accounts a
 *					read, also of metadata and ahead, to who causes it
 *	data device, writes		write_bytes of our process (a page is accounted when
 *					it becomes dirty, and written no oftener) without
 *					cancelled_write_bytes, and each logged block once
 *					more in its place
 *	inline journal			the same device: and each logged block itself
 *	journal device, writes		each logged block; the data with data=journal is in
 *					these
 *	the disk of a partition		what its partitions that are ours did
 *	a disk below dm, md or loop	twice what our devices on it did, because layouts
 *					and the host's own journal multiply
 *
 * jbd2 gives the mean of logged blocks for each transaction, rounded down, so one more
 * block is granted for each, and two for its descriptor and commit record, and one for the
 * journal's superblock.  The slack is for allocation bitmaps that kernel threads read.
 */

#include "evidence/balance.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/fileio.h"
#include "evidence/diskstats.h"
#include "evidence/jbd2.h"
#include "evidence/procio.h"

#define SLACK_BYTES (1 << 20)
#define SLACK_FRACTION 20 /* one part in so many */
enum { BLOCKS_MORE = 4, JOURNALS_MAX = 16 };

struct device {
	char name[EVIDENCE_NAME_BYTES];
	dev_t devno, parent; /* parent: the disk of a partition, else 0 */
	unsigned roles;
	bool below;
	struct diskstats before, after;
	bool known;
};

struct journal {
	char name[EVIDENCE_NAME_BYTES];
	struct jbd2_info before, after;
	bool known;
};

struct balance {
	struct device devices[EVIDENCE_DISKS_MAX];
	size_t device_count;
	struct journal journals[JOURNALS_MAX];
	size_t journal_count;
	uint32_t block_bytes;
	bool external, process_known;
	struct procio before, after;
};

static dev_t parent_of(dev_t devno)
{
	_cleanup_free_ char *partition = fileio_read_line("/sys/dev/block/%u:%u/partition",
		major(devno), minor(devno));
	_cleanup_free_ char *line = partition
		? fileio_read_line("/sys/dev/block/%u:%u/../dev", major(devno), minor(devno))
		: NULL;
	unsigned a, b;

	return line && sscanf(line, "%u:%u", &a, &b) == 2 ? makedev(a, b) : 0;
}

int balance_new(struct balance **out, const struct balance_setup *setup, struct err *e)
{
	struct balance *b = calloc(1, sizeof(*b));

	if (!b)
		return err_set(e, ENOMEM, "balance of the devices");
	b->block_bytes = setup->block_bytes;
	b->external = setup->external;
	for (size_t i = 0; i < MIN(setup->disk_count, (size_t)EVIDENCE_DISKS_MAX); i++) {
		const struct ledger_disk *from = &setup->disks[i];
		struct device *d = &b->devices[b->device_count++];

		snprintf(d->name, sizeof(d->name), "%s", from->name);
		d->devno = from->devno;
		d->parent = parent_of(from->devno);
		d->roles = from->roles;
		d->below = from->below;
		d->known = !diskstats_read(&d->before, d->devno);
	}
	for (size_t i = 0; i < MIN(setup->journal_count, (size_t)JOURNALS_MAX); i++) {
		struct journal *j = &b->journals[b->journal_count++];

		snprintf(j->name, sizeof(j->name), "%s", setup->journals[i]);
		j->known = !jbd2_read(&j->before, j->name);
	}
	b->process_known = !procio_read(&b->before);
	*out = b;
	return 0;
}

struct balance *balance_free(struct balance *b)
{
	free(b);
	return NULL;
}

uint64_t balance_foreign(uint64_t device_bytes, uint64_t ours_bytes)
{
	uint64_t slack = SLACK_BYTES + ours_bytes / SLACK_FRACTION;

	return device_bytes > ours_bytes + slack ? device_bytes - ours_bytes : 0;
}

static uint64_t read_bytes(const struct device *d)
{
	return diskstats_difference(&d->before, &d->after).read_bytes;
}

static uint64_t write_bytes(const struct device *d)
{
	return diskstats_difference(&d->before, &d->after).write_bytes;
}

/* At most so much was written into the journals; false: not known. */
static bool logged_bytes(const struct balance *b, uint64_t *bytes)
{
	*bytes = 0;
	for (size_t i = 0; i < b->journal_count; i++) {
		const struct journal *j = &b->journals[i];
		uint64_t was = j->before.transactions * j->before.logged_blocks;
		uint64_t is = j->after.transactions *
			(j->after.logged_blocks + BLOCKS_MORE);

		if (!j->known)
			return false;
		*bytes += (is > was ? is - was : 0) * b->block_bytes;
	}
	return true;
}

/* Sums over our devices that lie on a disk; exact: all of them are its partitions. */
static uint64_t ours_on(const struct balance *b, const struct device *disk, bool *exact,
	uint64_t (*bytes)(const struct device *))
{
	uint64_t sum = 0;

	*exact = true;
	for (size_t i = 0; i < b->device_count; i++) {
		const struct device *d = &b->devices[i];

		if (d->below || !(d->roles & disk->roles))
			continue;
		sum += bytes(d);
		*exact = *exact && d->parent == disk->devno;
	}
	return *exact ? sum : 2 * sum;
}

/* What can be ours of a device, at most; false: not known. */
static bool our_reads(const struct balance *b, const struct device *d, uint64_t *ours)
{
	bool exact;

	if (d->below)
		*ours = ours_on(b, d, &exact, read_bytes);
	else
		*ours = b->after.device_read_bytes - b->before.device_read_bytes;
	return d->known && (d->below || b->process_known);
}

/* What a process has dirtied and not truncated again before it was written. */
static uint64_t written_by(const struct procio *p)
{
	return p->dirtied_bytes - MIN(p->cancelled_bytes, p->dirtied_bytes);
}

static bool our_writes(const struct balance *b, const struct device *d, uint64_t *ours)
{
	uint64_t dirtied = written_by(&b->after) - written_by(&b->before), logged;
	bool known = logged_bytes(b, &logged), exact;

	if (d->below) {
		*ours = ours_on(b, d, &exact, write_bytes);
		return d->known;
	}
	*ours = d->roles & EVIDENCE_DATA ? dirtied + logged : 0;
	if (d->roles & EVIDENCE_JOURNAL || !b->external)
		*ours += logged;
	return known && d->known && b->process_known;
}

/* Is it a disk below loop, dm or md, of which only a rough bound can be given? */
static bool is_rough(const struct balance *b, const struct device *d)
{
	bool exact = true;

	if (d->below)
		ours_on(b, d, &exact, write_bytes);
	return !exact;
}

static json_t *device_to_json(const struct balance *b, const struct device *d)
{
	uint64_t reads = read_bytes(d), writes = write_bytes(d), ours_read, ours_written;
	bool r = our_reads(b, d, &ours_read), w = our_writes(b, d, &ours_written);

	return json_pack("{ss,ss,sb,sI,sI,so,so,so,so}", "name", d->name, "role",
		d->below			  ? "below"
			: d->roles & EVIDENCE_DATA ? "data"
						   : "journal",
		"rough", is_rough(b, d), "read_bytes", (json_int_t)reads, "write_bytes",
		(json_int_t)writes, "ours_read_bytes_max",
		r ? json_integer((json_int_t)ours_read) : json_null(),
		"ours_write_bytes_max", w ? json_integer((json_int_t)ours_written) : json_null(),
		"foreign_read_bytes",
		r ? json_integer((json_int_t)balance_foreign(reads, ours_read)) : json_null(),
		"foreign_write_bytes",
		w ? json_integer((json_int_t)balance_foreign(writes, ours_written))
		  : json_null());
}

json_t *balance_end(struct balance *b)
{
	json_auto_t *list = json_array();

	b->process_known = !procio_read(&b->after) && b->process_known;
	for (size_t i = 0; i < b->device_count; i++) {
		struct device *d = &b->devices[i];

		d->known = !diskstats_read(&d->after, d->devno) && d->known;
	}
	for (size_t i = 0; i < b->journal_count; i++)
		b->journals[i].known = !jbd2_read(&b->journals[i].after,
					       b->journals[i].name) &&
			b->journals[i].known;
	for (size_t i = 0; list && i < b->device_count; i++)
		if (json_array_append_new(list, device_to_json(b, &b->devices[i])))
			return NULL;
	return take_ptr(list);
}
