/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Facts of a bundle; see bundle_facts.h.  What an older or imported bundle does not have
 * stays unknown. */

#include "report/bundle_facts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/cell_facts.h"
#include "report/cells.h"
#include "result/evidence_json.h"

static const json_t *at(const json_t *json, const char *key)
{
	return json_object_get(json, key);
}

static const char *text_at(const json_t *json, const char *key)
{
	return json_string_value(at(json, key));
}

static const json_t *device_of(const struct report *r, const char *role, const char *name)
{
	const json_t *list = at(at(r->bundle.environment, "before"), "devices"), *d;
	size_t i;

	json_array_foreach (list, i, d) {
		const char *its_role = text_at(d, "role"), *its_name = text_at(d, "name");

		if (its_role && !strcmp(its_role, role) &&
			(!name || (its_name && !strcmp(its_name, name))))
			return d;
	}
	return NULL;
}

/* A disk of a model serves its own time, whatever its file lies on. */
static bool is_modelled(const json_t *device)
{
	const char *model = text_at(device, "scratch_model");

	return model && strcmp(model, "none") != 0;
}

static enum confound_answer same_disk(const json_t *data, const json_t *journal)
{
	const json_t *a = at(data, "disks"), *b = at(journal, "disks"), *x, *y;
	size_t i, k;

	if (!json_array_size(a) || !json_array_size(b))
		return CONFOUND_UNKNOWN;
	if (is_modelled(data) || is_modelled(journal))
		return CONFOUND_NO;
	json_array_foreach (a, i, x)
		json_array_foreach (b, k, y)
			if (json_equal((json_t *)x, (json_t *)y))
				return CONFOUND_YES;
	return CONFOUND_NO;
}

/* The phase of an arm with an external journal whose data disk got too few flushes. */
static const char *lost_flushes(const struct report_arm *arm)
{
	for (size_t w = 0; w < arm->workload_count; w++)
		for (size_t i = 0; i < arm->workloads[w].run_count; i++) {
			const struct result_run *run = &arm->workloads[w].runs[i];

			for (size_t p = 0; p < run->phase_count; p++) {
				const struct result_evidence *v = run->phases[p].evidence;

				if (v && (v->verdict == EVIDENCE_SUSPECT ||
						 v->verdict == EVIDENCE_FAILED) &&
					!strncmp(v->reason, "the data disk ", 14))
					return v->reason;
			}
		}
	return NULL;
}

static bool has_word(const char *options, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = options; (p = strstr(p, word)); p += n)
		if ((p == options || strchr(",;", p[-1])) && strchr(",;", p[n]))
			return true;
	return false;
}

/* The kernel sets this one when it logs the first revocation: it says what was done, not
 * how the journal was made. */
static const char *without_revoke(struct report *r, const char *features)
{
	static const char word[] = "journal_incompat_revoke";
	const char *at_word = features ? strstr(features, word) : NULL;
	const char *rest = at_word ? at_word + strlen(word) : NULL;

	if (!at_word)
		return features;
	return report_textf(r, "%.*s%s", (int)(at_word - features), features,
		rest + (*rest == ' '));
}

static void read_arm(struct confound_arm *a, struct report *r, size_t i)
{
	const struct bundle_arm *arm = &r->bundle.info.arms[i];
	const json_t *volume = cell_facts_volume(r, arm->name);
	const json_t *super = at(volume, "superblock");
	const char *in_force = text_at(volume, "mount_options_in_force") ?: "";

	a->name = arm->name;
	a->has_journal = strcmp(arm->placement, "none") != 0;
	a->external = !strncmp(arm->placement, "external", 8);
	a->journal_bytes = (uint64_t)json_integer_value(at(super, "journal_bytes"));
	a->journal_features = without_revoke(r, text_at(super, "journal_features"));
	a->mount = arm->mount;
	a->no_barrier = has_word(in_force, "nobarrier") || has_word(in_force, "barrier=0");
	if (a->external) {
		a->same_disk = same_disk(device_of(r, "volume", NULL),
			device_of(r, "journal", arm->name));
		a->lost_flushes = a->no_barrier ? NULL : lost_flushes(&r->arms[i]);
	}
}

/* A dd that synced nothing: by its plan, for O_DIRECT needs no sync to be of the disk, and
 * of an imported result nothing is known. */
static bool is_unsynced(const char *plan, const char *workload)
{
	char section[80];
	const char *from, *end, *key;

	snprintf(section, sizeof(section), "[workload %.60s]", workload);
	from = plan ? strstr(plan, section) : NULL;
	if (!from)
		return false;
	end = strstr(from + 1, "\n[");
	key = strstr(from, "sync = direct");
	return !key || (end && key > end);
}

static void read_phase(struct confound_workload *f, const struct report *r,
	const struct report_workload *w, const struct result_phase *phase)
{
	const struct result_evidence *v = phase->evidence;
	bool reads = strstr(phase->name, "read") != NULL;

	f->file_bytes = MAX(f->file_bytes, phase->counters.requested_bytes);
	f->warm_reads = f->warm_reads || (reads && phase->cache == RESULT_CACHE_KEPT);
	if (!strcmp(w->type, "dd") && !reads && !phase->counters.syncs)
		f->dd_unsynced = is_unsynced(r->bundle.plan, w->name);
	if (v && v->process.known && reads && v->process.read_bytes > 1 << 16)
		f->cache_share = fmax(f->cache_share,
			1 - (double)v->process.device_read_bytes /
				(double)v->process.read_bytes);
}

/* A workload of all arms together: those of later arms are found by name. */
static struct confound_workload *workload_named(struct confound_facts *f, const char *name)
{
	for (size_t i = 0; i < f->workload_count; i++)
		/* All that are counted have a name; the analyser forgets that over a call. */
		/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
		if (!strcmp(f->workloads[i].name, name))
			return &f->workloads[i];
	f->workloads[f->workload_count] = (struct confound_workload){ .name = name };
	return &f->workloads[f->workload_count++];
}

