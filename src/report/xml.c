/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Texts of bundles in HTML and SVG; see xml.h. */

#include "report/xml.h"

#include <string.h>

void xml_add(struct strbuf *out, const char *text)
{
	for (; *text; text++) {
		size_t plain = strcspn(text, "&<>\"'\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e"
			"\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f"
			"\x7f");

		strbuf_addn(out, text, plain);
		text += plain;
		if (!*text)
			return;
		switch (*text) {
		case '&':
			strbuf_add(out, "&amp;");
			break;
		case '<':
			strbuf_add(out, "&lt;");
			break;
		case '>':
			strbuf_add(out, "&gt;");
			break;
		case '"':
			strbuf_add(out, "&quot;");
			break;
		case '\'':
			strbuf_add(out, "&#39;");
			break;
		default:
			strbuf_add(out, "\xef\xbf\xbd");
		}
	}
}
