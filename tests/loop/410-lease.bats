#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Leases: given for the right word only, bound to the disk and not to its name, and never
# for a disk of this system.

load ../lib.bash

setup() {
    common_setup
    need_loop
    loop_new DISK 64M
    FILE=$WORK/DISK.img
    WORD=${FILE: -8}
}

teardown() {
    [ -z "$SWAP" ] || swapoff "$SWAP"
    "$JBDLAB" scratch unlease "$DISK" 2>/dev/null || true
    [ -z "$PART" ] || "$JBDLAB" scratch unlease "$PART" 2>/dev/null || true
    common_teardown
}

lease() {
    "$JBDLAB" scratch lease "$1" --serial "$2" --yes
}

leases() {
    grep -l "$WORK" /var/lib/jbdlab/leases/* 2>/dev/null | wc -l
}

@test "the wrong word, no word and no terminal are refused" {
    mkfs.ext4 -q -L precious "$DISK"
    before=$(sha256sum <"$FILE")
    run lease "$DISK" wrong
    [ "$status" = 3 ]
    [[ "$output" == *precious* ]]
    [[ "$output" == *"file=$FILE"* ]]
    run lease "$DISK" ""
    [ "$status" = 3 ]
    run "$JBDLAB" scratch lease "$DISK" </dev/null
    [ "$status" = 3 ]
    run "$JBDLAB" scratch lease "$DISK" --serial "$WORD"
    [ "$status" = 2 ]
    run "$JBDLAB" scratch lease "$DISK" --yes </dev/null
    [ "$status" = 3 ]
    [ "$(leases)" = 0 ]
    [ "$(sha256sum <"$FILE")" = "$before" ]
}

@test "the last eight characters of the identity are taken, and the lease taken back" {
    lease "$DISK" "$WORD"
    [ "$(leases)" = 1 ]
    "$JBDLAB" scratch unlease "$DISK"
    [ "$(leases)" = 0 ]
    run "$JBDLAB" scratch unlease "$DISK"
    [ "$status" = 4 ]
    [[ "$output" == *"is not leased"* ]]
}

@test "the list shows leases, with the device that has the identity now" {
    lease "$DISK" "$WORD"
    "$JBDLAB" scratch list >"$WORK/list"
    cat "$WORK/list"
    grep -qE "^$DISK +64M +[^ ]+ +20[^ ]+ +file=$FILE\$" "$WORK/list"
    "$JBDLAB" scratch list --json >"$WORK/json"
    jq -e --arg disk "$DISK" --arg file "$FILE" '.leases | map(select(.device == $disk))[0] |
        .identity == "file=" + $file and .size_bytes == 67108864' "$WORK/json"
    "$JBDLAB" scratch unlease "$DISK"
    [ "$("$JBDLAB" scratch list --json | jq --arg disk "$DISK" \
        '.leases | map(select(.device == $disk)) | length')" = 0 ]
}

@test "on a terminal the word is asked for" {
    script -qec "'$JBDLAB' scratch lease '$DISK'" /dev/null <<<"$WORD" >"$WORK/typed"
    grep -q "is leased" "$WORK/typed"
    [ "$(leases)" = 1 ]
}

@test "a mounted disk is refused and its user named" {
    mkfs.ext4 -q "$DISK"
    mkdir "$WORK/mnt"
    mount "$DISK" "$WORK/mnt"
    run lease "$DISK" "$WORD"
    [ "$status" = 3 ]
    [[ "$output" == *"$WORK/mnt"* ]]
    [ "$(leases)" = 0 ]
}

@test "a file, a directory and a missing device are refused" {
    truncate -s 1M "$WORK/plain"
    run lease "$WORK/plain" plain
    [ "$status" = 3 ]
    run lease "$WORK" x
    [ "$status" = 3 ]
    run lease "$WORK/none" x
    [ "$status" = 3 ]
}

@test "a scratch disk of ours needs none" {
    name=lease-$$
    device=$("$JBDLAB" scratch create --name "$name" --size 16M --directory "$WORK")
    run lease "$device" x
    "$JBDLAB" scratch destroy "$name"
    [ "$status" = 3 ]
    [[ "$output" == *"needs no lease"* ]]
}

@test "a partition beside swap is refused, a partition of another disk is not" {
    # An MBR with disk signature 12345678 and two partitions of 16 MiB, at 1 and 17 MiB.
    printf '\x78\x56\x34\x12' | dd of="$FILE" bs=1 seek=440 conv=notrunc status=none
    {
        printf '\0\0\0\0\x83\0\0\0\x00\x08\0\0\x00\x80\0\0'
        printf '\0\0\0\0\x83\0\0\0\x00\x88\0\0\x00\x80\0\0'
    } | dd of="$FILE" bs=1 seek=446 conv=notrunc status=none
    printf '\x55\xaa' | dd of="$FILE" bs=1 seek=510 conv=notrunc status=none
    losetup -d "$DISK"
    LOOPS=()
    DISK=$(losetup -P -f --show "$FILE")
    LOOPS+=("$DISK")
    [ -b "${DISK}p2" ] || skip "needs partitions of loop devices"
    PART=${DISK}p2
    # The identity of a partition on a loop device ends with the file's name.
    lease "$PART" "$WORD"
    run "$JBDLAB" scratch lease "$PART" --yes --serial wrong
    [[ "$output" == *"partuuid=12345678-02"* ]]
    "$JBDLAB" scratch unlease "$PART"
    mkswap -q "${DISK}p1"
    swapon "${DISK}p1" 2>/dev/null || skip "needs swapon"
    SWAP=${DISK}p1
    run lease "$PART" "$WORD"
    [ "$status" = 3 ]
    [[ "$output" == *"swap space"* ]]
}

@test "the journal of a connected volume cannot be leased, mounted or not" {
    local V J before
    loop_new V 64M
    loop_new J 16M
    mke2fs -q -t ext4 -b 4096 "$V"
    "$JBDLAB" move "$V" --to "external=$J" --state-dir "$WORK/state" --verify fsck
    before=$(sha256sum "$J")
    run "$JBDLAB" scratch lease "$J" --yes --serial whatever
    [ "$status" -eq 3 ]
    [[ $output == *"$J is the journal of $V"* ]]
    [ "$(sha256sum "$J")" = "$before" ]
}
