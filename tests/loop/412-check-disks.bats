#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# check-disks: the verdict on each disk and its reason, read-only; and the configuration of
# xfstests as input.

# shellcheck disable=SC2030,SC2031 # bats runs each test in a subshell

load ../lib.bash

setup() {
    common_setup
    need_loop
    loop_new A 16M
    loop_new B 16M
}

teardown() {
    "$JBDLAB" scratch unlease "$A" --quiet 2>/dev/null || true
    common_teardown
}

check() {
    timeout 60 "$JBDLAB" check-disks "$@"
}

verdict() {
    check --json "$1" | jq -r '.disks[0].verdict'
}

@test "verdicts, one after another" {
    before=$(sha256sum "$B")
    [ "$(verdict "$A")" = free ]
    "$JBDLAB" scratch lease "$A" --yes --serial "${WORK: -2}/A.img" --quiet
    [ "$(verdict "$A")" = leased ]
    check "$A"
    run check "$A" "$B"
    [ "$status" = 3 ]
    mke2fs -q "$A"
    [ "$(verdict "$A")" = data ]
    check --json "$A" | jq -e '.disks[0].reason | test("carries ext2.*not there when it was leased")'
    mkdir "$WORK/mnt"
    mount "$A" "$WORK/mnt"
    [ "$(verdict "$A")" = "in use" ]
    check "$A" | grep -q "is mounted on $WORK/mnt"
    umount "$WORK/mnt"
    [ "$(sha256sum "$B")" = "$before" ]
}

@test "all disks, with the one of this system among them" {
    check >"$WORK/list"
    grep -qE '^DEVICE +SIZE +VERDICT +REASON' "$WORK/list"
    grep -qE "^$A +16M free" "$WORK/list"
    check --json | jq -e --arg a "$A" '.schema == "jbdlab-check-disks/1" and
        (.disks | map(select(.device == $a))[0].may_be_overwritten == false)'
}

@test "a local.config of xfstests, in which no shell runs" {
    cat >"$WORK/local.config" <<END
# comment
export FSTYP=ext4
export TEST_DEV=$B
[section]
SCRATCH_DEV="$A"   # quoted
SCRATCH_LOGDEV=$WORK/none
END
    run check --xfstests "$WORK/local.config"
    [ "$status" = 3 ]
    [[ $output =~ SCRATCH_DEV\ +$A\ .*free ]]
    [[ $output =~ TEST_DEV\ +$B\ .*free ]]
    [[ $output =~ SCRATCH_LOGDEV\ +$WORK/none\ .*unknown ]]
    # shellcheck disable=SC2016 # for nobody to expand
    printf 'SCRATCH_DEV=$(touch %s/ran)\n' "$WORK" >"$WORK/local.config"
    run check --xfstests "$WORK/local.config"
    [ "$status" = 2 ]
    [[ $output == *"local.config:1: only a shell could tell what SCRATCH_DEV is"* ]]
    [ ! -e "$WORK/ran" ]
}

@test "one disk for SCRATCH_DEV and TEST_DEV is refused" {
    run env SCRATCH_DEV="$A" TEST_DEV="$A" timeout 60 "$JBDLAB" check-disks --environment
    [ "$status" = 3 ]
    [[ $output == *"are the same device, $A"* ]]
}

@test "the environment, with what may be used and what is only shown" {
    "$JBDLAB" scratch lease "$A" --yes --serial "${WORK: -2}/A.img" --quiet
    SCRATCH_DEV=$A TEST_DEV=$B check --environment
    run env -u SCRATCH_DEV -u TEST_DEV timeout 60 "$JBDLAB" check-disks --environment
    [ "$status" = 2 ]
}

@test "what cannot be read as a configuration is named" {
    for bad in "$WORK" "$WORK/none" /dev/null; do
        run check --xfstests "$bad"
        [ "$status" = 2 ]
    done
    mkfifo "$WORK/pipe"
    run check --xfstests "$WORK/pipe"
    [ "$status" = 2 ]
}

@test "a list of all disks turns nobody away; a disk that is named is held" {
    mke2fs -q "$A"
    strace -f -qq -e trace=openat -o "$WORK/calls" "$JBDLAB" check-disks >"$WORK/list"
    grep -q "\"$A\"" "$WORK/calls"
    ! grep '"/dev/' "$WORK/calls" | grep -q O_EXCL || false
    strace -f -qq -e trace=openat -o "$WORK/calls" "$JBDLAB" check-disks "$A" || true
    grep "\"$A\"" "$WORK/calls" | grep -q O_EXCL
}
