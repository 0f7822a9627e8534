/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A comparison over hosts as text in 80 columns and as JSON; see hosts.h. */

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/wrap.h"
#include "report/hosts.h"
#include "report/text_table.h"
#include "result/result_json.h"

#define HOSTS_SCHEMA "jbdlab-hosts/1"

enum { TEXT = 256, NUMBER = 32 };

enum { COLUMN_METRIC, COLUMN_ARM, COLUMN_HOSTS, COLUMN_RATIO, COLUMN_INTERVAL,
	COLUMN_SPREAD, COLUMN_RANGE, COLUMN_WORD, COLUMNS };

static double ratio_at(const struct hosts_row *row, size_t i)
{
	return exp(row->values[i].log_ratio);
}

static void add_line(struct text_table *t, const struct hosts *h, const struct hosts_row *row)
{
	char metric[TEXT], count[NUMBER], ratio[NUMBER], interval[NUMBER] = "-";
	char spread[NUMBER] = "-", range[NUMBER];
	const char *texts[COLUMNS] = { metric, h->info->arms[row->arm].name, count, ratio,
		interval, spread, range, hosts_verdict_word(row) };

	snprintf(metric, sizeof(metric), "%.80s/%.80s %.60s", row->workload, row->phase,
		strcmp(row->metric, "latency_max") ? row->metric : "max");
	snprintf(count, sizeof(count), "%zu", row->count);
	snprintf(ratio, sizeof(ratio), "%.3g", row->contrast.ratio);
	if (!isnan(row->contrast.ratio_low))
		snprintf(interval, sizeof(interval), "%.3g-%.3g", row->contrast.ratio_low,
			row->contrast.ratio_high);
	if (!isnan(row->spread))
		snprintf(spread, sizeof(spread), "%.3g%%", 100 * (row->spread - 1));
	snprintf(range, sizeof(range), "%.3g-%.3g", ratio_at(row, row->least),
		ratio_at(row, row->most));
	text_table_add(t, texts);
}

static int add_table(const struct hosts *h, bool all, struct strbuf *out, struct err *e)
{
	const struct text_column columns[COLUMNS] = {
		[COLUMN_METRIC] = { "METRIC", TEXT_CUT },
		[COLUMN_ARM] = { h->info->arm_count > 2 ? "ARM" : NULL, TEXT_LEFT },
		[COLUMN_HOSTS] = { "HOSTS", TEXT_RIGHT },
		[COLUMN_RATIO] = { "RATIO", TEXT_RIGHT },
		[COLUMN_INTERVAL] = { "95%", TEXT_RIGHT },
		[COLUMN_SPREAD] = { "SPREAD", TEXT_RIGHT },
		[COLUMN_RANGE] = { "HOSTS FROM-TO", TEXT_RIGHT },
		[COLUMN_WORD] = { "IS", TEXT_LEFT },
	};
	struct text_table *t = text_table_new(columns, COLUMNS, TEXT_TABLE_WIDTH);

	for (size_t i = 0; i < h->row_count; i++)
		if (all || h->rows[i].shown)
			add_line(t, h, &h->rows[i]);
	return text_table_finish(t, "Nothing can be compared.", out, e);
}

static void add_wrapped(struct strbuf *out, const char *text)
{
	strbuf_add(out, "- ");
	wrap_text(out, text, 2, 2);
}

static void add_troubled(const struct hosts *h, struct strbuf *out)
{
	if (hosts_troubled(h))
		strbuf_add(out, "\nNot as planned:\n");
	for (size_t i = 0; i < h->host_count; i++) {
		const struct host *host = &h->hosts[i];
		_cleanup_(strbuf_deinit) struct strbuf line = { 0 };

		if (host->state == HOST_COMPLETE)
			continue;
		strbuf_addf(&line, "%s: %s%s%s%s", host->name, host_state_word(host->state),
			host->reason ? ", " : "", host->reason ? host->reason : "",
			host->used ? "; with what it has it takes part" : "; left out");
		add_wrapped(out, strbuf_text(&line));
	}
}

/* Which hosts are at the ends, of the metric that the experiment is about. */
static void add_ends(const struct hosts *h, struct strbuf *out)
{
	for (size_t i = 0; i < h->row_count; i++) {
		const struct hosts_row *row = &h->rows[i];
		_cleanup_(strbuf_deinit) struct strbuf line = { 0 };
		char path[3 * TEXT];

		snprintf(path, sizeof(path), "%s/%s/%s", row->workload, row->phase, row->metric);
		if (strcmp(path, h->primary) || row->count < 2)
			continue;
		strbuf_addf(&line, "%s, %s: lowest %.3g on %s, highest %.3g on %s", path,
			h->info->arms[row->arm].name, ratio_at(row, row->least),
			h->hosts[row->values[row->least].host].name, ratio_at(row, row->most),
			h->hosts[row->values[row->most].host].name);
		add_wrapped(out, strbuf_text(&line));
	}
}

