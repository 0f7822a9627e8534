/* SPDX-License-Identifier: GPL-3.0-or-later */

/* One plot of a report as a file of its own. */

#include <errno.h>

#include "report/formats.h"
#include "report/gnuplot.h"
#include "report/plots.h"
#include "report/report.h"

static int render_plot(
	const struct report *r, const char *name, struct strbuf *out, struct err *e)
{
	_cleanup_(plots_deinit) struct plots plots = { 0 };
	struct gnuplot_order order = { .shape = GNUPLOT_ALONE };
	int status = plots_make(r, &plots, e);

	if (!status)
		status = plots_find(&plots, name, &order.plot, e);
	if (!status)
		status = gnuplot_draw(&order, 1, r->stop, e);
	if (status == -ENOENT) {
		err_clear(e);
		status = err_usage(e, "gnuplot, which draws plots, is not installed");
	}
	if (!status)
		strbuf_add(out, order.svg);
	free(order.svg);
	return !status && strbuf_failed(out) ? err_set(e, ENOMEM, "write SVG") : status;
}

static int render_first_plot(const struct report *r, struct strbuf *out, struct err *e)
{
	return render_plot(r, "ratios", out, e);
}

const struct report_format report_format_svg = {
	.name = "svg",
	.whole = render_first_plot,
	.plot = render_plot,
};
