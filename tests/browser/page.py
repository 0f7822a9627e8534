#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens pages of jbdlab report --format html in a real browser and looks at them.

    page.py DIR PAGE...      screenshots of every section go to DIR; prints TAP

The first page is looked at in all combinations of width and colours, of the others two.
"""

import base64
import os
import pathlib
import sys

import chromium

WIDTHS = (400, 1400)
SCHEMES = ("light", "dark")

# Text nodes with their contrast: the ground is the first ancestor that has one, with what is
# translucent laid over what is below.  Text of a plot is painted by "fill".
CONTRAST = r"""
(() => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const parse = text => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = text;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const over = (top, ground) => [0, 1, 2].map(
        i => (top[i] * top[3] + ground[i] * (255 - top[3])) / 255).concat(255);
    const luminance = c => {
        const [r, g, b] = c.slice(0, 3).map(v => {
            v /= 255;
            return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = element => {
        const layers = [];
        for (let e = element; e; e = e.parentElement) {
            const c = parse(getComputedStyle(e).backgroundColor);
            if (c[3]) layers.push(c);
            if (c[3] === 255) break;
        }
        return layers.reverse().reduce((below, c) => over(c, below), [255, 255, 255, 255]);
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const seen = new Map();
    let count = 0;
    while (walker.nextNode()) {
        const e = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !e.getClientRects().length) continue;
        if (e.closest('title, desc')) continue;
        const style = getComputedStyle(e);
        const ink = e instanceof SVGElement ? style.fill : style.color;
        if (ink === 'none') continue;
        count++;
        const below = ground(e);
        const [a, b] = [luminance(over(parse(ink), below)), luminance(below)];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5)
            seen.set(e.tagName + '.' + e.className + ' ' + ink,
                ratio.toFixed(2) + ' ' + walker.currentNode.data.trim().slice(0, 40));
    }
    return {count, bad: [...seen].map(([k, v]) => k + ': ' + v)};
})()
"""

# What is drawn without text: lines and fills must be seen, 3 : 1.  Grid and what only joins
# points may be fainter, it has nothing to say alone.
MARKS = r"""
[...document.querySelectorAll('svg.plot')].filter(s => s.getClientRects().length).map(s => {
    const box = s.getBoundingClientRect();
    return {label: s.getAttribute('aria-label'), role: s.getAttribute('role'),
        about: (document.getElementById(s.getAttribute('aria-describedby')) || {}).textContent,
        width: box.width, height: box.height,
        drawn: s.querySelectorAll('path, use, polygon').length,
        leftover: [...s.querySelectorAll('text')].map(t => t.textContent)
            .filter(t => /^\[\d+\]\.*$/.test(t)),
        outside: [...s.querySelectorAll('text')].filter(t => {
            const b = t.getBoundingClientRect();
            return b.width && (b.left < box.left - 2 || b.right > box.right + 2 ||
                b.top < box.top - 2 || b.bottom > box.bottom + 2);
        }).map(t => t.textContent)};
})
"""


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def check(self, name, problems):
        problems = [str(p) for p in problems]
        self.count += 1
        self.failed += bool(problems)
        print("%sok %d %s" % ("not " if problems else "", self.count, name))
        for problem in problems[:10]:
            print("#   " + problem)
        sys.stdout.flush()


def set_up(browser, width, scheme):
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                 deviceScaleFactor=1, mobile=width < 700)
    browser.call("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])


def console(browser):
    for event in browser.events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            yield params["exceptionDetails"]["text"]
        if method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            yield params["entry"]["text"]
        if method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            yield params["args"]


def requests(browser, url):
    for event in browser.events:
        if event.get("method") == "Network.requestWillBeSent":
            asked = event["params"]["request"]["url"]
            if asked != url:
                yield asked


def plots(browser):
    found = browser.run(MARKS)
    for p in found:
        if p["width"] < 100 or p["height"] < 60:
            yield "%(label)s: %(width)d x %(height)d" % p
        if p["drawn"] < 5:
            yield "%(label)s: nothing is drawn" % p
        if p["role"] != "img" or not p["label"] or not p["about"]:
            yield "%(label)s: no text alternative" % p
        if p["leftover"]:
            yield "%(label)s: %(leftover)s" % p
        if p["outside"]:
            yield "%(label)s: cut off: %(outside)s" % p


def overflow(browser):
    wide, window = browser.run(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    if wide > window:
        yield "%d pixels in a window of %d" % (wide, window)


def shoot(browser, selector, path):
    box = browser.run(
        "(r => [r.x + scrollX, r.y + scrollY, r.width, r.height])"
        "(document.querySelector('%s').getBoundingClientRect())" % selector)
    clip = dict(zip(("x", "y", "width", "height"), box), scale=1)
    clip["height"] = min(clip["height"], 6000)
    data = browser.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"]
    path.write_bytes(base64.b64decode(data))
    return path.stat().st_size


def sections(browser, out, name):
    """Each is caught, and is no empty picture."""
    for section in ["header"] + ["#" + i for i in browser.run(
            "[...document.querySelectorAll('section')].map(s => s.id)")]:
        path = out / ("%s-%s.png" % (name, section.strip("#")))
        if shoot(browser, section, path) < 1000:
            yield section


def look(browser, tap, page, out, everything):
    url = page.resolve().as_uri()
    name = page.stem
    set_up(browser, 1400, "light")
    browser.open(url)
    tap.check(name + ": nothing on the console", console(browser))
    tap.check(name + ": nothing is fetched", requests(browser, url))
    tap.check(name + ": no script, and every id is there once", browser.run(
        "[...document.scripts].map(s => 'script').concat("
        "[...document.querySelectorAll('[id]')].map(e => e.id)"
        ".filter((id, i, all) => all.indexOf(id) !== i))"))
    tap.check(name + ": links lead somewhere", browser.run(
        "[...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href'))"
        ".filter(h => h[0] !== '#' || !document.getElementById(h.slice(1)))"))
    tap.check(name + ": references of plots lead somewhere", browser.run(
        "[...document.querySelectorAll('use')].map(u => u.getAttribute('xlink:href'))"
        ".filter(h => !h || !document.getElementById(h.slice(1)))"))
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true })")
    for width in WIDTHS:
        for scheme in SCHEMES:
            if not everything and (width == WIDTHS[0]) == (scheme == SCHEMES[0]):
                continue
            set_up(browser, width, scheme)
            which = "%s at %d, %s: " % (name, width, scheme)
            tap.check(which + "no horizontal scrolling", overflow(browser))
            tap.check(which + "every plot is drawn", plots(browser))
            contrast = browser.run(CONTRAST)
            tap.check(which + "contrast of %d texts" % contrast["count"],
                      contrast["bad"] + ([] if contrast["count"] > 20 else ["no text"]))
            tap.check(which + "every section is seen",
                      sections(browser, out, "%s-%d-%s" % (name, width, scheme)))
    pdf = base64.b64decode(browser.call("Page.printToPDF", printBackground=True)["data"])
    (out / (name + ".pdf")).write_bytes(pdf)
    tap.check(name + ": can be printed", [] if pdf[:5] == b"%PDF-" else ["no PDF"])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[1])
    os.makedirs(out, exist_ok=True)
    if not chromium.find():
        print("skip: no Chromium is installed")
        sys.exit(77)
    tap = Tap()
    browser = chromium.Chromium()
    try:
        for number, page in enumerate(sys.argv[2:]):
            look(browser, tap, pathlib.Path(page), out, number == 0)
    finally:
        browser.close()
    print("1..%d" % tap.count)
    sys.exit(tap.failed > 0)


main()
