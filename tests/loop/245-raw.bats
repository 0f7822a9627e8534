#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# tiobench --raw: devices in slices, limited in time; only scratch or leased ones, and none
# that is in use.

load ../lib.bash

setup() {
    common_setup
    need_loop
    NAME=raw-$$-$BATS_TEST_NUMBER
    disk=$(timeout 30 "$JBDLAB" scratch create --name "$NAME" --size 16M --quiet \
        --directory "$WORK")
}

teardown() {
    ! mountpoint -q "$WORK/m" || umount "$WORK/m"
    destroy_disk "${NAME:-none}"
    common_teardown
}

raw() {
    timeout 60 "$JBDLAB" tiobench --raw --target "$disk" --no-progress "$@"
}

@test "threads work in slices of the device, and write what they say" {
    traced -f -qq -y -o "$WORK/trace" -e trace=pwrite64,pread64,openat "$JBDLAB" tiobench \
        --raw --target "$disk" --size 8 --block 64k --threads 2 --random 20 --directio \
        --json >"$WORK/json"
    jq -e '[.phases[].counters.bytes] == [8388608, 1310720, 8388608, 1310720]' "$WORK/json"
    [ "$(grep -c 'pwrite64.*= 65536$' "$WORK/trace")" = 148 ]
    # The second slice begins at 4 MiB, and nothing lies behind 8 MiB.
    grep -qE 'pwrite64.*, 65536, 4194304( |\))' "$WORK/trace"
    ! grep -qE 'pwrite64.*, 65536, 8388608( |\))' "$WORK/trace" || false
    ! grep -q 'O_CREAT.*jbdlab_' "$WORK/trace" || false
    [ -b "$disk" ]
}

@test "all phases are limited in time" {
    raw --size 8 --threads 1 --set rate=100 --set runtime=200ms --random 1000 --json \
        >"$WORK/json"
    # Of 128 and of 1000 those that were due, or less when the machine was busy.
    jq -e 'all(.phases[]; .counters.operations >= 1 and .counters.operations <= 20)' \
        "$WORK/json"
}

@test "what is in use, too small, or neither leased nor a scratch disk is refused" {
    run raw --size 32 --threads 1
    [ "$status" = 2 ]
    [[ $output == *"$disk has 16777216 bytes, and 33554432 are needed"* ]]
    loop_new other 16M
    run timeout 60 "$JBDLAB" tiobench --raw --target "$other" --size 1
    [ "$status" = 3 ]
    [[ $output == *"lease"* ]]
    cmp -n 1048576 "$other" /dev/zero # nothing was written
    mke2fs -q "$disk"
    mkdir "$WORK/m"
    mount "$disk" "$WORK/m"
    run raw --size 1
    [ "$status" = 3 ]
    [[ $output == *"is mounted on $WORK/m"* ]]
}
