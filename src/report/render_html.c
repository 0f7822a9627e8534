/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The report as one page: a file that needs nothing else, to be opened by a double click,
 * printed, sent.  It has no script.  The same tables and plots as the other formats, so
 * that nothing is computed here.
 *
 * All plots are drawn by one run of gnuplot.  Charts are small and fit any screen; lists are
 * drawn twice, and the style of the page shows the one that fits.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/formats.h"
#include "report/gnuplot.h"
#include "report/html.h"
#include "report/plots.h"
#include "report/report.h"
#include "report/xml.h"

/* More of a kind are not looked at; the page says how to have them. */
enum { OF_A_KIND_MAX = 40 };

/* The plots that the page shows, in orders, which has room for two each. */
static size_t order(const struct plots *plots, struct gnuplot_order *orders)
{
	size_t n = 0, same = 0;

	for (size_t i = 0; i < plots->count; i++) {
		const struct plot *p = plots->list[i], *before = i ? plots->list[i - 1] : NULL;
		size_t kind = strcspn(p->name, ":");

		if (before && strcspn(before->name, ":") == kind &&
			!strncmp(before->name, p->name, kind))
			same++;
		else
			same = 0;
		if (same >= OF_A_KIND_MAX)
			continue;
		orders[n++] = (struct gnuplot_order){ .plot = p, .shape = GNUPLOT_WIDE };
		if (p->is_list)
			orders[n++] =
				(struct gnuplot_order){ .plot = p, .shape = GNUPLOT_NARROW };
	}
	return n;
}

/* Without gnuplot, or when it fails, the tables say the same. */
static int draw(const struct report *r, struct gnuplot_order *orders, size_t *count,
	struct strbuf *why, struct err *e)
{
	int status = *count ? gnuplot_draw(orders, *count, r->stop, e) : 0;

	if (!status || status == -ENOMEM || e->kind == ERR_INTERRUPTED)
		return status;
	for (size_t i = 0; i < *count; i++)
		free(take_ptr(orders[i].svg));
	*count = 0;
	strbuf_addf(why, "This page has no plots: %s. Its tables hold the same numbers.",
		status == -ENOENT ? "gnuplot, which draws them, is not installed"
				   : err_message(e));
	err_clear(e);
	return 0;
}

static int write_page(struct html *h, const char *why, struct strbuf *out, struct err *e)
{
	int status = html_summary(h, e);

	if (!status)
		html_sections(h);
	html_head(out, h->report->bundle.info.name);
	html_header(h, out);
	if (*why) {
		strbuf_add(out, "<p class=\"no-plots\">");
		xml_add(out, why);
		strbuf_add(out, "</p>\n");
	}
	strbuf_add(out, "<nav aria-label=\"Sections\"><ul>\n");
	strbuf_add(out, strbuf_text(&h->nav));
	strbuf_add(out, "</ul></nav>\n</header>\n<main>\n");
	strbuf_add(out, strbuf_text(&h->body));
	strbuf_add(out, "</main>\n<footer class=\"note\">Made by jbdlab from the bundle; its plan "
		"has the SHA-256 <code>");
	xml_add(out, h->report->bundle.info.plan_sha256);
	strbuf_add(out, "</code>.</footer>\n</body>\n</html>\n");
	return status;
}

static int render_html(const struct report *r, struct strbuf *out, struct err *e)
{
	_cleanup_(plots_deinit) struct plots plots = { 0 };
	_cleanup_(strbuf_deinit) struct strbuf why = { 0 };
	_cleanup_free_ struct gnuplot_order *orders = NULL;
	struct html h = { .report = r, .plots = &plots };
	int status = plots_make(r, &plots, e);

	if (status)
		return status;
	orders = calloc(2 * plots.count + 1, sizeof(*orders));
	if (!orders)
		return err_set(e, ENOMEM, "write HTML");
	h.drawn = orders;
	h.drawn_count = order(&plots, orders);
	status = draw(r, orders, &h.drawn_count, &why, e);
	if (!status)
		status = write_page(&h, strbuf_text(&why), out, e);
	if (!status && (strbuf_failed(out) || strbuf_failed(&h.body) || strbuf_failed(&h.nav)))
		status = err_set(e, ENOMEM, "write HTML");
	for (size_t i = 0; i < 2 * plots.count; i++)
		free(orders[i].svg);
	strbuf_deinit(&h.nav);
	strbuf_deinit(&h.body);
	return status;
}

const struct report_format report_format_html = {
	.name = "html",
	.whole = render_html,
};
