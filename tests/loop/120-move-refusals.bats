#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Moves that must not happen: each with its sentence, and not one byte changed on any
# device.

bats_require_minimum_version 1.5.0

load ../lib
load ../examples
load ../move

setup() {
    need_loop
    disks_in_memory
    common_setup
    loop_new V 64M
    loop_new A 16M
    loop_new B 16M
    DEVICES=("$A" "$B")
    mkdir "$WORK/mnt"
}

teardown() {
    # The number of a loop device remembers this.
    blockdev --setrw "$A"
    common_teardown
}

new_volume() {
    mke2fs -q -F "$@" "$V"
}

@test "a mounted volume, however it is mounted" {
    new_volume -t ext4
    mount_still "$V" "$WORK/mnt"
    refused "$V" "external=$A" "is mounted on $WORK/mnt"
    refused "$V" none "is mounted on $WORK/mnt"
    unmount_still "$WORK/mnt"
    mount -o ro "$V" "$WORK/mnt"
    refused "$V" "external=$A" "is mounted on $WORK/mnt"
    mkdir "$WORK/other"
    mount --bind "$WORK/mnt" "$WORK/other"
    umount "$WORK/mnt"
    refused "$V" inline,size=8M "is mounted on $WORK/other"
    umount "$WORK/other"
    moved "$V" "external=$A"
}

@test "a volume that is mounted in another mount namespace" {
    new_volume -t ext4
    need_mount_namespace
    mkfifo "$WORK/go"
    unshare -m --propagation private sh -c "mount -o ro '$V' '$WORK/mnt' && echo ready >'$WORK/go' &&
        read -r _ <'$WORK/go'" 3>&- &
    read -r _ <"$WORK/go"
    ! grep "^$V " /proc/self/mounts || return 1
    refused "$V" "external=$A" "is mounted on"
    echo end >"$WORK/go"
    wait $!
    moved "$V" "external=$A"
}

@test "a mount that only a process in another namespace still holds" {
    new_volume -t ext4
    need_mount_namespace
    mkfifo "$WORK/go"
    mount -o ro "$V" "$WORK/mnt" # or the kernel writes when it likes
    unshare -m --propagation private sh -c "echo ready >'$WORK/go' &&
        read -r _ <'$WORK/go'" 3>&- &
    read -r _ <"$WORK/go"
    umount "$WORK/mnt"
    refused "$V" none "another mount namespace"
    echo end >"$WORK/go"
    wait $!
    moved "$V" none
}

@test "a journal device in use" {
    loop_new W 64M
    new_volume -t ext4 -b 1024
    mke2fs -q -F -t ext4 -b 1024 "$W"
    moved "$W" "external=$A"
    mount_still "$W" "$WORK/mnt"
    DEVICES=("$A" "$B")
    refused "$V" "external=$A" "is the journal of the mounted volume $W"
    # Not even to be overwritten.
    refused "$V" "external=$A" "is the journal of the mounted volume $W" --overwrite jbd
    unmount_still "$WORK/mnt"
    DEVICES=("$A" "$B" "$W")
    refused "$V" "external=$A" "is the journal of $W; move that journal away first"
    refused "$V" "external=$A" "is the journal of $W" --overwrite jbd
}

@test "a device that another program holds or lies on" {
    local C
    new_volume -t ext4
    mkswap "$A" >/dev/null
    swapon "$A" || skip "no right to swap here"
    run -3 move "$V" "external=$A"
    swapoff "$A"
    [[ "$output" == *"$A is swap space"* ]]
    wipefs -qa "$A"
    C=$(losetup -f --show "$A")
    LOOPS=("$C" "${LOOPS[@]}")
    refused "$V" "external=$A" "$C"
    refused "$V" "external=$C" "$A" || true
    detach "$C"
    exec 8<>"$A"
    moved "$V" "external=$A" # open, but not exclusively: as udev does
    exec 8<&-
}

