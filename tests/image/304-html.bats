# SPDX-License-Identifier: GPL-3.0-or-later
# jbdlab report --format html and svg: one page that needs nothing else, plots by gnuplot
# with texts of their own, whatever arms and workloads are called; tables without gnuplot.
# What a browser makes of it is for tests/browser.

load ../lib

setup() {
    common_setup
    cp -r "$BATS_TEST_DIRNAME/../report/in/two-arms" "$WORK/bundle"
    export TMPDIR=$WORK/tmp
    mkdir "$TMPDIR"
}

teardown() {
    common_teardown
}

need_gnuplot() {
    command -v gnuplot >/dev/null || skip "gnuplot is not installed"
}

page() {
    timeout 60 "$JBDLAB" report "$WORK/bundle" --format html >"$WORK/page"
}

plot() {
    timeout 60 "$JBDLAB" report "$WORK/bundle" --format svg "$@" >"$WORK/plot"
}

# well_formed FILE: as XML; a page lacks what HTML does not close.
well_formed() {
    python3 - "$1" <<'END'
import html.parser, sys
import xml.etree.ElementTree as tree
text = open(sys.argv[1], encoding="utf-8").read()
if text.startswith("<?xml"):
    tree.fromstring(text)
    sys.exit()
class Parser(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = []
    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "br"):
            self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.getpos())
parser = Parser()
parser.feed(text)
parser.close()
assert not parser.open, parser.open
END
}

# rename FROM TO: an arm, in all files of the bundle.
rename_arm() {
    jq --arg from "$1" --arg to "$2" \
        '.arms |= map(if .name == $from then .name = $to else . end)' \
        "$WORK/bundle/bundle.json" >"$WORK/new"
    mv "$WORK/new" "$WORK/bundle/bundle.json"
    head -n -1 "$WORK/bundle/runs.jsonl" |
        jq -c --arg from "$1" --arg to "$2" 'if .arm == $from then .arm = $to else . end' \
            >"$WORK/new"
    mv "$WORK/new" "$WORK/bundle/runs.jsonl"
}

@test "the page is one file without scripts, and says what speaks against the result" {
    page
    well_formed "$WORK/page"
    head -n 1 "$WORK/page" | grep -qx '<!doctype html>'
    grep -q '<title>two-arms</title>' "$WORK/page"
    # No address but the names of namespaces, and nothing that a browser would fetch.
    grep -o 'https\?://[^"'"'"' ]*' "$WORK/page" | sort -u >"$WORK/addresses"
    [ "$(grep -vc '^http://www.w3.org/' "$WORK/addresses")" = 0 ]
    [ "$(grep -ciE '<script|<link|<img|<iframe|@import|url\(|javascript:| on[a-z]+=' \
        "$WORK/page")" = 0 ]
    grep -q 'not complete: interrupted, interrupted by SIGINT' "$WORK/page"
    grep -q '2 blocks: no statement about noise' "$WORK/page"
    grep -q 'no sync audit: no flushes were counted' "$WORK/page"
}

@test "summary, remarks and all tables are in the page" {
    local table
    page
    "$JBDLAB" report "$WORK/bundle" --json >"$WORK/json"
    # shellcheck disable=SC2016 # jq's
    jq -r '.remarks[]' "$WORK/json" | while read -r table; do
        grep -qF "$table" "$WORK/page"
    done
    for table in $(jq -r 'to_entries[] | select(.value | type == "array" and length > 0 and
        (.[0] | type == "object")) | .key' "$WORK/json"); do
        [ "$table" = summary ] || grep -q "id=\"table-$table\"" "$WORK/page"
    done
    # Raw numbers of a row, as CSV has them.
    grep -q '<td class="n">89478485.33333333</td>' "$WORK/page"
}

@test "each plot has a name, a text, and ids of its own" {
    need_gnuplot
    page
    python3 - "$WORK/page" <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
plots = re.findall(r'<svg .*?</svg>', text, re.S)
assert len(plots) > 10, len(plots)
for plot in plots:
    head = plot[:plot.index(">")]
    assert 'role="img"' in head and re.search(r'aria-label="[^"]{5,}"', head), head
    about = re.search(r'aria-describedby="([^"]+)"', head).group(1)
    described = re.search(r'<desc id="%s">([^<]{20,})</desc>' % about, plot)
    assert described, head
    assert "<path" in plot and "rgb(" not in plot and "Gnuplot" not in plot
    assert not re.search(r'>\[\d+\]', plot)
ids = re.findall(r'\bid=["\']([^"\']+)', text)
assert len(ids) == len(set(ids)), [i for i in ids if ids.count(i) > 1]
END
    grep -q 'sync/write/rate, ssd: 3.12, no interval: few blocks' "$WORK/page"
}

