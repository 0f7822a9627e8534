/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What bundle.json holds; see bundle.h. */

#include "result/bundle_info.h"

#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "core/json_reader.h"

static const char *const state_words[] = {
	[BUNDLE_RUNNING] = "running",
	[BUNDLE_COMPLETE] = "complete",
	[BUNDLE_INTERRUPTED] = "interrupted",
	[BUNDLE_FAILED] = "failed",
};

const char *bundle_state_word(enum bundle_state state)
{
	return state_words[state];
}

static void arm_deinit(struct bundle_arm *arm)
{
	free(arm->name);
	free(arm->placement);
	free(arm->mount);
	free(arm->levels);
}

void bundle_info_deinit(struct bundle_info *info)
{
	for (size_t i = 0; i < info->arm_count; i++)
		arm_deinit(&info->arms[i]);
	free(info->arms);
	free(info->name);
	free(info->version);
	free(info->primary);
	free(info->reason);
	*info = (struct bundle_info){0};
}

int bundle_info_add_arm(struct bundle_info *info, const char *name, const char *placement,
	const char *mount, struct err *e)
{
	struct bundle_arm arm = {
		strdup(name), strdup(placement), strdup(mount), strdup("")};
	struct bundle_arm *arms =
		reallocarray(info->arms, info->arm_count + 1, sizeof(*arms));

	if (arms)
		info->arms = arms;
	if (!arms || !arm.name || !arm.placement || !arm.mount || !arm.levels) {
		arm_deinit(&arm);
		return err_set(e, ENOMEM, "arm %s", name);
	}
	arms[info->arm_count++] = arm;
	return 0;
}

static json_t *design_to_json(const struct bundle_design *d)
{
	return json_pack("{sf,sf,sf,sI}", "level", d->level, "margin", d->margin,
		"target", d->target, "pilot", (json_int_t)d->pilot);
}

/* The first versions had none: 95 %, 3 %. */
static void read_design(
	struct json_reader *rd, const json_t *info, struct bundle_design *d)
{
	const json_t *design = json_object_get(info, "design");
	struct json_reader in = {design, rd->e, rd->status};

	*d = (struct bundle_design){.level = BUNDLE_LEVEL, .margin = BUNDLE_MARGIN};
	if (!design)
		return;
	d->level = json_number_value(json_object_get(design, "level"));
	d->margin = json_number_value(json_object_get(design, "margin"));
	d->target = json_number_value(json_object_get(design, "target"));
	d->pilot = (uint32_t)json_read_number(&in, "pilot", UINT32_MAX);
	if (!in.status && !(d->level > 0.5 && d->level < 1))
		json_read_bad(&in, "level", "between 0.5 and 1");
	if (!in.status && !(d->margin > 0 && d->margin < 1))
		json_read_bad(&in, "margin", "between 0 and 1");
	if (!in.status && !(d->target >= 0 && d->target < 1))
		json_read_bad(&in, "target", "between 0 and 1");
	rd->status = in.status;
}

int bundle_info_set_levels(
	struct bundle_info *info, const char *levels, struct err *e)
{
	struct bundle_arm *arm = &info->arms[info->arm_count - 1];
	char *copy = strdup(levels);

	if (!copy)
		return err_set(e, ENOMEM, "arm %s", arm->name);
	free(arm->levels);
	arm->levels = copy;
	return 0;
}

json_t *bundle_info_to_json(const struct bundle_info *info)
{
	json_auto_t *arms = json_array();
	char created[32];

	for (size_t i = 0; arms && i < info->arm_count; i++)
		if (json_array_append_new(
			    arms, json_pack("{ss,ss,ss,ss}", "name", info->arms[i].name,
					  "placement", info->arms[i].placement, "mount",
					  info->arms[i].mount, "levels",
					  info->arms[i].levels)))
			return NULL;
	clock_format_utc(info->created_wall_ns, created);
	return json_pack("{ss,ss,ss,ss,sI,ss,ss,sI,sI,ss,ss,sO,so}", "schema", BUNDLE_SCHEMA,
		"name", info->name, "version", info->version, "created", created,
		"created_wall_ns", (json_int_t)info->created_wall_ns, "state",
		state_words[info->state], "reason", info->reason, "seed",
		(json_int_t)info->seed, "blocks", (json_int_t)info->blocks, "primary",
		info->primary, "plan_sha256", info->plan_sha256, "arms", arms, "design",
		design_to_json(&info->design));
}

static void read_hash(struct json_reader *rd, char out[static SHA256_TEXT])
{
	_cleanup_free_ char *hash = json_read_text(rd, "plan_sha256");

	if (rd->status)
		return;
	if (strlen(hash) != SHA256_TEXT - 1 ||
		strspn(hash, "0123456789abcdef") != SHA256_TEXT - 1)
		json_read_bad(rd, "plan_sha256", "64 hexadecimal digits");
	else
		memcpy(out, hash, SHA256_TEXT);
}

static int read_arm(struct bundle_info *info, const json_t *json, struct err *e)
{
	struct json_reader rd = {json, e, 0};
	_cleanup_free_ char *name = json_read_name(&rd, "name");
	_cleanup_free_ char *placement = json_read_text(&rd, "placement");
	_cleanup_free_ char *mount = json_read_text(&rd, "mount");
	_cleanup_free_ char *levels = NULL;
	int r;

	/* Bundles of before there were factors have none. */
	if (json_object_get(json, "levels"))
		levels = json_read_text(&rd, "levels");
	for (size_t i = 0; !rd.status && i < info->arm_count; i++)
		if (!strcmp(info->arms[i].name, name))
			json_read_bad(&rd, "name", "of this arm alone");
	if (rd.status)
		return rd.status;
	r = bundle_info_add_arm(info, name, placement, mount, e);
	return r || !levels ? r : bundle_info_set_levels(info, levels, e);
}

int bundle_info_from_json(struct bundle_info *info, const json_t *json, struct err *e)
{
	static const char *const schema[] = {BUNDLE_SCHEMA};
	struct json_reader rd = {json, e, 0};
	const json_t *arms, *arm;
	size_t i;
	int r;

	json_read_word(&rd, "schema", schema, 1);
	info->name = json_read_name(&rd, "name");
	info->version = json_read_text(&rd, "version");
	info->created_wall_ns = json_read_number(&rd, "created_wall_ns", INT64_MAX);
	info->state = json_read_word(&rd, "state", state_words, ARRAY_SIZE(state_words));
	info->reason = json_read_text(&rd, "reason");
	info->seed = json_read_number(&rd, "seed", INT64_MAX);
	info->blocks = (uint32_t)json_read_number(&rd, "blocks", UINT32_MAX);
	info->primary = json_read_text(&rd, "primary");
	read_hash(&rd, info->plan_sha256);
	read_design(&rd, json, &info->design);
	arms = json_read_array(&rd, "arms");
	r = rd.status;
	json_array_foreach (arms, i, arm) {
		if (r)
			break;
		r = read_arm(info, arm, e);
		if (r)
			err_wrap(e, r, "arms[%zu]", i);
	}
	if (!r && !info->arm_count)
		r = err_say(e, EBADMSG, "\"arms\" is empty");
	if (r)
		bundle_info_deinit(info);
	return r;
}
