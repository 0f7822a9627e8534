/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The plan of a run that was begun; see run_bundle.h. */

#include "cli/run_bundle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/fileio.h"
#include "core/sha256.h"
#include "core/strbuf.h"
#include "report/report.h"
#include "result/bundle.h"

static int check_same_plan(const struct bundle *b, const char *path,
	const char *file, struct err *e)
{
	_cleanup_(experiment_deinit) struct experiment x = {0};
	_cleanup_free_ char *plan = NULL;
	int r = experiment_read(&x, file, e);

	if (r)
		return r;
	if (!x.seed_given) {
		x.seed = b->info.seed;
		x.seed_given = true;
	}
	plan = experiment_print(&x);
	if (!plan)
		return err_set(e, ENOMEM, "read %s", file);
	return !strcmp(plan, b->plan)
		       ? 0
		       : err_refuse(e,
				 "%s is not the plan that the run in %s was begun with "
				 "(%s/plan.ini): the plan of a run cannot be changed, "
				 "begin a new one",
				 file, path, path);
}

int run_bundle_read(struct experiment *x, const char *path, const char *file,
	bool *complete, struct err *e)
{
	_cleanup_free_ char *name = NULL;
	char hash[SHA256_TEXT];
	struct bundle b;
	int r = bundle_load(&b, path, e);

	if (r)
		return r;
	sha256_hex(b.plan, strlen(b.plan), hash);
	if (strcmp(hash, b.info.plan_sha256))
		r = err_refuse(e,
			"%s/plan.ini was changed since the run was begun: put back the one "
			"with the SHA-256 %s, or begin a new run",
			path, b.info.plan_sha256);
	if (!r && file)
		r = check_same_plan(&b, path, file, e);
	if (!r && asprintf(&name, "%s/plan.ini", path) < 0) {
		name = NULL;
		r = err_set(e, ENOMEM, "read %s", path);
	}
	if (!r)
		r = experiment_parse(x, b.plan, name, e);
	*complete = b.info.state == BUNDLE_COMPLETE;
	bundle_deinit(&b);
	return r;
}

int run_bundle_add_report(const char *path, struct err *e)
{
	_cleanup_(report_deinit) struct report report = {0};
	_cleanup_(strbuf_deinit) struct strbuf text = {0};
	_cleanup_free_ char *name = NULL;
	int r;

	if (asprintf(&name, "%s/report.txt", path) < 0) {
		name = NULL;
		return err_set(e, ENOMEM, "write report");
	}
	if (!access(name, F_OK))
		return 0;
	r = report_load(&report, path, e);
	if (!r)
		r = render_text(&report, &text, e);
	if (!r)
		r = fileio_write_durable(name, strbuf_text(&text), strlen(strbuf_text(&text)),
			0644, e);
	return r;
}
