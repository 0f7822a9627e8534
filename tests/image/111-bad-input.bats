#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What is not what it should be, given to every command: one sentence that names it, the
# documented status, no crash, no wait, and not one byte changed.

# bats sets stderr, and runs each test in a subshell.
# shellcheck disable=SC2154,SC2030,SC2031

bats_require_minimum_version 1.5.0
load ../lib.bash
load ../move.bash

setup() {
    disks_in_memory
    common_setup
    cd "$WORK" || return 1
}

teardown() {
    cd /
    common_teardown
}

# said STATUS WORDS COMMAND...: with one of these statuses ("3 4"), and one message, the last
# on stderr, that has these words.
said() {
    run --separate-stderr timeout 120 "${@:3}" </dev/null
    if [[ " $1 " != *" $status "* ]] || [ "$(grep -c '^jbdlab: ' <<<"$stderr")" != 1 ] ||
        [[ $(tail -n 8 <<<"$stderr") != *"$2"* ]] || grep -q 'Sanitizer\|runtime error' <<<"$stderr"; then
        echo "${*:3}: status $status, not $1, or not \"$2\":"
        echo "$stderr"
        return 1
    fi
}

# volume_commands WORDS FILE: all that is done to a volume.
volume_commands() {
    local before
    before=$(hashes "$2")
    said "3 4" "$1" "$JBDLAB" show "$2"
    said 3 "$1" "$JBDLAB" move "$2" --to none --state-dir state
    said 3 "$1" "$JBDLAB" move "$2" --to inline,size=1M --replay --state-dir state
    said 3 "$1" "$JBDLAB" move "$2" --to inline --lost-journal --state-dir state
    said 3 "$1" "$JBDLAB" move "$2" --to none --remount --state-dir state
    said 3 "${3-$1}" "$JBDLAB" recover "$2" --state-dir state
    said 3 "${3-$1}" "$JBDLAB" recover "$2" --rollback --state-dir state
    said "3 4" "$1" "$JBDLAB" advise "$2" --seconds 1
    run timeout 60 "$JBDLAB" check "$2" --to none
    [ "$status" = 3 ]
    [[ $output == *"$1"* ]]
    said "2 3" "$2" "$JBDLAB" tiobench --raw --target "$2" --size 1
    said "2 3 4" "$2" "$JBDLAB" bench "$2" --workload dd
    [ "$(hashes "$2")" = "$before" ]
    [ -z "$(ls -A state/moves 2>/dev/null)" ]
}

# text_commands FILE: all that reads results, plans and bundles.
text_commands() {
    local before
    before=$(hashes "$1")
    said "2 4" "$1" "$JBDLAB" import "$1" --output "$WORK/made"
    said "2 4" "$1" "$JBDLAB" compare "$1"
    said "2 4" "$1" "$JBDLAB" report "$1"
    said "2 4" "$1" "$JBDLAB" audit "$1"
    said "2 4" "$1" "$JBDLAB" run "$1" --dry-run
    said "2 3 4" "$1" "$JBDLAB" run --resume "$1"
    said "2 3 4" "$1" "$JBDLAB" run --restore "$1"
    [ ! -e "$WORK/made" ]
    [ "$(hashes "$1")" = "$before" ]
}

image() {
    rm -f "$1"
    truncate -s "$2" "$1"
    mke2fs -q -F "${@:3}" "$1" 2>/dev/null
}

# poke FILE OFFSET BYTES: bytes as for printf.
poke() {
    printf '%b' "$3" | dd of="$1" bs=1 seek=$(($2)) conv=notrunc status=none
}

