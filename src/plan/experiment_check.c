/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * What must hold between the sections of an experiment, checked without looking at any
 * device: that names refer to something, that no device has two tasks, that there is
 * something to compare and something to measure.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/nearest.h"
#include "plan/arm_words.h"
#include "plan/plan_keys.h"
#include "workload/program.h"

struct check {
	const struct experiment *x;
	const struct ini_file *ini;
	struct err *e;
};

static const struct ini_line *find_header(const struct check *c, const char *section)
{
	for (size_t i = 0; i < c->ini->count; i++)
		if (!c->ini->lines[i].key && !strcmp(c->ini->lines[i].section, section))
			return &c->ini->lines[i];
	return NULL;
}

/* Puts the place of a key, or of its section when the key is not there, before e.  An arm
 * without section was made by the grid. */
static int at(
	const struct check *c, const char *kind, const char *name, const char *key, int r)
{
	const struct ini_line *line = NULL;
	char section[80];

	snprintf(section, sizeof(section), "%s%s%s", kind, name ? " " : "",
		name ? name : "");
	if (key)
		line = ini_file_find(c->ini, section, key);
	if (!line)
		line = find_header(c, section);
	if (!line && !strcmp(kind, "arm")) {
		line = key ? ini_file_find(c->ini, "grid", key) : NULL;
		line = line ? line : find_header(c, "grid");
	}
	if (!line)
		return err_wrap(c->e, r, "%s", c->ini->names[0]);
	return err_wrap(c->e, r, "%s:%u", line->file, line->number);
}

/* A path, a tag, or the name of a disk that the file describes. */
static int check_device(const struct check *c, const char *device)
{
	struct nearest near = {.word = device};

	if (strpbrk(device, "/=") || experiment_disk(c->x, device))
		return 0;
	for (size_t i = 0; i < c->x->disk_count; i++)
		nearest_offer(&near, c->x->disks[i].name);
	if (near.best)
		return err_usage(c->e, "there is no [disk %s]; did you mean \"%s\"?",
			device, near.best);
	return err_usage(c->e,
		"\"%s\" is no path, no UUID= or LABEL=, and there is no [disk %s]",
		device, device);
}

static int check_volume(const struct check *c, size_t i)
{
	const struct plan_volume *v = &c->x->volumes[i];
	int r = check_device(c, v->device);

	for (size_t k = 0; !r && k < i; k++)
		if (!strcmp(c->x->volumes[k].device, v->device))
			r = err_usage(c->e, "%s is also the device of [volume %s]",
				v->device, c->x->volumes[k].name);
	if (r)
		return at(c, "volume", v->name, "device", r);
	if (v->prepare == PREPARE_EVERY_CELL && !v->type)
		return at(c, "volume", v->name, "prepare",
			err_usage(c->e, "\"prepare = mkfs\" needs a \"mkfs\" key"));
	if (!v->type && experiment_disk(c->x, v->device))
		return at(c, "volume", v->name, NULL,
			err_usage(c->e,
				"the disk \"%s\" is made empty: \"mkfs\" is needed",
				v->device));
	return 0;
}

/* Fast commits need a journal and a volume of type ext4.  The features of a volume that
 * exists are its owner's business. */
static int check_fast_commit(const struct check *c, const struct plan_arm *arm)
{
	int r = 0;

	if (arm->fast_commit == SWITCH_AS_IS)
		return 0;
	if (arm->fast_commit == SWITCH_ON && arm->placement.place == JOURNAL_NONE)
		r = err_usage(c->e, "without a journal there are no fast commits");
	for (size_t i = 0; !r && i < c->x->volume_count; i++) {
		const struct plan_volume *v = &c->x->volumes[i];

		if (!v->type)
			r = err_usage(c->e, "fast_commit changes a feature of the volume, "
					    "which needs \"mkfs\" in [volume %s]",
				v->name);
		else if (strcmp(v->type, "ext4"))
			r = err_usage(c->e,
				"fast commits are a feature of ext4, and [volume %s] is "
				"%s",
				v->name, v->type);
	}
	return r ? at(c, "arm", arm->name, "fast_commit", r) : 0;
}

static int check_program(const struct check *c, const struct plan_arm *arm,
	const char *key, const char *line)
{
	const struct arm_facts facts = {.x = c->x, .arm = arm};
	char **environment, **argv = NULL;
	int r;

	if (!line)
		return 0;
	environment = arm_environment(&facts);
	if (!environment)
		return err_set(c->e, ENOMEM, "read the experiment");
	r = arm_words(line, environment, &argv, c->e);
	if (!r)
		program_words_free(argv);
	arm_environment_free(environment);
	return r ? at(c, "arm", arm->name, key, r) : 0;
}

