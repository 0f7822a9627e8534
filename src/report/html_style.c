/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * How the page looks.  Colours are variables, light by default and in print, dark where the
 * reader's system is; every text has at least 4.5 : 1 on its ground, which the test of the
 * page measures.  The page fetches nothing, and forbids itself to.
 */

#include "report/html.h"
#include "report/svg.h"
#include "report/xml.h"

static const char head[] =
	"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'\">\n"
	"<meta name=\"generator\" content=\"jbdlab\">\n<title>";

static const char light[] =
	"--ground:#f6f7f9;--card:#ffffff;--ink:#1b1f24;--soft:#57606a;--line:#d5dae1;"
	"--stripe:#f6f8fa;--link:#0b5cad;--good:#14602f;--good-ground:#e3f4e8;--bad:#9b1420;"
	"--bad-ground:#fde8e8;--warn:#704500;--warn-ground:#fff1cc;--plain-ground:#eceff3;";
static const char dark[] =
	"--ground:#111418;--card:#1a1e24;--ink:#e8eaed;--soft:#aab2bd;--line:#343a43;"
	"--stripe:#20252c;--link:#7cbcff;--good:#83e0a9;--good-ground:#12311f;--bad:#ffb4ad;"
	"--bad-ground:#42171b;--warn:#ffd58a;--warn-ground:#3b2c0b;--plain-ground:#2a3038;";

static const char style[] =
	"*{box-sizing:border-box}\n"
	"html{-webkit-text-size-adjust:100%}\n"
	"body{margin:0;background:var(--ground);color:var(--ink);line-height:1.5;"
	"font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"DejaVu Sans\",sans-serif}\n"
	"header,main,footer{max-width:1120px;margin:0 auto;padding:0 16px}\n"
	"h1{font-size:1.7rem;line-height:1.2;margin:28px 0 4px;overflow-wrap:anywhere}\n"
	"h2{font-size:1.2rem;margin:0 0 12px}\n"
	"h3{font-size:1rem;margin:20px 0 8px}\n"
	"p{margin:8px 0}\n"
	"a{color:var(--link)}\n"
	"section{background:var(--card);border:1px solid var(--line);border-radius:10px;"
	"padding:18px 20px;margin:18px 0}\n"
	".soft,.note{color:var(--soft)}\n"
	".note{font-size:.875rem}\n"
	"code{font-family:ui-monospace,\"DejaVu Sans Mono\",Menlo,monospace;font-size:.85em;"
	"overflow-wrap:anywhere}\n"
	".stamps{list-style:none;margin:12px 0;padding:0;display:flex;flex-wrap:wrap;gap:8px}\n"
	".stamps li,.tag{display:inline-block;padding:3px 10px;border-radius:6px;"
	"font-size:.875rem;font-weight:600;background:var(--plain-ground);color:var(--ink);"
	"overflow-wrap:anywhere}\n"
	".tag{padding:0 6px;font-size:.8125rem}\n"
	".good{background:var(--good-ground)!important;color:var(--good)!important}\n"
	".bad{background:var(--bad-ground)!important;color:var(--bad)!important}\n"
	".warn{background:var(--warn-ground)!important;color:var(--warn)!important}\n"
	".stamps .bad{border:2px solid var(--bad);text-transform:uppercase;"
	"letter-spacing:.03em}\n"
	"nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:2px 18px;margin:12px 0;"
	"padding:0;font-size:.9375rem}\n"
	"nav a{display:inline-block;padding:4px 0}\n"
	".summary{list-style:none;margin:0;padding:0}\n"
	".summary li{margin:0;padding:8px 0 8px 14px;border-left:4px solid var(--line)}\n"
	".summary li+li{margin-top:6px}\n"
	".summary .primary{font-size:1.125rem;font-weight:600}\n"
	".summary .better{border-color:var(--plot-10)}\n"
	".summary .worse{border-color:var(--plot-11)}\n"
	".summary .warning{border-color:var(--bad)}\n"
	".figures{display:grid;gap:16px 24px;"
	"grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr))}\n"
	"figure{margin:8px 0;min-width:0;break-inside:avoid}\n"
	"figure.list{grid-column:1/-1}\n"
	"figcaption{font-weight:600;font-size:.9375rem;margin-bottom:4px;"
	"overflow-wrap:anywhere}\n"
	"figcaption code{font-weight:400;color:var(--soft)}\n"
	"svg.plot{display:block;width:100%;height:auto;color:var(--ink);font-family:inherit}\n"
	"svg.narrow{display:none!important}\n"
	"@media(max-width:720px){svg.narrow{display:block!important}"
	"svg.wide{display:none!important}section{padding:14px 12px}"
	"header,main,footer{padding:0 10px}}\n"
	".scroll{overflow-x:auto;margin:8px 0}\n"
	".scroll:focus-visible{outline:2px solid var(--link);outline-offset:2px}\n"
	"table{border-collapse:collapse;font-size:.875rem;"
	"font-variant-numeric:tabular-nums}\n"
	"caption{text-align:left;font-weight:600;padding:6px 0}\n"
	"th,td{padding:4px 9px;border-bottom:1px solid var(--line);text-align:left;"
	"vertical-align:top}\n"
	"thead th{border-bottom:2px solid var(--line);vertical-align:bottom;"
	"white-space:nowrap}\n"
	"tbody th{font-weight:400}\n"
	"tbody tr:nth-child(even){background:var(--stripe)}\n"
	"tr.primary th,tr.primary td{font-weight:600}\n"
	"tr.failed th,tr.failed td{background:var(--bad-ground);color:var(--bad)}\n"
	"tr.changed th,tr.changed td{background:var(--warn-ground);color:var(--warn)}\n"
	".n{text-align:right}.n,.s{white-space:nowrap}"
	".t{min-width:15rem;overflow-wrap:anywhere}\n"
	"details{margin:10px 0}\n"
	"summary{cursor:pointer;color:var(--link);padding:4px 0}\n"
	"dl{margin:0}dt{font-weight:600;margin-top:10px}dd{margin:0 0 0 16px}\n"
	"footer{padding-bottom:28px}\n"
	"@media print{body{background:none;font-size:10pt}section{border:0;padding:0}"
	"nav{display:none}.scroll{overflow:visible}table{font-size:8pt}"
	".figures{grid-template-columns:1fr 1fr}h2,caption{break-after:avoid}"
	"tr{break-inside:avoid}*{print-color-adjust:exact;"
	"-webkit-print-color-adjust:exact}}\n";

static void add_colours(struct strbuf *out, bool is_dark)
{
	for (unsigned role = 0; role < PLOT_COLOURS; role++)
		strbuf_addf(out, "--plot-%u:%s;", role, svg_colour(role, is_dark));
}

void html_head(struct strbuf *out, const char *title)
{
	strbuf_add(out, head);
	xml_add(out, title);
	strbuf_addf(out, "</title>\n<style>\n:root{%s", light);
	add_colours(out, false);
	strbuf_addf(out, "}\n@media screen and (prefers-color-scheme:dark){:root{%s", dark);
	add_colours(out, true);
	strbuf_addf(out, "}}\n%s</style>\n</head>\n<body>\n", style);
}
