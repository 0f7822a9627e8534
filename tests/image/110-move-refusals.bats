#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Moves of image files that must not happen: status, sentence, and not one byte changed.

bats_require_minimum_version 1.5.0

load ../lib
load ../move

setup() {
    disks_in_memory
    common_setup
    V=$WORK/v.img
    DEVICES=()
}

teardown() { common_teardown; }

new_volume() {
    rm -f "$V"
    truncate -s "$1" "$V"
    mke2fs -q -F "${@:2}" "$V" 2>/dev/null
}

# set_super VOLUME OFFSET BYTES: in the superblock, which has no checksum.
set_super() {
    printf %b "$3" | dd of="$1" bs=1 seek=$((1024 + $2)) conv=notrunc status=none
}

usage() {
    unchanged_with_status 2 "$@"
}

@test "wrong words are usage errors" {
    new_volume 16M -t ext4
    usage "$V" bogus "is no placement"
    usage "$V" "" "is no placement"
    usage "$V" inline, "unknown attribute"
    usage "$V" none,size=1M "none has no attributes"
    usage "$V" inline,size=4M,size=5M "given twice"
    usage "$V" inline,size=4X "4X"
    usage "$V" none "takes fsck, mount or none" --verify=bogus
    usage "$V" none "takes one device, not 2" "$V"
    usage "$V" none "unknown option --force" --force
    run -2 "$JBDLAB" move --to none
    run -2 "$JBDLAB" move "$V"
    run -2 "$JBDLAB" check "$V"
    run -2 "$JBDLAB" check --to none
    run -2 "$JBDLAB" recover
}

@test "a volume that is not clean" {
    new_volume 16M -t ext4 -O ^metadata_csum
    set_super "$V" 58 '\0\0'
    refused "$V" none "was not cleanly unmounted"
    set_super "$V" 58 '\3\0'
    refused "$V" none "the kernel has found errors"
    set_super "$V" 58 '\1\0'
    set_super "$V" 232 '\20\0\0\0'
    refused "$V" none "deleted while open"
}

@test "a log that is not empty" {
    new_volume 16M -t ext4 -O ^metadata_csum
    debugfs -w -R 'feature needs_recovery' "$V" 2>/dev/null
    refused "$V" none "needs_recovery"
    new_volume 16M -t ext4 -O ^metadata_csum -b 1024
    # s_start without needs_recovery.
    printf '\0\0\0\5' | dd of="$V" bs=1 conv=notrunc status=none \
        seek=$(($(first_journal_block "$V") * 1024 + 28))
    refused "$V" none "is not empty"
}

@test "a journal that was aborted" {
    new_volume 16M -t ext4 -b 1024
    # s_errno: the kernel would note the error in the superblock at the next mount.
    printf '\377\377\377\373' | dd of="$V" bs=1 conv=notrunc status=none \
        seek=$(($(first_journal_block "$V") * 1024 + 32))
    refused "$V" none "was aborted (error -5)"
    # What the sentence says helps.
    e2fsck -fy "$V" || [ $? = 1 ]
    moved "$V" none
}

@test "features that nobody knows" {
    new_volume 16M -t ext4 -O ^metadata_csum
    set_super "$V" 95 '\200'
    refused "$V" none "features that this libext2fs does not know: FEATURE_C31"
    new_volume 16M -t ext4 -O ^metadata_csum
    set_super "$V" 103 '\200'
    refused "$V" none "FEATURE_R31"
    new_volume 16M -t ext4 -O ^metadata_csum
    set_super "$V" 99 '\200'
    refused "$V" none "FEATURE_I31"
    new_volume 16M -t ext4 -O mmp
    refused "$V" none "tune2fs -O ^mmp"
    new_volume 16M -t ext4 -O orphan_file
    refused "$V" none "tune2fs -O ^orphan_file"
}

