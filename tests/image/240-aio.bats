#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The workload aio: what it says it moved was moved, at the depth that it says.

load ../lib.bash

setup() {
    common_setup
    mkdir "$WORK/d"
}
teardown() { common_teardown; }

aio() { "$JBDLAB" bench "$WORK/d" -w aio --json -s size=1M -s direct=no "$@" >"$WORK/json"; }

value() { jq -r "$1" "$WORK/json"; }

@test "every kind at every depth is a phase with its operations" {
    aio -s 'kind=read write randread randwrite' -s 'depth=1 8' -s count=300 -s threads=2
    [ "$(value '[.phases[].name] | join(" ")')" = "read/q1/t2 read/q8/t2 write/q1/t2 \
write/q8/t2 randread/q1/t2 randread/q8/t2 randwrite/q1/t2 randwrite/q8/t2" ]
    [ "$(value '[.phases[].counters.operations] | join(" ")')" = \
        "512 512 512 512 300 300 300 300" ]
    [ "$(value 'all(.phases[]; .counters.bytes == .counters.operations * 4096)')" = true ]
    [ -z "$(ls -A "$WORK/d")" ]
}

@test "files are whole, and the kernel was handed as much at once as the depth" {
    # A submission of n operations returns n; depth 8 begins with 8.
    traced -f -qq -o "$WORK/trace" -e trace=io_uring_enter,fsync "$JBDLAB" bench \
        "$WORK/d" -w aio -s size=1M -s direct=no -s kind=write -s depth=8 -s sync=fsync \
        >/dev/null
    grep -qE 'io_uring_enter\([0-9]+, 8, 1,.* = 8$' "$WORK/trace"
    total=$(awk '/io_uring_enter/ { n += $NF } END { print n }' "$WORK/trace")
    [ "$total" = 256 ]
    [ "$(grep -c 'fsync(' "$WORK/trace")" = 1 ]
}

@test "an interrupted run leaves nothing" {
    "$JBDLAB" bench "$WORK/d" -w aio -s size=1M -s direct=no -s count=1000000000 \
        >"$WORK/out" 2>&1 3>&- &
    pid=$!
    until_done 60 catches_signals "$pid"
    until_written "$WORK/d"
    kill -INT "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" = 130 ]
    [ -z "$(ls -A "$WORK/d")" ]
}

@test "a rate is kept, a pause is no latency, and runtime ends both" {
    aio -s kind=randread -s depth=4 -s rate=500 -s count=100
    # The last of 100 begins 99/500 s after the start.
    [ "$(value '.phases[0].counters | .operations == 100 and .wall_ns > 190e6')" = true ]
    aio -s kind=randread -s depth=2 -s think=500ms -s count=20
    [ "$(value '.phases[0].counters.wall_ns > 4.2e9')" = true ]
    [ "$(value '.phases[0].metrics[] | select(.name == "latency_mean") | .value < 400e6')" = true ]
    aio -s kind=randread -s depth=2 -s think=10ms -s count=100000 -s runtime=200ms
    [ "$(value '.phases[0].counters.operations | . >= 1 and . <= 42')" = true ]
    aio -s kind=randread -s depth=2 -s rate=100 -s count=100000 -s runtime=200ms
    [ "$(value '.phases[0].counters.operations | . >= 1 and . <= 21')" = true ]
}

@test "writes are synced as the keys say" {
    traced -f -qq -o "$WORK/trace" -e trace=fdatasync,openat "$JBDLAB" bench "$WORK/d" -w aio \
        --json -s size=1M -s direct=no -s kind=write -s depth=4 -s sync=fdatasync \
        -s sync_every=64 >"$WORK/json"
    calls=$(grep -c 'fdatasync(' "$WORK/trace")
    # At least 64 of 256 have ended before each, and one is at the end.
    [ "$calls" -ge 4 ] && [ "$calls" -le 5 ]
    [ "$(value '.phases[0].counters.syncs')" = "$calls" ]
    traced -f -qq -o "$WORK/trace" -e trace=openat "$JBDLAB" bench "$WORK/d" -w aio \
        --json -s size=1M -s direct=no -s kind=write -s depth=4 -s sync=dsync >"$WORK/json"
    grep -q '_jbdlab_aio.*O_DSYNC' "$WORK/trace"
    [ "$(value '.phases[0].counters.syncs')" = 256 ]
}
