#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# show on image files: every fact agrees with what dumpe2fs and debugfs say, nothing is
# written, and the choice of columns works.

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

# image NAME SIZE MKE2FS-ARGUMENTS...
image() {
    local name=$1 size=$2
    shift 2
    rm -f "$name"
    truncate -s "$size" "$name"
    mke2fs -q -F "$@" "$name"
}

# fact IMAGE JQ-PATH: a fact of the one device.
fact() {
    "$JBDLAB" show --json "$1" | jq -r ".devices[0]$2"
}

# notes IMAGE: how many there are.
notes() {
    fact "$1" '.notes | length'
}

# super IMAGE FIELD: a line of dumpe2fs -h.
super() {
    dumpe2fs -h "$1" 2>/dev/null | sed -n "s/^$2: *//p"
}

# state IMAGE: what the column says.
state() {
    "$JBDLAB" show --columns state "$1" | tail -1
}

@test "inline journals of ext3 and ext4 agree with dumpe2fs and debugfs at 1k, 2k, 4k" {
    local type block
    for type in ext3 ext4; do
        for block in 1024 2048 4096; do
            image a.img 96M -t "$type" -b "$block" -J size=8 -L "$type$block"
            [ "$(fact a.img .type)" = "$type" ]
            [ "$(fact a.img .label)" = "$type$block" ]
            [ "$(fact a.img .uuid)" = "$(super a.img 'Filesystem UUID')" ]
            [ "$(fact a.img .block_count)" = "$(super a.img 'Block count')" ]
            [ "$(fact a.img .free_bytes)" = $(($(super a.img 'Free blocks') * block)) ]
            [ "$(fact a.img .block_size_bytes)" = "$block" ]
            [ "$(fact a.img .journal.placement)" = inline ]
            [ "$(fact a.img .journal.size_bytes)" = $((8 << 20)) ]
            [ "$(fact a.img .journal.block_count)" = $(((8 << 20) / block)) ]
            [ "$(fact a.img .journal.first_block)" = \
                "$(debugfs -R 'bmap <8> 0' a.img 2>/dev/null)" ]
            [ "$(fact a.img .journal.problem)" = null ]
            [ "$(notes a.img)" = 0 ]
        done
    done
}

@test "the extents of a block-mapped journal are those that debugfs lists" {
    image a.img 64M -t ext3 -b 1024 -J size=8
    fact a.img '.journal.extents[] | range(.first_block; .first_block + .block_count)' >ours
    [ "$(wc -l <ours)" = 8192 ]
    local i
    for i in 0 11 12 267 268 523 524 4000 8191; do
        [ "$(debugfs -R "bmap <8> $i" a.img 2>/dev/null)" = "$(sed -n "$((i + 1))p" ours)" ]
    done
}

@test "a journal in pieces is shown with all of them" {
    image a.img 64M -t ext4 -b 1024 -O ^has_journal
    # Free space in pieces: every other file of 300 kB is removed again.
    local i
    head -c 300k /dev/zero | tr '\0' x >piece
    for ((i = 0; i < 180; i++)); do echo "write piece f$i"; done >commands
    for ((i = 0; i < 180; i += 2)); do echo "rm f$i"; done >>commands
    debugfs -w -f commands a.img >/dev/null 2>&1
    tune2fs -J size=16 a.img >/dev/null
    [ "$(fact a.img '.journal.extents | length')" -gt 2 ]
    [ "$(fact a.img '.journal.extents | map(.block_count) | add')" = 16384 ]
    run --separate-stderr "$JBDLAB" show a.img
    [[ "$output" == *"Position: "*" extents: "*" ..."* ]]
}

@test "ext2 has no journal" {
    image a.img 16M -t ext2
    [ "$(fact a.img .type)" = ext2 ]
    [ "$(fact a.img .journal.placement)" = none ]
    [ "$(fact a.img .journal.size_bytes)" = null ]
    [ "$(fact a.img .journal.shares_disk)" = null ]
}