static void read_workload(struct confound_facts *f, const struct report *r,
	const struct report_workload *w)
{
	struct confound_workload *to = workload_named(f, w->name);

	for (size_t i = 0; i < w->run_count; i++)
		for (size_t p = 0; p < w->runs[i].phase_count; p++)
			read_phase(to, r, w, &w->runs[i].phases[p]);
}

/* "[mq-deadline] none" or the only word. */
static const char *in_brackets(struct report *r, const char *list)
{
	const char *from = list ? strchr(list, '[') : NULL;

	return from ? report_textf(r, "%.*s", (int)strcspn(from + 1, "]"), from + 1) : list;
}

static bool is_virtual(const json_t *device)
{
	static const char *const makers[] = { "QEMU", "VBOX", "VMware", "Virtual", "Msft" };
	const char *model = text_at(device, "model");
	const json_t *disk;
	size_t i;

	if (json_is_string(at(device, "scratch_model")))
		return false;
	for (i = 0; model && i < ARRAY_SIZE(makers); i++)
		if (strstr(model, makers[i]))
			return true;
	json_array_foreach (at(device, "disks"), i, disk)
		if (!strncmp(json_string_value(disk) ?: "", "vd", 2) ||
			!strncmp(json_string_value(disk) ?: "", "xvd", 3))
			return true;
	return false;
}

static const char *saving_of(const json_t *device)
{
	const json_t *disk;
	size_t i;

	json_array_foreach (at(device, "disk_health"), i, disk) {
		const char *policy = text_at(disk, "link_power_policy");

		if (policy && (!strncmp(policy, "min_power", 9) || !strncmp(policy, "med", 3)))
			return policy;
	}
	return NULL;
}

static void read_device(struct confound_device *f, struct report *r, const json_t *device)
{
	const json_t *queue = at(device, "queue");

	f->label = report_textf(r, "%s %s", text_at(device, "role") ?: "device",
		text_at(device, "name") ?: "");
	f->scheduler = in_brackets(r, text_at(queue, "scheduler"));
	f->write_cache = text_at(queue, "write_cache");
	f->saving = saving_of(device);
	f->is_virtual = is_virtual(device);
}

/* Positions of the arms are the same in every block. */
static bool is_fixed(const struct report *r)
{
	uint32_t place = 0;

	for (size_t a = 0; a < r->bundle.info.arm_count; a++) {
		const struct report_workload *w = r->arms[a].workloads;

		if (!r->arms[a].workload_count)
			return false;
		for (size_t i = 0; i < w->run_count; i++) {
			if (i && w->runs[i].position != place)
				return false;
			place = w->runs[i].position;
		}
	}
	return r->bundle.info.arm_count > 1 && r->complete_blocks > 1;
}

static int make_room(struct confound_facts *f, const struct report *r, struct err *e)
{
	size_t workloads = 0;
	const json_t *devices = at(at(r->bundle.environment, "before"), "devices");

	for (size_t a = 0; a < r->bundle.info.arm_count; a++)
		workloads += r->arms[a].workload_count;
	f->arms = calloc(r->bundle.info.arm_count, sizeof(*f->arms));
	f->workloads = calloc(workloads + 1, sizeof(*f->workloads));
	f->places = calloc(workloads + 1, sizeof(*f->places));
	f->devices = calloc(json_array_size(devices) + 1, sizeof(*f->devices));
	return f->arms && f->workloads && f->places && f->devices
		? 0
		: err_set(e, ENOMEM, "confounds");
}

static void read_host(struct confound_facts *f, struct report *r)
{
	const json_t *host = at(at(r->bundle.environment, "before"), "host");
	const json_t *laptop = at(host, "laptop_mode");

	f->memory_bytes = (uint64_t)json_integer_value(at(host, "memory_bytes"));
	f->governor = text_at(host, "cpu_governor");
	f->pcie_policy = text_at(host, "pcie_power_policy");
	if (json_is_integer(laptop))
		f->laptop_mode = report_textf(r, "%lld",
			(long long)json_integer_value(laptop));
}

int bundle_facts_read(struct confound_facts *f, struct report *r, struct err *e)
{
	const json_t *devices = at(at(r->bundle.environment, "before"), "devices"), *device;
	size_t i;

	*f = (struct confound_facts){ .blocks = r->complete_blocks };
	if (make_room(f, r, e)) {
		bundle_facts_deinit(f);
		return -ENOMEM;
	}
	f->arm_count = r->bundle.info.arm_count;
	f->fixed_order = is_fixed(r);
	for (size_t a = 0; a < f->arm_count; a++) {
		read_arm(&f->arms[a], r, a);
		for (size_t w = 0; w < r->arms[a].workload_count; w++) {
			double place = cell_facts_place(r, f->arms[a].name,
				r->arms[a].workloads[w].name);

			read_workload(f, r, &r->arms[a].workloads[w]);
			if (isfinite(place))
				f->places[f->place_count++] = (struct confound_place){
					r->arms[a].workloads[w].name, f->arms[a].name, place };
		}
	}
	json_array_foreach (devices, i, device)
		read_device(&f->devices[f->device_count++], r, device);
	read_host(f, r);
	f->changes = cell_facts_changes(r);
	f->kernel = cell_facts_kernel(r);
	f->foreign = cell_facts_foreign(r);
	return 0;
}

void bundle_facts_deinit(struct confound_facts *f)
{
	free(f->arms);
	free(f->workloads);
	free(f->places);
	free(f->devices);
	*f = (struct confound_facts){ 0 };
}
