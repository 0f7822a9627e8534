/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Experiments: printing and freeing; see experiment.h.  What is printed is read again by
 * experiment_file.c, so every key is printed in a form that its setter takes, and nothing
 * is printed that would mean something else on another machine.
 */

#include "plan/experiment.h"

#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/strbuf.h"
#include "core/units.h"
#include "plan/plan_keys.h"

static void print_key(struct strbuf *b, const char *key, const char *value)
{
	strbuf_addf(b, "%s = %s\n", key, value);
}

static void print_number(struct strbuf *b, const char *key, uint64_t value)
{
	strbuf_addf(b, "%s = %llu\n", key, (unsigned long long)value);
}

static void print_time(struct strbuf *b, const char *key, uint64_t ns)
{
	bool whole = ns % NS_PER_S == 0;

	strbuf_addf(b, "%s = %llu%s\n", key,
		(unsigned long long)(whole ? ns / NS_PER_S : ns), whole ? "s" : "ns");
}

static void print_experiment(struct strbuf *b, const struct experiment *x)
{
	strbuf_add(b, "[experiment]\n");
	print_key(b, "name", x->name);
	print_number(b, "blocks", x->blocks);
	if (x->seed_given)
		print_number(b, "seed", x->seed);
	if (x->max_time_ns)
		print_time(b, "max_time", x->max_time_ns);
	if (x->hang_ns != PLAN_HANG_NS)
		print_time(b, "hang", x->hang_ns);
	if (x->primary)
		print_key(b, "primary", x->primary);
	plan_design_print(&x->design, b);
	if (x->strict)
		print_key(b, "strict", "yes");
	if (x->trace)
		print_key(b, "trace", "yes");
}

static void print_disk(struct strbuf *b, const struct plan_disk *d)
{
	strbuf_addf(b, "\n[disk %s]\n", d->name);
	print_key(b, "model", d->model);
	print_number(b, "size", d->size_bytes);
	if (d->directory)
		print_key(b, "directory", d->directory);
}

static void print_volume(struct strbuf *b, const struct plan_volume *v)
{
	strbuf_addf(b, "\n[volume %s]\n", v->name);
	print_key(b, "device", v->device);
	if (v->type)
		strbuf_addf(b, "mkfs = %s%s%s\n", v->type, *v->mkfs_options ? " " : "",
			v->mkfs_options);
	print_key(b, "prepare", v->prepare == PREPARE_EVERY_CELL ? "mkfs" : "once");
	if (*v->mount)
		print_key(b, "mount", v->mount);
}

static void print_arm(struct strbuf *b, const struct plan_arm *arm)
{
	_cleanup_free_ char *journal = placement_format(&arm->placement);

	strbuf_addf(b, "\n[arm %s]\n", arm->name);
	print_key(b, "journal", journal ? journal : "");
	if (!journal)
		b->failed = true;
	if (*arm->mount)
		print_key(b, "mount", arm->mount);
	if (arm->fast_commit != SWITCH_AS_IS)
		print_key(b, "fast_commit", arm->fast_commit == SWITCH_ON ? "yes" : "no");
	if (arm->setup)
		print_key(b, "setup", arm->setup);
	if (arm->teardown)
		print_key(b, "teardown", arm->teardown);
	if (arm->setup || arm->teardown)
		print_time(b, "timeout", arm->timeout_ns);
	if (*arm->levels)
		print_key(b, "levels", arm->levels);
}

char *plan_resolve_value(const char *value)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};
	_cleanup_free_ char *copy = strdup(value);
	char *save = NULL, *word;

	if (!copy || !strstr(value, "x-ram"))
		return take_ptr(copy);
	for (word = strtok_r(copy, " \t", &save); word;
		word = strtok_r(NULL, " \t", &save)) {
		size_t n = strlen(word);
		uint64_t bytes;

		if (b.length)
			strbuf_add(&b, " ");
		if (n > 5 && !strcmp(word + n - 5, "x-ram") &&
			!units_parse_bytes(word, &bytes, NULL))
			strbuf_addf(&b, "%llu", (unsigned long long)bytes);
		else
			strbuf_add(&b, word);
	}
	return strbuf_take(&b);
}

static void print_setting(struct strbuf *b, const char *key, const char *value)
{
	_cleanup_free_ char *resolved = NULL;

	resolved = plan_resolve_value(value);
	if (!resolved)
		b->failed = true;
	else
		print_key(b, key, resolved);
}

static void print_workload(struct strbuf *b, const struct plan_workload *w)
{
	const struct workload_type *type = workload_type_of(w->workload);

	strbuf_addf(b, "\n[workload %s]\n", w->name);
	print_key(b, "type", type->name);
	if (w->repeat != 1)
		print_number(b, "repeat", w->repeat);
	for (size_t i = 0; i < type->key_count; i++) {
		const struct workload_key *key = &type->keys[i];
		bool given = false;

		for (size_t k = 0; k < w->setting_count; k++)
			if (workload_key_is(key, w->keys[k])) {
				print_setting(b, w->keys[k], w->values[k]);
				given = true;
			}
		if (!given && key->default_value && *key->default_value)
			print_setting(b, key->name, key->default_value);
	}
}

char *experiment_print(const struct experiment *x)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};

	print_experiment(&b, x);
	for (size_t i = 0; i < x->disk_count; i++)
		print_disk(&b, &x->disks[i]);
	for (size_t i = 0; i < x->volume_count; i++)
		print_volume(&b, &x->volumes[i]);
	for (size_t i = 0; i < x->arm_count; i++)
		print_arm(&b, &x->arms[i]);
	for (size_t i = 0; i < x->workload_count; i++)
		print_workload(&b, &x->workloads[i]);
	return strbuf_take(&b);
}

const struct plan_disk *experiment_disk(const struct experiment *x, const char *device)
{
	for (size_t i = 0; i < x->disk_count; i++)
		if (!strcmp(x->disks[i].name, device))
			return &x->disks[i];
	return NULL;
}

char *plan_mount_options(const struct plan_volume *v, const struct plan_arm *arm)
{
	char *options;

	if (asprintf(&options, "%s%s%s", v->mount, *v->mount && *arm->mount ? "," : "",
		    arm->mount) < 0)
		return NULL;
	return options;
}

static void workload_deinit(struct plan_workload *w)
{
	for (size_t i = 0; i < w->setting_count; i++) {
		free(w->keys[i]);
		free(w->values[i]);
	}
	free(w->keys);
	free(w->values);
	workload_free(w->workload);
	free(w->name);
}

void plan_arm_deinit(struct plan_arm *arm)
{
	free(arm->name);
	free(arm->mount);
	free(arm->levels);
	free(arm->setup);
	free(arm->teardown);
	placement_deinit(&arm->placement);
}

void experiment_deinit(struct experiment *x)
{
	for (size_t i = 0; i < x->disk_count; i++) {
		free(x->disks[i].name);
		free(x->disks[i].model);
		free(x->disks[i].directory);
	}
	for (size_t i = 0; i < x->volume_count; i++) {
		free(x->volumes[i].name);
		free(x->volumes[i].device);
		free(x->volumes[i].type);
		free(x->volumes[i].mkfs_options);
		free(x->volumes[i].mount);
	}
	for (size_t i = 0; i < x->arm_count; i++)
		plan_arm_deinit(&x->arms[i]);
	for (size_t i = 0; i < x->workload_count; i++)
		workload_deinit(&x->workloads[i]);
	free(x->disks);
	free(x->volumes);
	free(x->arms);
	free(x->workloads);
	free(x->name);
	free(x->primary);
	free(x->notes);
	*x = (struct experiment){0};
}
