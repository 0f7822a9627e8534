#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# show on block devices: links between volumes and journals as they are now, volumes in
# use, names that can be typed instead of paths.

# bats sets stderr and stderr_lines, and runs each test in a subshell.
# shellcheck disable=SC2154,SC2030,SC2031

bats_require_minimum_version 1.5.0
load ../lib.bash

setup() {
    common_setup
    need_loop
    cd "$WORK" || return 1
    mkdir mnt
}

teardown() {
    cd /
    if [ -n "${DISK:-}" ]; then
        ! mountpoint -q "$WORK/mnt" || umount "$WORK/mnt"
    fi
    common_teardown
}

# fact DEVICE JQ-PATH
fact() {
    "$JBDLAB" show --json "$1" | jq -r ".devices[0]$2"
}

# pair: $DATA has its journal on $LOG.
pair() {
    loop_new DATA 64M
    loop_new LOG 32M
    mke2fs -q -b 4096 -O journal_dev "$LOG"
    mke2fs -q -t ext4 -b 4096 -J device="$LOG" -L "pair$$" "$DATA"
}

@test "an external journal: device, size and the volume that uses it" {
    pair
    [ "$(fact "$DATA" .journal.placement)" = external ]
    [ "$(fact "$DATA" .journal.external.device)" = "$LOG" ]
    [ "$(fact "$DATA" .journal.external.device_number_current)" = true ]
    [ "$(fact "$DATA" .journal.size_bytes)" = $((32 << 20)) ]
    [ "$(fact "$LOG" '.journal.users[0].path')" = "$DATA" ]
    [ "$(fact "$DATA" .state.in_use)" = null ]
    # Both lines are in the table of everything.
    "$JBDLAB" show --columns device,placement,where,state >table 2>/dev/null
    grep -Eq "^$DATA +external +$LOG +clean$" table
    grep -Eq "^$LOG +- +of $DATA +clean$" table
}

@test "what is mounted is shown with its mount point, and so is the use of its journal" {
    pair
    mount "$DATA" mnt
    [ "$(fact "$DATA" .state.mounted_on)" = "$WORK/mnt" ]
    [ "$(fact "$DATA" .state.in_use)" = "is mounted on $WORK/mnt" ]
    [ "$("$JBDLAB" show -o state "$DATA" | tail -1)" = mounted ]
    [ "$(fact "$LOG" .state.in_use)" = "is the journal of the mounted volume $DATA" ]
    [ "$("$JBDLAB" show -o state "$LOG" | tail -1)" = "in use" ]
    # needs_recovery is set while it is mounted, and nothing to worry about.
    [ "$(fact "$DATA" '.notes[]' | grep -c recovery)" = 0 ]
}

@test "a mounted volume that is written to can be shown all the time" {
    loop_new DATA 64M
    mke2fs -q -t ext4 -O metadata_csum "$DATA"
    mount "$DATA" mnt
    : >writing
    (while [ -e writing ]; do date >mnt/f; sync -f mnt; rm mnt/f; done) 3>&- &
    local writer=$! i failed=0
    for ((i = 0; i < 100; i++)); do
        "$JBDLAB" show --json "$DATA" >out 2>>err || failed=$((failed + 1))
    done
    # Not killed: the last of its programs would keep the volume busy.
    rm writing
    wait "$writer"
    cat err
    [ "$failed" = 0 ]
    [ "$(jq -r '.devices[0].journal.problem' out)" = null ]
}

@test "a journal that was attached under another device number is found and told" {
    pair
    detach "$LOG"
    loop_new OTHER 1M
    # The old number may be taken by now, or free: the journal gets a different one.
    local moved
    moved=$(losetup -f --show LOG.img)
    while [ "$moved" = "$LOG" ]; do
        LOOPS+=("$moved")
        moved=$(losetup -f --show LOG.img)
        detach "$LOG"
    done
    LOOPS+=("$moved")
    run --separate-stderr "$JBDLAB" show "$DATA"
    [ "$status" = 0 ]
    [[ "$output" == *"Journal device:      $moved"* ]]
    [[ "$output" == *"Recorded number:     "*" (out of date)"* ]]
    [[ "$output" == *"Note: "*"mount with journal_path=$moved"* ]]
    [ "$(fact "$DATA" .journal.external.device_number_current)" = false ]
    # The advice is good, and the kernel then records the new number.
    mount -o "journal_path=$moved" "$DATA" mnt
    umount mnt
    [ "$(fact "$DATA" .journal.external.device_number_current)" = true ]
}

@test "a clone with the same UUID is told" {
    loop_new DATA 32M
    mke2fs -q -t ext4 "$DATA"
    cp DATA.img COPY.img
    local copy
    copy=$(losetup -f --show COPY.img)
    LOOPS+=("$copy")
    [[ "$(fact "$DATA" '.notes[]')" == *"2 devices carry its UUID"* ]]
}

