/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The keys of an experiment file; see plan_keys.h.  A setter parses one value. */

#include "plan/plan_keys.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "core/units.h"
#include "plan/grid.h"
#include "plan/mkfs.h"

enum { NAME_MAX_LENGTH = 32, WORKLOAD_REPEAT_MAX = 100 };

#define HANG_MIN_NS UINT64_C(1000000000)

int plan_check_name(const char *name, struct err *e)
{
	size_t n = strlen(name);

	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("-_.", *p))
			n = 0;
	if (!n || n > NAME_MAX_LENGTH || !isalnum((unsigned char)*name))
		return err_usage(e,
			"\"%s\" is no name: letters, digits, \"-\", \"_\" and \".\", at "
			"most %d, a letter or digit first",
			name, NAME_MAX_LENGTH);
	return 0;
}

static int set_text(char **field, const char *value, struct err *e)
{
	char *copy = strdup(value);

	if (!copy)
		return err_set(e, ENOMEM, "read the experiment");
	free(*field);
	*field = copy;
	return 0;
}

static int set_needed_text(char **field, const char *value, struct err *e)
{
	return *value ? set_text(field, value, e) : err_usage(e, "a value is missing");
}

static int set_name(void *object, const char *value, struct err *e)
{
	struct experiment *x = object;
	int r = plan_check_name(value, e);

	return r ? r : set_text(&x->name, value, e);
}

static int set_blocks(void *object, const char *value, struct err *e)
{
	struct experiment *x = object;
	uint64_t blocks = 0;
	int r = units_parse_count(value, 1, EXPERIMENT_MAX_BLOCKS, &blocks, e);

	x->blocks = (uint32_t)blocks;
	return r;
}

static int set_seed(void *object, const char *value, struct err *e)
{
	struct experiment *x = object;

	x->seed_given = true;
	return units_parse_count(value, 0, INT64_MAX, &x->seed, e);
}

static int set_max_time(void *object, const char *value, struct err *e)
{
	struct experiment *x = object;
	int r = units_parse_duration(value, &x->max_time_ns, e);

	return !r && !x->max_time_ns ? err_usage(e, "no time at all is not enough") : r;
}

static int set_hang(void *object, const char *value, struct err *e)
{
	struct experiment *x = object;
	int r = units_parse_duration(value, &x->hang_ns, e);

	return !r && x->hang_ns && x->hang_ns < HANG_MIN_NS
		       ? err_usage(e, "a device may take a second to answer; 0 switches it off")
		       : r;
}

static int set_primary(void *object, const char *value, struct err *e)
{
	struct experiment *x = object;

	return set_needed_text(&x->primary, value, e);
}

static int set_yes_no(bool *field, const char *value, struct err *e)
{
	if (strcmp(value, "yes") && strcmp(value, "no"))
		return err_usage(e, "\"%s\" is neither \"yes\" nor \"no\"", value);
	*field = !strcmp(value, "yes");
	return 0;
}

static int set_strict(void *object, const char *value, struct err *e)
{
	return set_yes_no(&((struct experiment *)object)->strict, value, e);
}

static int set_trace(void *object, const char *value, struct err *e)
{
	return set_yes_no(&((struct experiment *)object)->trace, value, e);
}

static int set_model(void *object, const char *value, struct err *e)
{
	struct plan_disk *d = object;

	return set_needed_text(&d->model, value, e);
}

static int set_size(void *object, const char *value, struct err *e)
{
	struct plan_disk *d = object;
	int r = units_parse_bytes(value, &d->size_bytes, e);

	return !r && !d->size_bytes ? err_usage(e, "a disk of no size is no disk") : r;
}

static int set_directory(void *object, const char *value, struct err *e)
{
	struct plan_disk *d = object;

	if (*value != '/')
		return err_usage(e, "\"%s\" is not an absolute path", value);
	return set_text(&d->directory, value, e);
}

static int set_device(void *object, const char *value, struct err *e)
{
	struct plan_volume *v = object;

	return set_needed_text(&v->device, value, e);
}

