# SPDX-License-Identifier: GPL-3.0-or-later
# The formats of a report: what is stored comes out of each, tables and columns can be
# chosen, JSON is as its schema says, and what other programs print, ours included, is read
# again as what it was.

load ../lib

setup() {
    common_setup
    REPORT=$BATS_TEST_DIRNAME/../report
    cp -r "$REPORT/in/two-arms" "$WORK/bundle"
    SCHEMA=$WORK/schema
    "$JBDLAB" report --schema >"$SCHEMA"
}

teardown() {
    common_teardown
}

# eight_blocks: the first block of the bundle eight times, with a spread of about 1 %.
eight_blocks() {
    local block
    jq -R -c 'fromjson?' "$WORK/bundle/runs.jsonl" >"$WORK/first" # the last line is torn
    for ((block = 0; block < 8; block++)); do
        jq -c --argjson b "$block" 'select(.block == 0) | .block = $b |
            if .arm == "ssd" then
                (.phases[].metrics[] | select(.name == "rate") | .value) *=
                    (1 + 0.004 * ($b * 5 % 8 - 3.5)) else . end' "$WORK/first"
    done >"$WORK/bundle/runs.jsonl"
    : >"$WORK/bundle/cells.jsonl"
}

# measure TYPE ARM KEY=VALUE...: a run in a line of JSON.
measure() {
    local setting settings=()
    for setting in "${@:3}"; do settings+=(-s "$setting"); done
    "$JBDLAB" bench -q --json -w "$1" "${settings[@]}" "$WORK/dir" |
        jq -c --arg arm "$2" '.arm = $arm'
}

