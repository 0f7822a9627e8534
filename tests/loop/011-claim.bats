#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# A device that is in use is not touched, and the message names the user: mounts in this
# and in other mount namespaces, swap, journals, loop devices, programs.

# bats sets stderr and stderr_lines, and runs each test in a subshell.
# shellcheck disable=SC2154,SC2030,SC2031

bats_require_minimum_version 1.5.0
load ../lib.bash

setup() {
    common_setup
    need_loop
    cd "$WORK" || return 1
    mkdir mnt
    loop_new DATA 64M
    mke2fs -q -t ext4 -b 4096 "$DATA"
}

teardown() {
    cd /
    if [ -n "${HOLDER:-}" ]; then
        kill "$HOLDER" 2>/dev/null || true
        wait "$HOLDER" || true
    fi
    [ -z "${SWAPPED:-}" ] || swapoff "$SWAPPED" || true
    [ -z "${DATA:-}" ] || blockdev --setrw "$DATA" || true
    ! mountpoint -q "$WORK/a b" || unmount_still "$WORK/a b"
    common_teardown
}

# refused DEVICE WORDS: a move is refused with them, and writes nothing.
refused() {
    refused_move "$1" none "$2"
}

# refused_move DEVICE PLACEMENT WORDS
refused_move() {
    local before
    before=$(sha256sum ./*.img)
    run --separate-stderr "$JBDLAB" move "$1" --to "$2" --yes --state-dir "$WORK/state"
    echo "$stderr"
    [ "$status" = 3 ]
    [[ "$stderr" == *"$3"* ]]
    [ "$(sha256sum ./*.img)" = "$before" ]
}

# hold DEVICE: another program opens it exclusively.
hold() {
    mkfifo ready
    perl -MFcntl -e 'sysopen(my $f, $ARGV[0], O_RDWR | O_EXCL) or die "open: $!";
        open(my $r, ">", "ready"); close($r); sleep 300' "$1" 3>&- &
    HOLDER=$!
    read -r _ <ready || true
}

@test "mounted" {
    mount_still "$DATA" mnt
    refused "$DATA" "$DATA is mounted on $WORK/mnt"
}

@test "mounted on a directory with a space in its name" {
    mkdir "a b"
    mount_still "$DATA" "a b"
    refused "$DATA" "is mounted on $WORK/a b"
}

@test "mounted read-only" {
    mount -o ro "$DATA" mnt
    refused "$DATA" "is mounted on $WORK/mnt"
}

@test "mounted in another mount namespace only" {
    need_mount_namespace
    mkfifo ready
    unshare -m sh -c "mount -o ro $DATA $WORK/mnt && : >ready && exec sleep 300" 3>&- &
    HOLDER=$!
    read -r _ <ready || true
    until_done 60 grep -qx sleep "/proc/$HOLDER/comm"
    run ! grep -q "$WORK/mnt" /proc/self/mountinfo
    refused "$DATA" "is mounted on $WORK/mnt in another mount namespace (process $HOLDER, sleep)"
    [[ "$("$JBDLAB" show "$DATA")" == *"In use: "*"in another mount namespace"* ]]
    [ "$("$JBDLAB" show -o state "$DATA" | tail -1)" = "in use" ]
}

@test "swap space" {
    loop_new SWAP 16M
    mkswap "$SWAP" >/dev/null
    chmod 600 SWAP.img
    swapon "$SWAP" 2>/dev/null || skip "no swap here"
    SWAPPED=$SWAP
    mkdir swap
    mv SWAP.img swap/ # the kernel writes pages to it when it likes
    refused_move "$DATA" "external=$SWAP" "$SWAP is swap space"
    [ "$(blkid -p -o value -s TYPE "$SWAP")" = swap ]
}

@test "the journal of a mounted volume" {
    loop_new LOG 16M
    mke2fs -q -b 4096 -O journal_dev "$LOG"
    mke2fs -q -t ext4 -b 4096 -J device="$LOG" "$DATA"
    mount_still "$DATA" mnt
    loop_new MORE 64M
    mke2fs -q -t ext4 -b 4096 "$MORE"
    refused_move "$MORE" "external=$LOG" "$LOG is the journal of the mounted volume $DATA"
}

@test "a loop device lies on it" {
    local upper
    upper=$(losetup -f --show "$DATA")
    LOOPS=("$upper" "${LOOPS[@]}")
    refused "$DATA" "$DATA backs the loop device $upper"
}

@test "two loop devices over one file, neither of which the kernel guards from the other" {
    local twin
    twin=$(losetup -f --show DATA.img)
    LOOPS=("$twin" "${LOOPS[@]}")
    mount_still "$DATA" mnt
    refused "$twin" "$twin lies on the same bytes as the loop device $DATA"
    unmount_still mnt
    refused "$twin" "$twin lies on the same bytes as the loop device $DATA"
    refused "$DATA" "$DATA lies on the same bytes as the loop device $twin"
}

@test "two loop devices over different parts of one file are two disks" {
    local low high
    truncate -s 40M parts.img
    low=$(losetup -f --show --sizelimit 16M parts.img)
    LOOPS=("$low" "${LOOPS[@]}")
    high=$(losetup -f --show --offset 16M parts.img)
    LOOPS=("$high" "${LOOPS[@]}")
    mke2fs -q -t ext4 -b 4096 "$high"
    mke2fs -q -t ext4 -b 4096 "$low"
    mount "$low" mnt
    "$JBDLAB" move "$high" --to none --state-dir "$WORK/state"
}

@test "a loop device over one that is mounted, however far above" {
    local one two
    one=$(losetup -f --show "$DATA")
    LOOPS=("$one" "${LOOPS[@]}")
    two=$(losetup -f --show "$one")
    LOOPS=("$two" "${LOOPS[@]}")
    mount_still "$DATA" mnt
    refused "$one" "$one backs the loop device $two, lies on $DATA, which is mounted on $WORK/mnt"
    refused "$two" "$two lies on $DATA, which is mounted on $WORK/mnt"
}

@test "an image that another program has open for writing" {
    truncate -s 64M free.img
    mke2fs -q -F -t ext4 -b 4096 free.img
    mkfifo ready
    perl -e 'open(my $f, "+<", $ARGV[0]) or die; open(my $r, ">", "ready"); close($r);
        sleep 300' free.img 3>&- &
    HOLDER=$!
    read -r _ <ready || true
    refused free.img "free.img is open for writing in another program, one of: perl (process $HOLDER)"
}

@test "an image that another program only reads is moved" {
    truncate -s 64M free.img
    mke2fs -q -F -t ext4 -b 4096 free.img
    exec 8<free.img
    "$JBDLAB" move free.img --to none --state-dir "$WORK/state"
    exec 8<&-
}

@test "an image that a loop device lies on, under whatever name" {
    refused DATA.img "backs the loop device $DATA"
    ln DATA.img other-name
    refused other-name "backs the loop device $DATA"
}

@test "an image that another jbdlab holds" {
    truncate -s 64M free.img
    mke2fs -q -F -t ext4 free.img
    exec 8<free.img
    flock -x 8
    refused free.img "is locked by another program"
    exec 8<&-
}

@test "another program has it open exclusively" {
    hold "$DATA"
    refused "$DATA" "$DATA is opened exclusively, by one of: perl (process $HOLDER)"
}

@test "a read-only device" {
    blockdev --setro "$DATA"
    refused "$DATA" "$DATA is a read-only device"
}

@test "right after unmounting it is free" {
    local i
    for ((i = 0; i < 10; i++)); do
        mount "$DATA" mnt
        date >mnt/f
        umount mnt
        "$JBDLAB" check "$DATA" --to none
    done
}