@test "the features are those of dumpe2fs, for several sets of them" {
    local features
    for features in '' metadata_csum,64bit '^metadata_csum,^64bit' '^64bit,^extents' \
        bigalloc fast_commit orphan_file quota,project mmp inline_data; do
        image a.img 64M -t ext4 ${features:+-O "$features"}
        [ "$(fact a.img '.features | sort | join(" ")')" = \
            "$(super a.img 'Filesystem features' | tr ' ' '\n' | sort | xargs)" ]
        [ "$(notes a.img)" = 0 ]
    done
}

@test "bigalloc: free space is counted in blocks, not clusters" {
    image a.img 64M -t ext4 -b 1024 -O bigalloc -C 16384
    [ "$(fact a.img .free_bytes)" = $(($(super a.img 'Free blocks') * 1024)) ]
    [ "$(fact a.img .free_bytes)" -gt $((32 << 20)) ]
}

@test "fast commit blocks of an inline journal are told" {
    image a.img 256M -t ext4 -O fast_commit
    [ "$(fact a.img .journal.fast_commit_block_count)" -gt 0 ]
}

@test "journal devices at 1k, 2k, 4k are whole, free and empty" {
    local block
    for block in 1024 2048 4096; do
        image j.img 16M -O journal_dev -b "$block"
        [ "$(fact j.img .kind)" = journal_device ]
        [ "$(fact j.img .type)" = journal ]
        [ "$(fact j.img .journal.size_bytes)" = $((16 << 20)) ]
        [ "$(fact j.img .journal.empty)" = true ]
        [ "$(fact j.img '.journal.users | length')" = 0 ]
        [ "$(notes j.img)" = 0 ]
        [ "$(state j.img)" = free ]
    done
}

# attach VOLUME JOURNAL: an external journal, made by hand, since tune2fs wants devices.
attach() {
    local uuid user
    uuid=$(super "$2" 'Filesystem UUID')
    user=$(super "$1" 'Filesystem UUID')
    printf '%s\n' 'feature has_journal' "ssv journal_uuid $uuid" 'ssv journal_dev 0x703' |
        debugfs -w -f /dev/stdin "$1" >/dev/null 2>&1
    set_users "$2" 1
    printf '%b' "$(tr -d - <<<"$user" | sed 's/../\\x&/g')" |
        dd of="$2" bs=1 seek=$((4096 + 256)) conv=notrunc status=none
}

# set_users JOURNAL COUNT: in a journal superblock at 4096.
set_users() {
    printf '%b' "\\0\\0\\0\\0$2" | dd of="$1" bs=1 seek=$((4096 + 64)) conv=notrunc status=none
}

@test "an external journal is found by its UUID, and its user the other way" {
    image a.img 32M -t ext4 -b 4096 -O ^has_journal
    image j.img 16M -O journal_dev -b 4096
    attach a.img j.img
    "$JBDLAB" show --json a.img j.img >out
    [ "$(jq -r '.devices[0].journal.placement' out)" = external ]
    [ "$(jq -r '.devices[0].journal.external.device' out)" = "$WORK/j.img" ]
    [ "$(jq -r '.devices[0].journal.external.uuid' out)" = "$(super j.img 'Filesystem UUID')" ]
    [ "$(jq -r '.devices[0].journal.external.recorded_device_number' out)" = 7:3 ]
    [ "$(jq -r '.devices[0].journal.size_bytes' out)" = $((16 << 20)) ]
    [ "$(jq -r '.devices[1].journal.users[0].path' out)" = "$WORK/a.img" ]
    [ "$(jq -r '.devices[].notes[]' out | grep -cv 'same disk')" = 0 ]
    [ "$(state j.img)" = clean ]
}

@test "an external journal that is nowhere is said to be missing" {
    image a.img 32M -t ext4 -b 4096 -O ^has_journal
    image j.img 16M -O journal_dev -b 4096
    attach a.img j.img
    run --separate-stderr "$JBDLAB" show a.img
    [ "$status" = 0 ]
    [[ "$output" == *"Journal device:      not found"* ]]
    [[ "$output" == *"Note: "*"was found on no device"* ]]
}

@test "a journal that does not list its volume, or lists two, is told" {
    image a.img 32M -t ext4 -b 4096 -O ^has_journal
    image j.img 16M -O journal_dev -b 4096
    attach a.img j.img
    set_users j.img 2
    [[ "$(fact j.img '.notes[]')" == *"lists 2 users"* ]]
    set_users j.img 0
    [[ "$("$JBDLAB" show a.img j.img)" == *"does not list it as a user"* ]]
}

