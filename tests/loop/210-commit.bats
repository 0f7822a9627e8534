#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The workload commit on a small ext4: what the device saw, and ends by an error.

load ../lib.bash

setup() {
    common_setup
    need_loop
    loop_new disk 100M
    mke2fs -q -t ext4 -J size=8 "$disk"
    mkdir "$WORK/m"
    mount "$disk" "$WORK/m"
}
teardown() { common_teardown; }

no_row_no_file() {
    ! grep -q '/t[0-9]' <<<"$output" || false
    [ -z "$(find "$WORK/m" -name '_jbdlab*')" ]
}

commits() { awk 'NR == 1 { print $1 }' "/proc/fs/jbd2/${disk#/dev/}-8/info"; }

@test "appends commit, their control does not" {
    before=$(commits)
    "$JBDLAB" bench "$WORK/m" -w commit -s kind=append-fsync -s count=200 >/dev/null
    middle=$(commits)
    "$JBDLAB" bench "$WORK/m" -w commit -s kind=overwrite-fdatasync -s file=64k \
        -s count=200 >/dev/null
    after=$(commits)
    echo "$before $middle $after"
    [ $((middle - before)) -ge 200 ]
    [ $((after - middle)) -le 20 ]
}

@test "what is said to be written is what the device got" {
    before=$(awk '{ print $7 }' "/sys/block/${disk#/dev/}/stat")
    "$JBDLAB" bench "$WORK/m" -w commit -s kind=append-fsync -s count=500 -s block=16k \
        --json >"$WORK/json"
    after=$(awk '{ print $7 }' "/sys/block/${disk#/dev/}/stat")
    [ "$(jq '.phases[0].counters.bytes' "$WORK/json")" = $((500 * 16384)) ]
    [ $(((after - before) * 512)) -ge $((500 * 16384)) ]
}

@test "a file system that fills up, a read-only one, a directory that is none" {
    for kind in append-fsync create-fsync mail stream+commit wal; do
        fallocate -l "$(($(df --output=avail -B1 "$WORK/m" | tail -1) - 24000000))" \
            "$WORK/m/before"
        "$JBDLAB" bench "$WORK/m" -w commit -s "kind=$kind" -s block=64k -s record=64k \
            -s heap=1M -s stream=2M -s count=190 -s think=300ms >"$WORK/out" 2>&1 3>&- &
        pid=$!
        until_written "$WORK/m"
        fill_up "$WORK/m"
        status=0
        wait "$pid" || status=$?
        output=$(cat "$WORK/out")
        echo "$kind: $output"
        [ "$status" = 4 ]
        [[ $output == *"$WORK/m/_jbdlab_commit_"*"No space left on device"* ]]
        no_row_no_file
        rm -f "$WORK/m/before" "$WORK/m/fill"*
    done
    mount -o remount,ro "$WORK/m"
    run "$JBDLAB" bench "$WORK/m" -w commit
    [ "$status" = 4 ]
    [[ $output == *"$WORK/m: Read-only file system"* ]]
    no_row_no_file
}
