# SPDX-License-Identifier: GPL-3.0-or-later
# The summary of a report: what was found for the primary metric and for others, what it
# cost, the stamp of the audit and the confounds, in the words that the numbers allow.

load ../lib

setup() {
    common_setup
    REPORT=$BATS_TEST_DIRNAME/../report
    cp -r "$REPORT/in/two-arms" "$WORK/bundle"
    jq -R -c 'fromjson?' "$WORK/bundle/runs.jsonl" >"$WORK/first" # the last line is torn
}

teardown() {
    common_teardown
}

# blocks N FACTOR: the first block N times; rates of arm ssd but that of "sync" times FACTOR,
# with a spread of about 1 %.
blocks() {
    local block
    for ((block = 0; block < $1; block++)); do
        jq -c --argjson b "$block" --argjson factor "$2" 'select(.block == 0) | .block = $b |
            if .arm == "ssd" then
                (.phases[].metrics[] | select(.name == "rate") | .value) *=
                    (1 + 0.004 * ($b * 5 % 8 - 3.5)) else . end |
            if .arm == "ssd" and .workload != "sync" then
                (.phases[].metrics[] | select(.name == "rate") | .value) *= $factor
            else . end' "$WORK/first"
    done >"$WORK/bundle/runs.jsonl"
    : >"$WORK/bundle/cells.jsonl"
}

# sentences: one in each line, "KIND TONE TEXT".
sentences() {
    "$JBDLAB" report "$WORK/bundle" --json |
        jq -r '.summary[] | "\(.kind) \(.tone) \(.text)"' >"$WORK/sentences"
    cat "$WORK/sentences"
}

