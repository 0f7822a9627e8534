#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What needs no root runs as nobody, in a directory of his; what needs root says so in one
# sentence, with status 3, and does nothing.

# bats sets stderr, and runs each test in a subshell.
# shellcheck disable=SC2154,SC2030,SC2031

bats_require_minimum_version 1.5.0
load ../lib.bash

setup() {
    common_setup
    chmod 711 "$WORK"
    DIR=$WORK/home
    mkdir "$DIR"
    cp -r "$BATS_TEST_DIRNAME/../report/in/real" "$DIR/bundle"
    cp "$BATS_TEST_DIRNAME/../report/in/tiobench-classic.txt" "$DIR/table"
    truncate -s 8M "$DIR/image"
    mke2fs -q -F -t ext4 -b 1024 "$DIR/image"
    [ "$(id -u)" != 0 ] || chown -R nobody "$DIR"
    as_nobody test -x "$JBDLAB" || skip "nobody may not run $JBDLAB"
    cd "$DIR" || return 1
}

teardown() {
    cd /
    common_teardown
}

# as_nobody COMMAND...: without root's rights, and with no more than a plain user's PATH.
as_nobody() {
    local drop=()
    [ "$(id -u)" != 0 ] || drop=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    timeout 120 "${drop[@]}" env HOME="$DIR" TMPDIR="$DIR" PATH=/usr/local/bin:/usr/bin:/bin "$@"
}

jbdlab() {
    as_nobody "$JBDLAB" "$@" </dev/null
}

# needs_root WORDS ARGUMENT...
needs_root() {
    run --separate-stderr jbdlab "${@:2}"
    if [ "$status" != 3 ] || [ "$(grep -c '^jbdlab: ' <<<"$stderr")" != 1 ] ||
        [[ $stderr != *"$1"* ]] || [[ $stderr != *root* ]]; then
        echo "${*:2}: status $status, not 3, or not \"$1\" and root:"
        echo "$stderr"
        return 1
    fi
}

# a_disk: some block device of this machine that nobody may open, in DISK.
a_disk() {
    for DISK in /dev/vda /dev/sda /dev/nvme0n1 /dev/loop0; do
        [ ! -b "$DISK" ] || as_nobody test -r "$DISK" || return 0
    done
    skip "needs a block device"
}

plan() {
    printf '%s\n' '[experiment]' 'name = x' 'blocks = 1' '[disk d]' 'size = 16M' '[volume v]' \
        'device = d' 'mkfs = ext4' '[arm a]' 'journal = none' '[arm b]' 'journal = inline' \
        '[workload w]' 'type = dd' 'bs = 4k' 'count = 4' >x.ini
    chmod 644 x.ini
}

@test "what reads" {
    local command
    jbdlab --version
    jbdlab --help >/dev/null
    for command in show report audit import compare bench tiobench check move recover run scratch \
        check-disks advise witness workloads keys completion; do
        jbdlab $command --help >/dev/null
    done
    jbdlab keys >/dev/null
    jbdlab workloads >/dev/null
    jbdlab workloads fio-commit >/dev/null
    jbdlab completion bash >/dev/null
    jbdlab completion zsh >/dev/null
    jbdlab scratch models >/dev/null
    jbdlab bench --list >/dev/null
    jbdlab show >/dev/null
    jbdlab show image | grep -q '^Placement: *inline'
    jbdlab check-disks >/dev/null
    jbdlab check image --to none | grep -q 'nothing speaks against it'
    jbdlab report bundle >/dev/null
    jbdlab report bundle --format html >/dev/null
    jbdlab report bundle --json >/dev/null
    jbdlab audit bundle >/dev/null
    jbdlab import table >/dev/null
    jbdlab import table --output imported >/dev/null
    jbdlab report imported >/dev/null
    run jbdlab compare bundle
    [ "$status" = 0 ] || [ "$status" = 1 ] || [ "$status" = 5 ]
    run jbdlab compare --hosts bundle bundle
    [ "$status" -le 5 ]
    plan
    jbdlab run x.ini --dry-run >/dev/null
    jbdlab run x.ini --dry-run --json >/dev/null
    jbdlab report bundle --watch >/dev/null
}

