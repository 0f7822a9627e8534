#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Workloads on a small ext4: a file system that fills up, has no more inodes, is read-only
# or sits on a device that fails ends the run with errno and file name, no row, no file
# left; dropped caches are dropped.

load ../lib.bash

setup() {
    common_setup
    image_device=
    need_loop
    loop_new disk 200M
    mke2fs -q -t ext4 "$disk"
    mkdir "$WORK/m"
    mount "$disk" "$WORK/m"
}
teardown() {
    # The test below that puts an image on a tmpfs: from the inside out.
    if [ -n "$image_device" ]; then
        umount "$WORK/n"
        losetup -d "$image_device"
        # It goes when the last who looked at it has closed it.
        until_done 30 is_detached "$image_device"
    fi
    common_teardown
}

no_row_no_file() {
    ! grep -q Sequential <<<"$output" || false
    [ -z "$(find "$WORK/m" -name '_jbdlab*')" ]
}

@test "a file system that fills up during the run" {
    local pid status=0
    # At a rate by which it could not end in a minute.
    "$JBDLAB" tiobench --target "$WORK/m" --size 128 --threads 2 --set sync=osync \
        --set rate=500 >"$WORK/out" 2>&1 3>&- &
    pid=$!
    until_written "$WORK/m"
    fill_up "$WORK/m"
    wait "$pid" || status=$?
    output=$(cat "$WORK/out")
    echo "$output"
    [ "$status" = 4 ]
    [[ $output == *"write $WORK/m/_jbdlab_tiobench_"*" at byte "*": No space left on device"* ]]
    no_row_no_file
}

@test "a map that the file system has no room for" {
    # The check for room is passed, because the room is taken away behind it.
    "$JBDLAB" tiobench --target "$WORK/m" --size 64 --threads 2 --set mmap=yes \
        --set sync=dsync --set rate=200 >"$WORK/out" 2>&1 3>&- &
    pid=$!
    until_written "$WORK/m"
    fill_up "$WORK/m"
    status=0
    wait "$pid" || status=$?
    output=$(cat "$WORK/out")
    echo "$output"
    [ "$status" = 4 ]
    # The call that is to give the reason may succeed, because there is room again.
    [[ $output == *"write $WORK/m/_jbdlab_tiobench_"*": "*@(No space left on device|system is full)* ]]
    no_row_no_file
}

@test "no more inodes" {
    umount "$WORK/m"
    mke2fs -q -t ext4 -F -N 16 "$disk"
    mount "$disk" "$WORK/m"
    i=0
    while touch "$WORK/m/x$((i++))" 2>/dev/null; do :; done
    run "$JBDLAB" tiobench --target "$WORK/m" --size 8 --threads 2
    [ "$status" = 4 ]
    [[ $output == *"create $WORK/m/_jbdlab"*"No space left on device"* ]]
    no_row_no_file
}

@test "a read-only file system" {
    mount -o remount,ro "$WORK/m"
    run "$JBDLAB" tiobench --target "$WORK/m" --size 8
    [ "$status" = 4 ]
    [[ $output == *"$WORK/m: Read-only file system"* ]]
    no_row_no_file
}

@test "a size that leaves no room is refused before anything is written" {
    run "$JBDLAB" tiobench --target "$WORK/m" --size 190
    [ "$status" = 3 ]
    [[ $output == *"$WORK/m has "*" free ("*" bytes), but workload tiobench needs 209M there"* ]]
    no_row_no_file
}

@test "a device that cannot store what was written fails the run" {
    # The image lies on a tmpfs that is smaller than the disk.
    mkdir "$WORK/t" "$WORK/n"
    mount -t tmpfs -o size=40M tmpfs "$WORK/t"
    truncate -s 200M "$WORK/t/image"
    image_device=$(losetup -f --show "$WORK/t/image")
    mke2fs -q -t ext4 "$image_device"
    mount "$image_device" "$WORK/n"
    run "$JBDLAB" tiobench --target "$WORK/n" --size 64 --threads 1 --random 10
    echo "$output"
    [ "$status" = 4 ]
    # Which of the two depends on the kernel.
    [[ $output == *"sync $WORK/n/_jbdlab_tiobench_"*": "@(Input/output error|No space left on device)* ]]
    ! grep -q Sequential <<<"$output" || false
}

@test "reads begin with a cold cache, however it was dropped" {
    for how in '' --drop-caches; do
        "$JBDLAB" bench "$WORK/m" -w tiobench -s size=32M -s threads=2 -s random=100 \
            --json $how >"$WORK/json"
        jq -e '[.phases[].metrics[] | select(.name == "cached_before") | .value] ==
            [0, 0]' "$WORK/json"
        want=advised
        [ -z "$how" ] || want=dropped
        jq -e --arg w "$want" 'all(.phases[]; .cache == $w)' "$WORK/json"
    done
}

