#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The workload commit: what it says it did is what the kernel saw, kind by kind; pacing;
# ends by a signal or an error leave no file and no row.

load ../lib.bash

setup() {
    common_setup
    mkdir "$WORK/d"
}
teardown() { common_teardown; }

commit() {
    "$JBDLAB" bench "$WORK/d" -w commit --json -s heap=1M -s file=64k -s stream=1M "$@"
}

# value FILTER: one value of the last run.
value() { jq -r "$1" "$WORK/json"; }

calls() { grep -c "$1" "$WORK/trace" || true; }

@test "every kind does what it says, and says what it did" {
    # kind, operations, syncs that are counted, fsync, fdatasync and write calls outside
    # of the set-up
    while read -r kind operations syncs fsyncs fdatasyncs writes; do
        echo "$kind"
        traced -f -qq -o "$WORK/trace" \
            -e trace=fsync,fdatasync,pwrite64,mkdirat,unlinkat,renameat \
            "$JBDLAB" bench "$WORK/d" -w commit --json -s file=8k -s count=20 \
            -s threads=2 -s "kind=$kind" >"$WORK/json"
        [ "$(value '.phases[0].counters.operations')" = "$operations" ]
        [ "$(value '.phases[0].counters.syncs')" = "$syncs" ]
        [ "$(calls ' fsync(')" = "$fsyncs" ]
        [ "$(calls ' fdatasync(')" = "$fdatasyncs" ]
        [ "$(calls ' pwrite64(')" = "$writes" ]
        [ -z "$(ls -A "$WORK/d")" ]
    done <<'END'
append-fsync        20 20 20  0 20
append-dsync        20 20  0  0 20
overwrite-fsync     20 20 22  0 24
overwrite-fdatasync 20 20  2 20 24
create-fsync        20 20 20  0 20
create-rename       20 40 40  0 20
mkdir               20 20 20  0  0
unlink              20 20 20  0 20
create-nosync       20  0  0  0 20
mail                20 40 40  0 104
END
}

@test "bytes that are reported were written" {
    for kind in append-fsync create-fsync create-rename mail append-dsync; do
        commit -s "kind=$kind" -s count=50 -s block=8k >"$WORK/json"
        per=$([ $kind = mail ] && echo 2 || echo 1)
        [ "$(value '.phases[0].counters.bytes')" = $((50 * 8192 * per)) ]
    done
}

@test "only each n-th operation is synced when that is asked for" {
    commit -s kind=append-fsync -s count=100 -s sync_every=10 >"$WORK/json"
    [ "$(value '.phases[0].counters.syncs')" = 10 ]
}

@test "a stream is reported beside the commits, and is none of them" {
    # At a rate, or the commits are over before the stream has begun on a busy machine.
    commit -s kind=stream+commit -s count=100 -s rate=50 -s threads=2 >"$WORK/json"
    [ "$(value '[.phases[].name] | join(" ")')" = "stream+commit/t2 stream/t2" ]
    [ "$(value '.phases[0].counters.bytes')" = $((100 * 4096)) ]
    [ "$(value '.phases[0].counters.threads')" = 2 ]
    [ "$(value '.phases[1].counters.threads')" = 1 ]
    [ "$(value '.phases[1].counters.bytes % 262144')" = 0 ]
    [ "$(value '.phases[1].counters.bytes > 0')" = true ]
}

@test "transactions commit in groups, each after a sync of the log" {
    # A sync that takes its time: others come meanwhile, however fast the disk is.
    traced -f -qq -o "$WORK/trace" -e trace=fdatasync,pwrite64,pread64 \
        -e inject=fdatasync:delay_enter=3000 "$JBDLAB" bench "$WORK/d" -w commit --json -s heap=1M -s kind=wal -s count=200 \
        -s threads=8 -s record=100 >"$WORK/json"
    [ "$(value '.phases[0].counters.operations')" = 200 ]
    # All clients together append 200 records and write 200 pages; the heap is made in
    # one piece of 1M.
    [ "$(calls 'pwrite64(.*, 100, ')" = 200 ]
    [ "$(calls 'pwrite64(.*, 8192, ')" = 200 ]
    [ "$(grep -cE 'pread64.*, 8192, [0-9]+\) += 8192' "$WORK/trace")" = 200 ]
    syncs=$(value '.phases[0].counters.syncs')
    [ "$syncs" = "$(calls 'fdatasync(')" ]
    [ "$syncs" -lt 200 ]
    [ "$syncs" -ge 25 ]
}

@test "log and heap lie in two directories" {
    mkdir "$WORK/e"
    traced -f -qq -o "$WORK/trace" -e trace=openat "$JBDLAB" bench "$WORK/d" "$WORK/e" \
        -w commit -s heap=1M -s kind=wal -s count=10 >/dev/null
    grep -q "$WORK/d/_jbdlab_commit_.*/heap" "$WORK/trace"
    grep -q "$WORK/e/_jbdlab_commit_.*/log" "$WORK/trace"
    [ -z "$(find "$WORK/d" "$WORK/e" -name "_jbdlab*")" ]
}

