/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Advice; see advice.h.
 *
 * Inline, the block layer counts the journal's requests together with those of the data,
 * so the device time of the journal cannot be measured.  But a commit writes to its log
 * only while it is in the phase that jbd2 calls logging, and does nothing else then: the
 * device works for the log during that phase at most, and nobody waits for the log outside
 * of it.  (The superblock of the journal, which is written when the log is emptied, is left
 * out; so are fast commits, which jbd2 does not count.)
 *
 * A size: the kernel writes metadata home by itself once it is dirty for
 * vm.dirty_expire_centisecs, looking every vm.dirty_writeback_centisecs.  A log that holds
 * what is logged in that time is emptied for free.  jbd2 wants a third of the log free for
 * the transaction that runs.
 */

#include "advise/advice.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/clock.h"
#include "core/fileio.h"
#include "device/users.h"
#include "evidence/jbd2.h"
#include "mount/mount.h"

#define MIB UINT64_C(1048576)

enum { BLOCKS_MIN = 1024, BLOCKS_MAX = 10240000 };

static int refuse_unreadable(const struct advice *a, const char *device, struct err *e)
{
	for (size_t i = 0; i < a->inventory.failure_count; i++) {
		const struct inventory_failure *f = &a->inventory.failures[i];
		int r;

		if (!f->named)
			continue;
		r = err_say(e, f->code ? f->code : EIO, "%s", f->reason);
		if (f->refused)
			e->kind = ERR_REFUSED;
		return r;
	}
	return err_refuse(e, "%s holds no ext3 or ext4 volume", device);
}

static const struct inventory_item *find_named(const struct inventory *inv)
{
	for (size_t i = 0; i < inv->count; i++)
		if (inv->items[i].named)
			return &inv->items[i];
	return NULL;
}

static int check_volume(struct advice *a, const char *device, struct err *e)
{
	const struct inventory_item *v = find_named(&a->inventory);

	if (!v)
		return refuse_unreadable(a, device, e);
	a->volume = v;
	if (v->volume.kind == VOLUME_JOURNAL_DEVICE)
		return err_refuse(e,
			"%s is a journal device: name the volume that it serves", device);
	if (!v->identity.is_block)
		return err_refuse(e, "%s is no block device, so it cannot be mounted", device);
	if (v->volume.place == JOURNAL_NONE)
		return err_refuse(e,
			"%s has no journal, so there is nothing to watch; what one would "
			"cost an experiment shows (jbdlab run) with the arms none and inline",
			device);
	return 0;
}

/* Several devices may carry the UUID of the journal, as clones do; the kernel knows which
 * one it uses. */
static int find_journal(struct advice *a, const char *device, struct err *e)
{
	const struct inventory_item *v = a->volume;

	if (v->volume.place != JOURNAL_EXTERNAL)
		return 0;
	if (v->journal_path)
		a->journal = &a->inventory.items[v->journal_item];
	for (size_t i = 0; i < a->inventory.count; i++) {
		const struct inventory_item *item = &a->inventory.items[i];

		if (item->volume.kind == VOLUME_JOURNAL_DEVICE &&
			!strcmp(item->volume.uuid, v->volume.journal_uuid) &&
			users_is_journal_of(item->identity.kernel_name,
				v->identity.kernel_name) == DEVICE_YES)
			a->journal = item;
	}
	return a->journal ? 0
			  : err_refuse(e, "%s: the device of its external journal was not found",
				    device);
}

static int find_mount(struct advice *a, const char *device, struct err *e)
{
	struct mount_state m = { 0 };
	int r = mount_state_read(&m, a->volume->identity.devno, e);

	if (r == -ENOENT)
		return err_refuse(e,
			"%s is not mounted%s%s: advise watches a volume at work", device,
			a->volume->in_use ? " here, but " : "",
			a->volume->in_use ? a->volume->in_use : "");
	if (r)
		return r;
	a->mounted_on = take_ptr(m.target);
	a->type = take_ptr(m.type);
	a->options = take_ptr(m.options);
	mount_state_deinit(&m);
	return 0;
}

static int watch_volume(struct advice *a, const struct advice_question *q, struct err *e)
{
	const struct inventory_item *carrier = a->journal ? a->journal : a->volume;
	struct watch_setup setup = { .volume = a->volume->identity.devno,
		.journal = a->journal ? a->journal->identity.devno : 0,
		.duration_ns = q->duration_ns, .stop = q->stop, .log = q->log };
	int r;

	a->journal_name = jbd2_name(carrier->identity.kernel_name,
		a->journal ? 0 : a->volume->volume.journal_inode);
	if (!a->journal_name)
		return err_set(e, ENOMEM, "advise");
	setup.journal_name = a->journal_name;
	r = watch_run(&a->watch, &setup, e);
	if (r == -ENOENT)
		return err_refuse(e,
			"the journal of %s is not at work (mounted with noload, or read-only "
			"by a kernel that does not load it), or is not shown here: %s",
			q->device, err_message(e));
	return r;
}

