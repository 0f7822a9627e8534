/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Many hosts, printed; see hosts_report.h. */

#include "cli/hosts_report.h"

#include <stdio.h>
#include <string.h>

#include "core/printable.h"

static int status_of(const struct hosts *h)
{
	bool equivalent = true, any = false;

	for (size_t i = 0; i < h->row_count; i++) {
		const struct hosts_row *row = &h->rows[i];
		const struct contrast *c = &row->contrast;

		if (!row->shown || row->direction == NO_DIRECTION)
			continue;
		any = true;
		if ((c->verdict == VERDICT_HIGHER || c->verdict == VERDICT_LOWER) &&
			!c->below_margin && row->p_holm < 0.05)
			return STATUS_DIFFERENCE;
		equivalent &= c->verdict == VERDICT_EQUIVALENT || c->below_margin;
	}
	return any && equivalent ? STATUS_DONE : STATUS_INCONCLUSIVE;
}

static int render(const struct hosts *h, const struct hosts_request *q, bool json,
	struct strbuf *out, struct err *e)
{
	const char *format = json ? "json" : q->format ? q->format : "text";
	int r;

	if (!strcmp(format, "json"))
		return render_hosts_json(h, out, e);
	if (!strcmp(format, "html"))
		return render_hosts_html(h, out, e);
	r = render_hosts(h, q->all, out, e);
	printable_make(out);
	return r;
}

static int check_format(const char *format, struct err *e)
{
	static const char *const words[] = { "text", "json", "html" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!format || !strcmp(format, words[i]))
			return 0;
	return err_usage(e, "many bundles are shown as text, json or html, not as \"%s\"",
		format);
}

int hosts_report(struct cli *cli, const struct hosts_request *q, struct err *e)
{
	_cleanup_(hosts_deinit) struct hosts h = { 0 };
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };
	int r = check_format(q->format, e);

	if (!r)
		r = hosts_load(&h, q->bundles, q->count, &q->options, e);
	if (!r)
		r = render(&h, q, cli_json(cli), &out, e);
	if (r)
		return r;
	fputs(strbuf_text(&out), stdout);
	return status_of(&h);
}