@test "a plot alone is an SVG file with a title" {
    need_gnuplot
    local name
    plot
    well_formed "$WORK/plot"
    grep -q '<title>Ratio of ssd to inline</title>' "$WORK/plot"
    [ "$(grep -c 'var(--' "$WORK/plot")" = 0 ]
    for name in ratios all-ratios threads threads:tio/write latency:sync/write \
        blocks:dd/write/rate; do
        plot --plot "$name"
        well_formed "$WORK/plot"
    done
    grep -q '>dd/write/rate by block</text>' "$WORK/plot"
    # The numbers of the axis are those of the runs: about 100 MiB/s.
    grep -q '> 90</text>' "$WORK/plot"
    [ -z "$(ls -A "$TMPDIR")" ]
}

@test "every kind of plot and table is in the manual" {
    local word page=$BATS_TEST_DIRNAME/../../src/man/jbdlab.8
    sed -e 's/\\-/-/g' -e 's/^.SS "report/\n&/' "$page" | awk '/^.SS "report/ { here = 1 }
        /^.SS run/ { here = 0 } here' >"$WORK/manual"
    for word in ratios all-ratios threads latency sync-latency blocks flushes written fsync \
        percentiles environment html svg; do
        grep -qE "^\.(B|BR|BI) \"?$word" "$WORK/manual" || { echo "$word"; return 1; }
    done
}

@test "an unknown plot is refused with the nearest" {
    run "$JBDLAB" report "$WORK/bundle" --format svg --plot laency:sync/write
    echo "$output"
    [ "$status" = 2 ]
    [[ "$output" == *'did you mean "latency:sync/write"'* ]]
    run "$JBDLAB" report "$WORK/bundle" --format svg --plot flushes
    [ "$status" = 2 ]
    [[ "$output" == *'there is no plot "flushes"'* ]]
    run "$JBDLAB" report "$WORK/bundle" --plot ratios
    [ "$status" = 2 ]
    [[ "$output" == *'--plot is for svg'* ]]
}

@test "names cannot break out of the page or into gnuplot" {
    need_gnuplot
    # shellcheck disable=SC2016 # meant literally
    rename_arm inline '</td><script>alert(1)</script>`touch '"$WORK"'/ran`'
    # shellcheck disable=SC2016
    rename_arm ssd "'; system(\"touch $WORK/ran\") # \$d0 @x {/Bold y} [0]...\\n&amp;"
    page
    well_formed "$WORK/page"
    [ "$(grep -ci '<script' "$WORK/page")" = 0 ]
    grep -q '&lt;script&gt;alert(1)&lt;/script&gt;' "$WORK/page"
    grep -o ".\{30\}Bold y.\{40\}" "$WORK/page" | head -5
    grep -qF '{/Bold y} [0]...\n&amp;amp;</text>' "$WORK/page"
    plot --plot blocks
    well_formed "$WORK/plot"
    grep -qF '{/Bold y} [0]...\n&amp;amp;</text>' "$WORK/plot"
    [ ! -e "$WORK/ran" ]
}

@test "control characters in a text leave the page well-formed" {
    jq '.arms[1].mount = "s\u0001\u001bs\nd\u009b"' "$WORK/bundle/bundle.json" >"$WORK/new"
    cp "$WORK/new" "$WORK/bundle/bundle.json"
    page
    well_formed "$WORK/page"
    grep -q 's��s' "$WORK/page"
}

@test "what the user has set for gnuplot is not read" {
    need_gnuplot
    echo "system(\"touch $WORK/ran\")" >"$WORK/.gnuplot"
    HOME=$WORK plot
    well_formed "$WORK/plot"
    [ ! -e "$WORK/ran" ]
}