/* The journal as it is on disk: of the volume, or of the device that carries it. */
static uint64_t journal_bytes(const struct advice *a)
{
	return volume_journal_bytes(&(a->journal ? a->journal : a->volume)->volume);
}

int advice_make(struct advice *a, const struct advice_question *q, struct err *e)
{
	const char *const names[] = { q->device };
	int r = inventory_read(&a->inventory, names, 1, e);

	if (!r)
		r = check_volume(a, q->device, e);
	if (!r)
		r = find_mount(a, q->device, e);
	if (!r)
		r = find_journal(a, q->device, e);
	if (r)
		return r;
	a->candidate = q->journal ? strdup(q->journal) : NULL;
	if (q->journal && !a->candidate)
		return err_set(e, ENOMEM, "advise");
	a->journal_bytes = journal_bytes(a);
	r = watch_volume(a, q, e);
	if (!r)
		advice_reckon(a);
	return r;
}

void advice_deinit(struct advice *a)
{
	inventory_deinit(&a->inventory);
	free(a->mounted_on);
	free(a->type);
	free(a->options);
	free(a->journal_name);
	free(a->candidate);
	*a = (struct advice){ 0 };
}

static double share(double part, double whole)
{
	return whole > 0 ? MIN(part / whole, 1.0) : NAN;
}

static void reckon_logging(struct advice *a)
{
	const struct watch *w = &a->watch;
	double block = a->volume->volume.block_bytes;
	struct watch_bound blocks = w->logged_blocks;

	if (w->traced) {
		a->logging.low = a->logging.high = share((double)w->trace.logging_ns,
			(double)w->trace.covered_ns);
		if (!w->trace.lost)
			blocks.low = blocks.high = (double)w->trace.logged_blocks;
	} else {
		a->logging.low = share(w->logging_ns.low, (double)w->elapsed_ns);
		a->logging.high = share(w->logging_ns.high, (double)w->elapsed_ns);
	}
	a->log_bytes = (struct watch_bound){ blocks.low * block, blocks.high * block };
}

static void reckon_commit(struct advice *a)
{
	const struct commits_sum *t = &a->watch.trace;
	double rest = (double)(t->locked_ns + t->flushing_ns);
	double whole = rest + (double)t->logging_ns;

	a->commit_left = a->watch.traced && t->count ? rest / whole : NAN;
	a->speed_limit = a->logging.high < 1 ? 1 / (1 - a->logging.high) : INFINITY;
}

static uint64_t home_ns(void)
{
	uint64_t expire = 3000, look = 500; /* as the kernel has them by default, in 10 ms */

	fileio_read_u64(&expire, "/proc/sys/vm/dirty_expire_centisecs");
	fileio_read_u64(&look, "/proc/sys/vm/dirty_writeback_centisecs");
	return (expire + look) * 10 * NS_PER_MS;
}

/* Up to the next power of two of MiB. */
static uint64_t round_up(uint64_t bytes)
{
	uint64_t size = MIB;

	while (size < bytes)
		size *= 2;
	return size;
}

static void reckon_size(struct advice *a)
{
	const struct watch *w = &a->watch;
	double window = (double)MIN((uint64_t)COMMITS_STRETCH_NS, w->trace.covered_ns);
	double blocks_per_ns = w->traced && window > 0
		? (double)w->trace.stretch_blocks / window
		: w->logged_blocks.high / (double)MAX(w->elapsed_ns, UINT64_C(1));
	uint64_t block = a->volume->volume.block_bytes, blocks;

	a->home_ns = home_ns();
	a->size_is_bound = !w->traced;
	if (!w->commits && !w->trace.count)
		return;
	blocks = (uint64_t)ceil(blocks_per_ns * (double)a->home_ns * 3 / 2);
	blocks = MAX(blocks, 4 * w->trace.most_blocks);
	blocks = MIN(MAX(blocks, (uint64_t)BLOCKS_MIN), (uint64_t)BLOCKS_MAX);
	a->size_bytes = MIN(round_up(blocks * block), BLOCKS_MAX * block);
}

void advice_reckon(struct advice *a)
{
	const struct watch *w = &a->watch;
	double elapsed = (double)w->elapsed_ns;
	double written = (double)w->volume.write_bytes + (double)w->journal.write_bytes;

	a->volume_busy = w->volume_counts ? share((double)w->volume.busy_ns, elapsed) : NAN;
	a->journal_busy =
		w->journal_counts ? share((double)w->journal.busy_ns, elapsed) : NAN;
	reckon_logging(a);
	a->log_bytes_share = w->volume_counts && (w->journal_counts || !a->journal)
		? share(a->log_bytes.high, written)
		: NAN;
	reckon_commit(a);
	reckon_size(a);
}
