/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Advice as JSON: raw numbers in base units, null where something is unknown. */

#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "advise/advice.h"

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *whole(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *bound(const struct watch_bound *b)
{
	return json_pack("{s:o, s:o}", "low", number(b->low), "high", number(b->high));
}

static json_t *traced(const struct advice *a)
{
	const struct commits_sum *t = &a->watch.trace;

	if (!a->watch.traced)
		return json_pack("{s:b, s:s}", "traced", 0, "reason", a->watch.untraced);
	return json_pack("{s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "traced", 1,
		"covered_ns", whole(t->covered_ns), "lost_events", whole(t->lost), "commits",
		whole(t->count), "locked_ns", whole(t->locked_ns), "flushing_ns",
		whole(t->flushing_ns), "logging_ns", whole(t->logging_ns), "longest_ns",
		whole(t->longest_ns), "logged_blocks", whole(t->logged_blocks),
		"largest_blocks", whole(t->most_blocks), "journal_full", whole(t->full));
}

static json_t *disk(const struct diskstats *d, bool counts, double busy)
{
	if (!counts)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "busy_share", number(busy),
		"busy_ns", whole(d->busy_ns), "reads", whole(d->reads), "read_bytes",
		whole(d->read_bytes), "writes", whole(d->writes), "write_bytes",
		whole(d->write_bytes), "flushes", whole(d->flushes));
}

static json_t *savings(const struct advice *a)
{
	bool bounded = !a->journal && isfinite(a->speed_limit);

	return json_pack("{s:s, s:o, s:o, s:o, s:[sss], s:o}", "kind", "upper bound",
		"time_share", bounded ? number(a->logging.high) : json_null(), "speed_ratio",
		bounded ? number(a->speed_limit) : json_null(), "commit_time_ratio",
		a->journal ? json_null() : number(a->commit_left), "assumptions",
		"the journal device needs no time", "everything else takes as long as now",
		"the load stays as it was", "head_returns_not_included",
		a->journal || a->volume->identity.rotational == DEVICE_NO
			? whole(0)
			: whole(a->watch.commits));
}

static json_t *journal(const struct advice *a)
{
	return json_pack("{s:s, s:s, s:s?, s:o}", "placement",
		a->journal ? "external" : "inline", "jbd2_name", a->journal_name, "device",
		a->journal ? a->journal->identity.path : NULL, "size_bytes",
		whole(a->journal_bytes));
}

static json_t *size(const struct advice *a)
{
	return json_pack("{s:o, s:s, s:o}", "wanted_bytes",
		a->size_bytes ? whole(a->size_bytes) : json_null(), "rate",
		a->size_is_bound ? "upper bound" : "busiest stretch", "written_home_after_ns",
		whole(a->home_ns));
}

static json_t *watched(const struct advice *a)
{
	const struct watch *w = &a->watch;

	return json_pack("{s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "elapsed_ns",
		whole(w->elapsed_ns), "stopped", w->stopped, "commits", whole(w->commits),
		"requested", whole(w->requested), "commit_ns", number(w->commit_ns), "volume",
		disk(&w->volume, w->volume_counts, a->volume_busy), "journal",
		disk(&w->journal, w->journal_counts, a->journal_busy), "logging_share",
		bound(&a->logging), "log_bytes", bound(&a->log_bytes));
}

int advice_json(const struct advice *a, struct strbuf *out, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf experiment = { 0 };
	_cleanup_free_ char *text = NULL;
	json_t *root;

	advice_experiment(a, &experiment);
	root = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s}", "schema",
		"jbdlab-advice/1", "device", a->volume->identity.path, "mounted_on",
		a->mounted_on, "options", a->options, "journal", journal(a), "watched",
		watched(a), "commits", traced(a), "external_journal_saves", savings(a), "size",
		size(a), "experiment", strbuf_text(&experiment));
	text = root ? json_dumps(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;
	json_decref(root);
	if (!text)
		return err_set(e, ENOMEM, "write JSON");
	strbuf_addf(out, "%s\n", text);
	return strbuf_failed(out) ? err_set(e, ENOMEM, "write JSON") : 0;
}
