#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What an hour of attempts to break a move found: cuts in the middle of a new journal
# device, limits of the shell, a log that would be hidden by the volume itself, journal
# devices of copies that are not there, mounts that cannot be put back.

load ../lib
load ../move

setup() {
    need_loop
    command -v strace >/dev/null || skip "needs strace"
    disks_in_memory
    common_setup
    DEVICES=()
    loop_new V 40M
    loop_new A 6M
    mkdir "$WORK/mnt"
}

teardown() { common_teardown; }

# prepare: a volume with files and an inline journal; its first device is not even zeros.
prepare() {
    rm -rf "$WORK/state"
    mke2fs -q -F -t ext4 -b 4096 -J size=5 "$V"
    mount "$V" "$WORK/mnt"
    fill_volume "$WORK/mnt" 10
    umount "$WORK/mnt"
}

# killed N COMMAND...: before its pwrite64 number N; status 137, or 0 when it has less.
killed() {
    status=0
    { traced -o "$WORK/trace" -e trace=pwrite64 -e inject="pwrite64:signal=KILL:when=$1" \
        "$JBDLAB" "${@:2}" --state-dir "$WORK/state" >"$WORK/out" 2>&1; } 2>/dev/null ||
        status=$?
}

# A device that is half a journal is refused, as nobody can tell whose it is.
@test "a device that was empty is taken again after a cut at any write to it" {
    local n
    for ((n = 1; ; n++)); do
        prepare
        yes | head -c 6M >"$A"
        killed $n move "$V" --to "external=$A" --verify=none
        [ "$status" != 0 ] || break
        rm -rf "$WORK/state"
        "$JBDLAB" recover "$V" --state-dir "$WORK/state"
        is_external "$V" "$A" || moved "$V" "external=$A" --verify=none || {
            echo "write $n"
            return 1
        }
    done
    [ $n -gt 10 ]
}

@test "a limit of the size of files is an error like any other" {
    local limit settled=0 statuses=
    truncate -s 64M "$WORK/I.img"
    for limit in 1 8 1000 40000 56000; do
        rm -rf "$WORK/state"
        mke2fs -q -F -t ext4 -b 1024 -g 8192 -O ^flex_bg -J size=4 "$WORK/I.img"
        status=0
        (
            ulimit -f $limit # KiB
            move "$WORK/I.img" inline,size=8M,at=middle >"$WORK/out" 2>&1
        ) || status=$?
        statuses+="$status "
        if [ "$status" = 7 ]; then
            "$JBDLAB" recover "$WORK/I.img" --state-dir "$WORK/state"
            settled=$((settled + 1))
        fi
        [ -z "$(find "$WORK/state" -type f)" ]
        fsck_clean "$WORK/I.img"
    done
    echo "# $statuses" >&3
    [[ "$statuses" == "4 4 "* ]]
    [[ "$statuses" != *1[0-9][0-9]* ]]
    [ $settled -gt 0 ]
}

@test "an intent log that the volume itself would hide" {
    local directory
    prepare
    mount "$V" "$WORK/mnt"
    mkdir "$WORK/mnt/here"
    for directory in "$WORK/mnt" "$WORK/mnt/here" "$WORK/mnt/not/yet/there"; do
        run "$JBDLAB" move "$V" --to "external=$A" --remount --state-dir "$directory"
        [ "$status" = 3 ]
        [[ "$output" == *"$directory, where the intent log is kept, lies on $V"* ]]
        mountpoint -q "$WORK/mnt"
    done
    (
        cd "$WORK/mnt"
        run "$JBDLAB" move "$V" --to "external=$A" --remount --state-dir here/x
        [ "$status" = 3 ]
    )
    [ -z "$(find "$WORK/mnt/here" -mindepth 1)" ]
    "$JBDLAB" move "$V" --to "external=$A" --remount --state-dir "$WORK/state"
    mountpoint -q "$WORK/mnt"
    is_external "$V" "$A"
    check_files "$WORK/mnt"
    umount "$WORK/mnt"
}