# real DIR ARM...: a bundle of runs measured here, small ones of every type.
real() {
    local arm
    mkdir "$WORK/dir" "$1"
    for arm in "${@:2}"; do
        measure dd "$arm" bs=64k count=64 read=yes
        measure commit "$arm" "kind=wal wal-readonly" count=100 threads=2 heap=1M
        measure throughput "$arm" threads=2 size=512k
        measure tiobench "$arm" size=4M "threads=1 4" random=100
    done >"$1/runs.jsonl"
    cp "$WORK/bundle/plan.ini" "$1"
    jq '.arms |= .[:'$(($# - 1))'] | .state = "complete" | .reason = ""' \
        "$REPORT/in/two-arms/bundle.json" >"$1/bundle.json"
    : >"$1/cells.jsonl"
}

expect_output() {
    "$JBDLAB" report "$WORK/bundle" "${@:2}" >"$WORK/out"
    diff -u "$REPORT/out/$1" "$WORK/out"
}

expect_refusal() {
    run "${@:2}"
    echo "$output"
    [ "$status" = 2 ]
    [[ "$output" == *"$1"* ]]
}

@test "every format gives what is stored" {
    expect_output two-arms.md --format markdown
    expect_output two-arms.pts --format pts
    expect_output two-arms.tiobench-classic --format tiobench-classic
    expect_output two-arms.tiotest --format tiotest
    expect_output two-arms.tiotest-terse --format tiotest-terse
    expect_output two-arms.dd --format dd
    expect_output two-arms-ledger.txt --table ledger
    expect_output two-arms-values.txt --table values --columns arm,block,value,metric,phase
    expect_output two-arms-arms.md --table arms --format markdown
}

@test "columns are chosen in text, markdown, csv and jsonl" {
    local format
    for format in text markdown csv jsonl; do
        "$JBDLAB" report "$WORK/bundle" -f $format -t values -o value,arm >"$WORK/$format"
        head -n 3 "$WORK/$format"
        [ "$("$JBDLAB" report "$WORK/bundle" -f csv -t values | wc -l)" = \
            $(($(wc -l <"$WORK/$format") + (0$([ $format = jsonl ] && echo +1)$([ $format = markdown ] && echo -1)))) ]
    done
    [ "$(head -n 1 "$WORK/csv")" = value,arm ]
    jq -es 'all(keys == ["arm", "table", "value"] and .table == "values")' "$WORK/jsonl"
    [[ "$(head -n 1 "$WORK/text")" == *Value\ Arm ]]
    [ "$(sed -n 2p "$WORK/markdown")" = '| ---: | --- |' ]
    # The comparison where no table is named.
    "$JBDLAB" report "$WORK/bundle" -o arm,ratio -f csv | head -n 1 | grep -qx arm,ratio
}

@test "columns are listed without a bundle" {
    "$JBDLAB" report --columns help --table drift >"$WORK/out"
    grep -Eq '^change +ratio of the end to the start' "$WORK/out"
    [ -z "$(awk 'length > 80' "$WORK/out")" ]
    # Every key of the JSON is one of them, and no other.
    "$JBDLAB" report --columns help >"$WORK/out"
    "$JBDLAB" report "$WORK/bundle" --json |
        jq -r '.values[0] | keys[]' | sort >"$WORK/keys"
    awk '/^values: / { here = 1; next } /^$/ { here = 0 } here && /^[a-z]/ { print $1 }' \
        "$WORK/out" | sort | diff "$WORK/keys" -
    [ "$(grep -c '^[a-z_]*: ' "$WORK/out")" = \
        "$("$JBDLAB" report "$WORK/bundle" --json | jq '[.[] | arrays] | length - 2')" ]
}

@test "wrong tables and columns are refused with the nearest" {
    expect_refusal 'did you mean "placement"?' \
        "$JBDLAB" report "$WORK/bundle" -t arms -o arm,plcement
    expect_refusal 'did you mean "drift"?' "$JBDLAB" report "$WORK/bundle" -t drfit -f csv
    expect_refusal 'did you mean "markdown"?' "$JBDLAB" report "$WORK/bundle" -f markdwon
    expect_refusal '--table is for' "$JBDLAB" report "$WORK/bundle" -t arms -f json
    expect_refusal '--columns is for' "$JBDLAB" report "$WORK/bundle" -o arm -f dd
    expect_refusal 'there is no table' "$JBDLAB" report -o help -t nothing
    expect_refusal 'report takes one bundle' "$JBDLAB" report
    # Nothing is read before the words are right.
    expect_refusal 'there is no column' "$JBDLAB" report "$WORK/nothing" -o nothing
}

@test "real JSON is as the schema says" {
    "$JBDLAB" report "$WORK/bundle" --json >"$WORK/1.json"
    eight_blocks
    "$JBDLAB" report "$WORK/bundle" --json >"$WORK/2.json"
    jq '.arms[0].levels = "journal=inline" | .arms[1].levels = "journal=external"' \
        "$WORK/bundle/bundle.json" >"$WORK/new"
    cp "$WORK/new" "$WORK/bundle/bundle.json"
    "$JBDLAB" report "$WORK/bundle" --json >"$WORK/3.json"
    "$JBDLAB" import -q -o "$WORK/published" \
        "$BATS_TEST_DIRNAME/../import/published/ext3-ssd-journal-tiobench-dd.txt"
    "$JBDLAB" report "$WORK/published" --json >"$WORK/4.json"
    real "$WORK/real" inline ssd
    "$JBDLAB" report "$WORK/real" --json >"$WORK/5.json"
    jq -e '.values | length > 40' "$WORK/5.json"
    "$BATS_TEST_DIRNAME/../schema.py" "$SCHEMA" "$WORK"/[1-5].json
    # It would notice.
    jq '.values[0].value = "1"' "$WORK/5.json" >"$WORK/6.json"
    run "$BATS_TEST_DIRNAME/../schema.py" "$SCHEMA" "$WORK/6.json"
    [ "$status" = 1 ]
    jq 'del(.values[0].value)' "$WORK/5.json" >"$WORK/6.json"
    run "$BATS_TEST_DIRNAME/../schema.py" "$SCHEMA" "$WORK/6.json"
    [ "$status" = 1 ]
    jq '.values[0].more = 1' "$WORK/5.json" >"$WORK/6.json"
    run "$BATS_TEST_DIRNAME/../schema.py" "$SCHEMA" "$WORK/6.json"
    [ "$status" = 1 ]
}

@test "lines of JSON hold what the JSON holds" {
    "$JBDLAB" report "$WORK/bundle" --json >"$WORK/json"
    "$JBDLAB" report "$WORK/bundle" -f jsonl >"$WORK/jsonl"
    jq -s 'map(select(.table != "report") | .table as $t | del(.table) | [$t, .])' \
        "$WORK/jsonl" >"$WORK/rows"
    jq '[to_entries[] | select(.value | arrays) |
            select(.key != "remarks" and .key != "summary") |
            .key as $t | .value[] | [$t, .]]' "$WORK/json" | diff - "$WORK/rows"
    jq -e -s '.[0] | .table == "report" and .schema == "jbdlab-report/1" and
        .name == "two-arms"' "$WORK/jsonl"
}

@test "pts marks what is no difference, and turns less into better" {
    eight_blocks
    "$JBDLAB" report "$WORK/bundle" -f pts >"$WORK/out"
    cat "$WORK/out"
    grep -Eqx '\| sync \| write rate, KiB/s \| 102\.4 \| [0-9.]+ \| 31[0-9]% \|' "$WORK/out"
    grep -qx '| sync \* | write latency_max, ms | 33.55 | 8.389 | 400% |' "$WORK/out"
    grep -Eq '^\| dd \| write rate, MiB/s \| [0-9.]+ \| [0-9.]+ \| (99|100|101)% \| ~ \|$' \
        "$WORK/out"
    [ "$(grep -c '~ |$' "$WORK/out")" -gt 5 ]
    # The importer of such tables reads it, and finds the ratios right.
    run "$JBDLAB" import "$WORK/out" -o "$WORK/again"
    echo "$output"
    [ "$status" = 0 ]
    [[ "$output" != *"the ratio of"* ]]
    "$JBDLAB" report "$WORK/again" --json | jq -e '[.values[] | select(.arm == "ssd")] |
        length == '"$(grep -c '%' "$WORK/out")"' and
        (.[] | select(.phase | test("sync, write latency")) |
            .direction == "lower_is_better" and (.value - 8.389 | fabs) < 1e-9)'
    jq '.arms |= .[:1]' "$WORK/bundle/bundle.json" >"$WORK/new"
    cp "$WORK/new" "$WORK/bundle/bundle.json"
    grep '"arm":"inline"' "$WORK/bundle/runs.jsonl" >"$WORK/new"
    cp "$WORK/new" "$WORK/bundle/runs.jsonl"
    expect_refusal "has one arm" "$JBDLAB" report "$WORK/bundle" -f pts
}

@test "layouts show the runs of their type, and say when there is none" {
    real "$WORK/real" inline
    "$JBDLAB" report "$WORK/real" -f iozone | grep -q 'Children see throughput for  2 initial writers'
    "$JBDLAB" report "$WORK/real" -f pgbench | grep -Eq '^ +2 +[0-9]+ +[0-9]+ +[0-9.]+'
    "$JBDLAB" report "$WORK/real" -f dd |
        grep -q '^dd write: 4194304 bytes (4.2 MB, 4.0 MiB) copied, '
    "$JBDLAB" report "$WORK/real" -f tiotest | grep -q 'Tiotest results for 4 concurrent io threads:'
    expect_refusal "holds no run of commit with transactions" "$JBDLAB" report "$WORK/bundle" -f pgbench
    expect_refusal "holds no run of throughput" "$JBDLAB" report "$WORK/bundle" -f iozone
    # A published table does not say what tiotest shows.
    "$JBDLAB" import -q -o "$WORK/published" \
        "$BATS_TEST_DIRNAME/../import/published/ext3-ssd-journal-tiobench-dd.txt"
    expect_refusal "with times and amounts" "$JBDLAB" report "$WORK/published" -f tiotest
    "$JBDLAB" report "$WORK/published" -f tiobench-classic | grep -q '^Sequential Writes'
    # One of iozone may say what its children did, or only a rate.
    "$JBDLAB" import -q -o "$WORK/children" "$BATS_TEST_DIRNAME/../import/iozone/iozone-t4-R.txt"
    "$JBDLAB" report "$WORK/children" -f iozone >"$WORK/out"
    grep -q $'\tChildren see throughput for  2 initial writers \t=  693829.09 kB/sec' "$WORK/out"
    "$JBDLAB" import -q -o "$WORK/rates" "$BATS_TEST_DIRNAME/../import/iozone/iozone-single.txt"
    expect_refusal "with the figures of its children" "$JBDLAB" report "$WORK/rates" -f iozone
}

# numbers: what two tables have in common: numbers, one in each line.
numbers() {
    grep -oE '[0-9]+\.?[0-9]*' "$1" | awk '{ print $1 + 0 }'
}

# again FORMAT: what a report prints is imported and printed once more.
again() {
    rm -rf "$WORK/again"
    "$JBDLAB" report "$WORK/real" -f "$1" >"$WORK/first"
    "$JBDLAB" import -q "$WORK/first" -o "$WORK/again"
    "$JBDLAB" report "$WORK/again" -f "$1" >"$WORK/second"
    # Without headings: only the rows.
    grep '^inline ' "$WORK/first" >"$WORK/rows1"
    grep '^inline ' "$WORK/second" >"$WORK/rows2"
    cat "$WORK/rows1" "$WORK/rows2"
    [ "$(wc -l <"$WORK/rows1")" = 8 ]
    diff <(numbers "$WORK/rows1") <(numbers "$WORK/rows2")
}

@test "tables of tiobench come back with the same numbers" {
    real "$WORK/real" inline
    again tiobench
    again tiobench-classic
}

# values BUNDLE: "KIND METRIC VALUE" of tiobench's four phases.
values() {
    "$JBDLAB" report "$1" --json | jq -r '.values[] | select(.workload == "tiobench" and
        (.metric | test("^rate$|^latency_(mean|max)$"))) |
        "\(.phase | sub("/.*"; "")) \(.metric) \(.value)"' | sort
}

