#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# show on what is no volume, is damaged, or was made to harm: one clear sentence and status
# 3, or the volume with a note; never a crash, never without end.

# bats sets stderr and stderr_lines, and runs each test in a subshell.
# shellcheck disable=SC2154,SC2030,SC2031

bats_require_minimum_version 1.5.0
load ../lib.bash

setup() {
    common_setup
    cd "$WORK" || return 1
}

teardown() {
    cd /
    common_teardown
}

# refused FILE WORDS: show must refuse it with one sentence that has the words.
refused() {
    run --separate-stderr timeout 20 "$JBDLAB" show "$1"
    [ "$status" = 3 ]
    [ -z "$output" ]
    [ "$(grep -cv '^  ' <<<"$stderr")" = 1 ] # candidates are indented
    [[ "$stderr" == "jbdlab: "*"$2"* ]]
}

# noted FILE WORDS: show must succeed, with a note that has the words.
noted() {
    run --separate-stderr timeout 20 "$JBDLAB" show "$1"
    [ "$status" = 0 ]
    [[ "$output" == *"Note: "*"$2"* ]]
}

# image NAME SIZE MKE2FS-ARGUMENTS...
image() {
    local name=$1 size=$2
    shift 2
    rm -f "$name"
    truncate -s "$size" "$name"
    mke2fs -q -F "$@" "$name"
}

# poke FILE OFFSET BYTES: bytes as for printf.
poke() {
    printf '%b' "$3" | dd of="$1" bs=1 seek=$(($2)) conv=notrunc status=none
}

@test "empty, small, zeroed and random files hold no volume" {
    : >empty
    head -c 1000 /dev/zero >small
    truncate -s 16M zeroed
    head -c 4M /dev/urandom >random
    refused empty "too small to hold"
    refused small "too small to hold"
    refused zeroed "holds no ext2, ext3 or ext4 volume"
    refused random "holds no ext2, ext3 or ext4 volume"
}

@test "directories, pipes and what is missing are named as such" {
    mkdir directory
    mkfifo pipe
    refused directory "neither a block device nor an image file"
    refused pipe "neither a block device nor an image file"
    refused /dev/null "neither a block device nor an image file"
    refused missing "No such file or directory"
    refused UUID=00000000-1111-2222-3333-444444444444 "no device has UUID="
}

@test "another signature is named" {
    truncate -s 16M swap
    mkswap swap >/dev/null 2>&1
    refused swap "holds no ext2, ext3 or ext4 volume and no journal, but swap"
}

@test "a truncated image is told as such" {
    image a.img 32M -t ext4
    truncate -s 20M a.img
    refused a.img "it is truncated or the superblock is damaged"
    truncate -s 2k a.img
    refused a.img "it is truncated or the superblock is damaged"
}

@test "a superblock with a wrong checksum is damage" {
    image a.img 32M -t ext4 -O metadata_csum
    poke a.img 1024+0x78 X
    refused a.img "checksum of the superblock is wrong"
}

@test "impossible numbers in the superblock are damage" {
    image a.img 32M -t ext4 -O ^metadata_csum
    cp a.img b.img
    poke b.img 1024+0x18 '\0377'
    refused b.img "impossible block size"
    cp a.img b.img
    poke b.img 1024+4 '\0\0\0\0'
    refused b.img "impossible block numbers"
    cp a.img b.img
    poke b.img 1024+4 '\0377\0377\0377\0377'
    refused b.img "truncated or the superblock is damaged"
    cp a.img b.img
    poke b.img 1024+0x150 '\0377\0377\0377\0377'
    poke b.img 1024+0x18 '\06'
    refused b.img "truncated or the superblock is damaged"
}

@test "inodes per group, blocks per group, inode and descriptor sizes of nonsense" {
    image a.img 32M -t ext4 -O ^metadata_csum
    local offset value
    # s_inodes_count, s_blocks_per_group, s_clusters_per_group, s_inodes_per_group,
    # s_inode_size, s_reserved_gdt_blocks, s_desc_size, s_first_meta_bg, s_log_groups_per_flex
    for offset in 0x00 0x20 0x24 0x28 0x58 0xce 0xfe 0x104 0x174; do
        for value in '\0\0\0\0' '\0377\0377\0377\0377' '\01\0\0\0' '\0\0\0\0200'; do
            cp a.img b.img
            poke b.img 1024+$offset "$value"
            run --separate-stderr timeout 20 "$JBDLAB" show b.img
            [ "$status" = 0 ] || [ "$status" = 3 ]
        done
    done
}

