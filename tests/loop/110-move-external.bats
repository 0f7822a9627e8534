#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Moves to, from and between external journals: sizes, users, what becomes of the devices.

bats_require_minimum_version 1.5.0

load ../lib
load ../move

setup() {
    need_loop
    disks_in_memory
    common_setup
    DEVICES=()
}

teardown() { common_teardown; }

# new_volume [MKE2FS OPTION...]: on V, with files.
new_volume() {
    mkdir -p "$WORK/mnt"
    mke2fs -q -F "$@" "$V"
    mount "$V" "$WORK/mnt"
    fill_volume "$WORK/mnt" 20
    umount "$WORK/mnt"
}

good() { # VOLUME DEVICE BLOCKS
    is_external "$1" "$2"
    [ "$(header "$2" 'Total journal blocks')" = "$3" ]
    [ "$(header "$2" 'Block count')" = "$3" ]
    [ "$(header "$2" 'Block size')" = "$(header "$1" 'Block size')" ]
    [ "$(users "$2")" = "$(header "$1" 'Filesystem UUID')" ]
    mount -t ext4 "$1" "$WORK/mnt"
    check_files "$WORK/mnt"
    umount "$WORK/mnt"
    fsck_clean "$1" "$2"
}

@test "the smallest journal device that is accepted is one that mounts" {
    loop_new V 64M
    loop_new A 16M
    for kind in "1024 1026" "2048 1025" "4096 1025" "1024 1040 fast_commit" \
        "4096 1040 fast_commit"; do
        read -r bytes least feature <<<"$kind"
        mke2fs -q -F -t ext4 -b "$bytes" ${feature:+-O "$feature"} "$V"
        wipefs -qa "$A"
        DEVICES=("$A")
        refused "$V" "external=$A,size=$(((least - 1) * bytes))" "must have $least to"
        refused "$V" "external=$A,size=512" "must have $least to"
        DEVICES=()
        moved "$V" "external=$A,size=$((least * bytes))"
        [ "$(header "$A" 'Block count')" = "$least" ]
        is_external "$V" "$A"
        mounts_fine "$V"
        mounts_fine "$V"
        fsck_clean "$V"
        moved "$V" inline
    done
}

# bats test_tags=slow
@test "the size that was asked for is the size that there is, the rest of the device is left" {
    local bytes blocks
    loop_new V 64M
    loop_new A 16M
    for bytes in 1024 2048 4096; do
        new_volume -t ext4 -b $bytes
        wipefs -qa "$A"
        printf 'precious' | dd of="$A" bs=1 seek=$((6 * 1048576)) conv=notrunc status=none
        blocks=$((6 * 1048576 / bytes))
        moved "$V" "external=$A,size=6M"
        good "$V" "$A" $blocks
        [ "$(dd if="$A" bs=1 skip=$((6 * 1048576)) count=8 status=none)" = precious ]
        moved "$V" inline,size=6M
        moved "$V" "external=$A"
        good "$V" "$A" $((16 * 1048576 / bytes))
        moved "$V" none
    done
}

@test "whole blocks only: a device whose size is no multiple of a block" {
    loop_new V 64M
    loop_new A $((9 * 1048576 + 1536))
    new_volume -t ext4 -b 4096
    moved "$V" "external=$A"
    good "$V" "$A" 2304
}

@test "from one external journal to another, and back" {
    local i
    loop_new V 64M
    loop_new A 8M
    loop_new B 12M
    new_volume -t ext4 -b 1024
    for i in 1 2 3; do
        moved "$V" "external=$A"
        good "$V" "$A" 8192
        [ -z "$(users "$B")" ]
        moved "$V" "external=$B"
        good "$V" "$B" 12288
        [ -z "$(users "$A")" ]
    done
}

