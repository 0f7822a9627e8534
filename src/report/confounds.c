/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The table of confounds; see confounds.h. */

#include "report/confounds.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "report/report.h"

enum { PLACES_APART_PERCENT = 5 };

/* Appends after ", ". */
static void list(struct strbuf *b, const char *fmt, ...) _printf_(2, 3);

static void list(struct strbuf *b, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	strbuf_addf(b, "%s%s", b->length ? ", " : "", text);
}

static bool differ(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

static bool few_blocks(const struct confound_facts *f, struct strbuf *b)
{
	if (f->arm_count < 2 || f->blocks >= REPORT_BLOCKS_FOR_A_STATEMENT)
		return false;
	list(b, "blocks: %zu", f->blocks);
	return true;
}

static bool fixed_order(const struct confound_facts *f, struct strbuf *b _unused_)
{
	return f->fixed_order;
}

static bool journal_sizes(const struct confound_facts *f, struct strbuf *b)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (size_t i = 0; i < f->arm_count; i++) {
		const struct confound_arm *a = &f->arms[i];
		char text[16];

		if (!a->has_journal || !a->journal_bytes)
			continue;
		least = MIN(least, a->journal_bytes);
		most = MAX(most, a->journal_bytes);
		units_format_bytes(a->journal_bytes, text);
		list(b, "%s %s", a->name, text);
	}
	/* One block for the superblock of a journal device is no difference. */
	return most > least && most - least > least / 100;
}

static bool journal_features(const struct confound_facts *f, struct strbuf *b)
{
	const char *first = NULL;
	bool found = false;

	for (size_t i = 0; i < f->arm_count; i++) {
		const struct confound_arm *a = &f->arms[i];

		if (!a->has_journal || !a->journal_features)
			continue;
		found = found || differ(first, a->journal_features);
		first = first ? first : a->journal_features;
		list(b, "%s: %s", a->name,
			*a->journal_features ? a->journal_features : "none");
	}
	return found;
}

static bool mount_options(const struct confound_facts *f, struct strbuf *b)
{
	bool found = false;

	for (size_t i = 0; i < f->arm_count; i++) {
		found = found || differ(f->arms[0].mount, f->arms[i].mount);
		list(b, "%s: %s", f->arms[i].name,
			f->arms[i].mount && *f->arms[i].mount ? f->arms[i].mount : "none");
	}
	return found;
}

static bool barriers(const struct confound_facts *f, struct strbuf *b)
{
	bool found = false;

	for (size_t i = 0; i < f->arm_count; i++)
		if (f->arms[i].no_barrier) {
			list(b, "%s", f->arms[i].name);
			found = true;
		}
	return found;
}

static bool shared_disk(const struct confound_facts *f, struct strbuf *b)
{
	bool found = false;

	for (size_t i = 0; i < f->arm_count; i++)
		if (f->arms[i].external && f->arms[i].same_disk == CONFOUND_YES) {
			list(b, "%s", f->arms[i].name);
			found = true;
		}
	return found;
}

static bool lost_flushes(const struct confound_facts *f, struct strbuf *b)
{
	bool found = false;

	for (size_t i = 0; i < f->arm_count; i++)
		if (f->arms[i].lost_flushes) {
			list(b, "%s: %s", f->arms[i].name, f->arms[i].lost_flushes);
			found = true;
		}
	return found;
}

/* Two arms in which a workload's files are too far apart. */
static bool file_places(const struct confound_facts *f, struct strbuf *b)
{
	bool found = false;

	for (size_t i = 0; i < f->place_count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct confound_place *x = &f->places[k], *y = &f->places[i];

			if (strcmp(x->workload, y->workload) ||
				!(fabs(x->place - y->place) * 100 > PLACES_APART_PERCENT))
				continue;
			list(b, "%s: %s at %.0f %%, %s at %.0f %% of the volume", x->workload,
				x->arm, x->place * 100, y->arm, y->place * 100);
			found = true;
		}
	return found;
}

static bool small_data(const struct confound_facts *f, struct strbuf *b)
{
	bool found = false;

	for (size_t i = 0; i < f->workload_count; i++) {
		const struct confound_workload *w = &f->workloads[i];
		char text[16];

		if (!w->warm_reads || !w->file_bytes || w->file_bytes >= f->memory_bytes)
			continue;
		units_format_bytes(w->file_bytes, text);
		list(b, "%s %s", w->name, text);
		found = true;
	}
	if (found) {
		char text[16];

		units_format_bytes(f->memory_bytes, text);
		list(b, "memory %s", text);
	}
	return found;
}

static bool cached_reads(const struct confound_facts *f, struct strbuf *b)
{
	bool found = false;

	for (size_t i = 0; i < f->workload_count; i++) {
		const struct confound_workload *w = &f->workloads[i];

		if (!(w->cache_share > 0.5))
			continue;
		list(b, "%s up to %.0f %%", w->name, w->cache_share * 100);
		found = true;
	}
	return found;
}

static bool dd_unsynced(const struct confound_facts *f, struct strbuf *b)
{
	bool found = false;

	for (size_t i = 0; i < f->workload_count; i++)
		if (f->workloads[i].dd_unsynced) {
			list(b, "%s", f->workloads[i].name);
			found = true;
		}
	return found;
}

