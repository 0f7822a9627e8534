/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Confounds before the run; see weigh.h.  The checks take their facts from a bundle, so
 * this makes the beginning of one in memory: the plan, and the environment as it is now.
 * What only the plan knows (sizes, syncs) is added.
 */

#include "run/weigh.h"

#include <errno.h>
#include <string.h>

#include "report/bundle_facts.h"
#include "run/run.h"
#include "run/surroundings.h"

static const char *setting(const struct plan_workload *w, const char *key)
{
	const char *value = NULL;

	for (size_t i = 0; i < w->setting_count; i++)
		if (!strcmp(w->keys[i], key))
			value = w->values[i];
	return value;
}

static void add_arms(struct confound_facts *f, const struct experiment *x)
{
	for (size_t i = 0; i < x->arm_count; i++) {
		const char *mount = f->arms[i].mount;

		f->arms[i].journal_bytes = x->arms[i].placement.size_bytes;
		f->arms[i].no_barrier =
			strstr(mount, "nobarrier") || strstr(mount, "barrier=0");
	}
}

/* Caches are always dropped in a run, so that its reads are cold. */
static int add_workloads(struct confound_facts *f, const struct experiment *x, struct err *e)
{
	struct confound_workload *list = calloc(x->workload_count + 1, sizeof(*list));

	if (!list)
		return err_set(e, ENOMEM, "confounds");
	for (size_t i = 0; i < x->workload_count; i++) {
		const struct plan_workload *w = &x->workloads[i];
		const char *sync = setting(w, "sync");

		list[i] = (struct confound_workload){ .name = w->name,
			.dd_unsynced = !strcmp(workload_type_of(w->workload)->name, "dd") &&
				sync && !strcmp(sync, "none") };
	}
	free(f->workloads);
	f->workloads = list;
	f->workload_count = x->workload_count;
	return 0;
}

/* Says it, or collects it for a refusal. */
static void report_one(const struct session *s, const struct confound *c,
	const struct strbuf *detail, struct strbuf *refusal)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	strbuf_addf(&b, "%s: %s", c->id, c->sentence);
	if (detail->length)
		strbuf_addf(&b, " (%s)", strbuf_text(detail));
	if (s->x->strict)
		strbuf_addf(refusal, "\n%s", strbuf_text(&b));
	else
		log_line(s->o->log, LOG_WARNING, "%s", strbuf_text(&b));
}

static int weigh(struct session *s, struct report *r, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf refusal = { 0 };
	struct confound_facts f;
	int status = bundle_facts_read(&f, r, e);

	if (status)
		return status;
	add_arms(&f, s->x);
	status = add_workloads(&f, s->x, e);
	for (const struct confound *c = confounds; !status && c->id; c++) {
		_cleanup_(strbuf_deinit) struct strbuf detail = { 0 };

		if (c->found(&f, &detail))
			report_one(s, c, &detail, &refusal);
	}
	bundle_facts_deinit(&f);
	if (!status && refusal.length)
		status = err_refuse(e,
			"the plan is strict, and a reviewer would hold against it:%s\nMend it, "
			"or take out \"strict = yes\"",
			strbuf_text(&refusal));
	return status;
}

int weigh_confounds(void *session, struct err *e)
{
	struct session *s = session;
	_cleanup_(report_deinit) struct report r = { .complete_blocks = s->x->blocks };
	int status = run_fill_info(s, &r.bundle.info, e);

	if (status)
		return status;
	r.arms = calloc(s->x->arm_count, sizeof(*r.arms));
	r.bundle.environment = json_pack("{so?}", "before", surroundings_snapshot(s));
	if (!r.arms || !r.bundle.environment)
		return err_set(e, ENOMEM, "confounds");
	return weigh(s, &r, e);
}
