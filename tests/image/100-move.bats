#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Moves on image files, between none and inline: sizes, positions, what stays as it was,
# what a dry run writes (nothing), and the machine output.

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

# new_volume SIZE [MKE2FS OPTION...]: with some files.
new_volume() {
    local i
    mkdir -p "$WORK/files"
    for ((i = 0; i < 20; i++)); do
        head -c $((i * 997 + 1)) /dev/urandom >"$WORK/files/f$i"
    done
    rm -f "$V"
    truncate -s "$1" "$V"
    mke2fs -q -F -d "$WORK/files" "${@:2}" "$V" 2>/dev/null
    # mke2fs does not account for them to a quota.
    [[ "$*" != *quota* ]] || e2fsck -fy "$V" >/dev/null || [ $? = 1 ]
}

files_as_before() {
    local i
    for ((i = 0; i < 20; i++)); do
        debugfs -R "dump f$i $WORK/dumped" "$V" 2>/dev/null
        # debugfs pads what lies in the inode itself.
        cmp -n $((i * 997 + 1)) "$WORK/dumped" "$WORK/files/f$i" || return
    done
}

@test "there and back between none and inline, for all kinds of volumes" {
    local options
    for options in "-t ext3 -b 1024" "-t ext3 -b 4096" "-t ext4 -b 1024" "-t ext4 -b 2048" \
        "-t ext4 -b 4096" "-t ext4 -b 1024 -O ^metadata_csum" "-t ext4 -O ^64bit" \
        "-t ext4 -O ^extents,^64bit" "-t ext4 -I 128" "-t ext4 -O ^flex_bg" \
        "-t ext4 -O ^resize_inode,meta_bg" "-t ext4 -O sparse_super2" \
        "-t ext4 -O ^metadata_csum,uninit_bg" "-t ext4 -O inline_data" \
        "-t ext4 -O bigalloc -C 16384" "-t ext4 -O casefold" "-t ext4 -O quota" \
        "-t ext4 -O metadata_csum_seed" "-t ext4 -O fast_commit" "-t ext4 -g 1024 -b 1024" \
        "-t ext4 -I 1024 -b 4096" "-t ext4 -O stable_inodes,encrypt,verity"; do
        # shellcheck disable=SC2086 # a list of options
        new_volume 40M $options
        echo "$options"
        is_inline "$V"
        moved "$V" none
        is_none "$V"
        moved "$V" inline
        is_inline "$V"
        moved "$V" inline,size=8M,at=end
        is_inline "$V"
        moved "$V" none
        moved "$V" none
        is_none "$V"
        files_as_before
    done
}

@test "blocks of 64 KiB" {
    new_volume 400M -t ext4 -b 65536 -J size=64
    moved "$V" none
    is_none "$V"
    moved "$V" inline,size=70M,at=start
    is_inline "$V"
    moved "$V" inline,size=64M
    files_as_before
}

@test "what comes and goes leaves the counts as they were" {
    local before
    for options in "-b 1024" "-b 4096" "-b 4096 -O ^extents,^64bit" "-O bigalloc -C 16384"; do
        # shellcheck disable=SC2086
        new_volume 64M -t ext4 $options
        moved "$V" none
        before=$(counts)
        moved "$V" inline,size=6M
        [ "$before" != "$(counts)" ]
        moved "$V" inline,size=9M,at=end
        moved "$V" none
        [ "$before" = "$(counts)" ]
    done
}

# Free blocks of the volume and of each group, and the overhead that df subtracts.
counts() {
    dumpe2fs "$V" 2>/dev/null | grep -E '^Free blocks|^ +[0-9]+ free blocks|^Overhead' |
        sed 's/Free blocks: .*-.*//'
}

@test "the overhead counts the blocks of the journal" {
    local none
    new_volume 64M -t ext4 -b 4096
    moved "$V" none
    none=$(header "$V" 'Overhead clusters')
    moved "$V" inline,size=8M
    [ "$(header "$V" 'Overhead clusters')" = $((none + 2048)) ]
}