@test "what measures in a directory, and the journal of an image" {
    mkdir d w
    [ "$(id -u)" != 0 ] || chown nobody d w
    jbdlab bench d --workload dd --set bs=4k --set count=4 >/dev/null
    jbdlab bench d --workload commit --set kind=append-fsync --set count=5 >/dev/null
    jbdlab bench d --workload throughput --set size=64k --set block=4k >/dev/null
    # A machine may keep io_uring for root.
    [ "$(cat /proc/sys/kernel/io_uring_disabled 2>/dev/null || echo 0)" != 0 ] ||
        jbdlab bench d --workload aio --set size=1M --set depth=2 --set count=8 \
            --set direct=no >/dev/null
    jbdlab bench d --workload command --set 'exec=id -u' \
        --set 'metric.uid=count lower regex ([0-9]+)' >/dev/null
    jbdlab tiobench --dir d --size 1 --threads 2 --random 10 >/dev/null
    jbdlab witness w --time=100ms >acks
    jbdlab witness w --verify --log=acks >/dev/null
    [ -z "$(ls -A d)" ]
    jbdlab move image --to none --state-dir state
    jbdlab move image --to inline,size=1M --state-dir state
    jbdlab recover image --state-dir state
    fsck_clean image
}

@test "what needs root says so" {
    plan
    needs_root "which needs root; --dry-run does not" run x.ini
    needs_root "which needs root" run x.ini --yes --output made
    needs_root "which needs root" run --restore bundle
    needs_root "scratch disks need root" scratch create --name x --size 16M
    needs_root "scratch disks need root" scratch destroy x
    needs_root "dropping the page cache needs root" \
        bench . --workload dd --set bs=4k --set count=1 --drop-caches
    needs_root "dropping the page cache needs root" \
        tiobench --size 1 --threads 1 --random 1 --flushCaches
    needs_root 'to run a command as user "root" needs root' bench . --workload command \
        --set exec=true --set user=root --set 'metric.t=s lower elapsed'
    [ ! -e made ]
}

@test "disks are root's" {
    a_disk
    needs_root "leases are root's to give" scratch lease "$DISK" --yes --serial x
    needs_root "leases are root's to give" scratch unlease "$DISK"
    needs_root "open $DISK: Permission denied: it takes root" show "$DISK"
    needs_root "open $DISK: Permission denied: it takes root" move "$DISK" --to none
    needs_root "open $DISK: Permission denied: it takes root" recover "$DISK"
    needs_root "open $DISK: Permission denied: it takes root" advise "$DISK" --seconds 1
    needs_root "open $DISK: Permission denied: it takes root" \
        tiobench --raw --target "$DISK" --size 1
    run jbdlab check "$DISK" --to none
    [ "$status" = 3 ]
    [[ $output == *"it takes root"* && $output != *"unmount it"* ]]
    run jbdlab check-disks "$DISK"
    [ "$status" = 3 ]
    run jbdlab move "$DISK" --to none --remount
    [ "$status" = 3 ]
    [[ $output == "jbdlab: "*"it takes root"* ]]
}

@test "files of others are not written" {
    [ "$(id -u)" = 0 ] || skip "needs another user"
    chown root image
    chmod 644 image
    before=$(sha256sum <image)
    for command in "move image --to none" "recover image"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr jbdlab $command --state-dir state
        echo "$stderr"
        [ "$status" = 3 ] || [ "$status" = 4 ]
        [[ $stderr == "jbdlab: "*"image: Permission denied" ]]
    done
    mkdir "$WORK/closed"
    for command in "bench $WORK/closed --workload dd --set bs=4k --set count=1" \
        "witness $WORK/closed --time=1s" "import table --output $WORK/closed/b"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr jbdlab $command
        echo "$stderr"
        [ "$status" = 4 ]
        [[ $stderr == "jbdlab: "*"$WORK/closed"*": Permission denied" ]]
    done
    [ "$(sha256sum <image)" = "$before" ]
}
