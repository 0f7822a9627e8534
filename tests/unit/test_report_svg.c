/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Texts of bundles in HTML and SVG, and what gnuplot draws as SVG of a page. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/svg.h"
#include "report/xml.h"

static void assert_xml(const char *text, const char *expected)
{
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };

	xml_add(&out, text);
	assert_string_equal(strbuf_text(&out), expected);
}

static void texts_are_nothing_but_text(void **state)
{
	(void)state;
	assert_xml("", "");
	assert_xml("plain µs", "plain µs");
	assert_xml("<b a=\"1\">&'</b>", "&lt;b a=&quot;1&quot;&gt;&amp;&#39;&lt;/b&gt;");
	assert_xml("a\x01" "b\x1b\x7f", "a\xef\xbf\xbd" "b\xef\xbf\xbd\xef\xbf\xbd");
	assert_xml("tab\tline\n", "tab\tline\n");
}

static void marks_are_as_long_as_their_texts(void **state)
{
	_cleanup_(strbuf_deinit) struct strbuf script = { 0 };
	struct svg_texts texts = { 0 };

	(void)state;
	svg_mark(&texts, "µµµµµ", 40, &script);
	assert_string_equal(strbuf_text(&script), "[0]..");
	svg_mark(&texts, "", 40, &script);
	assert_string_equal(strbuf_text(&script), "[0]..[1]");
	svg_mark(&texts, "0123456789abcdefghij", 10, &script);
	assert_string_equal(strbuf_text(&script), "[0]..[1][2].......");
	assert_string_equal(texts.list[0], "µµµµµ");
	assert_string_equal(texts.list[2], "012…efghij");
	svg_texts_deinit(&texts);
}

/* As gnuplot 5.4 writes it. */
static const char drawn[] =
	"<svg viewBox=\"0 0 9 9\">\n<title>Gnuplot</title>\n<g id=\"gnuplot_canvas\">\n"
	"<circle id='gpPt5'/><use xlink:href='#gpPt5' id='gpPt6'/>"
	"<filter id='textbox'><feFlood/></filter>"
	"<g fill=\"none\" color=\"black\" stroke=\"currentColor\">\n</g>\n"
	"<g fill=\"none\" color=\"black\" stroke=\"currentColor\"><title>plot</title>"
	"<path stroke='rgb(  2,   2,   0)' d='M1,2'/><path stroke='rgb(200,1,2)'/>"
	"<g fill=\"black\" font-family=\"Arial\"><text>[0]....</text></g>"
	"<text>[7]</text><text> 100</text></g></g></svg>\n";

static void adapt(bool standalone, struct strbuf *out)
{
	_cleanup_(strbuf_deinit) struct strbuf script = { 0 };
	struct svg_texts texts = { 0 };
	const struct svg_frame frame = { .id = "p1", .class = "plot", .title = "A < B",
		.description = "What is seen & more", .width = 9, .height = 9,
		.standalone = standalone };
	struct err e = { 0 };

	svg_mark(&texts, "a<b>\"&", 40, &script);
	assert_int_equal(svg_adapt(&frame, &texts, drawn, out, &e), 0);
	svg_texts_deinit(&texts);
}

static void a_plot_of_a_page_takes_its_colours_and_ids_from_there(void **state)
{
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };

	(void)state;
	adapt(false, &out);
	assert_string_equal(strbuf_text(&out),
		"<svg xmlns=\"http://www.w3.org/2000/svg\" "
		"xmlns:xlink=\"http://www.w3.org/1999/xlink\" viewBox=\"0 0 9 9\" "
		"class=\"plot\" role=\"img\" aria-label=\"A &lt; B\" "
		"aria-describedby=\"p1-about\">\n"
		"<desc id=\"p1-about\">What is seen &amp; more</desc>\n"
		"<g id=\"p1-gnuplot_canvas\">\n"
		"<circle id='p1-gpPt5'/><use xlink:href='#p1-gpPt5' id='p1-gpPt6'/>"
		"<g fill=\"none\" stroke=\"currentColor\">"
		"<path stroke='var(--plot-1)' d='M1,2'/><path stroke='rgb(200,1,2)'/>"
		"<g fill=\"currentColor\"><text>a&lt;b&gt;&quot;&amp;</text></g>"
		"<text>[7]</text><text> 100</text></g></g></svg>\n");
}

static void a_plot_alone_has_its_own_colours_and_title(void **state)
{
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };

	(void)state;
	adapt(true, &out);
	assert_non_null(strstr(strbuf_text(&out), "<title>A &lt; B</title>"));
	assert_non_null(strstr(strbuf_text(&out), svg_colour(PLOT_ARM, false)));
	assert_null(strstr(strbuf_text(&out), "var("));
}

static void what_gnuplot_did_not_write_is_refused(void **state)
{
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };
	const struct svg_frame frame = { .id = "p", .title = "T", .description = "" };
	const struct svg_texts texts = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };

	(void)state;
	assert_true(svg_adapt(&frame, &texts, "", &out, &e) < 0);
	err_clear(&e);
	assert_true(svg_adapt(&frame, &texts, "<g id=\"gnuplot_canvas\">", &out, &e) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_nothing_but_text),
		cmocka_unit_test(marks_are_as_long_as_their_texts),
		cmocka_unit_test(a_plot_of_a_page_takes_its_colours_and_ids_from_there),
		cmocka_unit_test(a_plot_alone_has_its_own_colours_and_title),
		cmocka_unit_test(what_gnuplot_did_not_write_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
