# SPDX-License-Identifier: GPL-3.0-or-later
# A workload that runs several times in a cell counts once, with what all runs did.

load ../lib

setup() {
    need_loop
    [ ! -w /dev/shm ] || export TMPDIR=/dev/shm
    common_setup
    export TMPDIR=$WORK
    BUNDLE=$WORK/bundle
}

teardown() {
    [ ! -d "$BUNDLE" ] || timeout 60 "$JBDLAB" run --restore "$BUNDLE" --quiet || true
    common_teardown
}

@test "runs in a cell are summed, each synced, each with its own output" {
    cat >"$WORK/x.ini" <<END
[experiment]
blocks = 2
seed   = 5
repeat = 0
warmup = 1
$(disk_section slow 64M)
[volume data]
device = slow
mkfs   = ext4 -b 4096
[arm inline]
journal = inline,size=4M
[arm none]
journal = none
[workload dd]
type   = dd
bs     = 4k
count  = 50
sync   = dsync
repeat = 3
[workload once]
type  = dd
bs    = 4k
count = 50
sync  = fsync
[workload program]
type = command
exec = $WORK/program
metric.figure = count neither regex figure: ([0-9]+)
repeat = 3
END
    touch "$WORK/runs"
    # How often it ran before.
    # shellcheck disable=SC2016 # expanded by that shell
    printf '#!/bin/sh\necho "figure: $(wc -l <"%s")"\necho x >>"%s"\n' "$WORK/runs" "$WORK/runs" \
        >"$WORK/program"
    chmod +x "$WORK/program"
    timeout 120 "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" --yes --no-progress \
        >"$WORK/out" 2>"$WORK/err" || { cat "$WORK/err"; false; }
    cut -c-300 "$BUNDLE/runs.jsonl"
    # A row for each cell and workload, and one of warming up.
    jq -s -e 'map(select(.stage != "warmup")) |
        (map(select(.workload == "dd")) | length == 4 and
            all(.[]; .phases[0].counters.operations == 150 and .phases[0].counters.bytes == 614400 and
                .phases[0].evidence.verdict != "failed")) and
        (map(select(.workload == "once")) | length == 4 and
            all(.[]; .phases[0].counters.operations == 50))' "$BUNDLE/runs.jsonl"
    jq -s -e 'map(select(.stage == "warmup" and .workload == "dd")) | length == 4 and
        all(.[]; .phases[0].counters.operations == 50)' "$BUNDLE/runs.jsonl"
    # With a journal each of the 150 writes has its flush.
    jq -s -e 'map(select(.workload == "dd" and .arm == "inline" and .stage != "warmup")) |
        all(.[]; .phases[0].evidence.journal.transactions >= 150)' "$BUNDLE/runs.jsonl"
    # Four runs of the program in a cell, the first warms up: the median is the middle one
    # of the others.
    [ "$(wc -l <"$WORK/runs")" = 16 ]
    jq -s -e '[.[] | select(.workload == "program" and .stage != "warmup") |
        .phases[0].metrics[] | select(.name == "figure") | .value] == [2, 6, 10, 14]' \
        "$BUNDLE/runs.jsonl"
    [ "$(find "$BUNDLE/output" -mindepth 1 -maxdepth 1 | wc -l)" -ge 1 ]
}

@test "a dry run counts all of them" {
    printf '%s\n' '[experiment]' 'blocks = 2' 'seed = 1' '[volume v]' 'device = /dev/sdz9' \
        '[arm a]' 'journal = none' '[arm b]' 'journal = inline' '[workload dd]' 'type = dd' \
        'bs = 1M' 'count = 10' >"$WORK/x.ini"
    "$JBDLAB" run --dry-run --json "$WORK/x.ini" >"$WORK/one"
    printf 'repeat = 4\n' >>"$WORK/x.ini"
    "$JBDLAB" run --dry-run --json "$WORK/x.ini" >"$WORK/four"
    jq -s -e '.[1].cell_bytes == 4 * .[0].cell_bytes and .[1].space_bytes == .[0].space_bytes' \
        "$WORK/one" "$WORK/four"
}