static int check_arm(const struct check *c, const struct plan_arm *arm)
{
	const char *device = arm->placement.device;
	int r = check_fast_commit(c, arm);

	if (!r)
		r = check_program(c, arm, "setup", arm->setup);
	if (!r)
		r = check_program(c, arm, "teardown", arm->teardown);
	if (r || !device)
		return r;
	r = check_device(c, device);
	if (!r && c->x->volume_count > 1)
		r = err_usage(c->e,
			"an external journal serves one volume, and there are %zu",
			c->x->volume_count);
	for (size_t i = 0; !r && i < c->x->volume_count; i++)
		if (!strcmp(c->x->volumes[i].device, device))
			r = err_usage(c->e, "%s holds the volume \"%s\" itself", device,
				c->x->volumes[i].name);
	return r ? at(c, "arm", arm->name, "journal", r) : 0;
}

static int check_disk(const struct check *c, const struct plan_disk *d)
{
	/* A program may use it; which one does is not known. */
	for (size_t i = 0; i < c->x->arm_count; i++)
		if (c->x->arms[i].setup || c->x->arms[i].teardown)
			return 0;
	for (size_t i = 0; i < c->x->volume_count; i++)
		if (!strcmp(c->x->volumes[i].device, d->name))
			return 0;
	for (size_t i = 0; i < c->x->arm_count; i++)
		if (c->x->arms[i].placement.device &&
			!strcmp(c->x->arms[i].placement.device, d->name))
			return 0;
	return at(c, "disk", d->name, NULL,
		err_usage(c->e, "no volume and no arm uses this disk"));
}

/* The workload must exist; which phases it has is known only once it has run. */
static int check_primary(const struct check *c)
{
	const char *primary = c->x->primary;
	const char *slash = primary ? strchr(primary, '/') : NULL;
	const char *last = primary ? strrchr(primary, '/') : NULL;
	struct nearest near = {0};
	char word[80];

	if (!primary)
		return 0;
	if (!slash || slash == last || !last[1])
		return at(c, "experiment", NULL, "primary",
			err_usage(c->e, "\"%s\" is not WORKLOAD/PHASE/METRIC", primary));
	snprintf(word, sizeof(word), "%.*s", (int)(slash - primary), primary);
	near.word = word;
	for (size_t i = 0; i < c->x->workload_count; i++) {
		if (!strcmp(c->x->workloads[i].name, word))
			return 0;
		nearest_offer(&near, c->x->workloads[i].name);
	}
	return at(c, "experiment", NULL, "primary",
		err_usage(c->e, "there is no [workload %s]%s%s%s", word,
			near.best ? "; did you mean \"" : "", near.best ? near.best : "",
			near.best ? "\"?" : ""));
}

static int check_design(const struct check *c)
{
	const char *key;
	int r = plan_design_check(c->x, &key, c->e);

	return r ? at(c, "experiment", NULL, key, r) : 0;
}

static int check_counts(const struct check *c)
{
	const char *file = c->ini->names[0];

	if (!c->x->volume_count)
		return err_usage(c->e, "%s: a [volume NAME] is missing", file);
	if (!c->x->arm_count)
		return err_usage(c->e, "%s: an [arm NAME] or a [grid] is missing", file);
	if (!c->x->workload_count)
		return err_usage(c->e, "%s: a [workload NAME] is missing", file);
	if (c->x->arm_count > EXPERIMENT_MAX_ARMS)
		return err_usage(
			c->e, "%s: more than %d arms", file, EXPERIMENT_MAX_ARMS);
	return 0;
}

int experiment_check(
	const struct experiment *x, const struct ini_file *ini, struct err *e)
{
	const struct check c = {x, ini, e};
	int r = check_counts(&c);

	for (size_t i = 0; !r && i < x->volume_count; i++)
		r = check_volume(&c, i);
	for (size_t i = 0; !r && i < x->arm_count; i++)
		r = check_arm(&c, &x->arms[i]);
	for (size_t i = 0; !r && i < x->disk_count; i++)
		r = check_disk(&c, &x->disks[i]);
	if (!r)
		r = check_primary(&c);
	return r ? r : check_design(&c);
}
