/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A comparison over hosts as one page, in the style of the report; see hosts.h. */

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "report/hosts.h"
#include "report/html.h"
#include "report/xml.h"

static void add_cell(struct strbuf *out, const char *fmt, ...) _printf_(2, 3);

static void add_cell(struct strbuf *out, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	strbuf_add(out, "<td>");
	xml_add(out, text ? text : "");
	strbuf_add(out, "</td>");
	out->failed |= !text;
}

static void begin_table(struct strbuf *out, const char *caption, const char *const *titles)
{
	strbuf_addf(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table>\n"
		"<caption>%s</caption>\n<thead><tr>", caption, caption);
	for (; *titles; titles++)
		strbuf_addf(out, "<th scope=\"col\">%s</th>", *titles);
	strbuf_add(out, "</tr></thead>\n<tbody>\n");
}

static void end_table(struct strbuf *out)
{
	strbuf_add(out, "</tbody></table></div>\n");
}

static void add_row_name(struct strbuf *out, const char *text)
{
	strbuf_add(out, "<tr><th scope=\"row\">");
	xml_add(out, text);
	strbuf_add(out, "</th>");
}

static void add_metric(const struct hosts *h, const struct hosts_row *row, struct strbuf *out)
{
	const struct contrast *c = &row->contrast;
	char path[400];

	snprintf(path, sizeof(path), "%.120s/%.120s %.80s", row->workload, row->phase,
		row->metric);
	add_row_name(out, path);
	add_cell(out, "%s", h->info->arms[row->arm].name);
	add_cell(out, "%zu", row->count);
	add_cell(out, "%.3g", c->ratio);
	if (isnan(c->ratio_low))
		add_cell(out, "-");
	else
		add_cell(out, "%.3g \xe2\x80\x93 %.3g", c->ratio_low, c->ratio_high);
	if (isnan(row->spread))
		add_cell(out, "-");
	else
		add_cell(out, "%.3g %%", 100 * (row->spread - 1));
	add_cell(out, "%.3g (%s)", exp(row->values[row->least].log_ratio),
		h->hosts[row->values[row->least].host].name);
	add_cell(out, "%.3g (%s)", exp(row->values[row->most].log_ratio),
		h->hosts[row->values[row->most].host].name);
	add_cell(out, "%s", hosts_verdict_word(row));
	strbuf_add(out, "</tr>\n");
}

static void add_metrics(const struct hosts *h, bool shown, const char *caption,
	struct strbuf *out)
{
	static const char *const titles[] = { "Metric", "Arm", "Hosts", "Ratio", "95 %",
		"Spread between hosts", "Lowest", "Highest", "Is", NULL };

	begin_table(out, caption, titles);
	for (size_t i = 0; i < h->row_count; i++)
		if (h->rows[i].shown == shown)
			add_metric(h, &h->rows[i], out);
	end_table(out);
}

static void add_hosts(const struct hosts *h, struct strbuf *out)
{
	static const char *const titles[] = { "Host", "State", "Bundles", "Takes part", "Reason",
		NULL };

	begin_table(out, "Hosts", titles);
	for (size_t i = 0; i < h->host_count; i++) {
		const struct host *host = &h->hosts[i];

		add_row_name(out, host->name);
		add_cell(out, "%s", host_state_word(host->state));
		add_cell(out, "%zu", host->bundle_count);
		add_cell(out, "%s", host->used ? "yes" : "no");
		add_cell(out, "%s", host->reason ? host->reason : "");
		strbuf_add(out, "</tr>\n");
	}
	end_table(out);
}

int render_hosts_html(const struct hosts *h, struct strbuf *out, struct err *e)
{
	const struct bundle_info *info = h->info;

	html_head(out, info->name);
	strbuf_add(out, "<header>\n<h1>");
	xml_add(out, info->name);
	strbuf_addf(out, "</h1>\n<p>%zu of %zu host%s compared, %zu not as planned. Baseline: ",
		hosts_used(h), h->host_count, PLURAL(h->host_count), hosts_troubled(h));
	xml_add(out, info->arms[h->baseline].name);
	strbuf_add(out, ".</p>\n</header>\n<main>\n<section id=\"metrics\">\n<h2>Metrics</h2>\n");
	add_metrics(h, true, "Arms compared within hosts, and over hosts", out);
	strbuf_add(out, "<p class=\"note\">A ratio is the Hodges-Lehmann estimate over hosts of "
		"what each host found within itself; the interval is that of the exact "
		"signed-rank test.</p>\n<details><summary>All other metrics</summary>\n");
	add_metrics(h, false, "Other metrics", out);
	strbuf_add(out, "</details>\n</section>\n<section id=\"hosts\">\n<h2>Hosts</h2>\n");
	add_hosts(h, out);
	strbuf_add(out, "</section>\n</main>\n<footer class=\"note\">Made by jbdlab from the "
		"bundles.</footer>\n</body>\n</html>\n");
	return strbuf_failed(out) ? err_set(e, ENOMEM, "write HTML") : 0;
}