@test "the state is told: not clean, errors, needs recovery, orphans" {
    image a.img 32M -t ext4
    [ "$(state a.img)" = clean ]
    debugfs -w -R 'ssv state 0' a.img 2>/dev/null
    [ "$(state a.img)" = "not clean" ]
    debugfs -w -R 'ssv state 2' a.img 2>/dev/null
    [ "$(state a.img)" = "not clean, errors" ]
    [[ "$(fact a.img '.notes[]')" == *"flagged errors"* ]]
    debugfs -w -R 'ssv state 1' a.img 2>/dev/null
    debugfs -w -R 'feature needs_recovery' a.img >/dev/null 2>&1
    [ "$(state a.img)" = "needs recovery" ]
    [ "$(fact a.img .state.orphans)" = false ]
    debugfs -w -R 'ssv last_orphan 12' a.img 2>/dev/null
    [ "$(fact a.img .state.orphans)" = true ]
}

@test "features that libext2fs does not know are shown with their volume" {
    image a.img 32M -t ext4 -O ^metadata_csum
    # Bit 31 of the incompatible features, in the fourth byte at 1024 + 0x60.
    printf '\200' | dd of=a.img bs=1 seek=$((1024 + 0x63)) conv=notrunc status=none
    run --separate-stderr "$JBDLAB" show a.img
    [ "$status" = 0 ]
    [[ "$output" == *FEATURE_I31* ]]
    [[ "$output" == *"features that libext2fs does not know: FEATURE_I31"* ]]
}

@test "nothing is written" {
    image a.img 32M -t ext4
    image j.img 16M -O journal_dev
    local before
    before=$(sha256sum ./*.img; stat -c '%y %z' ./*.img)
    "$JBDLAB" show a.img j.img >/dev/null
    "$JBDLAB" show --json a.img j.img >/dev/null
    [ "$(sha256sum ./*.img; stat -c '%y %z' ./*.img)" = "$before" ]
}

@test "columns can be chosen, listed and misspelt" {
    image a.img 32M -t ext4 -J size=4
    run --separate-stderr "$JBDLAB" show --columns journal-size,type,placement a.img
    [ "$status" = 0 ]
    [ "${lines[0]}" = "JOURNAL TYPE PLACEMENT" ]
    [ "${lines[1]}" = "     4M ext4 inline" ]
    local column count=0
    while read -r column _; do
        [ "$("$JBDLAB" show --columns "$column" a.img | wc -l)" = 2 ]
        count=$((count + 1))
    done < <("$JBDLAB" show --columns help | grep '^[a-z]') # not what goes on below
    [ "$count" -gt 20 ]
    run --separate-stderr "$JBDLAB" show --columns sice a.img
    [ "$status" = 2 ]
    [[ "$stderr" == *'no column "sice"; did you mean "size"?'* ]]
    run --separate-stderr "$JBDLAB" show --columns , a.img
    [ "$status" = 2 ]
}

@test "a label cannot steer the terminal, and stays valid JSON" {
    image a.img 16M -t ext4 -L $'a\e[31mb\xff'
    run --separate-stderr "$JBDLAB" show a.img
    [ "$status" = 0 ]
    [[ "$output" != *$'\e'* ]]
    [ "$(fact a.img .label)" = 'a?[31mb?' ]
    image a.img 16M -t ext4 -L 'größe'
    [ "$(fact a.img .label)" = größe ]
}

@test "several devices: each has its block, one that fails does not hide the others" {
    image a.img 16M -t ext4
    run --separate-stderr "$JBDLAB" show a.img missing.img a.img
    [ "$status" = 3 ]
    [ "$(grep -c '^Device:' <<<"$output")" = 1 ]
    [ "$stderr" = "jbdlab: missing.img: No such file or directory" ]
    run --separate-stderr "$JBDLAB" show --json a.img missing.img
    [ "$status" = 3 ]
    [ "$(jq -r '.devices | length' <<<"$output")" = 1 ]
    [ "$(jq -r '.unreadable[] | select(.path == "missing.img").reason' <<<"$output")" = \
        "missing.img: No such file or directory" ]
}