@test "boxes and terse lines of tiotest come back with the same numbers" {
    local format
    mkdir "$WORK/dir"
    cp -r "$WORK/bundle" "$WORK/real"
    : >"$WORK/real/cells.jsonl"
    measure tiobench inline size=4M threads=4 random=100 >"$WORK/real/runs.jsonl"
    values "$WORK/real" >"$WORK/values"
    [ "$(wc -l <"$WORK/values")" = 12 ]
    for format in tiotest tiotest-terse; do
        rm -rf "$WORK/again"
        "$JBDLAB" report "$WORK/real" -f $format >"$WORK/printed"
        "$JBDLAB" import -q "$WORK/printed" -o "$WORK/again"
        values "$WORK/again" >"$WORK/read"
        [ "$(wc -l <"$WORK/read")" = 12 ]
        # Boxes have three digits of MB/s and of ms; terse lines five of seconds and of ms.
        paste -d ' ' "$WORK/values" "$WORK/read" >"$WORK/both"
        cat "$WORK/both"
        awk -v box="$([ $format = tiotest ] && echo 1 || echo 0)" '
            { off = $3 - $6
              if (off < 0) off = -off
              bytes = $1 ~ /^r(read|write)/ ? 409600 : 4194304
              if ($2 == "rate") step = box ? 525 : $3 * ($3 / bytes * 6e-6 + 2e-5)
              else step = box ? 501 : 6
              if ($1 != $4 || $2 != $5 || off > step) { print "differs:", $0, step; bad = 1 } }
            END { exit bad }' "$WORK/both"
    done
}
