# SPDX-License-Identifier: GPL-3.0-or-later
# jbdlab compare: two arms of a published file, two files, two bundles, or one of each;
# single runs give ratios and no verdict, many runs a verdict and an exit status.

load ../lib

setup() {
    common_setup
    IN=$BATS_TEST_DIRNAME/../import
    PUBLISHED=$IN/published/ext3-ssd-journal-tiobench-dd.txt
}

teardown() {
    common_teardown
}

# row PATTERN: the columns B/A and B IS of a row of $output.
row() {
    sed -n "s,^$1 .* \([0-9.]\+\) \(better\|worse\|equivalent\|~\) *\([a-z ]*\)\$,\1 \2 \3,p" \
        <<<"$output" | sed 's/ *$//'
}

# bundle NAME FACTOR...: a bundle with one arm and a run of dd for each factor.
bundle() {
    local name=$1 block=0 factor
    shift
    mkdir "$WORK/$name"
    : >"$WORK/$name/plan.ini"
    jq -n --arg name "$name" '{schema: "jbdlab-bundle/1", name: $name, version: "1",
        created_wall_ns: 0, state: "complete", reason: "", seed: 1, blocks: 9, primary: "",
        plan_sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        arms: [{name: $name, placement: "inline", mount: ""}]}' >"$WORK/$name/bundle.json"
    for factor; do
        jq -nc --arg name "$name" --argjson block $block --argjson value "$factor" '
            {schema: "jbdlab-run/1", workload: "copy", type: "dd", arm: $name, block: $block,
            position: 0, started_wall_ns: 0, phases: [{name: "write", title: "dd write",
            counters: {threads: 1, requested_bytes: 10, block_bytes: 10, bytes: 10,
            operations: 1, wall_ns: 9000000000, user_ns: 0, system_ns: 0, syncs: 1},
            metrics: [{name: "rate", unit: "bytes_per_second",
            direction: "higher_is_better", value: $value}]}]}'
        block=$((block + 1))
    done >"$WORK/$name/runs.jsonl"
}

@test "the published file alone compares its two arms" {
    local i ratios=(1.85 1.80 1.95 1.92) waits=(1.86 1.51 1.99 1.59) reads=(1210 2067 2333 2339)
    run timeout 20 "$JBDLAB" compare "$PUBLISHED" --verbose
    [ "$status" = 5 ]
    echo "$output"
    for i in 0 1 2 3; do
        [ "$(row "tiobench/write/t$((1 << i)) rate")" = "${ratios[i]} better" ]
        [ "$(row "tiobench/write/t$((1 << i)) max")" = "${waits[i]} worse" ]
        grep -qE "^tiobench/read/t$((1 << i)) rate .* ~${reads[i]} MiB/s .* page cache\$" <<<"$output"
        grep -qF "about ${reads[i]} MB/s" <<<"$output"
    done
    [ "$(row "dd/write rate")" = "1.96 better not synced" ]
    [[ "$output" == *"A: Default Journal on same disk"* ]]
    [[ "$output" == *"one run each: no statement about noise"* ]]
    [[ "$output" == *"unequal journals: 400 MB, and one of the default size"* ]]
    [[ "$output" == *"dd without sync"* ]]
    awk '/^METRIC/ { here = 1 } here && length > 80 { print; bad = 1 } END { exit bad }' <<<"$output"
}

@test "the baseline can be chosen" {
    run timeout 20 "$JBDLAB" compare -q "$PUBLISHED" --baseline "400 MB SSD journal"
    [ "$status" = 5 ]
    [ "$(row "tiobench/write/t1 rate")" = "0.54 worse" ]
    run timeout 20 "$JBDLAB" compare -q "$PUBLISHED" --baseline ssd
    [ "$status" = 2 ]
    [[ "$output" == *'there is no arm "ssd"'*'but "400 MB SSD journal", "Default'* ]]
}