static int set_mkfs(void *object, const char *value, struct err *e)
{
	struct plan_volume *v = object;

	free(take_ptr(v->type));
	free(take_ptr(v->mkfs_options));
	return mkfs_parse(value, &v->type, &v->mkfs_options, e);
}

static int set_prepare(void *object, const char *value, struct err *e)
{
	struct plan_volume *v = object;

	if (!strcmp(value, "once"))
		v->prepare = PREPARE_ONCE;
	else if (!strcmp(value, "mkfs"))
		v->prepare = PREPARE_EVERY_CELL;
	else
		return err_usage(e, "\"%s\" is neither \"once\" nor \"mkfs\"", value);
	return 0;
}

static int set_mount(char **field, const char *value, struct err *e)
{
	if (strpbrk(value, " \t"))
		return err_usage(e, "mount options are joined by commas, without blanks");
	return set_text(field, value, e);
}

static int set_volume_mount(void *object, const char *value, struct err *e)
{
	return set_mount(&((struct plan_volume *)object)->mount, value, e);
}

static int set_arm_mount(void *object, const char *value, struct err *e)
{
	return set_mount(&((struct plan_arm *)object)->mount, value, e);
}

static int set_journal(void *object, const char *value, struct err *e)
{
	struct plan_arm *arm = object;

	placement_deinit(&arm->placement);
	return placement_parse(&arm->placement, value, e);
}

static int set_fast_commit(void *object, const char *value, struct err *e)
{
	struct plan_arm *arm = object;
	int yes = 0, r = units_parse_bool(value, &yes, e);

	arm->fast_commit = yes ? SWITCH_ON : SWITCH_OFF;
	return r;
}

/* The words are kept as they are; the report takes them apart. */
static int set_levels(void *object, const char *value, struct err *e)
{
	struct plan_arm *arm = object;
	_cleanup_free_ char *copy = strdup(value);
	char *save = NULL;

	if (!copy)
		return err_set(e, ENOMEM, "read the experiment");
	for (char *word = strtok_r(copy, " \t", &save); word;
		word = strtok_r(NULL, " \t", &save)) {
		char *equals = strchr(word, '=');

		if (!equals || !equals[1])
			return err_usage(e, "\"%s\" is not FACTOR=LEVEL", word);
		*equals = '\0';
		if (plan_check_name(word, e))
			return -EINVAL;
	}
	return set_text(&arm->levels, value, e);
}

static int set_setup(void *object, const char *value, struct err *e)
{
	return set_needed_text(&((struct plan_arm *)object)->setup, value, e);
}

static int set_teardown(void *object, const char *value, struct err *e)
{
	return set_needed_text(&((struct plan_arm *)object)->teardown, value, e);
}

static int set_timeout(void *object, const char *value, struct err *e)
{
	struct plan_arm *arm = object;
	int r = units_parse_duration(value, &arm->timeout_ns, e);

	return !r && !arm->timeout_ns ? err_usage(e, "no time at all is not enough") : r;
}