@test "sequential reads come from the device once" {
    # Sectors read by the device, against the size of the files.
    before=$(awk '{ print $3 }' "/sys/block/${disk#/dev/}/stat")
    "$JBDLAB" bench "$WORK/m" -w dd -s bs=64k -s count=512 -s read=yes --json >/dev/null
    after=$(awk '{ print $3 }' "/sys/block/${disk#/dev/}/stat")
    [ $(((after - before) * 512)) -ge $((512 * 65536)) ]
    [ $(((after - before) * 512)) -le $((512 * 65536 * 11 / 10)) ]
}

@test "direct opens every phase with O_DIRECT, and syncs only at the end of writes" {
    traced -f -qq -o "$WORK/trace" -e trace=openat,fsync "$JBDLAB" tiobench \
        --target "$WORK/m" --size 4 --threads 2 --random 20 --directio --quiet >/dev/null
    [ "$(grep -c '_jbdlab.*O_WRONLY.*O_DIRECT' "$WORK/trace")" = 4 ]
    [ "$(grep -c '_jbdlab.*O_RDONLY.*O_DIRECT' "$WORK/trace")" = 4 ]
}

@test "O_DIRECT that the file system buffers is said to be buffered" {
    run "$JBDLAB" bench "$WORK/m" -w dd -s bs=64k -s count=64 -s sync=direct
    [ "$status" = 0 ]
    [[ $output != *"in the page cache"* ]]
    umount "$WORK/m"
    mount -o data=journal "$disk" "$WORK/m"
    run "$JBDLAB" bench "$WORK/m" -w dd -s bs=64k -s count=64 -s sync=direct
    [ "$status" = 0 ]
    [[ $output == *"dd write: O_DIRECT was asked for, but 100 % of what was written is in the page cache"* ]]
    run "$JBDLAB" bench "$WORK/m" -w aio -s size=1M -s kind=randwrite -s depth=4
    [[ $output == *"randwrite/q4/t1: O_DIRECT was asked for"* ]]
    run "$JBDLAB" tiobench --target "$WORK/m" --size 8 --threads 1 --directio
    [[ $output == *"write/t1: O_DIRECT was asked for"* ]]
}

@test "children and rings end on a file system that fills up" {
    local workload pid status
    # At rates by which none could end in half a minute.
    for workload in 'throughput -s threads=2 -s block=16k -s sync=sync -s rate=200' \
        'throughput -s threads=2 -s block=16k -s sync=sync -s processes=no -s rate=200' \
        'aio -s threads=2 -s kind=write -s block=4k -s depth=1 -s rate=500' \
        'dd -s bs=16k -s count=4096 -s sync=dsync -s rate=100'; do
        [[ $workload == dd* ]] || workload+=' -s size=64M'
        # shellcheck disable=SC2086 # a list of words
        timeout 120 "$JBDLAB" bench "$WORK/m" --no-progress -w $workload >"$WORK/out" 2>&1 3>&- &
        pid=$!
        until_written "$WORK/m"
        fill_up "$WORK/m"
        status=0
        wait "$pid" || status=$?
        output=$(cat "$WORK/out")
        echo "$workload: $output"
        [ "$status" = 4 ]
        [[ $output == *"write $WORK/m/_jbdlab_"*" at byte "*": No space left on device"* ]]
        ! grep -q '^PHASE' <<<"$output" || false
        [ -z "$(find "$WORK/m" -name '_jbdlab*')" ]
        rm "$WORK/m/fill"*
    done
    mount -o remount,ro "$WORK/m"
    for workload in 'throughput -s size=1M' 'aio -s size=1M' 'dd -s count=1' commit; do
        # shellcheck disable=SC2086 # a list of words
        run timeout 60 "$JBDLAB" bench "$WORK/m" -w $workload
        [ "$status" = 4 ]
        [[ $output == *"$WORK/m: Read-only file system"* ]]
    done
}

# at_once WORKLOAD OPTION...: one of three times at least; others may look at a file system.
at_once() {
    local i
    for ((i = 0; i < 3; i++)); do
        "$JBDLAB" bench "$WORK/m" --quiet --no-progress -w "$@" >/dev/null
        ! umount "$WORK/m" || { mount "$disk" "$WORK/m" && return 0; }
        sleep 0.5
    done
    echo "busy after $*"
    return 1
}

@test "a volume can be unmounted as soon as a workload is over" {
    at_once aio -s kind=randread -s size=4M -s depth=16 -s count=100
    at_once aio -s kind=write -s size=4M -s depth=4
    at_once tiobench -s size=4M -s threads=2 -s mmap=yes
    at_once throughput -s size=2M -s block=64k -s threads=2
    at_once commit -s kind=wal -s count=20 -s heap=1M
}