@test "a bundle is compared with a published file, and what has no partner is listed" {
    timeout 20 "$JBDLAB" import -q "$PUBLISHED" -o "$WORK/bundle" -a ssd -a inline 2>/dev/null
    run timeout 20 "$JBDLAB" compare -q "$WORK/bundle" \
        "$IN/tiobench/tiobench-0.4.2-2024-matrix.txt" --baseline inline --arm matrix
    echo "$output"
    [ "$status" = 5 ]
    [[ "$output" == *"Nothing can be compared"* ]]
    [[ "$output" == *"Only in A: tiobench/read/t1"* ]]
    run timeout 20 "$JBDLAB" compare -q "$WORK/bundle" "$PUBLISHED" \
        --baseline inline --arm "Default Journal on same disk"
    [ "$status" = 0 ] # the same numbers
    run timeout 20 "$JBDLAB" compare -q "$WORK/bundle" "$PUBLISHED"
    [ "$status" = 2 ]
    [[ "$output" == *"say with --baseline which arm of"* ]]
}

@test "many runs give a verdict, and the status says it" {
    bundle slow 100 101 99 100.5 99.5 100.2
    bundle fast 150 151 149 150.5 149.5 150.2
    bundle same 100.1 100.9 99.1 100.4 99.6 100.3
    bundle wide 50 180 99 220 70 130
    bundle one 100
    run timeout 20 "$JBDLAB" compare "$WORK/slow" "$WORK/fast"
    echo "$output"
    [ "$status" = 1 ]
    [ "$(row "copy/write rate")" = "1.50 better" ] ||
        [[ "$output" == *"1.50 1.49-1.51 better"* ]]
    [[ "$output" == *"6 and 6 runs that share no blocks"* ]]
    run timeout 20 "$JBDLAB" compare "$WORK/slow" "$WORK/same"
    echo "$output"
    [ "$status" = 0 ]
    [[ "$output" == *equivalent* ]]
    run timeout 20 "$JBDLAB" compare "$WORK/slow" "$WORK/wide"
    [ "$status" = 5 ]
    run timeout 20 "$JBDLAB" compare "$WORK/slow" "$WORK/one"
    [ "$status" = 5 ]
    timeout 20 "$JBDLAB" compare --json "$WORK/slow" "$WORK/fast" >"$WORK/out" || [ $? = 1 ]
    jq -e '.schema == "jbdlab-compare/1" and .rows[0].verdict == "higher" and
        .rows[0].low > 1.48 and .rows[0].ratio > 1.49 and .rows[0].p < 0.01' "$WORK/out"
}

@test "the blocks of one bundle are compared in pairs" {
    cp -r "$BATS_TEST_DIRNAME/../report/in/two-arms" "$WORK/bundle"
    run timeout 20 "$JBDLAB" compare "$WORK/bundle"
    echo "$output"
    [ "$status" = 5 ] || [ "$status" = 1 ] || [ "$status" = 0 ]
    [[ "$output" == *"A: inline, journal inline"* ]]
    [[ "$output" != *"share no blocks"* ]]
    [[ "$output" == *"2 blocks: no statement about noise"* ]]
    # Its ratios are those of the report.
    "$JBDLAB" report "$WORK/bundle" --format csv >"$WORK/csv"
    "$JBDLAB" compare --json "$WORK/bundle" >"$WORK/out" || true
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["ratio"] != "" && !/^odd/ { printf "%s/%s %s %.9g\n", $at["workload"], $at["phase"], $at["metric"], $at["ratio"] }' \
        "$WORK/csv" | sort >"$WORK/report"
    jq -r '.rows[] | select(.ratio != null and (.path | startswith("odd") | not)) | "\(.path) \(.metric) \(.ratio)"' "$WORK/out" |
        awk '{ printf "%s %s %.9g\n", $1, $2, $3 }' | sort >"$WORK/compare"
    diff "$WORK/report" "$WORK/compare"
}

@test "wrong words are refused" {
    run timeout 20 "$JBDLAB" compare
    [ "$status" = 2 ]
    run timeout 20 "$JBDLAB" compare "$IN/tiobench/tiobench-numruns1.txt"
    [ "$status" = 2 ]
    [[ "$output" == *"has only one arm"* ]]
}