@test "the size that was asked for is the size that there is" {
    local size
    new_volume 64M -t ext4 -b 1024
    for size in 1M 1025k 4095k 4194305 16M 2M; do
        moved "$V" "inline,size=$size"
        case $size in
        1M) blocks=1024 ;;
        1025k) blocks=1025 ;;
        4095k) blocks=4095 ;;
        4194305) blocks=4096 ;; # whole blocks
        16M) blocks=16384 ;;
        2M) blocks=2048 ;;
        esac
        [ "$(header "$V" 'Total journal blocks')" = "$blocks" ]
        [ "$(debugfs -R 'stat <8>' "$V" 2>/dev/null | sed -n 's/.*Project:.*Size: //p')" = \
            $((blocks * 1024)) ]
    done
}

@test "the standard size is that of mke2fs" {
    local size
    for size in 8M 40M 300M 1100M; do
        new_volume $size -t ext4 -b 4096
        blocks=$(header "$V" 'Total journal blocks')
        moved "$V" none
        moved "$V" inline
        [ "$(header "$V" 'Total journal blocks')" = "$blocks" ]
    done
}

@test "the position that was asked for is where it lies" {
    local count first last
    for options in "-b 1024" "-b 4096" "-b 1024 -O ^extents,^64bit,^metadata_csum"; do
        # shellcheck disable=SC2086
        new_volume 96M -t ext4 $options
        count=$(header "$V" 'Block count')
        moved "$V" inline,size=4M,at=end
        last=$(journal_blocks "$V" | sed 's/.*-//' | sort -n | tail -n 1)
        # Nothing is free behind it but what its tree may have needed.
        [ $((count - last)) -lt 120 ]
        moved "$V" inline,size=4M,at=start
        [ "$(first_journal_block "$V")" -lt $((count / 4)) ]
        moved "$V" inline,size=4M,at=middle
        first=$(first_journal_block "$V")
        [ "$first" -ge $((count / 2)) ]
        [ "$first" -lt $((count / 2 + count / 10)) ]
        moved "$V" inline,size=4M,at=$((count / 8 * 7))
        first=$(first_journal_block "$V")
        [ "$first" -ge $((count / 8 * 7)) ]
        [ "$first" -lt $((count / 8 * 7 + 600)) ]
        files_as_before
    done
}

@test "a block in use gives way to the next free ones" {
    new_volume 32M -t ext4 -b 1024
    moved "$V" none
    moved "$V" inline,size=1M,at=1
    is_inline "$V"
    [ "$(first_journal_block "$V")" -gt 1 ]
    count=$(header "$V" 'Block count')
    # Behind the last block there is nothing: it begins again at the start.
    moved "$V" inline,size=2M,at=$((count - 1))
    is_inline "$V"
}

@test "a dry run writes nothing" {
    local before
    new_volume 32M -t ext4
    before=$(sha256sum "$V")
    for to in none inline,size=8M inline,at=end; do
        run --separate-stderr move "$V" "$to" --dry-run
        [ "$status" = 0 ]
        [[ "$output" == *"would be written so:"*"1. "*"SWITCH"* ]]
        [ "$before" = "$(sha256sum "$V")" ]
    done
    run --separate-stderr "$JBDLAB" check "$V" --to inline,size=8M
    [ "$status" = 0 ]
    [ "$output" = "nothing speaks against it" ]
    [ "$before" = "$(sha256sum "$V")" ]
    [ ! -e "$WORK/state" ]
}

@test "a move to where the journal is does nothing" {
    local before
    new_volume 32M -t ext4
    before=$(sha256sum "$V")
    for to in inline inline,size=4M; do
        run --separate-stderr move "$V" $to
        [ "$status" = 0 ]
        [[ "$output" == *"has its journal there already"* ]]
        [ "$before" = "$(sha256sum "$V")" ]
    done
    moved "$V" none
    before=$(sha256sum "$V")
    moved "$V" none
    [ "$before" = "$(sha256sum "$V")" ]
}