@test "read-only transactions sync nothing" {
    commit -s kind=wal-readonly -s count=500 >"$WORK/json"
    [ "$(value '.phases[0].counters.syncs')" = 0 ]
    [ "$(value '.phases[0].counters.bytes')" = $((500 * 8192)) ]
}

@test "a rate is kept, and a pause is no latency" {
    commit -s kind=create-nosync -s count=50 -s rate=200 -s threads=2 >"$WORK/json"
    # The last of 50 begins 49/200 s after the start.
    [ "$(value '.phases[0].counters.wall_ns > 240e6')" = true ]
    commit -s kind=create-nosync -s count=20 -s think=500ms >"$WORK/json"
    [ "$(value '.phases[0].counters.wall_ns > 9.5e9')" = true ]
    [ "$(value '.phases[0].metrics[] | select(.name == "latency_mean") |
        .value < 400e6')" = true ]
}

@test "runtime ends a phase before its count" {
    commit -s kind=create-nosync -s count=100000 -s think=1ms -s runtime=300ms \
        >"$WORK/json"
    [ "$(value '.phases[0].counters.operations < 301')" = true ]
    [ "$(value '.phases[0].counters.operations > 0')" = true ]
}

@test "equal seeds write equal names and places" {
    for i in 1 2; do
        traced -f -qq -o "$WORK/trace" -e trace=pwrite64 "$JBDLAB" bench "$WORK/d" \
            --seed 7 -w commit -s kind=overwrite-fsync -s file=64k -s count=20 >/dev/null
        sed 's/^[0-9]* //' "$WORK/trace" >"$WORK/trace$i"
    done
    cmp "$WORK/trace1" "$WORK/trace2"
}

@test "an interrupted run leaves nothing" {
    for kind in mail stream+commit wal unlink; do
        "$JBDLAB" bench "$WORK/d" -w commit -s "kind=$kind" -s count=2000 -s think=100ms \
            >"$WORK/out" 2>&1 3>&- &
        pid=$!
        until_written "$WORK/d"
        sleep 0.2 # any moment will do
        kill -INT "$pid"
        status=0
        wait "$pid" || status=$?
        [ "$status" = 130 ]
        [ -z "$(ls -A "$WORK/d")" ]
        ! grep -q "$kind/t1" "$WORK/out" || false
    done
}

@test "kinds are checked before anything is done" {
    run "$JBDLAB" bench "$WORK/d" -w commit -s kind=append-fsnc
    [ "$status" = 2 ]
    [[ $output == *'did you mean "append-fsync"?'* ]]
    run "$JBDLAB" bench "$WORK/d" -w commit -s 'kind=mail mail'
    [ "$status" = 2 ]
    run "$JBDLAB" bench "$WORK/d" -w commit -s rate=10 -s think=1ms
    [ "$status" = 2 ]
    [[ $output == *"rate and think exclude each other"* ]]
}

@test "another sync than that of the kind, which the phase is named after" {
    # kind and sync, syncs that are counted, fsync and fdatasync calls, opens with O_DSYNC
    while read -r kind sync syncs fsyncs fdatasyncs opens; do
        echo "$kind $sync"
        traced -f -qq -o "$WORK/trace" -e trace=fsync,fdatasync,openat "$JBDLAB" bench \
            "$WORK/d" -w commit --json -s file=8k -s count=20 -s "kind=$kind" \
            -s "sync=$sync" >"$WORK/json"
        [ "$(value '.phases[0].name')" = "$kind/$sync/t1" ]
        [ "$(value '.phases[0].counters.syncs')" = "$syncs" ]
        [ "$(calls ' fsync(\|^fsync(')" = "$fsyncs" ]
        [ "$(calls 'fdatasync(')" = "$fdatasyncs" ]
        [ "$(calls 'O_DSYNC')" = "$opens" ]
    done <<'END'
append-fsync        fdatasync 20  0 20  0
append-fsync        none       0  0  0  0
append-fsync        dsync     20  0  0  1
overwrite-fdatasync dsync     20  1  0  1
create-rename       dsync     40 20  0 20
create-rename       fdatasync 40  0 40  0
mkdir               dsync     20 20  0  0
mail                dsync     40  0  0 60
END
    commit -s kind=append-dsync -s sync=none -s count=5 >"$WORK/json"
    [ "$(value '.phases[0].name + " \(.phases[0].counters.syncs)"')" = "append-dsync/t1 5" ]
    run "$JBDLAB" bench "$WORK/d" -w commit -s sync=dsync -s sync_every=2
    [ "$status" = 2 ]
}

@test "the time left is that of the runtime, where it ends before the count" {
    mkdir -p "$WORK/d"
    timeout 60 "$JBDLAB" bench "$WORK/d" --workload commit --set kind=overwrite-fsync \
        --set file=64k --set rate=100 --set count=1000000 --set runtime=6s >"$WORK/out" 2>&1
    tr '\r' '\n' <"$WORK/out" | grep -oE '[0-9a-z ]+ left' >"$WORK/left"
    cat "$WORK/left"
    [ -s "$WORK/left" ]
    ! grep -v ' [0-6]s left' "$WORK/left" || false
}
