/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Sections and paragraphs of the page; see html.h. */

#include "report/html.h"
#include "report/xml.h"

void html_section(struct html *h, const char *id, const char *title)
{
	strbuf_addf(&h->nav, "<li><a href=\"#%s\">%s</a></li>\n", id, title);
	strbuf_addf(&h->body, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title);
}

void html_section_end(struct html *h)
{
	strbuf_add(&h->body, "</section>\n");
}

void html_note(struct html *h, const char *text)
{
	strbuf_add(&h->body, "<p class=\"note\">");
	xml_add(&h->body, text);
	strbuf_add(&h->body, "</p>\n");
}
