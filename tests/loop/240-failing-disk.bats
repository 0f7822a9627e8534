#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# A disk on which the n-th request and all after it fail: every type of workload ends with
# the name of the file and the error, prints no row and leaves no file.

load ../lib.bash

setup() {
    common_setup
    need_loop
    [ -c /dev/fuse ] || skip "needs /dev/fuse"
    MEMORY=$(mktemp -d /dev/shm/jbdlab-test.XXXXXX)
    NAME=fail-$$-$BATS_TEST_NUMBER
    mkdir "$WORK/m"
}

teardown() {
    ! is_mounted || until_done 30 umount "$WORK/m"
    destroy_disk "${NAME:-none}"
    rm -rf "$MEMORY"
    common_teardown
}

# mountpoint(1) asks the file system, whose disk fails.
is_mounted() {
    grep -qF " $WORK/m " /proc/self/mountinfo
}

# fresh FAULT: a mounted ext4 without journal on a disk that has the fault.  Without a
# journal because ext4 that cannot write it shuts down, and would then report other errors.
fresh() {
    if is_mounted; then
        until_done 30 umount "$WORK/m"
        timeout 30 "$JBDLAB" scratch stats "$NAME" --reset >/dev/null
    else
        disk=$(timeout 30 "$JBDLAB" scratch create --name "$NAME" --size 64M --quiet \
            --directory "$MEMORY" \
            --model "ssd,read=0,write=0,flush=0,overhead=0,interface=0,$1")
    fi
    until_done 60 timeout 30 mke2fs -q -F -t ext4 -O ^has_journal -E lazy_itable_init=0 "$disk"
    timeout 30 "$JBDLAB" scratch stats "$NAME" --reset >/dev/null
    # Read-ahead joins requests, how many depends on the kernel: a mapped file of 32 MiB may
    # be read with less than 200 of them.
    blockdev --setra 64 "$disk"
    mount -o errors=continue "$disk" "$WORK/m"
    # From here on requests are counted, whoever has looked at the disk so far.
    timeout 30 "$JBDLAB" scratch stats "$NAME" --reset >/dev/null
}

# fails WORKLOAD OPTION...: ends with what the test says, no row, no file.
fails() {
    run timeout 60 "$JBDLAB" bench "$WORK/m" --no-progress -w "$@"
    echo "$*: $output"
    [ "$status" = 4 ]
    [[ $output == *"_jbdlab_"*"Input/output error"* ]]
    ! grep -q '^PHASE' <<<"$output" || false
    # A directory whose block could not be written may list what is no more.
    [ -z "$(find "$WORK/m" -name '_jbdlab*' -exec test -e {} \; -print)" ]
}

@test "writes that fail" {
    local workload
    while read -r workload; do
        fresh fail_write=700
        # shellcheck disable=SC2086 # a list of words
        fails $workload
    done <<'END'
tiobench -s size=8M -s threads=2 -s direct=yes
tiobench -s size=8M -s threads=2 -s mmap=yes -s sync=dsync
dd -s bs=4k -s count=2000 -s direct=yes
commit -s kind=append-fsync -s count=2000 -s threads=2
throughput -s size=4M -s block=4k -s threads=2 -s direct=yes
throughput -s size=4M -s block=4k -s threads=2 -s direct=yes -s processes=no
aio -s kind=write -s size=8M -s depth=8
END
}

@test "reads that fail" {
    local workload
    while read -r workload; do
        fresh fail_read=200
        # shellcheck disable=SC2086 # a list of words
        fails $workload
    done <<'END'
tiobench -s size=8M -s threads=2 -s direct=yes
tiobench -s size=32M -s threads=2 -s mmap=yes
dd -s bs=4k -s count=1000 -s direct=yes -s read=yes
throughput -s size=4M -s block=4k -s threads=2 -s direct=yes
aio -s kind=randread -s size=8M -s depth=8
END
}

@test "flushes that fail" {
    local workload
    while read -r workload; do
        fresh fail_flush=50
        # shellcheck disable=SC2086 # a list of words
        fails $workload
    done <<'END'
tiobench -s size=1M -s threads=1 -s sync=osync
dd -s bs=4k -s count=200 -s sync=dsync
commit -s kind=append-fsync -s count=200 -s threads=2
commit -s kind=append-dsync -s count=200
commit -s kind=create-fsync -s count=200
commit -s kind=create-rename -s count=200
commit -s kind=mkdir -s count=200
commit -s kind=unlink -s count=200
commit -s kind=mail -s count=200
commit -s kind=stream+commit -s count=200 -s stream=8M
commit -s kind=wal -s count=400 -s heap=1M -s threads=2
throughput -s size=1M -s block=4k -s sync=sync
END
}