# bats test_tags=slow
@test "another size for an external journal, both ways" {
    loop_new V 64M
    loop_new A 16M
    for options in "-t ext4 -b 1024" "-t ext4 -b 4096 -O ^metadata_csum" \
        "-t ext4 -b 1024 -O fast_commit" "-t ext3"; do
        # shellcheck disable=SC2086
        new_volume $options
        bytes=$(header "$V" 'Block size')
        moved "$V" "external=$A,size=8M"
        good "$V" "$A" $((8 * 1048576 / bytes))
        uuid=$(header "$A" 'Filesystem UUID')
        moved "$V" "external=$A,size=5M"
        good "$V" "$A" $((5 * 1048576 / bytes))
        moved "$V" "external=$A,size=16M"
        good "$V" "$A" $((16 * 1048576 / bytes))
        # Whoever finds the journal by its UUID still does.
        [ "$uuid" = "$(header "$A" 'Filesystem UUID')" ]
        # Without size= it is where it shall be.
        run -0 move "$V" "external=$A"
        [[ "$output" == *"has its journal there already"* ]]
        DEVICES=("$A")
        refused "$V" "external=$A,size=17M" "less than size= asks for"
        refused "$V" "external=$A,size=1M" "must have 10"
        moved "$V" inline
    done
}

@test "a journal device that is released serves another volume" {
    loop_new V 64M
    loop_new W 64M
    loop_new A 8M
    new_volume -t ext4 -O metadata_csum -b 4096
    mke2fs -q -t ext4 -O metadata_csum -b 4096 "$W"
    moved "$V" "external=$A"
    good "$V" "$A" 2048
    DEVICES=("$A" "$V")
    refused "$W" "external=$A" "is the journal of $V; move that journal away first"
    DEVICES=()
    moved "$V" inline,size=5M
    [ -z "$(users "$A")" ]
    moved "$W" "external=$A"
    mounts_fine "$W"
    mounts_fine "$W"
    fsck_clean "$W" "$A"
    [ "$(users "$A")" = "$(header "$W" 'Filesystem UUID')" ]
    # And one with other blocks.
    moved "$W" none
    new_volume -t ext3 -b 1024
    moved "$V" "external=$A"
    good "$V" "$A" 8192
}

@test "what the first volume left in the log is never replayed on the second" {
    local i
    loop_new V 64M
    loop_new W 64M
    loop_new A 6M
    new_volume -t ext4 -b 4096 -O ^metadata_csum
    moved "$V" "external=$A"
    mount -t ext4 "$V" "$WORK/mnt"
    for ((i = 0; i < 60; i++)); do
        echo "ghost" >"$WORK/mnt/ghost$i"
        sync -f "$WORK/mnt"
    done
    umount "$WORK/mnt"
    moved "$V" none
    mke2fs -q -t ext4 -b 4096 -O ^metadata_csum "$W"
    moved "$W" "external=$A"
    # Without the timer of the kernel nothing changes between the two copies.
    mount -t ext4 -o commit=300 "$W" "$WORK/mnt"
    echo real >"$WORK/mnt/real"
    sync -f "$WORK/mnt"
    # As after a power cut.
    cp --sparse=always "$WORK/W.img" "$WORK/W2.img"
    cp --sparse=always "$WORK/A.img" "$WORK/A2.img"
    umount "$WORK/mnt"
    cp "$WORK/W2.img" "$WORK/W.img"
    cp "$WORK/A2.img" "$WORK/A.img"
    blockdev --flushbufs "$W"
    blockdev --flushbufs "$A"
    mount -t ext4 "$W" "$WORK/mnt"
    [ "$(cat "$WORK/mnt/real")" = real ]
    [ "$(ls "$WORK/mnt")" = $'lost+found\nreal' ]
    umount "$WORK/mnt"
    fsck_clean "$W" "$A"
}

@test "a journal device keeps its label, as what it was typed may find it again" {
    loop_new V 64M
    loop_new A 8M
    new_volume -t ext4 -b 1024
    mke2fs -q -F -O journal_dev -b 1024 -L "fast-$$" "$A"
    output=$(move "$V" "external=LABEL=fast-$$" 2>&1)
    good "$V" "$A" 8192
    [ "$(header "$A" 'Filesystem volume name')" = "fast-$$" ]
    run -0 move "$V" "external=LABEL=fast-$$"
    [[ "$output" == *"has its journal there already"* ]]
    moved "$V" inline
    output=$(move "$V" "external=LABEL=fast-$$" 2>&1)
    good "$V" "$A" 8192
}

