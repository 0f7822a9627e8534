/* SPDX-License-Identifier: GPL-3.0-or-later */

/* All plots of a report, and finding one; see plots.h. */

#include "report/plots.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/nearest.h"

enum { NAMED_MAX = 12 };

int plots_make(const struct report *r, struct plots *out, struct err *e)
{
	static int (*const parts[])(
		const struct report *r, struct plots *out, struct err *e) = { plot_ratios,
		plot_threads, plot_latencies, plot_blocks, plot_ledgers, plot_fsyncs };
	int status = 0;

	*out = (struct plots){ 0 };
	for (size_t i = 0; !status && i < ARRAY_SIZE(parts); i++)
		status = parts[i](r, out, e);
	for (size_t i = 0; !status && i < out->count; i++)
		if (out->list[i]->failed || strbuf_failed(&out->list[i]->description))
			status = err_set(e, ENOMEM, "plot %s", out->list[i]->name);
	return status;
}

bool plot_is(const struct plot *p, const char *kind)
{
	size_t n = strlen(kind);

	return !strncmp(p->name, kind, n) && (!p->name[n] || p->name[n] == ':');
}

static int not_found(const struct plots *p, const char *name, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf names = { 0 };
	struct nearest near = { .word = name };

	for (size_t i = 0; i < p->count; i++) {
		nearest_offer(&near, p->list[i]->name);
		if (i < NAMED_MAX)
			strbuf_addf(&names, "%s%s", i ? ", " : "", p->list[i]->name);
	}
	if (!p->count)
		return err_usage(e, "this bundle has nothing that could be plotted");
	if (near.best)
		return err_usage(e, "there is no plot \"%s\"; did you mean \"%s\"?", name,
			near.best);
	return err_usage(e, "there is no plot \"%s\"; this bundle has: %s%s", name,
		strbuf_text(&names), p->count > NAMED_MAX ? ", and more" : "");
}

int plots_find(const struct plots *p, const char *name, const struct plot **out,
	struct err *e)
{
	for (size_t i = 0; i < p->count; i++)
		if (!strcmp(p->list[i]->name, name)) {
			*out = p->list[i];
			return 0;
		}
	for (size_t i = 0; i < p->count; i++)
		if (!strchr(name, ':') && plot_is(p->list[i], name)) {
			*out = p->list[i];
			return 0;
		}
	return not_found(p, name, e);
}