@test "a superblock of revision 0" {
    new_volume 16M -r 0 || new_volume 16M -E revision=0 # before and after 1.47.1
    refused "$V" inline "revision 0"
    # What the sentence says helps.
    tune2fs -O dir_index "$V"
    e2fsck -fy "$V" || [ $? = 1 ]
    moved "$V" inline
}

@test "damage that only e2fsck sees" {
    new_volume 16M -t ext4 -b 1024
    debugfs -w -R 'setb 5000 10' "$V" 2>/dev/null
    refused "$V" none "e2fsck -fn"
    new_volume 16M -t ext4 -b 1024
    debugfs -w -R 'sif <2> links_count 9' "$V" 2>/dev/null
    refused "$V" inline,size=2M "ended with status 4"
}

@test "an e2fsck that is killed has not judged: a failure, not a refusal" {
    new_volume 16M -t ext4 -b 1024
    mkdir "$WORK/bin"
    printf '#!/bin/sh\nkill -9 $$\n' >"$WORK/bin/e2fsck"
    chmod +x "$WORK/bin/e2fsck"
    PATH=$WORK/bin:$PATH unchanged_with_status 4 "$V" none "was killed by signal 9"
}

@test "a journal that cannot be trusted" {
    new_volume 16M -t ext4 -b 1024
    dd if=/dev/zero of="$V" bs=1024 seek="$(first_journal_block "$V")" count=1 conv=notrunc \
        status=none
    refused "$V" none "cannot be trusted"
    new_volume 16M -t ext4 -b 1024
    debugfs -w -R 'clri <8>' "$V" 2>/dev/null
    refused "$V" inline,size=2M "cannot be trusted"
}

@test "no room: with how much is wanted and how much there is" {
    local free
    new_volume 24M -t ext4 -b 1024 -J size=1
    free=$(header "$V" 'Free blocks')
    refused "$V" inline,size=23M \
        "has no room for a journal of 23552 blocks: $free blocks of 1024 bytes are free"
    new_volume 24M -t ext3 -b 1024 -J size=1
    free=$(header "$V" 'Free blocks')
    refused "$V" inline,size=23M "has no room for a journal of 23552 blocks: $free blocks"
    # The old journal is needed until the new one is there.
    new_volume 24M -t ext4 -b 1024 -J size=10
    refused "$V" inline,size=13M "has no room for a journal of 13312 blocks"
}

@test "the last free block: either it fits or nothing is changed" {
    local options free n status
    for options in "-t ext4 -b 1024" "-t ext3 -b 1024" "-t ext4 -b 4096"; do
        # shellcheck disable=SC2086
        new_volume 24M $options -J size=4
        moved "$V" none
        free=$(header "$V" 'Free blocks')
        bytes=$(header "$V" 'Block size')
        cp "$V" "$WORK/saved"
        for ((n = free - 100; n <= free + 1; n += n < free - 30 ? 10 : 1)); do
            cp "$WORK/saved" "$V"
            if move "$V" "inline,size=$((n * bytes))" >"$WORK/out" 2>&1; then
                fsck_clean "$V" >/dev/null 2>&1
                is_inline "$V"
                fitted=$n
            else
                cmp "$V" "$WORK/saved"
                refused "$V" "inline,size=$((n * bytes))" \
                    "has no room for a journal of $n blocks: $free blocks of $bytes bytes"
            fi
        done
        # Nearly all of it can be used.
        [ "$fitted" -ge $((free - 100)) ]
    done
}

@test "sizes that no journal has" {
    new_volume 16M -t ext4 -b 1024
    refused "$V" inline,size=1023k "of 1023 blocks of 1024 bytes is not possible"
    refused "$V" inline,size=1 "of 0 blocks"
    refused "$V" inline,size=1T "must have 1024 to 10240000"
    new_volume 1M -b 1024 -O ^has_journal -t ext4
    refused "$V" inline "too small for a journal"
}