@test "the summary stands first, in 80 columns" {
    blocks 8 0.8
    "$JBDLAB" report "$WORK/bundle" >"$WORK/out"
    [ "$(sed -n 4p "$WORK/out")" = Summary ]
    sed -n '/^Summary/,/^$/p' "$WORK/out" >"$WORK/summary"
    cat "$WORK/summary"
    [ -z "$(awk 'length > 80' "$WORK/summary")" ]
    # The sentences are those of the JSON.
    sentences
    diff <(sed '1,2d; /^$/d' "$WORK/summary" | awk '
        /^- / { printf "%s%s", n++ ? "\n" : "", substr($0, 3); next }
        { printf " %s", substr($0, 3) }
        END { print "" }') <(cut -d' ' -f3- "$WORK/sentences")
}

@test "with enough blocks a difference has a ratio, an interval and its blocks" {
    blocks 8 0.8
    sentences
    # Sync is 10/3.2 as fast, so much is in the stored bundle.
    grep -Eqx 'primary better Primary metric: sync/write is faster with ssd \(journal external=/dev/sdk1,size=64M\) than with inline: 3\.1[0-9] times the rate, 95 % interval 3\.[01][0-9] to 3\.1[0-9], 8 blocks\.' \
        "$WORK/sentences"
    grep -Eq '^metric worse tio/write/t1 is slower with ssd than with inline: 0\.(79|80)[0-9] times the rate, .*; 8 blocks cannot rule out chance for so many metrics: p 0\.0078 is the least they can give, adjusted 0\.[0-9]+\.$' \
        "$WORK/sentences"
    grep -Eqx 'cost better Longest latency, sync/write: median 8\.39 ms with ssd, 33\.6 ms with inline; 0\.250 times, beyond chance\.' \
        "$WORK/sentences"
    grep -qx 'audit warning Sync audit: none, no flush ledger was kept.' "$WORK/sentences"
    grep -Eqx 'confounds warning Confounds: nothing is known of the machine and its disks, so most of [0-9]+ checks could not look; found: fixed_order\.' \
        "$WORK/sentences"
}

@test "what was not found comes with the largest difference that could hide" {
    blocks 8 1
    sentences
    [ "$(grep -c '^metric ' "$WORK/sentences")" = 0 ]
    grep -Eq '^rest neutral No detectable difference between ssd and inline, in brackets the largest that could hide: .*dd/write \([12]\.[0-9] %\)' \
        "$WORK/sentences"
    "$JBDLAB" report "$WORK/bundle" --json | jq -e '.comparison[] |
        select(.workload == "dd" and .metric == "rate") | .high < 1.03 and .low > 0.97'
}

@test "too few blocks give ratios and no verdict" {
    blocks 2 0.8
    sentences
    grep -Eqx 'primary neutral Primary metric: sync/write with ssd .* has 3\.[01][0-9] times the rate of inline in 2 blocks, too few for a statement about noise\.' \
        "$WORK/sentences"
    grep -Eq '^rest neutral Ratio of ssd to inline, which says nothing about noise: tio/write/t1 0\.79' \
        "$WORK/sentences"
    [ "$(grep -cE 'faster|slower|interval' "$WORK/sentences")" = 0 ]
}

@test "levels of factors are compared instead of arms" {
    blocks 8 1
    jq '.arms[0].levels = "journal=inline" | .arms[1].levels = "journal=external"' \
        "$WORK/bundle/bundle.json" >"$WORK/new"
    cp "$WORK/new" "$WORK/bundle/bundle.json"
    sentences
    grep -Eq '^primary better Primary metric: sync/write is faster with journal=external than with journal=inline: 3\.1' \
        "$WORK/sentences"
}

@test "a single arm has its medians" {
    blocks 3 1
    jq -c 'select(.arm == "inline")' "$WORK/bundle/runs.jsonl" >"$WORK/runs"
    cp "$WORK/runs" "$WORK/bundle/runs.jsonl"
    jq '.arms |= .[:1]' "$WORK/bundle/bundle.json" >"$WORK/new"
    cp "$WORK/new" "$WORK/bundle/bundle.json"
    sentences
    grep -Eqx 'primary neutral Primary metric: sync/write with inline \(journal inline,size=64M\): [0-9.]+ KiB/s, median of 3 blocks\.' \
        "$WORK/sentences"
    [ "$(grep -cE 'ratio|times' "$WORK/sentences")" = 0 ]
}

# ledger VERDICT REASON: every phase of "sync" has a ledger; inline flushes the data disk
# twice for each sync, ssd the data disk once and the journal's twice.
ledger() {
    jq -c --arg verdict "$1" --arg reason "$2" '
        def disk($name; $journal; $flushes): {name: $name, data: ($journal | not),
            journal: $journal, below: false, flushes_counted: true, write_back: true,
            rotational: false, fua: true, counts_for_above: false, reads: 0, read_bytes: 0,
            writes: 0, write_bytes: 0, flushes: $flushes, flush_ns: 0};
        if .workload == "sync" then .arm as $arm | .phases[] |= (.counters.syncs as $n |
            .evidence = {verdict: $verdict, reason: $reason, disks:
                (if $arm == "ssd" then [disk("sdb"; false; $n), disk("sdk"; true; 2 * $n)]
                else [disk("sdb"; false; 2 * $n)] end)}) else . end' \
        "$WORK/bundle/runs.jsonl" >"$WORK/runs"
    cp "$WORK/runs" "$WORK/bundle/runs.jsonl"
}

@test "flushes that a sync takes are counted, and the audit leaves its stamp" {
    blocks 6 1
    ledger ok "fine"
    sentences
    grep -qx 'cost worse Flushes for each sync: 3.00 with ssd (1.00 of the data disk, 2.00 of the journal'"'"'s), 2.00 with inline: +1.00.' \
        "$WORK/sentences"
    grep -qx 'audit neutral Sync audit: ok in all 2 phases that synced.' "$WORK/sentences"
    ledger failed "128 syncs, 0 flushes"
    sentences
    grep -qx 'audit warning Sync audit: failed: sync/write with inline: 128 syncs, 0 flushes (2 of 2 phases not in order).' \
        "$WORK/sentences"
    # What both have in common is said once.
    run "$JBDLAB" audit "$WORK/bundle"
    echo "$output"
    grep -qxF 'failed: 128 syncs, 0 flushes (arm inline: sync/write; arm ssd: sync/write)' \
        <<<"$output"
}

@test "a published table without any placement is summed up" {
    "$JBDLAB" import -q -o "$WORK/published" \
        "$BATS_TEST_DIRNAME/../import/published/ext3-ssd-journal-tiobench-dd.txt"
    "$JBDLAB" report "$WORK/published" >"$WORK/out"
    sed -n '/^Summary/,/^$/p' "$WORK/out" | tr -s '\n ' ' ' >"$WORK/summary"
    cat "$WORK/summary"
    grep -q 'which says nothing about noise: .*tiobench/write/t1 0.541' "$WORK/summary"
    [ "$(grep -c unknown "$WORK/summary")" = 0 ]
}

@test "metrics that are neither rates nor operations have their sentences, too" {
    "$JBDLAB" import -q -o "$WORK/published" \
        "$BATS_TEST_DIRNAME/../import/published/phoronix-hdd-vs-ssd.txt"
    "$JBDLAB" report "$WORK/published" | sed -n '/^Summary/,/^$/p' | tr -s '\n ' ' ' \
        >"$WORK/summary"
    cat "$WORK/summary"
    # 42.53 and 148.30, as they were published.
    grep -q 'value of pts/Dbench v4.0, 12 Clients 3.49' "$WORK/summary"
    # And what is published comes out of the format as it went in.
    "$JBDLAB" report "$WORK/published" --format pts >"$WORK/out"
    grep -qx '| pts | Dbench v4.0, 12 Clients value | 42.53 | 148.3 | 349% |' "$WORK/out"
    grep -qx '| pts \* | Unpacking The Linux Kernel, Linux-2.6.32.tar.bz2 value | 15.31 | 13.99 | 109% |' \
        "$WORK/out"
}

@test "a report without anything to say says so" {
    : >"$WORK/bundle/runs.jsonl"
    sentences
    grep -qx 'rest warning Nothing was measured.' "$WORK/sentences"
    jq -c 'select(.workload == "dd" and .block == 0) | .phases[].counters.wall_ns = 100000000' \
        "$WORK/first" >"$WORK/bundle/runs.jsonl"
    jq '.primary = ""' "$WORK/bundle/bundle.json" >"$WORK/new"
    cp "$WORK/new" "$WORK/bundle/bundle.json"
    sentences
    grep -qx 'rest warning No rate was measured for 200 ms or longer: see the values.' \
        "$WORK/sentences"
}