/* Do the devices of volumes and those of journals differ in what get() gives? */
static bool devices_differ(const struct confound_facts *f, struct strbuf *b,
	const char *(*get)(const struct confound_device *))
{
	const char *first = NULL;
	bool found = false;

	for (size_t i = 0; i < f->device_count; i++) {
		const char *value = get(&f->devices[i]);

		if (!value)
			continue;
		found = found || differ(first, value);
		first = first ? first : value;
		list(b, "%s: %s", f->devices[i].label, value);
	}
	return found;
}

static const char *scheduler_of(const struct confound_device *d)
{
	return d->scheduler;
}

static const char *cache_of(const struct confound_device *d)
{
	return d->write_cache;
}

static bool schedulers(const struct confound_facts *f, struct strbuf *b)
{
	return devices_differ(f, b, scheduler_of);
}

static bool write_caches(const struct confound_facts *f, struct strbuf *b)
{
	return devices_differ(f, b, cache_of);
}

static bool saves(const char *value)
{
	static const char *const words[] = { "powersave", "ondemand", "conservative",
		"schedutil" };

	for (size_t i = 0; value && i < ARRAY_SIZE(words); i++)
		if (!strcmp(value, words[i]))
			return true;
	return false;
}

static bool power_saving(const struct confound_facts *f, struct strbuf *b)
{
	if (saves(f->governor))
		list(b, "CPU governor %s", f->governor);
	if (f->laptop_mode && strcmp(f->laptop_mode, "0"))
		list(b, "laptop_mode %s", f->laptop_mode);
	if (f->pcie_policy && strstr(f->pcie_policy, "save]"))
		list(b, "PCIe power policy %s", f->pcie_policy);
	for (size_t i = 0; i < f->device_count; i++)
		if (f->devices[i].saving)
			list(b, "%s: %s", f->devices[i].label, f->devices[i].saving);
	return b->length > 0;
}

static bool virtual_disks(const struct confound_facts *f, struct strbuf *b)
{
	bool found = false;

	for (size_t i = 0; i < f->device_count; i++)
		if (f->devices[i].is_virtual) {
			list(b, "%s", f->devices[i].label);
			found = true;
		}
	return found;
}

static bool seen(const char *text, struct strbuf *b)
{
	if (!text || !*text)
		return false;
	strbuf_add(b, text);
	return true;
}

static bool changes(const struct confound_facts *f, struct strbuf *b)
{
	return seen(f->changes, b);
}

static bool kernel_messages(const struct confound_facts *f, struct strbuf *b)
{
	return seen(f->kernel, b);
}

static bool foreign_io(const struct confound_facts *f, struct strbuf *b)
{
	return seen(f->foreign, b);
}

const struct confound confounds[] = {
	{ "few_blocks",
		"Fewer than six blocks: chance alone explains any difference, and no "
		"interval or test can be given",
		few_blocks },
	{ "fixed_order",
		"The arms were measured in the same order each time: whatever drifts (temperature, "
		"wear, fill, other users) is taken for a difference between them",
		fixed_order },
	{ "journal_sizes",
		"The journals are of different sizes: a larger one is written back later, so a "
		"difference is one of size and place together",
		journal_sizes },
	{ "journal_features",
		"The journals have different features, so that the arms do not write the same",
		journal_features },
	{ "mount_options",
		"The arms are mounted with different options: a difference is not of the "
		"journal's place alone",
		mount_options },
	{ "barriers",
		"Mounted without barriers: no flush is sent, what was synced can be lost, and "
		"the rates are those of a cache",
		barriers },
	{ "shared_disk",
		"The journal lies on the same disk as the data: the disk seeks and flushes for "
		"both, and the arm says nothing about a journal on a disk of its own",
		shared_disk },
	{ "lost_flushes",
		"This kernel acknowledged syncs without flushing the data disk, as those without "
		"the fixes for external journals do: the external journal looks faster than it "
		"is, and what was synced can be lost",
		lost_flushes },
	{ "file_places",
		"The files of a workload lie in different regions of the volume: on a disk that "
		"turns the region alone changes the rate",
		file_places },
	{ "small_data",
		"The files fit into memory and the page cache was not emptied before they were "
		"read: the read rates are those of memory",
		small_data },
	{ "cached_reads",
		"More than half of what was read came from the page cache: these are rates of "
		"memory, not of a disk",
		cached_reads },
	{ "dd_unsynced",
		"dd ends without a sync: it measures how fast memory takes data, and what comes "
		"after pays for it",
		dd_unsynced },
	{ "schedulers", "The disks have different I/O schedulers", schedulers },
	{ "write_caches",
		"Some disks have a volatile write cache and others say that they have none: a "
		"flush costs only the former",
		write_caches },
	{ "power_saving",
		"Power saving is on: latencies include waking up, and depend on the load before",
		power_saving },
	{ "virtual_disks",
		"The disk is provided by a host, whose cache cannot be seen from here: counted "
		"flushes were sent, and whether they reached a medium is the host's affair",
		virtual_disks },
	{ "changes", "The environment changed during the run", changes },
	{ "kernel_messages", "The kernel complained during the run", kernel_messages },
	{ "foreign_io",
		"Somebody else was at work on the disks: at least so much is accounted for by "
		"neither the workload nor the journal",
		foreign_io },
	{ NULL, NULL, NULL },
};
