# SPDX-License-Identifier: GPL-3.0-or-later
# jbdlab report: stored bundles give the expected text in every format; what is no bundle,
# or a damaged one, gives one sentence and the documented status.

load ../lib

setup() {
    common_setup
    REPORT=$BATS_TEST_DIRNAME/../report
    cp -r "$REPORT/in/two-arms" "$WORK/bundle"
}

teardown() {
    common_teardown
}

# expect_output FILE ARGUMENT...: the report is what is stored.
expect_output() {
    "$JBDLAB" report "$WORK/bundle" "${@:2}" >"$WORK/out"
    diff -u "$REPORT/out/$1" "$WORK/out"
}

# expect_refusal STATUS PATTERN COMMAND...
expect_refusal() {
    run "${@:3}"
    echo "$output"
    [ "$status" = "$1" ]
    [[ "$output" == *"$2"* ]]
}

@test "every format gives what is expected" {
    expect_output two-arms.text
    expect_output two-arms.text --format text
    expect_output two-arms.csv --format csv
    expect_output two-arms-values.csv --format csv --table values
    expect_output two-arms-arms.csv --format csv --table arms
    expect_output two-arms.json --format json
    expect_output two-arms.json --json
    expect_output two-arms.tiobench --format tiobench
}

@test "arms with levels are compared by factor" {
    local estimate
    jq '.arms[0].levels = "journal=inline" | .arms[1].levels = "journal=external"' \
        "$WORK/bundle/bundle.json" >"$WORK/new"
    mv "$WORK/new" "$WORK/bundle/bundle.json"
    "$JBDLAB" report "$WORK/bundle" >"$WORK/out"
    cat "$WORK/out"
    grep -qx 'Factor journal: ratio to inline' "$WORK/out"
    grep -qE '^\*sync/write/rate +external +[0-9.]+ ' "$WORK/out"
    [ "$(grep -c '^Comparison: ' "$WORK/out")" = 0 ]
    [ -z "$(awk '/^Factor/ { here = 1 } /^$/ { here = 0 } here && length > 80' "$WORK/out")" ]
    # With one pair of arms it is the comparison of the two.
    "$JBDLAB" report "$WORK/bundle" --json >"$WORK/json"
    jq -e '[.comparison[] | [.workload, .phase, .metric, .low, .p, .blocks]] ==
        [.factors[] | [.workload, .phase, .metric, .low, .p, .blocks]]' "$WORK/json"
    jq -e '.factors | length > 3 and all(.pairs == 1 and .first_level == "inline")' \
        "$WORK/json"
    "$JBDLAB" report "$WORK/bundle" --format csv --table factors >"$WORK/csv"
    head -n 1 "$WORK/csv" | grep -q '^factor,level,first_level,workload,'
    sed -i 's/journal=external/external/' "$WORK/bundle/bundle.json"
    expect_refusal 2 'arm ssd: "external" is not FACTOR=LEVEL' "$JBDLAB" report "$WORK/bundle"
}

@test "the primary metric comes first wherever metrics are listed" {
    "$JBDLAB" report "$WORK/bundle" --json | jq -e '[.comparison, .values | .[0] |
        [.workload, .phase, .metric] == ["sync", "write", "rate"]] == [true, true]'
    "$JBDLAB" report "$WORK/bundle" --format csv | sed -n 2p | grep -q ^sync,write,rate,
    "$JBDLAB" report "$WORK/bundle" --format markdown | grep -A2 '^| Workload .* First median' |
        tail -n 1 | grep -q '^| sync | write | rate |'
    # The table of the page, not its summary.
    "$JBDLAB" report "$WORK/bundle" --format html | sed -n '/<caption>ssd compared/,$p' |
        grep -oE '[a-z]+/[a-z]+/[a-z]+' | head -n 1 | grep -qx sync/write/rate
}

@test "the comparison fits into 80 columns" {
    "$JBDLAB" report "$WORK/bundle" |
        awk '/^Comparison/ { here = 1 } here && length > 80 { print; bad = 1 } END { exit bad }'
}