@test "machine output is JSON with the documented keys, and nothing else" {
    new_volume 32M -t ext4 -b 1024
    move "$V" inline,size=8M --json 2>/dev/null >"$WORK/json"
    jq -e '.schema == "jbdlab-moved/1" and .placement == "inline,size=8M" and
        .journal_bytes == 8388608 and (.dry_run | not) and (.nothing_to_do | not) and
        .writes > 5 and .flushes > 2 and .duration_ns > 0 and .journal_device == null and
        .mount_option == null and (.steps | type) == "string"' "$WORK/json"
    [ "$(jq -r .device "$WORK/json")" = "$(realpath "$V")" ]
    move "$V" inline,size=8M --json 2>/dev/null | jq -e .nothing_to_do
    move "$V" none --json --dry-run 2>/dev/null | jq -e '.dry_run and .journal_bytes == 0'
    "$JBDLAB" check "$V" --to none --json 2>/dev/null |
        jq -e '.schema == "jbdlab-check/1" and .possible and .reasons == [] and .warnings == []'
    run --separate-stderr move "$V" inline,size=1T --json
    [ "$status" = 3 ]
    [ -z "$output" ]
}

@test "paths with strange characters" {
    new_volume 16M -t ext4
    for name in 'a b' $'new\nline' "quo\"te'" 'ü,size=1M'; do
        mkdir -p "$WORK/$name"
        cp "$V" "$WORK/$name/$name"
        move "$WORK/$name/$name" none --json 2>/dev/null >"$WORK/json"
        jq -e '.placement == "none"' "$WORK/json"
        is_none "$WORK/$name/$name"
    done
    cp "$V" "$WORK/"$'\xff'
    refused "$WORK/"$'\xff' none "is not valid UTF-8"
}

@test "the backups of the superblock follow" {
    local group
    new_volume 70M -t ext4 -b 1024 -g 8192
    moved "$V" none
    for group in 8193 24577 40961; do
        dumpe2fs -h -o superblock=$group -o blocksize=1024 "$V" >"$WORK/out" 2>/dev/null
        ! grep '^Filesystem features:.*has_journal' "$WORK/out" || return 1
    done
    moved "$V" inline
    for group in 8193 24577 40961; do
        dumpe2fs -h -o superblock=$group -o blocksize=1024 "$V" >"$WORK/out" 2>/dev/null
        grep '^Filesystem features:.*has_journal' "$WORK/out"
        grep '^Journal inode: *8' "$WORK/out"
    done
    # They are good for what they are for.
    dd if=/dev/zero of="$V" bs=1024 seek=1 count=1 conv=notrunc status=none
    run e2fsck -fy -b 8193 -B 1024 "$V"
    [ "$status" = 1 ]
    fsck_clean "$V"
    is_inline "$V"
    files_as_before
}

@test "a damaged backup does not get a right checksum" {
    new_volume 40M -t ext4 -b 1024 -O metadata_csum
    printf x | dd of="$V" bs=1 seek=$((8193 * 1024 + 200)) conv=notrunc status=none
    dd if="$V" of="$WORK/before" bs=1024 skip=8193 count=1 status=none
    moved "$V" none
    dd if="$V" of="$WORK/after" bs=1024 skip=8193 count=1 status=none
    cmp "$WORK/before" "$WORK/after"
}

@test "the backup of the journal's blocks in the superblock follows" {
    new_volume 40M -t ext4 -b 1024 -O ^extents,^64bit
    moved "$V" inline,size=8M,at=end
    blocks=$(journal_blocks "$V")
    # e2fsck takes inode 8 from there when it is damaged (not with extents: it forgets
    # the flag for them).
    debugfs -w -R 'clri <8>' "$V" 2>/dev/null
    run e2fsck -fy "$V"
    [ "$status" = 1 ]
    [ "$blocks" = "$(journal_blocks "$V")" ]
    fsck_clean "$V"
    moved "$V" none
    [ -z "$(header "$V" 'Journal backup')" ]
}