# The copy has the UUID of a volume that is not connected, and whose journal has a log that
# is not empty.
@test "the journal device of a volume that is not connected keeps its log" {
    local C
    prepare
    cp --sparse=always "$WORK/V.img" "$WORK/C.img"
    moved "$V" "external=$A"
    mount "$V" "$WORK/mnt"
    echo precious >"$WORK/mnt/new"
    sync "$WORK/mnt/new"
    cp --sparse=always "$WORK/V.img" "$WORK/V.cut"
    cp --sparse=always "$WORK/A.img" "$WORK/A.cut"
    umount "$WORK/mnt"
    dd if="$WORK/A.cut" of="$A" bs=1M conv=fsync status=none
    wipefs -qa "$V"
    C=$(losetup -f --show "$WORK/C.img")
    LOOPS+=("$C")
    run "$JBDLAB" recover "$C" --state-dir "$WORK/state"
    [ "$status" = 0 ]
    [[ "$output" == *"$A lists $C as its user, which does not name it"* ]]
    cmp "$WORK/A.cut" "$A"
    losetup -d "$C"
    dd if="$WORK/V.cut" of="$V" bs=1M conv=fsync status=none
    mount -o journal_path="$A" "$V" "$WORK/mnt"
    [ "$(cat "$WORK/mnt/new")" = precious ]
    check_files "$WORK/mnt"
    umount "$WORK/mnt"
}

# refused_as_mounted SENTENCE: --remount says no, and all stays mounted as it is.
refused_as_mounted() {
    local mounts
    mounts=$(grep "$WORK" /proc/self/mountinfo)
    run "$JBDLAB" move "$V" --to "external=$A" --remount --state-dir "$WORK/state"
    [ "$status" = 3 ] && [[ "$output" == *"$1"* ]] || {
        echo "status $status: $output"
        return 1
    }
    [ "$(grep "$WORK" /proc/self/mountinfo)" = "$mounts" ]
}

@test "what is mounted so that it could not be put back stays mounted" {
    prepare
    mkdir "$WORK/other"
    mount "$V" "$WORK/mnt"
    mount --bind "$WORK/mnt" "$WORK/other"
    refused_as_mounted "$V is mounted on $WORK/mnt and on $WORK/other"
    umount "$WORK/other"

    mount --bind "$WORK/mnt/d1" "$WORK/other"
    umount "$WORK/mnt"
    refused_as_mounted "only /d1 of $V is mounted, on $WORK/other"
    umount "$WORK/other"

    mount "$V" "$WORK/mnt"
    mount -t tmpfs none "$WORK/mnt"
    date >"$WORK/mnt/not-on-any-disk"
    refused_as_mounted "something else is mounted over $WORK/mnt"
    [ -s "$WORK/mnt/not-on-any-disk" ]
    umount "$WORK/mnt"
    "$JBDLAB" move "$V" --to "external=$A" --remount --state-dir "$WORK/state"
    check_files "$WORK/mnt"
    umount "$WORK/mnt"
}

@test "an intent log that is a pipe is waited for by nobody" {
    local log
    prepare
    killed 12 move "$V" --to "external=$A" --verify=none
    [ "$status" = 137 ]
    log=$(find "$WORK/state/moves" -name '*.json')
    rm "$log"
    mkfifo "$log"
    run timeout -s KILL 60 "$JBDLAB" recover "$V" --state-dir "$WORK/state"
    [ "$status" = 0 ]
    [[ "$output" == *"e2fsck -p"* ]]
    no_pending_move
    is_external "$V" "$A"
    fsck_clean "$V" "$A"
}

# Two devices have the UUID: one of them is the journal, with what was synced.
@test "a journal device of which there is a copy is not lost" {
    local copy
    prepare
    moved "$V" "external=$A"
    mount -o journal_path="$A" "$V" "$WORK/mnt"
    echo precious >"$WORK/mnt/new"
    sync "$WORK/mnt/new"
    cp --sparse=always "$WORK/V.img" "$WORK/V.cut"
    cp --sparse=always "$WORK/A.img" "$WORK/A.cut"
    umount "$WORK/mnt"
    dd if="$WORK/V.cut" of="$V" bs=1M conv=fsync status=none
    dd if="$WORK/A.cut" of="$A" bs=1M conv=fsync status=none
    copy=$(losetup -f --show "$WORK/A.cut")
    LOOPS+=("$copy")
    DEVICES=("$A" "$copy")
    refused "$V" inline "is on more than one device"
    refused "$V" inline "disconnect the copy" --lost-journal
    run move "$V" inline
    [[ "$output" != *--lost-journal* ]]
    losetup -d "$copy"
    moved "$V" inline --replay
    mount "$V" "$WORK/mnt"
    [ "$(cat "$WORK/mnt/new")" = precious ]
    umount "$WORK/mnt"
}