@test "an image and the loop device on it are one volume" {
    loop_new DATA 32M
    mke2fs -q -t ext4 "$DATA"
    [ "$(fact DATA.img '.notes | length')" = 0 ]
    [ "$(fact DATA.img .state.in_use)" = "backs the loop device $DATA" ]
}

@test "UUID=, LABEL= and links name a device" {
    loop_new DATA 32M
    mke2fs -q -t ext4 -L "found$$" "$DATA"
    ln -s "$DATA" link
    local uuid
    uuid=$(blkid -p -o value -s UUID "$DATA")
    [ "$(fact "UUID=$uuid" .path)" = "$DATA" ]
    [ "$(fact "UUID=${uuid^^}" .path)" = "$DATA" ]
    [ "$(fact "UUID=\"$uuid\"" .path)" = "$DATA" ]
    [ "$(fact "LABEL=found$$" .path)" = "$DATA" ]
    [ "$(fact link .path)" = "$DATA" ]
    run --separate-stderr "$JBDLAB" show "LABEL=lost$$"
    [ "$status" = 3 ]
    [[ "$stderr" == *"no device has LABEL=lost$$; similar: "*"found$$ ($DATA)"* ]]
}

@test "a tag that two devices have is refused, with both names" {
    loop_new DATA 32M
    loop_new MORE 32M
    mke2fs -q -t ext4 -L "twice$$" "$DATA"
    mke2fs -q -t ext4 -L "twice$$" "$MORE"
    run --separate-stderr "$JBDLAB" show "LABEL=twice$$"
    [ "$status" != 0 ]
    [[ "$stderr" == *"is on more than one device: "* ]]
    [[ "$stderr" == *"$DATA"* && "$stderr" == *"$MORE"* ]]
}

# partitions: $DISK with two partitions, whether or not the kernel reads their table.
partitions() {
    loop_new DISK 64M
    {
        printf '\0\0\0\0\203\0\0\0\0\010\0\0\0\220\0\0'
        printf '\0\0\0\0\203\0\0\0\0\230\0\0\0\140\0\0'
    } | dd of="$DISK" bs=1 seek=446 conv=notrunc status=none
    printf '\170\126\064\022' | dd of="$DISK" bs=1 seek=440 conv=notrunc status=none
    printf '\125\252' | dd of="$DISK" bs=1 seek=510 conv=notrunc status=none
    addpart "$DISK" 1 2048 36864
    addpart "$DISK" 2 38912 24576
    if ! [ -b "${DISK}p2" ]; then skip "no nodes for partitions"; fi
}

@test "partitions: one disk is shared, PARTUUID= names one, the disk says what it holds" {
    partitions
    mke2fs -q -b 4096 -O journal_dev "${DISK}p2"
    mke2fs -q -t ext4 -b 4096 -J device="${DISK}p2" "${DISK}p1"
    [ "$(fact "${DISK}p1" .journal.shares_disk)" = true ]
    [[ "$(fact "${DISK}p1" '.notes[]')" == *"lies on the same disk as the data"* ]]
    [ "$(fact PARTUUID=12345678-01 .path)" = "${DISK}p1" ]
    [ "$(fact "${DISK}p2" .disk.partition_uuid)" = 12345678-02 ]
    run --separate-stderr "$JBDLAB" show "$DISK"
    [ "$status" = 3 ]
    [[ "$stderr" == *"but dos partition table"* ]]
}

@test "a partition that is mounted makes its disk busy" {
    partitions
    mke2fs -q -t ext4 "${DISK}p1"
    mount "${DISK}p1" mnt
    loop_new DATA 64M
    mke2fs -q -t ext4 "$DATA"
    run --separate-stderr "$JBDLAB" move "$DATA" --to "external=$DISK" --yes \
        --state-dir "$WORK/state"
    echo "$stderr"
    [ "$status" = 3 ]
    [[ "$stderr" == *"$DISK has the partition ${DISK##*/}p1, which is mounted on $WORK/mnt"* ]]
}

@test "without root, what cannot be read is named and nothing else fails" {
    loop_new DATA 32M
    mke2fs -q -t ext4 "$DATA"
    chmod 600 "$DATA"
    chmod 755 "$WORK"
    cp --sparse=always DATA.img free.img
    chmod 644 free.img
    local as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    "${as[@]}" test -x "$JBDLAB" || skip "the program is out of reach for other users"
    run --separate-stderr "${as[@]}" "$JBDLAB" show
    [ "$status" = 0 ]
    [[ "$stderr" == *"not shown, for lack of permission: "*"$DATA"* ]]
    run --separate-stderr "${as[@]}" "$JBDLAB" show "$DATA"
    [ "$status" = 3 ]
    [ "$stderr" = "jbdlab: open $DATA: Permission denied: it takes root to open this disk" ]
    run --separate-stderr "${as[@]}" "$JBDLAB" show free.img
    [ "$status" = 0 ]
    [[ "$output" == *"Placement:           inline"* ]]
}