@test "devices by UUID" {
    loop_new V 64M
    loop_new A 8M
    new_volume -t ext4 -b 1024
    mke2fs -q -F -O journal_dev -b 1024 "$A"
    uuid=$(header "$V" 'Filesystem UUID')
    "$JBDLAB" move "UUID=$uuid" --to "external=UUID=$(header "$A" 'Filesystem UUID')" \
        --state-dir "$WORK/state"
    good "$V" "$A" 8192
    DEVICES=("$V" "$A")
    refused "UUID=00000000-1111-2222-3333-44444444444a" none "no device has UUID="
}

@test "the mount option that is printed mounts the volume, and JSON tells the same" {
    loop_new V 64M
    loop_new A 8M
    new_volume -t ext4 -b 1024
    move "$V" "external=$A" --json 2>/dev/null >"$WORK/json"
    [ "$(jq -r .journal_device "$WORK/json")" = "$A" ]
    [ "$(jq -r .journal_bytes "$WORK/json")" = 8388608 ]
    option=$(jq -r .mount_option "$WORK/json")
    [ "$option" = "journal_path=/dev/disk/by-uuid/$(header "$A" 'Filesystem UUID')" ]
    if [ -e "${option#journal_path=}" ]; then mounts_fine "$V" "$option"; fi
    mounts_fine "$V" "journal_path=$A"
}

@test "partitions: a journal beside the data is warned of" {
    local disk
    truncate -s 100M "$WORK/disk.img"
    printf 'label: gpt\nsize=64M\nsize=16M\n' | sfdisk -q "$WORK/disk.img"
    disk=$(losetup -fP --show "$WORK/disk.img")
    LOOPS+=("$disk")
    # Also where the kernel knows no GPT.
    [ -b "${disk}p1" ] || partx -a "$disk" || true
    [ -b "${disk}p1" ] || skip "no partitions on loop devices here"
    V=${disk}p1
    new_volume -t ext4 -b 1024
    run -0 --separate-stderr move "$V" "external=${disk}p2"
    [[ "$stderr" == *"lie on the same physical disk"* ]]
    good "$V" "${disk}p2" 16384
    run -0 --separate-stderr "$JBDLAB" check "$V" --to inline
    DEVICES=("$V")
    refused "$V" "external=$disk" "$disk"
}

@test "a dry run writes nothing to either device" {
    loop_new V 64M
    loop_new A 8M
    new_volume -t ext4
    before=$(hashes "$V" "$A")
    run -0 --separate-stderr move "$V" "external=$A" --dry-run
    [[ "$output" == *"$A: write the new journal"*"$V: SWITCH"* ]]
    run -0 "$JBDLAB" check "$V" --to "external=$A"
    [ "$before" = "$(hashes "$V" "$A")" ]
    moved "$V" "external=$A"
    before=$(hashes "$V" "$A")
    run -0 move "$V" inline --dry-run
    [ "$before" = "$(hashes "$V" "$A")" ]
}

@test "a device that tune2fs released: its checksum is wrong, and it is taken" {
    local other
    loop_new V 64M
    loop_new A 16M
    loop_new other 64M
    mke2fs -q -F -O journal_dev -b 4096 "$A"
    mke2fs -q -F -t ext4 -O metadata_csum -b 4096 -J device="$A" "$other"
    mkdir "$WORK/mnt"
    mount -t ext4 "$other" "$WORK/mnt"
    echo >"$WORK/mnt/written"
    umount "$WORK/mnt"
    tune2fs -O ^has_journal "$other"
    "$JBDLAB" show "$A" --json | jq -e ".devices[0].journal.problem | contains(\"checksum\")"
    new_volume -t ext4 -O metadata_csum -b 4096
    moved "$V" "external=$A"
    good "$V" "$A" 4096
}