@test "empty, small, zeroed, random and truncated files" {
    : >empty
    printf x >tiny
    truncate -s 4M zeroed
    head -c 4M /dev/urandom >random
    image cut 8M -t ext4 -b 1024
    truncate -s 3M cut
    volume_commands "too small to hold" empty
    volume_commands "too small to hold" tiny
    volume_commands "holds no ext2, ext3 or ext4 volume" zeroed "has no ext2/ext3/ext4 superblock"
    volume_commands "holds no ext2, ext3 or ext4 volume" random "has no ext2/ext3/ext4 superblock"
    volume_commands "is truncated or the superblock is damaged: copy it again" cut
    for file in empty tiny zeroed random; do text_commands $file; done
}

@test "a CD image" {
    truncate -s 1M cd
    poke cd 32768 '\01CD001\01\0LINUX'
    poke cd 34816 '\0377CD001\01'
    volume_commands "holds no ext2, ext3 or ext4 volume" cd "has no ext2/ext3/ext4 superblock"
    text_commands cd
}

@test "pipes, directories, devices that are no disks" {
    mkfifo pipe
    mkdir directory
    for file in pipe directory /dev/null; do
        local what="neither a block device nor an image file"
        said 3 "$what" "$JBDLAB" show $file
        said 3 "$what" "$JBDLAB" move $file --to none
        said 3 "$what" "$JBDLAB" recover $file
        said "3 4" "$what" "$JBDLAB" advise $file --seconds 1
        said "2 3" "$file" "$JBDLAB" tiobench --raw --target $file --size 1
        [ $file = directory ] || said "2 3 4" "$file" "$JBDLAB" bench $file --workload dd
        [ "$file" = directory ] || text_commands $file
    done
    text_commands directory
    [ "$(ls)" = "$(printf 'directory\npipe')" ]
}

@test "links to nowhere and in circles" {
    ln -s nowhere dangling
    ln -s circle circle
    for file in dangling circle; do
        local what="$file: No such file or directory"
        [ $file = dangling ] || what="Too many levels of symbolic links"
        said "3 4" "$what" "$JBDLAB" show $file
        said "3 4" "$what" "$JBDLAB" move $file --to none
        said "3 4" "$what" "$JBDLAB" recover $file
        said "3 4" "$what" "$JBDLAB" advise $file --seconds 1
        said "2 3 4" "$file" "$JBDLAB" tiobench --raw --target $file --size 1
        said "2 3 4" "$file" "$JBDLAB" bench $file --workload dd
        said "2 3 4" "$file" "$JBDLAB" witness $file --time 1s
        text_commands $file
    done
    [ ! -e nowhere ]
}

@test "a sparse file of 16 TiB" {
    truncate -s 16T huge 2>/dev/null || truncate -s 15T huge || skip "no file of that size here"
    before=$(stat -c '%b %s %y' huge)
    said 3 "holds no ext2" "$JBDLAB" show huge
    said 3 "holds no ext2" "$JBDLAB" move huge --to none
    said 3 "has no ext2" "$JBDLAB" recover huge
    said 4 "read huge: File too large" "$JBDLAB" import huge
    [ "$(stat -c '%b %s %y' huge)" = "$before" ]
    # A volume of that size, of which hardly anything is written.
    mke2fs -q -F -t ext4 -O ^resize_inode,^has_journal -E lazy_itable_init=1,nodiscard \
        -N 100000 huge 2>/dev/null || skip "mke2fs makes no such volume here"
    timeout 120 "$JBDLAB" show huge | grep -q '^Size: *1[56]T'
}

