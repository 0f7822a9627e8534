/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The heading of the page: what this is, stamps that cannot be overlooked, and the summary
 * in the sentences that every format has. */

#include "report/html.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "report/summary.h"
#include "report/xml.h"

static void stamp(struct strbuf *out, const char *class, const char *sign, const char *text)
{
	strbuf_addf(out, "<li class=\"%s\">%s ", class, sign);
	xml_add(out, text);
	strbuf_add(out, "</li>\n");
}

/* The worst verdict of the audit, in its own words. */
static const struct {
	const char *verdict, *class, *sign, *text;
} audits[] = {
	{ "failed", "bad", "✗", "sync audit failed: syncs did not reach a device" },
	{ "implausible", "bad", "✗", "sync audit: a rate that such a disk cannot have" },
	{ "suspect", "warn", "!", "sync audit: suspect" },
	{ "ok", "good", "✓", "sync audit passed" },
	{ "unknown", "warn", "?", "sync audit: could not be judged" },
	{ "not_applicable", "plain", "–",
		"sync audit: nothing was synced, or no cache needs it" },
};

static void stamp_audit(const struct report *r, struct strbuf *out)
{
	const struct report_table *t = &r->tables[TABLE_AUDIT];

	for (size_t k = 0; k < ARRAY_SIZE(audits); k++)
		for (size_t i = 0; i < t->row_count; i++)
			if (!strcmp(t->cells[i * t->column_count + LEDGER_VERDICT].text,
				    audits[k].verdict)) {
				stamp(out, audits[k].class, audits[k].sign,
					audits[k].text);
				return;
			}
	stamp(out, "warn", "?", "no sync audit: no flushes were counted");
}

static void stamp_blocks(const struct report *r, struct strbuf *out)
{
	char text[100];

	if (r->bundle.info.arm_count < 2)
		return;
	if (r->complete_blocks >= REPORT_BLOCKS_FOR_A_STATEMENT)
		return;
	snprintf(text, sizeof(text), "%zu block%s: no statement about noise",
		r->complete_blocks, PLURAL(r->complete_blocks));
	stamp(out, "warn", "!", text);
}

static void stamp_state(const struct report *r, struct strbuf *out)
{
	const struct bundle_info *info = &r->bundle.info;
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

	if (info->state == BUNDLE_COMPLETE)
		return;
	strbuf_addf(&text, "not complete: %s%s%s", bundle_state_word(info->state),
		*info->reason ? ", " : "", info->reason);
	stamp(out, "bad", "✗", strbuf_text(&text));
}

static void stamp_counts(const struct report *r, struct strbuf *out)
{
	size_t invalid = r->tables[TABLE_INVALID].row_count;
	size_t confounds = r->tables[TABLE_CONFOUNDS].row_count;
	char text[100];

	if (invalid) {
		snprintf(text, sizeof(text), "%zu rule%s broken by cells", invalid,
			PLURAL(invalid));
		stamp(out, "bad", "✗", text);
	}
	if (confounds) {
		snprintf(text, sizeof(text), "%zu thing%s to hold against it", confounds,
			PLURAL(confounds));
		stamp(out, "warn", "!", text);
	}
}

void html_header(struct html *h, struct strbuf *out)
{
	const struct bundle_info *info = &h->report->bundle.info;
	char created[32];

	clock_format_utc(info->created_wall_ns, created);
	strbuf_add(out, "<header>\n<h1>");
	xml_add(out, info->name);
	strbuf_addf(out, "</h1>\n<p class=\"soft\">%s; %zu arm%s, %zu of %u block%s complete, "
		"seed %llu, jbdlab ",
		created, info->arm_count, PLURAL(info->arm_count),
		h->report->complete_blocks, info->blocks, PLURAL(info->blocks),
		(unsigned long long)info->seed);
	xml_add(out, info->version);
	strbuf_add(out, "</p>\n<ul class=\"stamps\">\n");
	if (summary_emulated(h->report))
		stamp(out, "bad", "✗", "emulated machine: times mean nothing");
	stamp_state(h->report, out);
	stamp_audit(h->report, out);
	stamp_blocks(h->report, out);
	stamp_counts(h->report, out);
	strbuf_add(out, "</ul>\n");
}

int html_summary(struct html *h, struct err *e)
{
	static const size_t columns[] = { ARMS_ARM, ARMS_PLACEMENT, ARMS_MOUNT, ARMS_LEVELS,
		ARMS_CELLS };
	_cleanup_(summary_deinit) struct summary s = { 0 };
	int status = report_summary(h->report, &s, e);

	if (status)
		return status;
	html_section(h, "summary", "Summary");
	strbuf_add(&h->body, "<ul class=\"summary\">\n");
	for (size_t i = 0; i < s.count; i++) {
		strbuf_addf(&h->body, "<li class=\"%s %s\">",
			summary_kind_word(s.sentences[i].kind),
			summary_tone_word(s.sentences[i].tone));
		xml_add(&h->body, s.sentences[i].text);
		strbuf_add(&h->body, "</li>\n");
	}
	strbuf_add(&h->body, "</ul>\n");
	html_table(h, &(struct html_view){ .table = TABLE_ARMS, .caption = "Arms",
			      .columns = columns, .column_count = ARRAY_SIZE(columns) });
	for (size_t i = 0; i < h->report->remark_count; i++)
		html_note(h, h->report->remarks[i]);
	html_section_end(h);
	return 0;
}