# carries TYPE: the signature that was just made on A stands in the way, and goes when it is
# named.
carries() {
    local before
    refused "$V" "external=$A" "is not empty: it carries"
    refused "$V" "external=$A" "$1"
    run -3 --separate-stderr move "$V" "external=$A"
    types=$(sed -n 's/.*--overwrite \([^"]*\)".*/\1/p' <<<"$stderr")
    [[ ",$types," == *",$1,"* ]] || { echo "asks for $types"; return 1; }
    refused "$V" "external=$A" "is not empty" --overwrite "bogus,${1}x"
    moved "$V" "external=$A" --overwrite "$types"
    is_external "$V" "$A"
    mounts_fine "$V"
    # Nothing of it is left to be found, at its other end neither.
    [ "$(wipefs -n --noheadings --output TYPE "$A" | tr -d ' \n')" = jbd ] ||
        { wipefs -n "$A"; return 1; }
    # What was overwritten is kept.
    compgen -G "$WORK/state/overwritten/*.json" >/dev/null
    rm -r "$WORK/state/overwritten"
    moved "$V" inline
    dd if=/dev/zero of="$A" bs=1M conv=fsync status=none 2>/dev/null || true
}

@test "a target that carries something" {
    local tried=0
    new_volume -t ext4 -b 1024
    mke2fs -q -F -t ext4 "$A"
    carries ext4
    mke2fs -q -F -t ext2 -b 4096 "$A"
    carries ext2
    mkswap "$A" >/dev/null 2>&1
    carries swap
    if command -v sfdisk >/dev/null; then
        printf 'label: gpt\nsize=4M\nsize=4M\n' | sfdisk -q --no-reread --no-tell-kernel "$A"
        carries gpt
        printf 'label: dos\nsize=4M\n' | sfdisk -q --no-reread --no-tell-kernel "$A"
        carries dos
        tried=$((tried + 1))
    fi
    if command -v cryptsetup >/dev/null; then
        echo x | cryptsetup -q luksFormat --type luks1 --pbkdf pbkdf2 --pbkdf-force-iterations \
            1000 "$A" - 2>/dev/null && carries crypto_LUKS && tried=$((tried + 1))
    fi
    echo "# $tried kinds of partition tables and containers" >&3
}

@test "a target that carries a luks2 container" {
    command -v cryptsetup >/dev/null || skip "needs cryptsetup"
    loop_new C 32M
    A=$C
    DEVICES=("$A")
    new_volume -t ext4 -b 1024
    echo x | cryptsetup -q luksFormat --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \
        "$A" -
    carries crypto_LUKS
}

@test "a target that carries LVM" {
    command -v pvcreate >/dev/null || skip "needs lvm2"
    new_volume -t ext4 -b 1024
    pvcreate -qq --config 'devices { filter = [ "a|loop|" ] use_devicesfile = 0 }' -y "$A" ||
        skip "pvcreate does not work here"
    carries LVM2_member
}

@test "a target that carries md raid" {
    local version
    new_volume -t ext4 -b 1024
    for version in 0.90 1.0 1.1 1.2; do
        md_member "$A" $version
        carries linux_raid_member
    done
}

@test "a target that carries btrfs or xfs" {
    new_volume -t ext4 -b 1024
    command -v mkfs.btrfs mkfs.xfs >/dev/null || skip "needs btrfs-progs and xfsprogs"
    loop_new C 320M
    A=$C
    DEVICES=("$A")
    mkfs.btrfs -q -f "$A"
    carries btrfs
    mkfs.xfs -q -f "$A"
    carries xfs
}

@test "a target that lists a volume which is not connected" {
    loop_new W 64M
    new_volume -t ext4 -b 1024
    mke2fs -q -F -t ext4 -b 1024 "$W"
    moved "$W" "external=$A"
    uuid=$(header "$W" 'Filesystem UUID')
    detach "$W"
    LOOPS=("${LOOPS[@]/$W/}")
    refused "$V" "external=$A" "lists the volume with UUID $uuid as its user, which is not connected"
    moved "$V" "external=$A" --overwrite jbd
    [ "$(users "$A")" = "$(header "$V" 'Filesystem UUID')" ]
    mounts_fine "$V"
}

