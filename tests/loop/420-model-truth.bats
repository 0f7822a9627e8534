#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What fio measures on a modelled disk is what the model charges, a flush costs what it
# should, and an external journal helps as much as it does on real disks.
#
# A machine that does other things meanwhile measures too much; so the exact comparisons
# are tried up to five times, not longer than BUDGET seconds, and where none succeeds while
# the processors were busy with something else, or something else read the disk, the test is
# skipped and says so.

load ../lib.bash

BUDGET=12 # seconds for the attempts of one comparison

setup() {
    common_setup
    need_loop
    [ -c /dev/fuse ] || skip "needs /dev/fuse"
    need_calm
    command -v fio >/dev/null || skip "needs fio"
    MEMORY=$(mktemp -d /dev/shm/jbdlab-test.XXXXXX) # no other disk in the measurement
    NAMES=()
}

teardown() {
    local name
    ! mountpoint -q "$WORK/mnt" || umount "$WORK/mnt"
    for name in "${NAMES[@]}"; do destroy_disk "$name"; done
    rm -rf "$MEMORY"
    common_teardown
}

# create VARIABLE SIZE MODEL
create() {
    local device
    device=$("$JBDLAB" scratch create --name "t$$-$BATS_TEST_NUMBER-$1" --size "$2" \
        --model "$3" --directory "$MEMORY" --quiet)
    NAMES+=("t$$-$BATS_TEST_NUMBER-$1")
    printf -v "$1" %s "$device"
}

# job OPTIONS: runs fio; its first job is $WORK/fio, the model's counters $WORK/model.
job() {
    local before
    "$JBDLAB" scratch stats "${NAMES[0]}" --reset >/dev/null
    before=$(processors)
    timeout 60 fio --name=job --output-format=json --output="$WORK/all" "$@" >/dev/null
    jq '.jobs[0]' "$WORK/all" >"$WORK/fio"
    "$JBDLAB" scratch stats "${NAMES[0]}" >"$WORK/model"
    # shellcheck disable=SC2086 # two numbers
    if ! were_calm $before; then
        BUSY="the processors are busy with something else"
    elif [ "$(jq .read.requests "$WORK/model")" -gt $(($(jq .read.total_ios "$WORK/fio") + 8)) ] &&
        [ "$(jq .read.total_ios "$WORK/fio")" -gt 0 ]; then
        BUSY="something else reads the disk"
    fi
}

fio_says() {
    jq "$1" "$WORK/fio"
}

model_says() {
    jq "$1" "$WORK/model"
}

# near A B PERCENT: within these and the slack
near() {
    awk -v a="$1" -v b="$2" -v p="$(($3 + SLACK))" 'BEGIN {
        printf "%g and %g differ by %.2f %%\n", a, b, 100 * (a / b - 1)
        exit !(a >= b * (1 - p / 100) && a <= b * (1 + p / 100)) }'
}

# attempts COMMAND: up to five.
attempts() {
    local i end=$((SECONDS + BUDGET))
    BUSY=
    for ((i = 0; i < 5 && SECONDS < end; i++)); do
        ! "$@" || return 0
    done
    [ -z "$BUSY" ] || skip "$BUSY"
    return 1
}

constant() {
    job --filename="$DISK" --direct=1 --rw="$1" --bs=4k --runtime=2 --time_based
    near "$(fio_says ".${1#rand}.clat_ns.percentile[\"50.000000\"]")" 4000000 1 &&
        near "$(fio_says ".${1#rand}.iops")" 250 1
}

@test "a service time of 4 ms is measured as 4 ms, median and rate" {
    create DISK 256M ssd,read=4ms,write=4ms,channels=1,overhead=0,interface=0
    attempts constant randread
    attempts constant randwrite
}

random_reads() {
    job --filename="$DISK" --direct=1 --rw=randread --bs=4k --runtime=3 --time_based
    near "$(fio_says .read.lat_ns.mean)" \
        "$(model_says '.read.latency_ns / .read.requests')" 1
}

@test "random reads of hdd-7200 take what the model charges, some 11 ms" {
    create DISK 1G hdd-7200
    attempts random_reads
    near "$(fio_says .read.iops)" 90 10
}

flushes() {
    job --filename="$DISK" --rw=write --bs=4k --fsync=1 --size=800k
    near "$(fio_says .sync.lat_ns.mean)" \
        "$(model_says '(.flush.latency_ns + .write.latency_ns) / .flush.requests')" 3
}

@test "an fsync pays for what it writes out" {
    create DISK 1G hdd-7200
    attempts flushes
    # Half a turn, the fixed time, and now and then a seek.
    near "$(model_says '.flush.latency_ns / .flush.requests / 1e6')" 6.3 10
    [ "$(model_says .destaged_bytes)" -ge 815104 ] # fio does not sync after the last write
    [ "$(model_says .dirty_bytes)" -le 4096 ]
}

# stream RW BLOCK
stream() {
    job --filename="$DISK" --direct=1 --rw="$1" --bs="$2" --size=150m --end_fsync=1
    near "$(fio_says ".$1.bw_bytes / 1048576")" 150 4
}

@test "streams go at the rate of the medium" {
    create DISK 1G hdd-7200
    for block in 128k 1m; do
        attempts stream read $block
        attempts stream write $block
    done
}

# appends VARIABLE OPTIONS: mkfs with them; operations per second of append and fsync.
appends() {
    mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "${@:2}"
    mkdir -p "$WORK/mnt"
    mount "$DISK" "$WORK/mnt"
    job --filename="$WORK/mnt/file" --rw=write --bs=4k --fsync=1 --fallocate=none \
        --size=64m --runtime=4
    umount "$WORK/mnt"
    printf -v "$1" %s "$(fio_says .write.iops)"
}

placements() {
    local inline external
    appends inline -J size=128 "$DISK"
    mke2fs -q -F -O journal_dev -b 4096 "$JOURNAL" 32768
    appends external -b 4096 -J device="$JOURNAL" "$DISK"
    echo "inline $inline external $external per second"
    awk -v i="$inline" -v e="$external" 'BEGIN {
        exit !(i >= 15 && i <= 60 && e >= 2 * i && e <= 8 * i) }'
}

@test "append and fsync on ext4: slow inline, two times faster or more with a journal on ssd" {
    create DISK 2G hdd-7200
    create JOURNAL 256M ssd
    attempts placements
}