@test "a block that the volume does not have" {
    new_volume 16M -t ext4 -b 1024
    refused "$V" inline,at=16384 "has no block 16384: its last one is 16383"
    refused "$V" inline,at=18446744073709551615 "has no block"
}

@test "an image file as journal device" {
    new_volume 16M -t ext4
    truncate -s 8M "$WORK/j.img"
    DEVICES=("$WORK/j.img")
    refused "$V" "external=$WORK/j.img" "the kernel takes only a block device"
    refused "$V" "external=$V" "is the volume itself"
    ln -s "$V" "$WORK/link"
    refused "$V" "external=$WORK/link" "is the volume itself"
}

@test "what is no device at all as journal device" {
    new_volume 16M -t ext4
    mkfifo "$WORK/fifo"
    for target in "$WORK/fifo" "$WORK" /dev/null; do
        refused "$V" "external=$target" "is neither a block device nor an image file"
    done
    refused "$V" "external=$WORK/absent" "absent: No such file or directory"
    refused "$V" "external=" "is no placement" || usage "$V" "external=" "is no placement"
}

@test "all reasons at once" {
    new_volume 16M -t ext4 -O ^metadata_csum -b 1024
    set_super "$V" 58 '\2\0'
    set_super "$V" 95 '\200'
    before=$(sha256sum "$V")
    run -3 --separate-stderr "$JBDLAB" check "$V" --to "inline,size=1k,at=99999999"
    [[ "$output" == *"not cleanly unmounted"* ]]
    [[ "$output" == *"found errors"* ]]
    [[ "$output" == *"FEATURE_C31"* ]]
    [[ "$output" == *"of 1 blocks of 1024 bytes is not possible"* ]]
    [[ "$output" == *"has no block 99999999"* ]]
    [ "${#lines[@]}" = 5 ]
    [ "$before" = "$(sha256sum "$V")" ]
    run -3 --separate-stderr "$JBDLAB" check "$V" --to "external=$WORK/absent" --json
    jq -e '.possible == false and (.reasons | length) == 5 and .warnings == []' <<<"$output"
    refused "$V" "inline,size=1k" "found errors"
}

@test "what is no volume" {
    truncate -s 8M "$WORK/zero"
    head -c 8M /dev/urandom >"$WORK/random"
    : >"$WORK/empty"
    printf x >"$WORK/tiny"
    for file in zero random empty tiny; do
        unchanged_with_status 3 "$WORK/$file" none "ext2, ext3 or ext4"
    done
    mkfifo "$WORK/fifo"
    refused "$WORK/fifo" none "is neither a block device nor an image file"
    refused "$WORK" none "is neither a block device nor an image file"
    refused /dev/null none "is neither a block device nor an image file"
    refused "$WORK/absent" none "No such file or directory"
}

@test "a truncated image" {
    local size
    for size in 1023 1024 1500 2047 2048 4096 65536 8M 16383k; do
        new_volume 16M -t ext4 -b 1024
        truncate -s $size "$V"
        refused "$V" none "$V"
        refused "$V" inline,size=2M "$V"
    done
}

@test "a wrong checksum of the superblock" {
    new_volume 16M -t ext4 -O metadata_csum
    set_super "$V" 120 'label'
    refused "$V" none "the checksum of the superblock is wrong"
}

@test "a journal device in place of a volume" {
    truncate -s 8M "$V"
    mke2fs -q -F -O journal_dev "$V"
    refused "$V" none "is a journal device, not a volume"
    refused "$V" inline "is a journal device, not a volume"
}

@test "a file that somebody has locked" {
    new_volume 16M -t ext4
    exec 8<"$V"
    flock 8
    refused "$V" none "is locked by another program"
    exec 8<&-
    moved "$V" none
}

@test "a file that cannot be written" {
    [ "$(id -u)" != 0 ] || skip "root may write everything"
    new_volume 16M -t ext4
    chmod 444 "$V"
    refused "$V" none "Permission denied"
}