static const struct plan_key experiment_keys[] = {
	{"name", "NAME", "the file's name", "names the bundle", set_name},
	{"blocks", "COUNT", "6", "how often every arm is measured, in random order",
		set_blocks},
	{"seed", "NUMBER", "a random one, which the plan records",
		"of the order of arms, the data and the offsets", set_seed},
	{"max_time", "TIME", "no limit", "no block begins after this time", set_max_time},
	{"hang", "TIME", "5m",
		"a device that answers nothing for this long hangs, and ends the run; 0: none "
		"does",
		set_hang},
	{"primary", "WORKLOAD/PHASE/METRIC", "none",
		"the metric that the experiment is about; the report puts it first",
		set_primary},
	{"target", "PERCENT", "none: as many blocks as blocks says",
		"half-width of the primary metric's interval; after the pilot of blocks "
		"follows what it needs",
		plan_set_target},
	{"max_blocks", "COUNT", "100", "never more, whatever target or early_stop want",
		plan_set_max_blocks},
	{"early_stop", "yes|no", "no",
		"instead of target: look after 6, 12, 24 and 48 blocks, end when decided",
		plan_set_early_stop},
	{"calibrate", "yes|warn|no", "no",
		"first the first arm against itself; yes: end if that shows a difference",
		plan_set_calibrate},
	{"warmup", "COUNT", "0",
		"how often each workload runs in a cell before the run that counts",
		plan_set_warmup},
	{"precondition", "no|TIME", "no",
		"first write SSDs that the plan overwrites, in rounds of this length, until "
		"they are steady",
		plan_set_precondition},
	{"probe", "yes|no", "yes",
		"the same short reads and writes of each device at the start of each block",
		plan_set_probe},
	{"repeat", "COUNT", "2",
		"how often a block is measured again that was invalid by fixed rules",
		plan_set_repeat},
	{"margin", "PERCENT", "3%",
		"a smaller difference does not matter: within it arms are equivalent",
		plan_set_margin},
	{"strict", "yes|no", "no",
		"refuse to run, and not only warn, when a reviewer would object", set_strict},
	{"trace", "yes|no", "no",
		"record transactions and requests of each phase; takes time", set_trace},
};

static const struct plan_key disk_keys[] = {
	{"model", "MODEL", "none", "as scratch create --model takes it", set_model},
	{"size", "SIZE", NULL, "of the disk", set_size},
	{"directory", "DIR", "/var/tmp", "where its file lies", set_directory},
};

static const struct plan_key volume_keys[] = {
	{"device", "DEVICE", NULL, "path, UUID=, LABEL=, PARTUUID= or the name of a disk",
		set_device},
	{"mkfs", "TYPE [OPTIONS]", "the volume that is there is used",
		"makes the volume, destroying what was there", set_mkfs},
	{"prepare", "once|mkfs", "once", "mkfs: makes it anew for every cell",
		set_prepare},
	{"mount", "OPTIONS", "none", "mount options in all arms", set_volume_mount},
};

static const struct plan_key arm_keys[] = {
	{"journal", "PLACEMENT", NULL, "where the journal lives in this arm",
		set_journal},
	{"mount", "OPTIONS", "none", "mount options added in this arm", set_arm_mount},
	{"fast_commit", "yes|no", "as the volume has it",
		"the feature of ext4; set before the mount", set_fast_commit},
	{"setup", "PROGRAM [WORD...]", "none",
		"run before anything else of a cell; it may put another device over that "
		"of the volume",
		set_setup},
	{"teardown", "PROGRAM [WORD...]", "none",
		"run after everything else of a cell, whatever happened", set_teardown},
	{"timeout", "TIME", "60s", "of setup and of teardown", set_timeout},
	{"levels", "FACTOR=LEVEL...", "none",
		"groups the arm in the report; [grid] sets it", set_levels},
};

static int set_workload_repeat(void *object, const char *value, struct err *e)
{
	struct plan_workload *w = object;
	uint64_t count = 1;
	int r = units_parse_count(value, 1, WORKLOAD_REPEAT_MAX, &count, e);

	w->repeat = (uint32_t)count;
	return r;
}

/* Those that all types have; the others are in the table of the type. */
static const struct plan_key workload_keys[] = {
	{"repeat", "COUNT", "1", "runs in a cell, which count as one: cheaper than blocks",
		set_workload_repeat},
};

const struct plan_section_kind plan_section_kinds[SECTION_KINDS] = {
	[SECTION_EXPERIMENT] = {"experiment", false, experiment_keys,
		ARRAY_SIZE(experiment_keys)},
	[SECTION_DISK] = {"disk", true, disk_keys, ARRAY_SIZE(disk_keys)},
	[SECTION_VOLUME] = {"volume", true, volume_keys, ARRAY_SIZE(volume_keys)},
	[SECTION_ARM] = {"arm", true, arm_keys, ARRAY_SIZE(arm_keys)},
	[SECTION_GRID] = {"grid", false, grid_keys, GRID_KEYS},
	[SECTION_WORKLOAD] = {"workload", true, workload_keys,
		ARRAY_SIZE(workload_keys)},
};
