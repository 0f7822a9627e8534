#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# jbdlab bench: any workload in a directory; its keys, its tables, its refusals.

load ../lib.bash

setup() {
    common_setup
    mkdir "$WORK/d"
}
teardown() { common_teardown; }

@test "the list names every type with its keys" {
    run "$JBDLAB" bench --list
    [ "$status" = 0 ]
    [[ $output == *"tiobench: "*"threads"*"dd: "*"count"* ]]
    run "$JBDLAB" bench --list --workload dd
    [ "$status" = 0 ]
    [[ $output != *"tiobench: "* ]]
}

@test "dd prints the line of dd and ours, and its counters" {
    run "$JBDLAB" bench "$WORK/d" --no-progress --workload dd --set bs=4k --set count=500 \
        --set sync=dsync --set read=yes
    [ "$status" = 0 ]
    [[ ${lines[0]} =~ ^"dd write: 2048000 bytes (2.0 MB, 2.0 MiB) copied, "[0-9.e-]+" s, "[0-9.]+" "[kMG]?B/s$ ]]
    [[ ${lines[1]} == *"500 of 4k, 500 syncs" ]]
    [[ ${lines[2]} == "dd read: 2048000 bytes"* ]]
    [ -z "$(ls -A "$WORK/d")" ]
}

@test "syncs are asked for as the key says" {
    for sync in none fsync fdatasync; do
        traced -f -qq -o "$WORK/trace" -e trace=fsync,fdatasync,openat \
            "$JBDLAB" bench "$WORK/d" -w dd -s bs=4k -s count=10 -s "sync=$sync" >/dev/null
        case $sync in
        none) [ "$(grep -c 'f.*sync(' "$WORK/trace")" = 0 ] ;;
        *) [ "$(grep -c " $sync(" "$WORK/trace")" = 1 ] ;;
        esac
        ! grep '_jbdlab.*SYNC' "$WORK/trace" || false
    done
    traced -f -qq -o "$WORK/trace" -e trace=fsync,fdatasync,openat \
        "$JBDLAB" bench "$WORK/d" -w dd -s bs=4k -s count=10 -s sync=dsync >/dev/null
    grep -q '_jbdlab.*O_DSYNC' "$WORK/trace"
}

@test "several directories are used in turn" {
    mkdir "$WORK/e"
    traced -f -qq -o "$WORK/trace" -e trace=openat "$JBDLAB" bench "$WORK/d" "$WORK/e" \
        -w tiobench -s size=1M -s threads=4 -s random=10 >/dev/null
    [ "$(grep -c "$WORK/d/_jbdlab.*O_CREAT" "$WORK/trace")" = 2 ]
    [ "$(grep -c "$WORK/e/_jbdlab.*O_CREAT" "$WORK/trace")" = 2 ]
}

@test "json is one object that names its schema" {
    "$JBDLAB" bench "$WORK/d" -w dd -s bs=4k -s count=10 --json >"$WORK/json"
    jq -e '.schema | startswith("jbdlab")' "$WORK/json"
    jq -e '.phases[0].cache == "advised"' "$WORK/json"
}

@test "misspelt types and keys are answered with the nearest" {
    run "$JBDLAB" bench "$WORK/d" --workload tiobnch
    [ "$status" = 2 ]
    [[ $output == *'did you mean "tiobench"?'* ]]
    run "$JBDLAB" bench "$WORK/d" --workload dd --set cuont=3
    [ "$status" = 2 ]
    [[ $output == *'did you mean "count"?'* ]]
    run "$JBDLAB" bench "$WORK/d" --workload dd --set count
    [ "$status" = 2 ]
    run "$JBDLAB" bench --workload dd
    [ "$status" = 2 ]
    run "$JBDLAB" bench "$WORK/d"
    [ "$status" = 2 ]
    run "$JBDLAB" bench "$WORK/d" --workload dd --set bs=0
    [ "$status" = 2 ]
}

@test "dd syncs each n-th write, keeps a rate, and reads what it had time to write" {
    traced -f -qq -o "$WORK/trace" -e trace=fdatasync "$JBDLAB" bench "$WORK/d" -w dd \
        -s bs=4k -s count=100 -s sync_every=10 --json >"$WORK/json"
    # The last one is the one at the end, too.
    [ "$(grep -c 'fdatasync(' "$WORK/trace")" = 11 ]
    [ "$(jq '.phases[0].counters.syncs' "$WORK/json")" = 11 ]
    "$JBDLAB" bench "$WORK/d" -w dd -s bs=4k -s count=100000 -s rate=100 \
        -s runtime=300ms -s read=yes --json >"$WORK/json"
    jq -e '.phases[0].counters.operations as $n | $n >= 1 and $n <= 30 and
        .phases[1].counters.operations <= $n' "$WORK/json"
    run "$JBDLAB" bench "$WORK/d" -w dd -s sync=dsync -s sync_every=10
    [ "$status" = 2 ]
}

@test "dd with O_DIRECT may be synced, too" {
    traced -f -qq -o "$WORK/trace" -e trace=openat,fdatasync "$JBDLAB" bench "$WORK/d" -w dd \
        -s bs=4k -s count=10 -s direct=yes -s overwrite=yes -s read=yes >/dev/null
    # The file is made, written over, and read.
    [ "$(grep -c '_jbdlab.*O_DIRECT' "$WORK/trace")" = 3 ]
    [ "$(grep -c '_jbdlab.*O_CREAT' "$WORK/trace")" = 1 ]
    [ "$(grep -c 'fdatasync(' "$WORK/trace")" = 1 ]
    run "$JBDLAB" bench "$WORK/d" -w dd -s bs=1000 -s direct=yes
    [ "$status" = 2 ]
}
