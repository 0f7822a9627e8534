/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Imports as JSON and as a bundle; see import.h. */

#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "core/strbuf.h"
#include "import/import.h"
#include "result/bundle.h"
#include "result/result_json.h"

static json_t *notes_to_json(const struct import *im)
{
	static const char *const kinds[] = {
		[IMPORT_WARNING] = "warning", [IMPORT_MALFORMED] = "malformed"};
	json_auto_t *notes = json_array();

	for (size_t i = 0; notes && i < im->note_count; i++)
		if (json_array_append_new(notes,
			    json_pack("{sI,ss,ss}", "line", (json_int_t)im->notes[i].line,
				    "kind", kinds[im->notes[i].kind], "text",
				    im->notes[i].text)))
			return NULL;
	return take_ptr(notes);
}

static json_t *runs_to_json(const struct import_arm *arm)
{
	json_auto_t *runs = json_array();

	for (size_t i = 0; runs && i < arm->run_count; i++)
		if (json_array_append_new(runs, result_run_to_json(&arm->runs[i])))
			return NULL;
	return take_ptr(runs);
}

static json_t *arms_to_json(const struct import *im, bool with_runs)
{
	json_auto_t *arms = json_array();

	for (size_t i = 0; arms && i < im->arm_count; i++) {
		json_auto_t *arm = json_pack("{ss}", "name", im->arms[i].name);

		if (arm && with_runs &&
			json_object_set_new(arm, "runs", runs_to_json(&im->arms[i])))
			return NULL;
		if (!arm || json_array_append(arms, arm))
			return NULL;
	}
	return take_ptr(arms);
}

json_t *import_to_json(const struct import *im, bool with_runs)
{
	_cleanup_free_ char *formats = import_format_names(im->formats);

	if (!formats)
		return NULL;
	return json_pack("{ss,ss,sI,sI,so,so}", "file", im->name, "formats", formats, "rows",
		(json_int_t)im->rows, "malformed", (json_int_t)im->malformed, "notes",
		notes_to_json(im), "arms", arms_to_json(im, with_runs));
}

/* Is there an arm of that name in another file? */
static bool is_shared(
	const struct import *imports, size_t count, size_t own, const char *name)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; i != own && k < imports[i].arm_count; k++)
			if (!strcmp(imports[i].arms[k].name, name))
				return true;
	return false;
}

static char *bundle_arm_name(
	const struct import *imports, size_t count, size_t own, const char *name)
{
	struct strbuf b = {0};

	if (is_shared(imports, count, own, name))
		strbuf_addf(&b, "%s: ", imports[own].name);
	strbuf_add(&b, name);
	return strbuf_take(&b);
}

static int check_is_new(const struct bundle_info *info, const char *name, struct err *e)
{
	for (size_t i = 0; i < info->arm_count; i++)
		if (!strcmp(info->arms[i].name, name))
			return err_usage(e,
				"two arms of the bundle would be called \"%s\": give "
				"each its own name with --arm",
				name);
	return 0;
}

static int add_arms(struct bundle_info *info, const struct import *imports, size_t count,
	struct err *e)
{
	int status = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; !status && k < imports[i].arm_count; k++) {
			const struct import_arm *arm = &imports[i].arms[k];
			_cleanup_free_ char *name =
				bundle_arm_name(imports, count, i, arm->name);

			if (!name)
				return err_set(e, ENOMEM, "make a bundle");
			for (size_t n = 0; n < arm->run_count; n++)
				info->blocks =
					MAX(info->blocks, arm->runs[n].block + 1);
			status = check_is_new(info, name, e);
			if (!status)
				status = bundle_info_add_arm(
					info, name, "unknown", "", e);
		}
	return status;
}

static int add_runs(struct bundle_writer *w, const struct import *imports, size_t count,
	struct err *e)
{
	size_t arm = 0;
	int status = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < imports[i].arm_count; k++, arm++) {
			const struct import_arm *a = &imports[i].arms[k];
			_cleanup_free_ char *name =
				bundle_arm_name(imports, count, i, a->name);

			for (size_t n = 0; !status && n < a->run_count; n++) {
				struct result_run run = a->runs[n]; /* borrowed */

				run.arm = name;
				run.position = (uint32_t)arm;
				status = name ? bundle_add_run(w, &run, e)
					      : err_set(e, ENOMEM, "make a bundle");
			}
		}
	return status;
}

static json_t *sources_to_json(const struct import *imports, size_t count)
{
	json_auto_t *files = json_array();

	for (size_t i = 0; files && i < count; i++)
		if (json_array_append_new(files, import_to_json(&imports[i], false)))
			return NULL;
	return json_pack("{sO}", "imported", files);
}

/* What stands where experiments have their plan; no plan, so that nothing can be run. */
static char *plan_of(const struct import *imports, size_t count)
{
	struct strbuf b = {0};

	strbuf_add(&b, "; These results were imported; there is no plan.\n");
	for (size_t i = 0; i < count; i++)
		strbuf_addf(&b, "; %s\n", imports[i].name);
	return strbuf_take(&b);
}

int import_write_bundle(const struct import *imports, size_t count, const char *path,
	const char *version, struct err *e)
{
	_cleanup_(bundle_writer_freep) struct bundle_writer *w = NULL;
	_cleanup_free_ char *plan = plan_of(imports, count);
	json_auto_t *sources = sources_to_json(imports, count);
	struct bundle_info info = {.created_wall_ns = clock_wall_ns()};
	int status = 0;

	info.name = strdup(count == 1 ? imports[0].name : "import");
	info.version = strdup(version);
	if (!plan || !sources || !info.name || !info.version)
		status = err_set(e, ENOMEM, "make bundle %s", path);
	if (!status)
		status = add_arms(&info, imports, count, e);
	if (!status)
		status = bundle_create(&w, path, &info, plan, e);
	bundle_info_deinit(&info);
	if (!status)
		status = add_runs(w, imports, count, e);
	if (!status)
		status = bundle_set_environment(w, sources, e);
	return status ? status : bundle_finish(w, BUNDLE_COMPLETE, "", e);
}