@test "a target whose journal is damaged, so that nobody knows whose it is" {
    local at
    new_volume -t ext4 -b 1024
    # Its magic, and a number of users that cannot be.
    for at in 2048 $((2048 + 64)); do
        mke2fs -q -F -O journal_dev -b 1024 "$A"
        printf '\0\0\0\061' | dd of="$A" bs=1 seek=$at conv=notrunc status=none
        refused "$V" "external=$A" "nobody can tell whose it is"
    done
    moved "$V" "external=$A" --overwrite jbd
    mounts_fine "$V"
}

@test "an image file and an external journal" {
    truncate -s 32M "$WORK/image"
    mke2fs -q -F -t ext4 -b 1024 "$WORK/image"
    refused "$WORK/image" "external=$A" "losetup -f --show"
    new_volume -t ext4 -b 1024
    moved "$V" "external=$A"
    detach "$V"
    LOOPS=("${LOOPS[@]/$V/}")
    refused "$WORK/V.img" inline "losetup -f --show"
}

@test "a target whose log was never replayed" {
    new_volume -t ext4 -b 1024
    mke2fs -q -F -O journal_dev -b 1024 "$A"
    # s_start, in the block behind the superblock.
    printf '\0\0\0\5' | dd of="$A" bs=1 seek=$((2048 + 28)) conv=notrunc status=none
    refused "$V" "external=$A" "holds a log that was never replayed"
    moved "$V" "external=$A" --overwrite jbd
    mounts_fine "$V"
}

@test "no refusal: a target whose log an interrupted move of the same volume left" {
    new_volume -t ext4 -b 1024
    mke2fs -q -F -O journal_dev -b 1024 "$A"
    # s_start, s_nr_users and s_users[0].
    printf '\0\0\0\5' | dd of="$A" bs=1 seek=$((2048 + 28)) conv=notrunc status=none
    printf '\0\0\0\1' | dd of="$A" bs=1 seek=$((2048 + 64)) conv=notrunc status=none
    dd if="$V" of="$A" bs=1 skip=$((1024 + 104)) seek=$((2048 + 256)) count=16 conv=notrunc \
        status=none
    moved "$V" "external=$A"
    mounts_fine "$V"
}

@test "a target that is too small, or has the wrong sectors" {
    local D
    new_volume -t ext4 -b 4096
    for size in 4096 4M 4100k; do
        truncate -s $size "$WORK/small-$size.img"
        D=$(losetup -f --show "$WORK/small-$size.img")
        LOOPS+=("$D")
        DEVICES=("$D")
        if [ $size = 4100k ]; then
            moved "$V" "external=$D"
            mounts_fine "$V"
        else
            refused "$V" "external=$D" "must have 1025 to 10240000"
        fi
    done
    new_volume -t ext4 -b 1024
    truncate -s 64M "$WORK/large.img"
    D=$(losetup -f --show --sector-size 4096 "$WORK/large.img")
    LOOPS+=("$D")
    DEVICES=("$D")
    refused "$V" "external=$D" "has sectors of 4096 bytes, larger than the blocks of $V (1024 bytes)"
    new_volume -t ext4 -b 4096
    moved "$V" "external=$D"
    mounts_fine "$V"
}

@test "read-only devices" {
    local D R
    new_volume -t ext4 -b 1024
    R=$(losetup -r -f --show "$WORK/A.img")
    DEVICES=("$R")
    refused "$V" "external=$R" "$R is a read-only device"
    detach "$R"
    D=$(losetup -r -f --show "$WORK/V.img")
    refused "$D" none "$D is a read-only device"
    detach "$D"
    moved "$V" "external=$A"
    blockdev --setro "$A"
    DEVICES=("$A")
    refused "$V" inline "$A is a read-only device"
    blockdev --setrw "$A"
    moved "$V" inline
}

