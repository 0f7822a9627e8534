/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Evidence for a directory; see directory.h. */

#include "run/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/kmsg.h"
#include "evidence/balance.h"
#include "evidence/environment.h"
#include "evidence/kernel_messages.h"
#include "evidence/work_files.h"
#include "mount/mount.h"
#include "result/timeline.h"
#include "run/devices.h"
#include "run/traced.h"
#include "run/watched.h"
#include "volume/volume.h"

#define ARM "here"

struct directory_watch {
	const char *directory, *version;
	const struct log *log;
	struct session_device volume, journal; /* journal.path NULL: none of its own */
	struct mount_state mount;
	struct evidence_arm arm;
	char journal_name[300]; /* below /proc/fs/jbd2; "" for none */
	uint32_t block_bytes;
	uint64_t size_bytes;
	int kernel_mark;
	json_t *before;
	struct ledger *ledger;
	struct balance *balance;
	struct tracer *tracer; /* NULL: nothing is traced */
	struct work_files files;
};

static int find_device(struct session_device *d, dev_t devno, struct err *e)
{
	_cleanup_close_ int fd = -1;

	device_identity_read_sysfs(&d->identity, "/sys", devno);
	d->identity.devno = devno;
	if (!d->identity.kernel_name ||
		asprintf(&d->path, "/dev/%s", d->identity.kernel_name) < 0) {
		d->path = NULL;
		return err_say(e, ENODEV, "there is no device %u:%u in sysfs", major(devno),
			minor(devno));
	}
	d->spec = d->path;
	/* Its size, and other things that sysfs alone does not say; root only. */
	fd = open(d->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	device_identity_deinit(&d->identity);
	return device_identity_read(&d->identity, fd, d->path, e);
}

/* The kernel names an inline journal after the volume.  Where an external one is only the
 * superblock says, in which the kernel keeps its number up to date. */
static int find_journal(struct directory_watch *w, struct err *e)
{
	_cleanup_(volume_info_deinit) struct volume_info v = { 0 };
	_cleanup_close_ int fd = open(w->volume.path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return err_refuse(e, "open %s: %s; only root can see where its journal is",
			w->volume.path, strerror(errno));
	r = volume_info_read(&v, fd, w->volume.path, e);
	if (r)
		return r;
	w->block_bytes = v.block_bytes;
	w->size_bytes = v.size_bytes;
	w->arm.placement = v.place == JOURNAL_NONE ? ARM_NO_JOURNAL
		: v.place == JOURNAL_INLINE	   ? ARM_INLINE
						   : ARM_EXTERNAL;
	if (v.place == JOURNAL_INLINE)
		snprintf(w->journal_name, sizeof(w->journal_name), "%s-%u",
			w->volume.identity.kernel_name, v.journal_inode);
	if (v.place != JOURNAL_EXTERNAL)
		return 0;
	r = find_device(&w->journal, volume_journal_devno(&v), e);
	if (!r)
		snprintf(w->journal_name, sizeof(w->journal_name), "%s",
			w->journal.identity.kernel_name);
	return r;
}

static int find_volume(struct directory_watch *w, struct err *e)
{
	struct stat st;
	int r;

	if (stat(w->directory, &st))
		return err_set(e, errno, "directory %s", w->directory);
	if (!major(st.st_dev))
		return err_refuse(e,
			"%s lies on no block device: there is nothing to audit", w->directory);
	r = find_device(&w->volume, st.st_dev, e);
	if (!r)
		r = mount_state_read(&w->mount, st.st_dev, e);
	if (r == -ENOENT)
		r = err_say(e, ENOENT, "%s is not in our mount table", w->volume.path);
	if (!r && strncmp(w->mount.type, "ext", 3))
		r = err_refuse(e, "%s is %s; the audit knows ext2, ext3 and ext4",
			w->volume.path, w->mount.type);
	return r ? r : find_journal(w, e);
}

static int open_counters(struct directory_watch *w, struct err *e)
{
	_cleanup_(watched_deinit) struct watched devices = { .count = 0 };
	char *names[] = { w->journal_name };
	struct ledger_setup ledger = { .disks = devices.disks };
	struct balance_setup balance = { .disks = devices.disks, .journals = names,
		.journal_count = w->journal_name[0] != '\0', .block_bytes = w->block_bytes,
		.external = w->journal.path != NULL };
	int r;

	watched_add(&devices, &w->volume.identity, EVIDENCE_DATA);
	if (w->journal.path)
		watched_add(&devices, &w->journal.identity, EVIDENCE_JOURNAL);
	watched_find_models(&devices);
	ledger.disk_count = balance.disk_count = devices.count;
	ledger.journal_name = w->journal_name[0] ? w->journal_name : NULL;
	watched_read_options(&w->arm, w->mount.options);
	sync();
	r = ledger_new(&w->ledger, &ledger, e);
	return r ? r : balance_new(&w->balance, &balance, e);
}

/* A trace explains, it decides nothing: without it the audit goes on. */
static void open_tracer(struct directory_watch *w)
{
	_cleanup_(traced_deinit) struct tracer_setup setup = { 0 };
	_cleanup_(err_clear) struct err why = { 0 };
	int r = traced_add(&setup, &w->volume.identity,
		w->journal.path ? &w->journal.identity : NULL, &why);

	if (!r)
		r = tracer_new(&w->tracer, &setup, &why);
	if (r)
		log_line(w->log, LOG_NOTE, "nothing is traced: %s", err_message(&why));
}

/* NULL: nothing was traced. */
static json_t *take_traces(struct directory_watch *w, const struct result_run *run)
{
	json_t *traces = w->tracer ? json_array() : NULL;

	for (size_t i = 0; traces && i < run->phase_count; i++) {
		const struct result_phase *phase = &run->phases[i];
		_cleanup_(timeline_freep) struct timeline *t = NULL;
		_cleanup_(err_clear) struct err why = { 0 };

		if (!phase->evidence)
			continue;
		if (tracer_take(w->tracer, phase->evidence->trace, &t, &why))
			log_line(w->log, LOG_NOTE, "%s/%s is not traced: %s", run->workload,
				phase->name, err_message(&why));
		if (t && !timeline_label(t, run->workload, phase->name, ARM, 0, NULL))
			json_array_append_new(traces, timeline_to_json(t));
	}
	return traces;
}

static json_t *snapshot(const struct directory_watch *w)
{
	json_t *devices = json_array();

	json_array_append_new(devices, device_to_json("volume", ARM, &w->volume));
	if (w->journal.path)
		json_array_append_new(devices, device_to_json("journal", ARM, &w->journal));
	return json_pack("{so?,so}", "host", environment_host(w->version), "devices",
		devices);
}

int directory_watch_begin(struct directory_watch **out, const struct directory_setup *setup,
	struct err *e)
{
	_cleanup_(directory_watch_freep) struct directory_watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return err_set(e, ENOMEM, "audit");
	w->directory = setup->directory;
	w->version = setup->version;
	w->log = setup->log;
	w->kernel_mark = -1;
	r = find_volume(w, e);
	if (r)
		return r;
	w->before = snapshot(w);
	w->kernel_mark = kmsg_open_end();
	r = open_counters(w, e);
	if (!r && setup->trace)
		open_tracer(w);
	if (!r)
		*out = take_ptr(w);
	return r;
}

struct directory_watch *directory_watch_free(struct directory_watch *w)
{
	if (!w)
		return NULL;
	if (w->kernel_mark >= 0)
		close(w->kernel_mark);
	json_decref(w->before);
	ledger_free(w->ledger);
	balance_free(w->balance);
	tracer_free(w->tracer);
	mount_state_deinit(&w->mount);
	session_device_deinit(&w->volume);
	session_device_deinit(&w->journal);
	free(w);
	return NULL;
}

/* As in an experiment: the counters are read within what is traced. */
static void begin(void *data)
{
	struct directory_watch *w = data;

	if (w->tracer)
		tracer_begin(w->tracer);
	ledger_begin(w->ledger);
}

static void end(void *data, struct result_evidence *sum)
{
	struct directory_watch *w = data;
	struct work_files now = { 0 };

	ledger_end(w->ledger, sum);
	if (w->tracer)
		sum->trace = tracer_end(w->tracer);
	work_files_add(&now, w->directory);
	if (now.bytes >= w->files.bytes)
		w->files = now;
}

struct workload_observer directory_watch_observer(struct directory_watch *w)
{
	return (struct workload_observer){ .data = w, .begin = begin, .end = end };
}

static void judge(struct directory_watch *w, struct result_run *run)
{
	for (size_t i = 0; i < run->phase_count; i++) {
		struct evidence_arm arm = w->arm;

		if (!run->phases[i].evidence)
			continue;
		arm.new_data = run->phases[i].counters.bytes > 0;
		evidence_judge(run->phases[i].evidence, &run->phases[i].counters, &arm);
	}
}

/* As the record of a cell; see surroundings.c. */
static json_t *make_cell(struct directory_watch *w, const char *workload)
{
	json_auto_t *now = snapshot(w);
	json_t *volume = json_pack("{ss,ss,s{sI,sI}}", "device", w->volume.path,
		"mount_options_in_force", w->mount.options, "superblock", "block_bytes",
		(json_int_t)w->block_bytes, "size_bytes", (json_int_t)w->size_bytes);

	sync();
	return json_pack("{ss,si,so,so?,so?,so?,s[{ss,so?}]}", "arm", ARM, "block", 0,
		"volumes", json_pack("[o]", volume), "devices", balance_end(w->balance),
		"changed", environment_differences(w->before, now), "kernel",
		kernel_messages_since(w->kernel_mark), "files", "workload", workload, "place",
		work_files_to_json(&w->files));
}

static int fill_info(struct directory_watch *w, struct bundle_info *info, struct err *e)
{
	static const char *const places[] = { [ARM_NO_JOURNAL] = "none",
		[ARM_INLINE] = "inline", [ARM_EXTERNAL] = "external" };
	_cleanup_(strbuf_deinit) struct strbuf placement = { 0 };

	strbuf_addf(&placement, "%s%s%s", places[w->arm.placement], w->journal.path ? "=" : "",
		w->journal.path ? w->journal.path : "");
	info->name = strdup(w->directory);
	info->version = strdup(w->version);
	info->primary = strdup("");
	info->reason = strdup("");
	info->created_wall_ns = clock_wall_ns();
	info->blocks = 1;
	info->state = BUNDLE_COMPLETE;
	if (!info->name || !info->version || !info->primary || !info->reason ||
		strbuf_failed(&placement))
		return err_set(e, ENOMEM, "audit");
	return bundle_info_add_arm(info, ARM, strbuf_text(&placement), w->mount.options, e);
}

int directory_watch_end(struct directory_watch *w, struct result_run *run,
	struct bundle *bundle, struct err *e)
{
	int r;

	judge(w, run);
	free(run->arm);
	run->arm = strdup(ARM);
	*bundle = (struct bundle){ .path = strdup(w->directory),
		.traces = take_traces(w, run),
		.cells = json_pack("[o]", make_cell(w, run->workload)),
		.environment = json_pack("{sO?}", "before", w->before) };
	r = fill_info(w, &bundle->info, e);
	if (!r && (!run->arm || !bundle->path || !bundle->cells || !bundle->environment))
		r = err_set(e, ENOMEM, "audit");
	if (r)
		bundle_deinit(bundle);
	return r;
}
