#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The rates of tiobench agree with those of fio doing the same work on a modelled disk
# within 5 %: the same sizes and blocks, one file for each thread, synced at the end of a
# write phase, read from a cold cache.
#
# Two things make the work the same: fio is told not to give the kernel advice about
# access (fadvise_hint=0), which changes how far it reads ahead, and to set the size of a
# file before it writes (fallocate=truncate), as tiobench does.  What else runs on the
# machine makes a run slower, or faster when its sync(2) begins to write out what this run
# has only begun to make dirty.  So medians are compared, after two rounds and if need be
# after some more until BUDGET seconds have passed; then the test fails, or is skipped when
# the processors were busy with something else.

load ../lib.bash

BUDGET=90 # seconds
SIZE=128  # MiB; with less it is a matter of luck which file is written out first
RANDOM_OPERATIONS=1000

setup() {
    common_setup
    need_loop
    [ -c /dev/fuse ] || skip "needs /dev/fuse"
    need_calm
    command -v fio >/dev/null || skip "needs fio"
    command -v jq >/dev/null || skip "needs jq"
    NAME=fio-$$-$BATS_TEST_NUMBER
    DEV=$(nice -n -10 timeout 30 "$JBDLAB" scratch create --name "$NAME" --size 1G --model hdd-7200 \
        --directory "${SCRATCH_DIR:-/dev/shm}" 3>&-)
    mkdir "$WORK/m"
}

teardown() {
    umount "$WORK/m" 2>/dev/null || true
    destroy_disk "${NAME:-none}"
    common_teardown
}

# A file system that nothing was ever written to, with nothing left to do.
fresh() {
    umount "$WORK/m" 2>/dev/null || true
    until_done 60 timeout 30 mke2fs -q -F -t ext4 -E lazy_itable_init=0,lazy_journal_init=0 "$DEV"
    mount "$DEV" "$WORK/m"
    cold
}

cold() {
    sync
    echo 3 >/proc/sys/vm/drop_caches
}

# Adds lines "PROGRAM PHASE MIB_PER_SECOND" to $WORK/rates.
run_tiobench() {
    nice -n -10 timeout 60 "$JBDLAB" tiobench --target "$WORK/m" --size $SIZE --threads "$1" \
        --random $RANDOM_OPERATIONS --flushCaches --quiet --json |
        jq -r '.phases[] | "jbdlab \(.name | sub("/.*"; "")) \(
            .counters.bytes / 1048576 / (.counters.wall_ns / 1e9))"' >>"$WORK/rates"
}

# fio_phase PHASE THREADS RW OPTION...
fio_phase() {
    local phase=$1 threads=$2 rw=$3
    shift 3
    cold
    nice -n -10 timeout 60 fio --name=t --directory="$WORK/m" --numjobs="$threads" --thread \
        --group_reporting --rw="$rw" --bs=4k --size=$((SIZE / threads))M \
        --ioengine=psync --fallocate=truncate --fadvise_hint=0 --gtod_reduce=1 \
        --scramble_buffers=0 --output-format=json "$@" >"$WORK/fio.json"
    jq -r --arg phase "$phase" --arg side "${rw#rand}" \
        '"fio \($phase) \(.jobs[0][$side].bw_bytes / 1048576)"' "$WORK/fio.json" \
        >>"$WORK/rates"
}

run_fio() {
    local threads=$1
    local some=("--io_size=$((4 * RANDOM_OPERATIONS / threads))k" --norandommap)
    fio_phase write "$threads" write --end_fsync=1 --create_on_open=1
    fio_phase rwrite "$threads" randwrite --end_fsync=1 "${some[@]}"
    fio_phase read "$threads" read
    fio_phase rread "$threads" randread "${some[@]}"
}

# Prints the median rates and fails unless they agree within 5 % and the slack.
agree() {
    sort -k1,1 -k2,2 -k3,3n "$WORK/rates" | awk -v allowed="$((5 + SLACK))" '
        { n[$1, $2]++; rate[$1, $2, n[$1, $2]] = $3; phase[$2] }
        function median(who, p, count) {
            count = n[who, p]
            return (rate[who, p, int((count + 1) / 2)] + rate[who, p, int(count / 2) + 1]) / 2
        }
        END { for (p in phase) {
                ratio = median("jbdlab", p) / median("fio", p)
                printf "%-7s jbdlab %8.3f  fio %8.3f MiB/s  ratio %.3f\n", p,
                    median("jbdlab", p), median("fio", p), ratio
                if (ratio < 1 - allowed / 100 || ratio > 1 + allowed / 100) bad = 1 }
            exit bad }'
}

compare() {
    local threads=$1 round before end=$((SECONDS + BUDGET))
    before=$(processors)
    for ((round = 1; round <= 2 || SECONDS < end; round++)); do
        fresh
        run_tiobench "$threads"
        fresh
        run_fio "$threads"
        if [ "$round" -ge 2 ] && agree; then
            return 0
        fi
    done
    cat "$WORK/rates"
    # shellcheck disable=SC2086 # two numbers
    were_calm $before ||
        skip "the processors are busy with something else"
    return 1
}

@test "one thread: all four phases agree with fio within 5 %" {
    compare 1
}

@test "four threads: all four phases agree with fio within 5 %" {
    compare 4
}