@test "a journal superblock of nonsense becomes a note" {
    image a.img 32M -t ext4 -b 4096 -J size=4 -O ^metadata_csum
    local at
    at=$(($(debugfs -R 'bmap <8> 0' a.img 2>/dev/null) * 4096))
    cp a.img b.img
    poke b.img $at X
    noted b.img "the journal has no valid superblock"
    cp a.img b.img
    poke b.img $at+12 '\0\0\04\0'
    noted b.img "blocks of 1024 bytes, where 4096 belong"
    cp a.img b.img
    poke b.img $at+16 '\0377\0377\0377\0377'
    noted b.img "says that it has 4294967295 blocks, but there are only 1024"
    cp a.img b.img
    poke b.img $at+64 '\0377\0377\0377\0377'
    noted b.img "the journal has no valid superblock"
    cp a.img b.img
    poke b.img $at+28 '\0\0\0377\0'
    noted b.img "starts behind its end"
    cp a.img b.img
    poke b.img $at+40 '\0\0\0\020'
    noted b.img "checksum of the journal superblock is wrong"
}

@test "a journal device with a damaged journal is shown" {
    image j.img 16M -O journal_dev -b 4096
    poke j.img 4096 X
    noted j.img "the journal has no valid superblock"
    image j.img 16M -O journal_dev -b 4096
    poke j.img 4096+48 X
    noted j.img "two superblocks of the journal device have different UUIDs"
}

# inode8 IMAGE: where inode 8 lies, in bytes.
inode8() {
    debugfs -R 'imap <8>' "$1" 2>/dev/null |
        sed -n 's/.*located at block \([0-9]*\), offset \(0x[0-9a-f]*\).*/\1*4096+\2/p'
}

@test "extents of the journal that lie outside, leave holes or run in circles" {
    image a.img 32M -t ext4 -b 4096 -J size=4 -O ^metadata_csum,^64bit
    local at
    at=$(inode8 a.img)
    [ -n "$at" ]
    cp a.img b.img
    poke b.img "$at+40+12+8" '\0377\0377\0377\0377' # start of the first extent
    noted b.img "lies outside of the volume"
    cp a.img b.img
    poke b.img "$at+40+12" '\05' # its logical block
    noted b.img "hole at block 0"
    cp a.img b.img
    poke b.img "$at+40+12+4" '\02\0' # its length
    noted b.img "hole at block 2"
    cp a.img b.img
    poke b.img "$at+40+2" '\01\0' # only one entry
    noted b.img "but its size says 1024"
    cp a.img b.img
    poke b.img "$at+40+6" '\03\0' # depth: the extent becomes an index to data
    noted b.img "the journal cannot be read"
    cp a.img b.img
    poke b.img "$at+40+2" '\0\0' # no entries
    noted b.img "the journal cannot be read"
    cp a.img b.img
    poke b.img "$at+4" '\0\0\0\0' # size
    noted b.img "impossible size"
    cp a.img b.img
    poke b.img "$at" '\0\0' # mode
    noted b.img "not a file with blocks"
    # An index block that points to itself.
    cp a.img b.img
    poke b.img "$at+40+6" '\01\0'
    local block=4000
    poke b.img "$at+40+12" "\\0\\0\\0\\0\\0240\\017\\0\\0\\0\\0\\0\\0"
    poke b.img $((block * 4096)) '\012\0363\01\0\0124\01\01\0\0\0\0\0'
    poke b.img $((block * 4096 + 12)) '\0\0\0\0\0240\017\0\0\0\0\0\0'
    noted b.img "the journal cannot be read"
}

@test "indirect blocks that point to themselves" {
    image a.img 64M -t ext3 -b 4096 -J size=16
    local at
    at=$(inode8 a.img)
    local block=4000
    # A block full of pointers to itself, as double and triple indirect block.
    printf '\240\017\0\0%.0s' {1..1024} | dd of=a.img bs=4096 seek=$block conv=notrunc status=none
    poke a.img "$at+40+52" '\0240\017\0\0'
    poke a.img "$at+40+56" '\0240\017\0\0'
    noted a.img "the journal cannot be read"
}

@test "a journal that is both inline and external, or nowhere" {
    image a.img 32M -t ext4 -O ^metadata_csum
    cp a.img b.img
    poke b.img 1024+0xd0 X
    noted b.img "names both an inode and a device as journal"
    cp a.img b.img
    poke b.img 1024+0xe0 '\0\0\0\0'
    noted b.img "there is a journal, but not where"
    cp a.img b.img
    poke b.img 1024+0xe0 '\0377\0377\0377\0377'
    noted b.img "its inode 4294967295 does not exist"
}