@test "without gnuplot the tables stay, and a line says so" {
    mkdir "$WORK/bin"
    printf '#!/bin/sh\necho "no terminal svg" >&2\nexit 1\n' >"$WORK/bin/gnuplot"
    chmod 755 "$WORK/bin/gnuplot"
    PATH=$WORK/bin:$PATH page
    well_formed "$WORK/page"
    grep -q 'This page has no plots: gnuplot, which draws plots, failed: it ended with status 1' "$WORK/page"
    [ "$(grep -c '<svg' "$WORK/page")" = 0 ]
    grep -q 'ssd compared with inline' "$WORK/page"
    rm "$WORK/bin/gnuplot"
    # The directories of the system's administrator are always looked into.
    PATH=$WORK/bin "$JBDLAB" report "$WORK/bundle" --format html >"$WORK/page"
    if [ ! -e /usr/local/sbin/gnuplot ] && [ ! -e /usr/sbin/gnuplot ]; then
        grep -q 'This page has no plots: gnuplot, which draws them, is not installed' \
            "$WORK/page"
        run env PATH="$WORK/bin" "$JBDLAB" report "$WORK/bundle" --format svg
        [ "$status" = 2 ]
        [[ "$output" == *'gnuplot, which draws plots, is not installed'* ]]
    fi
    [ -z "$(ls -A "$TMPDIR")" ]
}

@test "a single arm has a page, too, and a bundle without runs" {
    head -n -1 "$WORK/bundle/runs.jsonl" | grep '"arm":"inline"' >"$WORK/runs"
    mv "$WORK/runs" "$WORK/bundle/runs.jsonl"
    jq '.arms |= map(select(.name == "inline"))' "$WORK/bundle/bundle.json" >"$WORK/new"
    mv "$WORK/new" "$WORK/bundle/bundle.json"
    page
    well_formed "$WORK/page"
    grep -q '<h2>Medians</h2>' "$WORK/page"
    : >"$WORK/bundle/runs.jsonl"
    page
    well_formed "$WORK/page"
    grep -q 'All tables' "$WORK/page"
    run "$JBDLAB" report "$WORK/bundle" --format svg
    [ "$status" = 2 ]
    [[ "$output" == *'nothing that could be plotted'* ]]
}

@test "a real experiment has every section and every kind of plot" {
    need_gnuplot
    local section kind
    rm -r "$WORK/bundle"
    cp -r "$BATS_TEST_DIRNAME/../report/in/real" "$WORK/bundle"
    page
    well_formed "$WORK/page"
    for section in summary ratios threads latencies blocks audit fsync confounds environment \
        tables; do
        grep -q "<section id=\"$section\">" "$WORK/page"
        grep -q "<li><a href=\"#$section\">" "$WORK/page"
    done
    for kind in ratios all-ratios threads latency sync-latency blocks flushes written fsync; do
        plot --plot "$kind"
        well_formed "$WORK/plot"
    done
    grep -q 'sync audit passed' "$WORK/page"
    # The text of the plot of flushes says what the ledger has: 144 syncs, 144 and 288.
    "$JBDLAB" report "$WORK/bundle" --format csv --table flushes |
        awk -F, '$2 == "write" && $3 == "ssd" && $4 == "journal" { print $6, $7, $8 }' |
        grep -qx '144 288 2'
    grep -q 'dsync/write, ssd: 3.00 = 1.00 + 2.00' "$WORK/page"
    # One sync of each arm; the flush that it waited for most.
    grep -q 'inline, 34.7 ms in all:' "$WORK/page"
}

@test "an audit that failed is stamped" {
    rm -r "$WORK/bundle"
    cp -r "$BATS_TEST_DIRNAME/../report/in/real" "$WORK/bundle"
    sed -i '2,$s/"verdict":"ok"/"verdict":"failed"/' "$WORK/bundle/runs.jsonl"
    page
    grep -q '<li class="bad">✗ sync audit failed: syncs did not reach a device</li>' \
        "$WORK/page"
    grep -q '<tr class="failed"><th scope="row" class="s">dsync/write</th>' "$WORK/page"
}

@test "what changed in the environment is marked" {
    echo '{"before": {"time": "a", "host": {"cpu_governor": "powersave", "cpus": 2,
        "readings": {"load": 1}}, "devices": [{"role": "volume", "name": "sdb", "gone": 1}]},
        "after": {"time": "b", "host": {"cpu_governor": "performance", "cpus": 2,
        "readings": {"load": 2}}, "devices": [{"role": "volume", "name": "sdb"}]}}' \
        >"$WORK/bundle/environment.json"
    "$JBDLAB" report "$WORK/bundle" --format csv --table environment >"$WORK/csv"
    cat "$WORK/csv"
    diff - "$WORK/csv" <<'END'
fact,before,after,differs
time,a,b,no
host/cpu_governor,powersave,performance,yes
host/cpus,2,2,no
host/readings/load,1,2,no
devices/volume sdb/role,volume,volume,no
devices/volume sdb/name,sdb,sdb,no
devices/volume sdb/gone,1,,yes
END
    page
    [ "$(grep -c '<tr class="changed">' "$WORK/page")" = 4 ]
}
