/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The experiment that would prove or refute an advice: the volume itself with its journal
 * where it is and in the other place, both of the same size, under writes that wait for
 * commits, and controls that do not.  The volume keeps what is on it (no mkfs), and run
 * takes it back to its placement.
 */

#include <stdio.h>
#include <string.h>

#include "advise/advice.h"
#include "core/clock.h"
#include "core/units.h"
#include "mount/mount.h"

#define NOT_NAMED "/dev/disk/by-id/FAST-DEVICE"

static const char *name_of(const struct inventory_item *item)
{
	return item->identity.stable_name ? item->identity.stable_name : item->identity.path;
}

/* The size of both arms: what is wanted, or what is there. */
static uint64_t size_of(const struct advice *a)
{
	return MAX(a->size_bytes, a->journal_bytes);
}

static void add_arms(const struct advice *a, struct strbuf *out)
{
	const char *fast = a->journal ? name_of(a->journal) : a->candidate;
	char now[16], size[16];

	units_format_bytes(a->journal_bytes, now);
	units_format_bytes(size_of(a), size);
	if (a->journal) {
		strbuf_addf(out, "[arm external]\njournal = external=%s\n\n", fast);
		strbuf_addf(out, "[arm inline]\njournal = inline,size=%s\n\n", now);
		return;
	}
	strbuf_addf(out, "[arm inline]\njournal = inline,size=%s\n\n", now);
	if (size_of(a) != a->journal_bytes)
		strbuf_addf(out,
			"; A larger one in its place, so that size and place are told "
			"apart.\n[arm larger]\njournal = inline,size=%s\n\n",
			size);
	if (!fast)
		strbuf_add(out, "; Replace the device: advise --journal DEV does.\n");
	strbuf_addf(out, "[arm external]\njournal = external=%s,size=%s\n\n",
		fast ? fast : NOT_NAMED, size);
}

/* As it is mounted now, but for what names a journal device. */
static void add_volume(const struct advice *a, struct strbuf *out)
{
	_cleanup_free_ char *options = mount_options_strip_journal(a->options, false);

	strbuf_addf(out, "[volume data]\ndevice = %s\n", name_of(a->volume));
	if (options && strcmp(options, "defaults"))
		strbuf_addf(out, "mount  = %s\n", options);
	strbuf_add(out, "\n");
}

void advice_experiment(const struct advice *a, struct strbuf *out)
{
	const struct watch *w = &a->watch;
	double rate = (double)w->commits * NS_PER_S / (double)MAX(w->elapsed_ns, UINT64_C(1));
	char measured[24];

	units_format_duration(w->elapsed_ns, measured);
	strbuf_addf(out, "; What advise could only bound, measured: %s\n",
		name_of(a->volume));
	strbuf_addf(out, "; Watched for %s: %.1f commits a second, %.0f %% of them asked for.\n",
		measured, rate,
		w->commits ? 100 * (double)w->requested / (double)w->commits : 0);
	strbuf_add(out,
		"; The volume must be unmounted for it, is kept as it is, and needs a lease\n"
		"; (jbdlab scratch lease), as the device of the journal does.\n"
		"[experiment]\nname    = advice\nblocks  = 6\ntarget  = 5%\n"
		"primary = commit/append-fsync/t4/operations\n\n");
	add_volume(a, out);
	add_arms(a, out);
	strbuf_add(out,
		"; What waits for commits, and two controls that do not.\n"
		"[workload commit]\ntype    = commit\n"
		"kind    = append-fsync create-fsync mail overwrite-fdatasync create-nosync\n"
		"threads = 1 4\ncount   = 1000\n\n"
		"; Commits beside a stream that keeps the volume busy.\n"
		"[workload beside]\ntype    = commit\nkind    = stream+commit\ncount   = 200\n");
}