@test "the volume itself, by any of its names" {
    new_volume -t ext4
    ln -s "$V" "$WORK/link"
    refused "$V" "external=$V" "is the volume itself"
    refused "$V" "external=$WORK/link" "is the volume itself"
    refused "$WORK/link" "external=$V" "is the volume itself"
    refused "$V" "external=UUID=$(header "$V" 'Filesystem UUID')" "is the volume itself"
    mknod "$WORK/node" b $((16#$(stat -c %t "$V"))) $((16#$(stat -c %T "$V"))) || skip "no mknod"
    refused "$V" "external=$WORK/node" "is the volume itself"
}

@test "the same UUID on two devices" {
    new_volume -t ext4 -b 1024
    mke2fs -q -F -O journal_dev -b 1024 "$A"
    uuid=$(header "$A" 'Filesystem UUID')
    moved "$V" "external=$A"
    cp "$WORK/A.img" "$WORK/B.img"
    blockdev --flushbufs "$B"
    DEVICES=("$A" "$B")
    refused "$V" inline "is on more than one device"
    refused "$V" "external=UUID=$(header "$A" 'Filesystem UUID')" "is on more than one device"
    wipefs -qa "$B"
    # Two volumes that cannot be told apart by UUID can be by path.
    moved "$V" inline
    loop_new W 64M
    cp "$WORK/V.img" "$WORK/W.img"
    blockdev --flushbufs "$W"
    refused "UUID=$(header "$V" 'Filesystem UUID')" none "is on more than one device"
    moved "$V" none
}

@test "a journal device that is missing, and the way out" {
    new_volume -t ext4 -b 1024
    mount "$V" "$WORK/mnt"
    fill_volume "$WORK/mnt" 10
    umount "$WORK/mnt"
    moved "$V" "external=$A"
    detach "$A"
    DEVICES=("$B")
    refused "$V" inline "add \"--lost-journal\""
    refused "$V" "external=$B" "cannot be used"
    moved "$V" inline --lost-journal
    is_inline "$V"
    mount "$V" "$WORK/mnt"
    check_files "$WORK/mnt"
    umount "$WORK/mnt"
    LOOPS=("${LOOPS[@]/$A/}")
}

@test "a journal device that no longer lists the volume" {
    new_volume -t ext4 -b 1024
    moved "$V" "external=$A"
    # nr_users = 0; the kernel would not mount it either.
    printf '\0\0\0\0' | dd of="$A" bs=1 seek=$((2048 + 64)) conv=notrunc status=none
    refused "$V" inline "does not list it as its only user (0 users)"
}

# dirty_copy FILE COPY: as after a power cut, while V is mounted and written.
dirty() {
    mount -o commit=300 "$V" "$WORK/mnt"
    head -c 200000 /dev/urandom >"$WORK/mnt/new"
    sha256sum <"$WORK/mnt/new" >"$WORK/sum"
    sync -f "$WORK/mnt"
    echo more >"$WORK/mnt/more"
    cp --sparse=always "$WORK/V.img" "$WORK/V2.img"
    cp --sparse=always "$WORK/A.img" "$WORK/A2.img"
    umount "$WORK/mnt"
    cp "$WORK/V2.img" "$WORK/V.img"
    cp "$WORK/A2.img" "$WORK/A.img"
    blockdev --flushbufs "$V"
    blockdev --flushbufs "$A"
    [[ " $(header "$V" 'Filesystem features') " == *" needs_recovery "* ]]
}

@test "a volume that needs recovery, and the way out" {
    new_volume -t ext4 -b 1024
    dirty
    refused "$V" "external=$A" "add \"--replay\""
    refused "$V" none "needs_recovery"
    moved "$V" "external=$A" --replay
    mount "$V" "$WORK/mnt"
    sha256sum <"$WORK/mnt/new" | cmp - "$WORK/sum"
    umount "$WORK/mnt"
    # And with the log on the device.
    dirty
    refused "$V" inline "add \"--replay\""
    moved "$V" inline --replay
    mount "$V" "$WORK/mnt"
    sha256sum <"$WORK/mnt/new" | cmp - "$WORK/sum"
    umount "$WORK/mnt"
}

@test "a volume in which the kernel has found errors" {
    new_volume -t ext4 -b 1024 -O ^metadata_csum
    printf '\3\0' | dd of="$V" bs=1 seek=1082 conv=notrunc status=none
    refused "$V" "external=$A" "the kernel has found errors"
    refused "$V" "external=$A" "the kernel has found errors" --replay
}

@test "a volume that another host may have (MMP)" {
    new_volume -t ext4 -b 1024 -O mmp -E mmp_update_interval=1
    refused "$V" "external=$A" "tune2fs -O ^mmp"
}

@test "two moves at once: one waits for nobody and one is refused" {
    local first
    new_volume -t ext4 -b 1024
    # One that stands still in the middle, until it is told to go on.
    traced -o "$WORK/trace" true
    ASAN_OPTIONS=detect_leaks=0 strace -qq -o "$WORK/trace" -e trace=pwrite64 -e inject=pwrite64:signal=STOP:when=5 \
        "$JBDLAB" move "$V" --to "external=$A" --state-dir "$WORK/state" --verify=none \
        >"$WORK/first" 2>&1 3>&- &
    first=$!
    until_done 60 grep -q 'stopped by SIGSTOP' "$WORK/trace"
    run -3 move "$V" inline,size=8M
    [[ "$output" == *"$V is"* ]]
    run -3 "$JBDLAB" recover "$V" --state-dir "$WORK/state"
    kill -CONT "$(pgrep -P "$first" -x jbdlab)"
    wait $first
    is_external "$V" "$A"
    fsck_clean "$V" "$A"
    no_pending_move
}

# The example of the manual as a script; FILE and DEVICE become its arguments.
# shellcheck disable=SC2016 # they are its
manual_put_back() {
    show_example put-back | sed -e 's/ FILE / "$1" /' -e 's/=DEVICE /="$2" /'
}

@test "a signature that was overwritten is put back by the steps of the manual" {
    local file uuid
    new_volume -t ext4
    head -c 1M /dev/urandom | dd of="$A" conv=notrunc,fsync status=none
    mkswap -q "$A"
    uuid=$(blkid -p -s UUID -o value "$A")
    dd if="$A" of="$WORK/head" bs=1M count=1 status=none
    # Without a mount, after which the kernel has written to the log.
    moved "$V" "external=$A" --overwrite swap --verify=fsck
    [ "$(blkid -p -s TYPE -o value "$A")" = jbd ]
    moved "$V" inline
    file=$(echo "$WORK"/state/overwritten/*.json)
    [ -f "$file" ]
    manual_put_back >"$WORK/put-back"
    cat "$WORK/put-back"
    timeout 60 bash -e "$WORK/put-back" "$file" "$A"
    [ "$(blkid -p -s TYPE -o value "$A")" = swap ]
    [ "$(blkid -p -s UUID -o value "$A")" = "$uuid" ]
    # Every byte that the move wrote there, its log among them.
    dd if="$A" bs=1M count=1 status=none | cmp - "$WORK/head"
    mounts_fine "$V"
}

@test "a dry run of a remount leaves the volume mounted and says what it would do" {
    new_volume -t ext4
    mount -o noatime,commit=7 "$V" "$WORK/mnt"
    run --separate-stderr move "$V" "external=$A" --remount --dry-run
    echo "$output"
    [ "$status" = 0 ]
    [[ "${lines[1]}" == "unmount $V from $WORK/mnt, where nothing may be open" ]]
    [[ "${lines[2]}" == "move the journal; "* ]]
    [[ "${lines[3]}" == "mount $V on $WORK/mnt again, with "*noatime*commit=7* ]]
    mountpoint -q "$WORK/mnt"
    [ "$(blkid -p -s TYPE -o value "$A" || true)" = "" ]
    # Also from an external journal, which the mount holds.
    move "$V" "external=$A" --remount
    run --separate-stderr move "$V" inline --remount --dry-run
    [ "$status" = 0 ]
    # What else is in the way is still said, and without --remount the mount is.
    mkswap "$B" >/dev/null 2>&1
    run -3 --separate-stderr move "$V" "external=$B" --remount --dry-run
    [[ "$stderr" == *"$B is not empty: it carries swap"* && "$stderr" != *"is mounted"* ]]
    run -3 --separate-stderr move "$V" inline --dry-run
    [[ "$stderr" == *"is mounted on $WORK/mnt"* ]]
    mountpoint -q "$WORK/mnt"
    umount "$WORK/mnt"
    fsck_clean "$V" "$A"
}
