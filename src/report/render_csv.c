/* SPDX-License-Identifier: GPL-3.0-or-later */

/* One table as CSV (RFC 4180): a header of column keys, raw numbers in base units, an
 * empty field for what is missing. */

#include <errno.h>
#include <string.h>

#include "report/format.h"
#include "report/formats.h"
#include "report/report.h"

static void add_field(struct strbuf *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		strbuf_add(out, text);
		return;
	}
	strbuf_add(out, "\"");
	for (; *text; text++) {
		if (*text == '"')
			strbuf_add(out, "\"");
		strbuf_addn(out, text, 1);
	}
	strbuf_add(out, "\"");
}

static int render_csv(const struct report_table *t, struct strbuf *out, struct err *e)
{
	char buffer[CELL_TEXT_MAX];

	for (size_t c = 0; c < t->column_count; c++) {
		add_field(out, t->columns[c].key);
		strbuf_add(out, c + 1 < t->column_count ? "," : "\n");
	}
	for (size_t i = 0; i < t->row_count * t->column_count; i++) {
		add_field(out, format_cell_raw(&t->cells[i], buffer));
		strbuf_add(out, (i + 1) % t->column_count ? "," : "\n");
	}
	return strbuf_failed(out) ? err_set(e, ENOMEM, "write CSV") : 0;
}

const struct report_format report_format_csv = {
	.name = "csv",
	.table = render_csv,
};