# bats test_tags=slow
@test "paths with blanks, newlines, controls, quotes and letters of other languages" {
    local name
    # shellcheck disable=SC2016 # for nobody to expand
    for name in 'two words' $'new\nline' $'\e[31mred' 'Größe €' '-dash' 'a"b' "a'b" '$(touch ran)' \
        'per%sent%n' 'back\slash' 'size=1,x'; do
        image ./"$name" 8M -t ext4 -b 1024
        {
            timeout 60 "$JBDLAB" show ./"$name"
            timeout 60 "$JBDLAB" move ./"$name" --to none --state-dir state
            timeout 60 "$JBDLAB" move ./"$name" --to inline,size=1M --state-dir state
            timeout 60 "$JBDLAB" recover ./"$name" --state-dir state
        } >out 2>&1
        [ "$(tr -d '\n\t' <out | LC_ALL=C grep -c '[[:cntrl:]]')" = 0 ] || { cat -v out; return 1; }
        fsck_clean ./"$name" >/dev/null
        : >./"$name"
        said 3 "too small" "$JBDLAB" move ./"$name" --to none --state-dir state
        said 2 "is empty" "$JBDLAB" import ./"$name"
        rm ./"$name"
        mkdir ./"$name"
        timeout 60 "$JBDLAB" bench ./"$name" --workload dd --set bs=4k --set count=1 --quiet >/dev/null
        timeout 60 "$JBDLAB" witness ./"$name" --time=50ms >/dev/null
        timeout 60 "$JBDLAB" import "$BATS_TEST_DIRNAME/../report/in/tiobench-classic.txt" \
            --output ./"$name/b" >/dev/null
        timeout 60 "$JBDLAB" report ./"$name/b" >/dev/null
        rm -r ./"$name"
    done
    [ ! -e ran ]
}

@test "a path that is no text is refused where it could not be recorded" {
    local name=$'\xff\xfe'
    image "$name" 8M -t ext4 -b 1024
    before=$(sha256sum <"$name")
    said 3 "" "$JBDLAB" move "$name" --to none --state-dir state
    [ "$(sha256sum <"$name")" = "$before" ]
    timeout 60 "$JBDLAB" show "$name" >/dev/null
}

# bats test_tags=slow
@test "superblocks with absurd fields: refused, or moved and whole" {
    local field value n=0
    image good 8M -t ext4 -b 1024 -O ^metadata_csum
    # Counts, sizes and places: of blocks, inodes, groups, descriptors, the journal, first of
    # all those that are divided by or shifted with.
    for field in 0x00 0x04 0x14 0x18 0x1c 0x20 0x24 0x28 0x4c 0x54 0x58 0x5c 0x60 0x64 0xce 0xd0 \
        0xe0 0xe4 0xfe 0x104 0x150 0x174; do
        for value in '\0\0\0\0' '\0377\0377\0377\0377' '\0\0\0\0200'; do
            cp good bad
            poke bad 1024+$field "$value"
            before=$(sha256sum <bad)
            run timeout 60 "$JBDLAB" move bad --to none --verify none --state-dir state
            [ "$status" = 0 ] || [ "$status" = 3 ] || { echo "$field $value: $status $output"; return 1; }
            if [ "$status" = 3 ]; then
                n=$((n + 1))
                grep -q '^jbdlab: move: .*bad' <<<"$output"
                [ "$(sha256sum <bad)" = "$before" ]
            fi
        done
    done
    [ $n -ge 30 ]
}

# inode8 IMAGE: where inode 8 lies, in bytes.
inode8() {
    debugfs -R 'imap <8>' "$1" 2>/dev/null |
        sed -n 's/.*located at block \([0-9]*\), offset \(0x[0-9a-f]*\).*/\1*4096+\2/p'
}

# untrusted WORDS: the journal of bad is not touched, nor trusted.
untrusted() {
    local before
    before=$(sha256sum <bad)
    said 3 "$1" \
        "$JBDLAB" move bad --to none --state-dir state
    said 3 "$1" "$JBDLAB" move bad --to inline,size=8M --state-dir state
    said 3 "$1" "$JBDLAB" move bad --to inline --lost-journal --state-dir state
    said 3 "$1" "$JBDLAB" move bad --to none --dry-run --state-dir state
    [ "$(sha256sum <bad)" = "$before" ]
    cp good bad
}