int render_hosts(const struct hosts *h, bool all, struct strbuf *out, struct err *e)
{
	const struct bundle_info *info = h->info;
	int r;

	strbuf_addf(out, "%s on %zu of %zu host%s\nBaseline: %s, journal %s\n", info->name,
		hosts_used(h), h->host_count, PLURAL(h->host_count), info->arms[h->baseline].name,
		info->arms[h->baseline].placement);
	for (size_t i = 0; i < info->arm_count; i++)
		if (i != h->baseline)
			strbuf_addf(out, "Compared: %s, journal %s\n", info->arms[i].name,
				info->arms[i].placement);
	strbuf_add(out, "\n");
	r = add_table(h, all, out, e);
	if (r)
		return r;
	strbuf_add(out, "\n");
	add_wrapped(out, "a ratio is the Hodges-Lehmann estimate over hosts of what each host "
		"found within itself; its interval is that of the exact signed-rank test; "
		"spread is the standard deviation between hosts");
	if (hosts_used(h) < 6) /* with fewer no interval of 95 % exists */
		add_wrapped(out, "fewer than six hosts: no statement about their noise");
	add_ends(h, out);
	add_troubled(h, out);
	return strbuf_failed(out) ? err_set(e, ENOMEM, "write the comparison") : 0;
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *host_to_json(const struct host *host)
{
	json_t *paths = json_array();

	for (size_t i = 0; i < host->bundle_count; i++)
		json_array_append_new(paths, json_string(host->bundles[i]));
	return json_pack("{ss,ss,ss*,so,sI}", "host", host->name, "state",
		host_state_word(host->state), "reason", host->reason, "bundles", paths, "used",
		(json_int_t)host->used);
}

static json_t *values_to_json(const struct hosts *h, const struct hosts_row *row)
{
	json_t *values = json_array();

	for (size_t i = 0; i < row->count; i++)
		json_array_append_new(values,
			json_pack("{ss,so,sI}", "host", h->hosts[row->values[i].host].name,
				"ratio", number(ratio_at(row, i)), "bundles",
				(json_int_t)row->values[i].bundles));
	return values;
}

static json_t *row_to_json(const struct hosts *h, const struct hosts_row *row)
{
	static const char *const verdicts[] = {
		[VERDICT_HIGHER] = "higher",
		[VERDICT_LOWER] = "lower",
		[VERDICT_EQUIVALENT] = "equivalent",
		[VERDICT_NO_DIFFERENCE] = "no_difference",
		[VERDICT_UNKNOWN] = "unknown",
	};
	const struct contrast *c = &row->contrast;

	return json_pack("{ss,ss,ss,ss,ss,ss,sI,so,so,so,so,so,ss,so,sb,sb,so}", "workload",
		row->workload, "phase", row->phase, "metric", row->metric, "unit",
		result_unit_word(row->unit), "direction", result_direction_word(row->direction),
		"arm", h->info->arms[row->arm].name, "hosts", (json_int_t)row->count, "ratio",
		number(c->ratio), "low", number(c->ratio_low), "high", number(c->ratio_high),
		"p", number(c->summary.p), "p_holm", number(row->p_holm), "verdict",
		verdicts[c->verdict], "spread_between_hosts", number(row->spread), "too_short",
		row->too_short, "shown", row->shown, "values", values_to_json(h, row));
}

int render_hosts_json(const struct hosts *h, struct strbuf *out, struct err *e)
{
	json_t *hosts = json_array(), *rows = json_array(), *arms = json_array();
	_cleanup_free_ char *text = NULL;
	json_auto_t *json = NULL;

	for (size_t i = 0; i < h->host_count; i++)
		json_array_append_new(hosts, host_to_json(&h->hosts[i]));
	for (size_t i = 0; i < h->row_count; i++)
		json_array_append_new(rows, row_to_json(h, &h->rows[i]));
	for (size_t i = 0; i < h->info->arm_count; i++)
		json_array_append_new(arms,
			json_pack("{ss,ss}", "name", h->info->arms[i].name, "placement",
				h->info->arms[i].placement));
	json = json_pack("{ss,ss,ss,sI,so,so,so}", "schema", HOSTS_SCHEMA, "name",
		h->info->name, "baseline", h->info->arms[h->baseline].name, "hosts_used",
		(json_int_t)hosts_used(h), "arms", arms, "hosts", hosts, "rows", rows);
	text = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
	if (!text)
		return err_set(e, ENOMEM, "write JSON");
	strbuf_addf(out, "%s\n", text);
	return strbuf_failed(out) ? err_set(e, ENOMEM, "write JSON") : 0;
}
