#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Devices that become others, or go, between or in the middle of what is done with them: what
# came in their place is never written, and a lease stays as long as a run needs it.

# bats runs each test in a subshell.
# shellcheck disable=SC2030,SC2031

load ../lib.bash

setup() {
    need_loop
    common_setup
    # A bundle on the disk of the files would be a reason of its own.
    OUT=$(mktemp -d /dev/shm/jbdlab-test.XXXXXX)
    BUNDLE=$OUT/bundle
    mkdir "$WORK/bin"
    loop_new V 32M
    loop_new J 16M
    lease "$V"
    lease "$J"
    PID=
}

teardown() {
    [ -z "$PID" ] || kill_run "$PID"
    [ ! -d "$BUNDLE" ] || timeout 60 "$JBDLAB" run --restore "$BUNDLE" --quiet || true
    drop_leases
    rm -rf "$OUT"
    common_teardown
}

# plan: a run whose first cell has the journal inside, and waits for $WORK/go.
plan() {
    local seed
    printf '#!/bin/sh\n: >%s\nuntil [ -e %s ]; do sleep 0.1; done\n' \
        "$WORK/waits" "$WORK/go" >"$WORK/bin/wait"
    chmod 755 "$WORK/bin/wait"
    for ((seed = 1; seed < 50; seed++)); do
        cat >"$WORK/x.ini" <<END
[experiment]
name = changed
blocks = 1
repeat = 0
seed = $seed
[volume v]
device = $V
mkfs = ext4 -b 1024
[arm inline]
journal = inline,size=4M
[arm outside]
journal = external=$J,size=4M
[workload w]
type = command
exec = $WORK/bin/wait
metric.t = s lower elapsed
END
        [ "$("$JBDLAB" run --dry-run --json "$WORK/x.ini" | jq -r '.order[0][0]')" != inline ] ||
            return 0
    done
    return 1
}

begin() {
    "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" --yes --no-progress >"$WORK/out" 2>&1 3>&- &
    PID=$!
    until_done 60 test -e "$WORK/waits"
}

# go_on STATUS SENTENCE: how the run ends now.
go_on() {
    local status=0
    : >"$WORK/go"
    wait "$PID" || status=$?
    PID=
    cat "$WORK/out"
    [ "$status" = "$1" ]
    grep -q "$2" "$WORK/out"
}

# replace DEVICE FILE: what has the device's name from now on.
replace() {
    losetup -d "$1"
    losetup "$1" "$2" || skip "somebody else has taken the loop device"
}

@test "another disk that has got the name in the middle of a run is not written" {
    truncate -s 16M "$WORK/other.img"
    mke2fs -q -F -t ext4 -L precious "$WORK/other.img"
    sha256sum "$WORK/other.img" "$WORK/J.img" >"$WORK/before"
    plan
    begin
    replace "$J" "$WORK/other.img"
    go_on 4 "$J is no longer the device that it was at the start"
    sha256sum --quiet -c "$WORK/before"
    # Not when it goes on either, until the right one is there, under whatever name.
    run timeout 60 "$JBDLAB" run --resume "$BUNDLE"
    echo "$output"
    [ "$status" = 3 ]
    [[ $output == *"$WORK/J.img) is not there; connect it"* ]]
    sha256sum --quiet -c "$WORK/before"
    losetup -d "$J"
    J=$(losetup -f --show "$WORK/J.img")
    LOOPS=("$V" "$J")
    run timeout 60 "$JBDLAB" run --resume "$BUNDLE"
    [ "$status" = 0 ] || [ "$status" = 5 ]
    sed -n 1p "$WORK/before" | sha256sum --quiet -c
}

@test "a copy with the same name that has come beside it is not written, nor the disk itself" {
    local twin
    plan
    begin
    # The same bytes under another number: nobody can tell which was meant.
    twin=$(losetup -f --show "$WORK/J.img")
    LOOPS+=("$twin")
    sha256sum "$WORK/J.img" >"$WORK/before"
    go_on 4 "$J lies on the same bytes as the loop device $twin"
    run timeout 60 "$JBDLAB" run --resume "$BUNDLE"
    echo "$output"
    [ "$status" = 3 ]
    [[ $output == *"cannot be told apart: both are \"size=16777216 file=$WORK/J.img\""* ]]
    sha256sum --quiet -c "$WORK/before"
}

@test "a disk that has gone in the middle of a run is named" {
    plan
    begin
    losetup -d "$J"
    go_on 4 "$J"
    LOOPS=("$V")
}

@test "a lease stays while a run needs it, also between its steps" {
    local what
    plan
    begin
    for what in unlease "lease --yes --serial x"; do
        for device in "$V" "$J"; do
            # shellcheck disable=SC2086 # words
            run timeout 60 "$JBDLAB" scratch $what "$device"
            echo "$output"
            [ "$status" = 3 ]
            [[ $output == "jbdlab: $device is in use by another experiment" ]]
        done
    done
    : >"$WORK/go"
    wait "$PID" || true
    PID=
    timeout 60 "$JBDLAB" scratch unlease "$V"
    timeout 60 "$JBDLAB" scratch unlease "$J"
}

@test "the lease of a disk that is gone is taken back by its identity" {
    losetup -d "$J"
    LOOPS=("$V")
    run timeout 60 "$JBDLAB" scratch unlease "$WORK/none"
    echo "$output"
    [ "$status" = 3 ]
    [[ $output == *"none: No such file or directory; the lease of a disk that is gone is taken"* ]]
    "$JBDLAB" scratch list | grep -qF "file=$WORK/J.img"
    # Not that of one which is there.
    run timeout 60 "$JBDLAB" scratch unlease "file=$WORK/V.img"
    [ "$status" = 3 ]
    timeout 60 "$JBDLAB" scratch unlease "file=$WORK/J.img"
    [ "$("$JBDLAB" scratch list | grep -cF "file=$WORK/J.img")" = 0 ]
    "$JBDLAB" scratch list | grep -qF "file=$WORK/V.img"
}

@test "a device that nothing is connected to is said to be empty" {
    losetup -d "$J"
    LOOPS=("$V")
    for what in "unlease $J" "lease $J --yes --serial x"; do
        # shellcheck disable=SC2086 # words
        run timeout 60 "$JBDLAB" scratch $what
        echo "$output"
        [ "$status" = 3 ]
        [[ $output == *"$J has no bytes: nothing is connected to it"* ]]
    done
}