@test "journals that lie about their size, their place and their blocks" {
    local at jsb
    image good 32M -t ext4 -b 4096 -J size=4 -O ^metadata_csum,^64bit
    at=$(inode8 good)
    jsb=$(($(debugfs -R 'bmap <8> 0' good 2>/dev/null) * 4096))
    cp good bad
    poke bad $jsb X
    untrusted "the journal has no valid superblock"
    poke bad $jsb+12 '\0\0\04\0'
    untrusted "blocks of 1024 bytes, where 4096 belong"
    poke bad $jsb+16 '\0377\0377\0377\0377'
    untrusted "says that it has 4294967295 blocks, but there are only 1024"
    poke bad $jsb+28 '\0\0\0377\0'
    untrusted "starts behind its end"
    poke bad $jsb+40 '\0\0\0\020'
    untrusted "checksum of the journal superblock is wrong"
    poke bad "$at+40+12+8" '\0377\0377\0377\0377'
    untrusted "lies outside of the volume"
    poke bad "$at+40+12+4" '\02\0'
    untrusted "hole at block 2"
    poke bad "$at+40+6" '\03\0' # an index block that is data
    untrusted "the journal cannot be read"
    poke bad "$at+4" '\0\0\0\0'
    untrusted "impossible size"
    # An index block that points to itself.
    poke bad "$at+40+6" '\01\0'
    poke bad "$at+40+12" '\0\0\0\0\0240\017\0\0\0\0\0\0'
    poke bad $((4000 * 4096)) '\012\0363\01\0\0124\01\01\0\0\0\0\0'
    poke bad $((4000 * 4096 + 12)) '\0\0\0\0\0240\017\0\0\0\0\0\0'
    untrusted "the journal cannot be read"
}

@test "indirect blocks of a journal that point to themselves" {
    local at
    image good 64M -t ext3 -b 4096 -J size=16
    at=$(inode8 good)
    printf '\240\017\0\0%.0s' {1..1024} | dd of=good bs=4096 seek=4000 conv=notrunc status=none
    poke good "$at+40+52" '\0240\017\0\0'
    poke good "$at+40+56" '\0240\017\0\0'
    cp good bad
    untrusted "the journal cannot be read"
}

@test "an inode of a journal that no journal uses" {
    image bad 8M -t ext4 -b 1024 -O ^metadata_csum,^resize_inode,^dir_index
    poke bad 1024+0x5c '\0\0\0\0'
    before=$(sha256sum <bad)
    said 3 "has no journal, but the inode of one is in use; run \"e2fsck -f" \
        "$JBDLAB" move bad --to inline,size=1M --state-dir state
    [ "$(sha256sum <bad)" = "$before" ]
}

@test "without e2fsck nothing is moved, and what is missing is named" {
    local before
    image v 8M -t ext4 -b 1024
    before=$(sha256sum <v)
    mkdir bin
    # What does not run is not what would be found further on.
    printf 'no program' >bin/e2fsck
    chmod 755 bin/e2fsck
    said "3 4" "e2fsck" env PATH="$WORK/bin:$PATH" "$JBDLAB" move v --to none --state-dir state
    [ "$(sha256sum <v)" = "$before" ]
    [ -z "$(ls -A state/moves 2>/dev/null)" ]
}

@test "a directory of results that cannot be written, or made" {
    local text=$BATS_TEST_DIRNAME/../report/in/tiobench-classic.txt
    : >file
    said "3 4" "file/b" "$JBDLAB" import "$text" --output file/b
    said "3 4" "none/b" "$JBDLAB" import "$text" --output none/b
    said 3 "file exists already" "$JBDLAB" import "$text" --output file
    ln -s nowhere dangling
    said "3 4" "dangling" "$JBDLAB" import "$text" --output dangling
    said "3 4" "/proc/b" "$JBDLAB" import "$text" --output /proc/b
    [ "$(ls)" = "$(printf 'dangling\nfile')" ]
    said "3 4" "/proc" "$JBDLAB" bench /proc --workload dd --set bs=4k --set count=1
    said "3 4" "/proc" "$JBDLAB" tiobench --dir /proc --size 1 --threads 1
    said "3 4" "/proc" "$JBDLAB" witness /proc --time=1s
}