@test "a single arm has medians and no ratio" {
    grep '"arm":"inline"' "$WORK/bundle/runs.jsonl" >"$WORK/runs"
    mv "$WORK/runs" "$WORK/bundle/runs.jsonl"
    sed -i '/"name": "inline"/,/"name": "ssd"/ { /},/,/"name": "ssd"/d }' "$WORK/bundle/bundle.json"
    sed -i '/external=/,/"mount"/d' "$WORK/bundle/bundle.json"
    run "$JBDLAB" report "$WORK/bundle"
    echo "$output"
    [ "$status" = 0 ]
    [[ "$output" == *"Medians of inline"* ]]
    [[ "$output" != *RATIO* ]]
    [[ "$output" != *"statement about noise"* ]]
}

@test "a bundle without any run says so by having no rows" {
    : >"$WORK/bundle/runs.jsonl"
    run "$JBDLAB" report "$WORK/bundle" --format csv
    [ "$status" = 0 ]
    [ "${#lines[@]}" = 1 ]
    run "$JBDLAB" report "$WORK/bundle"
    [ "$status" = 0 ]
    expect_refusal 2 "holds no run of tiobench" "$JBDLAB" report "$WORK/bundle" --format tiobench
}

@test "a plan that was changed afterwards is noticed" {
    echo "# faster" >>"$WORK/bundle/plan.ini"
    run "$JBDLAB" report "$WORK/bundle"
    [ "$status" = 0 ]
    [[ "$output" == *"plan.ini is not the plan that was run"* ]]
}

@test "damage is named with file and line" {
    sed -i '3s/"operations":/"operation":/' "$WORK/bundle/runs.jsonl"
    expect_refusal 2 "runs.jsonl:3: phases[0]: counters: \"operations\"" \
        "$JBDLAB" report "$WORK/bundle"
    sed -i '2s/.*/garbage/' "$WORK/bundle/runs.jsonl"
    expect_refusal 2 "runs.jsonl:2: this is not JSON" "$JBDLAB" report "$WORK/bundle"
    sed -i '2d; 3d' "$WORK/bundle/runs.jsonl"
    sed -i '2s/"arm":"[a-z]*"/"arm":"disk"/' "$WORK/bundle/runs.jsonl"
    expect_refusal 2 "there is no arm \"disk\"" "$JBDLAB" report "$WORK/bundle"
    echo "{" >"$WORK/bundle/bundle.json"
    expect_refusal 2 "bundle.json:" "$JBDLAB" report "$WORK/bundle"
    rm "$WORK/bundle/bundle.json"
    expect_refusal 2 "is not a bundle" "$JBDLAB" report "$WORK/bundle"
}

@test "a run that is there twice is refused" {
    sed -n 1p "$WORK/bundle/runs.jsonl" >"$WORK/again"
    sed -i "1r $WORK/again" "$WORK/bundle/runs.jsonl"
    expect_refusal 2 "was measured twice" "$JBDLAB" report "$WORK/bundle"
}

@test "truncated at any byte a bundle is read or refused, never a crash" {
    local n size
    size=$(stat -c %s "$WORK/bundle/runs.jsonl")
    for ((n = 0; n < size; n += size / 60)); do
        head -c "$n" "$REPORT/in/two-arms/runs.jsonl" >"$WORK/bundle/runs.jsonl"
        run "$JBDLAB" report "$WORK/bundle"
        [ "$status" = 0 ] || [ "$status" = 2 ]
    done
    size=$(stat -c %s "$REPORT/in/two-arms/bundle.json")
    for ((n = 0; n < size; n += size / 20)); do
        head -c "$n" "$REPORT/in/two-arms/bundle.json" >"$WORK/bundle/bundle.json"
        run "$JBDLAB" report "$WORK/bundle"
        [ "$status" = 2 ]
    done
}

@test "wrong words are refused with the nearest one" {
    expect_refusal 2 "did you mean \"tiobench\"?" "$JBDLAB" report "$WORK/bundle" -f tiobnech
    expect_refusal 2 "there is no table" "$JBDLAB" report "$WORK/bundle" -f csv -t rows
    expect_refusal 2 "--table is for" "$JBDLAB" report "$WORK/bundle" -t arms --json
    expect_refusal 2 "do not go together" "$JBDLAB" report "$WORK/bundle" --json -f text
    expect_refusal 2 "report takes one bundle" "$JBDLAB" report
    expect_refusal 2 "No such file" "$JBDLAB" report "$WORK/nothing"
    expect_refusal 2 "not a directory" "$JBDLAB" report "$WORK/bundle/plan.ini"
}

