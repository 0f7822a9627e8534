#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The workload throughput: children do what they say, the stonewall freezes their figures,
# and none outlives its parent or leaves a file.

load ../lib.bash

setup() {
    common_setup
    mkdir "$WORK/d" "$WORK/e"
}
teardown() { common_teardown; }

value() { jq -r "$1" "$WORK/json"; }

@test "each child writes and reads its whole file, as process and as thread" {
    for processes in yes no; do
        traced -f -qq -o "$WORK/trace" -e trace=pwrite64,pread64,fsync \
            "$JBDLAB" bench "$WORK/d" "$WORK/e" -w throughput --json -s threads=3 \
            -s size=256k -s block=64k -s random=yes -s "processes=$processes" \
            >"$WORK/json"
        [ "$(value '[.phases[].name] | join(" ")')" = \
            "write/t3 rewrite/t3 read/t3 reread/t3 rread/t3 rwrite/t3" ]
        [ "$(value 'all(.phases[]; .counters.bytes == 786432)')" = true ]
        [ "$(value '[.phases[].counters.syncs] | join(" ")')" = "3 3 0 0 0 3" ]
        # Three children, four records, three phases each way.
        [ "$(grep -cE 'pwrite64.* = 65536' "$WORK/trace")" = 36 ]
        [ "$(grep -cE 'pread64.* = 65536' "$WORK/trace")" = 36 ]
        [ -z "$(ls -A "$WORK/d")$(ls -A "$WORK/e")" ]
    done
}

@test "random records come once each" {
    traced -f -qq -o "$WORK/trace" -e trace=pread64 "$JBDLAB" bench "$WORK/d" \
        -w throughput -s size=1M -s block=16k -s read=no -s random=yes >/dev/null
    # The offset is the last argument.
    sed -n 's/.*, \([0-9]*\)) *= 16384$/\1/p' "$WORK/trace" >"$WORK/places"
    [ "$(sort -u "$WORK/places" | wc -l)" = 64 ]
    ! sort -nc "$WORK/places" 2>/dev/null || false
}

@test "files lie in the directories in turn" {
    traced -f -qq -o "$WORK/trace" -e trace=openat "$JBDLAB" bench "$WORK/d" "$WORK/e" \
        -w throughput -s threads=4 -s size=256k >/dev/null
    [ "$(grep -c "$WORK/d/_jbdlab.*O_CREAT" "$WORK/trace")" = 2 ]
    [ "$(grep -c "$WORK/e/_jbdlab.*O_CREAT" "$WORK/trace")" = 2 ]
}

@test "figures agree with each other" {
    "$JBDLAB" bench "$WORK/d" -w throughput --json -s threads=4 -s size=8M -s block=4k \
        -s sync=none >"$WORK/json"
    jq -e '.phases[] | .counters.threads as $n | [.metrics[] | {(.name): .value}] | add |
        (.children / $n - .child_avg | fabs) < 1 and .child_min <= .child_avg and
        .child_avg <= .child_max and .parent <= .children and
        .min_xfer <= 8388608 and .first_done <= .last_done' "$WORK/json"
    "$JBDLAB" bench "$WORK/d" -w throughput --json -s threads=4 -s size=8M -s block=4k \
        -s stonewall=no >"$WORK/json"
    jq -e 'all(.phases[].metrics[] | select(.name == "min_xfer"); .value == 8388608)' \
        "$WORK/json"
}

@test "the table says when the first and the last child had ended" {
    run "$JBDLAB" bench "$WORK/d" --no-progress -w throughput -s threads=2 -s size=256k
    [ "$status" = 0 ]
    # In a second part of the table when wide figures leave no room for them.
    [[ $output =~ ^PHASE[^$'\n']*' FIRST-DONE'.*' LAST-DONE ' ]]
    [ "$(grep -c '^[a-z]*/t2' <<<"$output")" -ge 4 ]
}

@test "the report of iozone" {
    "$JBDLAB" bench "$WORK/d" -w throughput -s threads='1 2' -s size=512k -f iozone \
        >"$WORK/out"
    [ "$(grep -c 'Throughput test with' "$WORK/out")" = 2 ]
    [ "$(grep -c 'Children see throughput for .*kB/sec$' "$WORK/out")" = 8 ]
    grep -q $'^\tParent sees throughput for  2 initial writers \t= ' "$WORK/out"
    run "$JBDLAB" bench "$WORK/d" -w dd -f iozone
    [ "$status" = 2 ]
    [[ $output == *"the format iozone is for the workload throughput"* ]]
}

# begin: a long run in the background; $pid is its process.
begin() {
    "$JBDLAB" bench "$WORK/d" -w throughput -s threads=2 -s size=64M -s block=512 \
        -s sync=sync -s rate=500 -s "processes=$1" >"$WORK/out" 2>&1 3>&- &
    pid=$!
    until_written "$WORK/d"
    [ "$1" = no ] || until_done 60 has_children 2
    children=$(cat "/proc/$pid/task/$pid/children")
}

has_children() {
    [ "$(wc -w <"/proc/$pid/task/$pid/children")" = "$1" ]
}

@test "an interrupted run leaves neither file nor child" {
    for processes in yes no; do
        begin "$processes"
        kill -INT "$pid"
        status=0
        wait "$pid" || status=$?
        [ "$status" = 130 ]
        [ -z "$(ls -A "$WORK/d")" ]
        for child in $children; do [ ! -e "/proc/$child" ]; done
    done
}

@test "a child that is killed fails the run" {
    begin yes
    kill -KILL "${children%% *}"
    status=0
    wait "$pid" || status=$?
    cat "$WORK/out"
    [ "$status" = 4 ]
    grep -q 'was killed by signal 9' "$WORK/out"
    ! grep -q '/t2' "$WORK/out" || false
    [ -z "$(ls -A "$WORK/d")" ]
}

@test "children die with a parent that is killed" {
    begin yes
    kill -KILL "$pid"
    wait "$pid" || true
    for child in $children; do until_done 60 has_ended "$child"; done
}

@test "sizes that do not fit are refused" {
    run "$JBDLAB" bench "$WORK/d" -w throughput -s size=100k -s block=64k
    [ "$status" = 2 ]
    [[ $output == *"size is no multiple of block"* ]]
}

@test "children keep a rate, end in time, and sync each n-th record" {
    for processes in yes no; do
        traced -f -qq -o "$WORK/trace" -e trace=fsync "$JBDLAB" bench "$WORK/d" \
            -w throughput --json -s threads=2 -s size=256k -s block=4k -s rate=400 \
            -s runtime=150ms -s cold=no -s sync_every=16 -s "processes=$processes" >"$WORK/json"
        # The initial write is whole: 64 records of each child.
        [ "$(value '.phases[0].counters | "\(.operations) \(.syncs)"')" = "128 10" ]
        jq -e '.phases[0].counters.wall_ns > 0.3e9 and
            all(.phases[1:][]; .counters.operations >= 2 and .counters.operations <= 60)' \
            "$WORK/json"
        [ "$(grep -c 'fsync(' "$WORK/trace")" = \
            "$(value '[.phases[].counters.syncs] | add')" ]
    done
}