# eight_blocks: the first block of the bundle eight times; its rates drift by 2 % a block in
# both arms, one value of arm ssd stands out.
eight_blocks() {
    local block
    jq -R -c 'fromjson?' "$WORK/bundle/runs.jsonl" >"$WORK/runs" # the last line is torn
    for block in 0 1 2 3 4 5 6 7; do
        jq -c --argjson b $block 'select(.block == 0) | .block = $b |
            (.phases[].metrics[] | select(.name == "rate") | .value) *=
            (pow(1.02; $b) * (1 + 0.004 * ($b * 5 % 8 - 3))) |
            if .arm == "ssd" and $b == 5 then
                (.phases[].metrics[] | select(.name == "rate") | .value) *= 3 else . end' \
            "$WORK/runs"
    done >"$WORK/bundle/runs.jsonl"
    : >"$WORK/bundle/cells.jsonl"
}

@test "with enough blocks drift, outliers and what could have been seen are told" {
    eight_blocks
    run "$JBDLAB" report "$WORK/bundle"
    echo "$output"
    [ "$status" = 0 ]
    grep -Eq '^METRIC .* RATIO +95% +MDE VERDICT' <<<"$output"
    awk '/^Comparison/ { here = 1 } here && length > 80 { print; bad = 1 } END { exit bad }' \
        <<<"$output"
    output=${output//$'\n'/ }
    [[ $output == *"Drift from the first to the last block"*" in inline +1"*"Outliers: "* ]]
    [[ $output == *"Primary metric, ssd: Student's t gives "*" would have shown "* ]]
    "$JBDLAB" report "$WORK/bundle" --format csv --table drift >"$WORK/csv"
    # 2 % a block for seven steps are 14.9 %, and the sixth block stands out.
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["metric"] == "rate" && $at["arm"] == "inline" {
            n++; bad = bad || $at["change"] < 1.12 || $at["change"] > 1.18 ||
                $at["p"] > 0.01 || $at["outliers"] != 0 }
        $at["metric"] == "rate" && $at["arm"] == "ssd" {
            bad = bad || $at["outliers"] != 1 || $at["first_outlier"] != 6 }
        END { exit !n || bad }' "$WORK/csv"
}

@test "of three arms the primary metric is judged for both comparisons together" {
    eight_blocks
    # A third arm that is like the second; six blocks, so that p is 2/64 for each.
    jq -c 'select(.block < 6 and .arm == "ssd") | .arm = "third"' "$WORK/bundle/runs.jsonl" \
        >"$WORK/third"
    jq -c 'select(.block < 6)' "$WORK/bundle/runs.jsonl" >"$WORK/runs"
    cat "$WORK/runs" "$WORK/third" >"$WORK/bundle/runs.jsonl"
    jq '.arms += [.arms[1] | .name = "third"]' "$WORK/bundle/bundle.json" >"$WORK/json"
    cp "$WORK/json" "$WORK/bundle/bundle.json"
    "$JBDLAB" report "$WORK/bundle" --json >"$WORK/json"
    jq -c '.comparison[] | select(.primary) | [.arm, .p, .p_holm, .verdict]' "$WORK/json"
    jq -e '[.comparison[] | select(.primary) | .p == 0.03125 and .p_holm == 0.0625 and
        .verdict == "no_difference"] == [true, true]' "$WORK/json"
}

@test "workloads without a layout of their own have their figures, all blocks together" {
    jq -R -c 'fromjson?' "$WORK/bundle/runs.jsonl" >"$WORK/runs" # the last line is torn
    jq -c 'if .workload == "sync" then .type = "commit" | .phases[].metrics +=
            [{name: "first_done", unit: "nanoseconds", direction: "no_direction",
                value: ((.block + 1) * 1e6)}]
        else . end' "$WORK/runs" >"$WORK/bundle/runs.jsonl"
    run "$JBDLAB" report "$WORK/bundle"
    echo "$output"
    [ "$status" = 0 ]
    # Three runs of 512 KiB in 5, 5.625 and 6.25 s; of first_done the median.
    grep -Eq '^PHASE +RATE +OPS/S +MEAN .* MAX +FIRST-DONE +CACHE$' <<<"$output"
    grep -Eq '^write +0\.09 MiB/s +22\.8 .* 33\.6ms +2ms ' <<<"$output"
}
