#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Devices that are none, and machines that lack something (room in /var, /dev/fuse, loop
# devices, /proc/fs/jbd2, e2fsck, mke2fs): one sentence that names it and what to do, the
# documented status, no device changed, nothing left.

# bats sets stderr, and runs each test in a subshell.
# shellcheck disable=SC2154,SC2030,SC2031

bats_require_minimum_version 1.5.0
load ../lib.bash

setup() {
    need_loop
    common_setup
    OUT=$(mktemp -d /dev/shm/jbdlab-test.XXXXXX) # a bundle must lie on another disk
    loop_new V 16M
    mke2fs -q -t ext4 -b 4096 "$V"
    lease "$V"
    loop_new J 16M
    lease "$J"
    NAME=poor-$$
}

teardown() {
    destroy_disk "$NAME"
    drop_leases
    rm -rf "$OUT"
    common_teardown
}

hashes() {
    sha256sum "$WORK"/*.img
}

# on MACHINE: what the commands that follow run in; a line of shell, after which nothing that
# it mounts is seen elsewhere.
on() {
    MACHINE=$1
}

on_it() {
    if [ -n "${MACHINE:-}" ]; then
        WORK=$WORK unshare -m --propagation private sh -c "$MACHINE"' && exec "$@"' sh "$@"
    else
        "$@"
    fi
}

# said STATUS WORDS COMMAND...: one of these statuses, one message with these words, and no
# disk that has changed.
said() {
    local before
    before=$(hashes)
    run --separate-stderr on_it timeout 120 "${@:3}" </dev/null
    if [[ " $1 " != *" $status "* ]] || [ "$(grep -cE '^jbdlab: ([^w]|w[^a])' <<<"$stderr")" != 1 ] ||
        [[ $stderr != *"$2"* ]]; then
        echo "${*:3}: status $status, not $1, or not \"$2\":"
        echo "$stderr"
        return 1
    fi
    [ "$(hashes)" = "$before" ] || { echo "${*:3}: bytes were changed"; return 1; }
}

# experiment VOLUME JOURNAL [LINE...]: $OUT/x.ini
experiment() {
    {
        cat <<END
[experiment]
name = poor
blocks = 1
repeat = 0
[volume v]
device = $1
mkfs = ext4 -b 4096
[arm a]
journal = inline,size=4M
[arm b]
journal = $2
[workload w]
type = dd
bs = 64k
count = 4
END
        printf '%s\n' "${@:3}"
    } >"$OUT/x.ini"
}

run_it() {
    said "$1" "$2" "$JBDLAB" run "$OUT/x.ini" --output "$OUT/bundle" --yes
    # What it wrote of itself says so, too.
    [ ! -e "$OUT/bundle" ] || [ "$(jq -r .state "$OUT/bundle/bundle.json")" = failed ]
    rm -rf "$OUT/bundle"
}

# no_volume DEVICE WORDS WORDS: of no use as a volume, nor as a journal.
no_volume() {
    said "3 4" "$2" "$JBDLAB" show "$1"
    said 3 "$2" "$JBDLAB" move "$1" --to none --state-dir "$WORK/state"
    said 3 "$2" "$JBDLAB" move "$1" --to inline --lost-journal --state-dir "$WORK/state"
    said 3 "$3" "$JBDLAB" recover "$1" --state-dir "$WORK/state"
    said "3 4" "" "$JBDLAB" advise "$1" --seconds 1
}

# bats test_tags=slow
@test "a device without bytes" {
    local empty
    : >"$WORK/none"
    empty=$(losetup -f --show "$WORK/none")
    LOOPS+=("$empty")
    said "3 4" "$empty" "$JBDLAB" show "$empty"
    for command in "move $empty --to none" "recover $empty" "scratch lease $empty --yes --serial x" \
        "scratch unlease $empty" "tiobench --raw --target $empty --size 1" \
        "move $V --to external=$empty"; do
        # shellcheck disable=SC2086 # words
        said 3 "$empty has no bytes: nothing is connected to it" "$JBDLAB" $command
    done
    run timeout 60 "$JBDLAB" check-disks "$empty"
    [ "$status" = 3 ]
    experiment "$empty" none
    run_it 3 "$empty"
    experiment "$V" "external=$empty"
    run_it 3 "$empty"
}

# bats test_tags=slow
@test "a device of 16 TiB of which nothing is there" {
    local huge before
    truncate -s 15T "$WORK/huge" 2>/dev/null || skip "no file of that size here"
    huge=$(losetup -f --show "$WORK/huge")
    LOOPS+=("$huge")
    before=$(stat -c '%b %y' "$WORK/huge")
    no_volume "$huge" "$huge holds no ext2, ext3 or ext4 volume" "$huge has no ext2/ext3/ext4"
    said 3 "is neither the serial number of $huge" "$JBDLAB" scratch lease "$huge" --yes --serial x
    said 3 "$huge is not leased" "$JBDLAB" tiobench --raw --target "$huge" --size 1
    experiment "$huge" none
    run_it 3 "$huge is not leased"
    experiment "$V" "external=$huge"
    run_it 3 "$huge is not leased"
    [ "$(stat -c '%b %y' "$WORK/huge")" = "$before" ]
    # What is wanted, more than a journal can have, is no reason to write all of it.
    said 3 "is not possible" "$JBDLAB" move "$V" --to "external=$huge,size=15T"
    [ "$(stat -c '%b %y' "$WORK/huge")" = "$before" ]
}

# bats test_tags=slow
@test "zeroes, noise, a CD and a truncated volume on a device" {
    losetup -d "$J"
    local device
    cd "$WORK"
    truncate -s 4M a-zero.img
    head -c 4M /dev/urandom >b-noise.img
    truncate -s 4M c-cd.img
    printf '\01CD001\01\0LINUX' | dd of=c-cd.img bs=1 seek=32768 conv=notrunc status=none
    cp V.img d-cut.img
    truncate -s 8M d-cut.img
    for file in [a-d]-*.img; do
        device=$(losetup -f --show "$file")
        case $file in
        d-*) no_volume "$device" "is truncated or the superblock is damaged" "is truncated" ;;
        *) no_volume "$device" "holds no ext2, ext3 or ext4 volume" "has no ext2/ext3/ext4" ;;
        esac
        losetup -d "$device"
    done
    LOOPS=("$V")
    cd /
}

# bats test_tags=slow
@test "a full /var: what cannot be recorded is not begun" {
    experiment "$V" "external=$J"
    # Leases are there, and no room for anything else.
    on "mkdir $WORK/leases && cp -a /var/lib/jbdlab/leases/. $WORK/leases &&
        mount -t tmpfs -o size=64k none /var/lib/jbdlab && mkdir /var/lib/jbdlab/leases &&
        cp -a $WORK/leases/. /var/lib/jbdlab/leases && rm -r $WORK/leases &&
        { cat /dev/zero >/var/lib/jbdlab/full 2>/dev/null || :; }"
    said 4 "the journal of $V stays where it was: write intent log: " "$JBDLAB" move "$V" --to none
    said 4 "the journal of $V stays where it was: write intent log: " \
        "$JBDLAB" move "$V" --to "external=$J"
    said 4 "No space left on device" "$JBDLAB" scratch create --name "$NAME" --size 16M \
        --directory "$WORK"
    said 4 "No space left on device" "$JBDLAB" scratch lease "$J" --yes --serial "${WORK: -2}/J.img"
    run_it 4 "No space left on device"
    on "mount -t tmpfs -o size=4k,nr_inodes=2 none /var/lib/jbdlab"
    said 4 "/var/lib/jbdlab" "$JBDLAB" scratch create --name "$NAME" --size 16M --directory "$WORK"
    [ -z "$(ls "$WORK"/jbdlab-* 2>/dev/null)" ]
    # And one that cannot be written at all.
    on "mount --bind /var/lib/jbdlab /var/lib/jbdlab && mount -o remount,bind,ro /var/lib/jbdlab"
    said 4 "stays where it was: write intent log: create" "$JBDLAB" move "$V" --to none
    said 4 "Read-only file system" "$JBDLAB" scratch create --name "$NAME" --size 16M \
        --directory "$WORK"
    said 4 "Read-only file system" "$JBDLAB" scratch unlease "$J"
}

@test "a directory of the bundle that is full or cannot be written" {
    experiment "$V" none
    sed -i 's/^mkfs.*//' "$OUT/x.ini"
    on "mkdir -p $OUT/full && mount -t tmpfs -o size=4k none $OUT/full &&
        { cat /dev/zero >$OUT/full/full 2>/dev/null || :; }"
    said 4 "No space left on device" "$JBDLAB" run "$OUT/x.ini" --output "$OUT/full/bundle" --yes
    on "mkdir -p $OUT/ro && mount -t tmpfs -o ro none $OUT/ro"
    said 4 "Read-only file system" "$JBDLAB" run "$OUT/x.ini" --output "$OUT/ro/bundle" --yes
    on ""
    said 4 "No such file or directory" "$JBDLAB" run "$OUT/x.ini" --output "$OUT/none/bundle" --yes
    : >"$OUT/file"
    said "3 4" "file/bundle" "$JBDLAB" run "$OUT/x.ini" --output "$OUT/file/bundle" --yes
}

# own_dev NODES: a /dev with these and the least of others.
own_dev() {
    mkdir -p "$WORK/dev"
    on "mount -t tmpfs none $WORK/dev && cp -a /dev/null /dev/zero /dev/urandom $1 $WORK/dev &&
        mkdir $WORK/dev/shm && mount --bind /dev/shm $WORK/dev/shm &&
        mount --move $WORK/dev /dev"
}

@test "no /dev/fuse: said before anything is made, with the way without" {
    on "mount --bind /dev/null /dev/fuse"
    said 3 "this machine has no /dev/fuse" "$JBDLAB" scratch create --name "$NAME" --size 16M --model ssd \
        --directory "$WORK"
    own_dev "/dev/loop*"
    said 3 "this machine has no /dev/fuse" "$JBDLAB" scratch create --name "$NAME" --size 16M \
        --model ssd --directory "$WORK"
    [ -z "$(ls "$WORK"/jbdlab-* 2>/dev/null)" ]
    [ "$("$JBDLAB" scratch list | grep -c "$NAME")" = 0 ]
}

@test "no loop devices" {
    own_dev /dev/fuse
    said 3 "this machine has no loop devices (no /dev/loop-control; \"modprobe loop\" may help)" \
        "$JBDLAB" scratch create --name "$NAME" --size 16M --directory "$WORK"
    cat >"$OUT/x.ini" <<END
[experiment]
name = poor
blocks = 1
$(disk_section d 16M)
[volume v]
device = d
mkfs = ext4
[arm a]
journal = none
[arm b]
journal = inline
[workload w]
type = dd
bs = 4k
count = 4
END
    run_it 3 "this machine has no loop devices"
    [ -z "$(ls "$WORK"/jbdlab-* 2>/dev/null)" ]
    [ "$("$JBDLAB" scratch list | grep -c "$NAME")" = 0 ]
}

@test "no /proc/fs/jbd2: it is measured without, and said what cannot be known" {
    experiment "$V" "external=$J"
    mkdir -p /proc/fs/jbd2 2>/dev/null || [ -d /proc/fs/jbd2 ] || skip "this kernel has none"
    on "mount -t tmpfs none /proc/fs"
    run on_it timeout 120 "$JBDLAB" run "$OUT/x.ini" --output "$OUT/bundle" --yes
    echo "$output"
    [ "$status" = 0 ] || [ "$status" = 5 ]
    [ "$(jq -r .state "$OUT/bundle/bundle.json")" = complete ]
    "$JBDLAB" audit "$OUT/bundle" | grep -q unknown
    mkdir "$WORK/mnt"
    mount "$V" "$WORK/mnt"
    run on_it timeout 60 "$JBDLAB" advise "$V" --seconds 1
    echo "$output"
    umount "$WORK/mnt"
    [ "$status" = 3 ]
    [[ $output == "jbdlab: the journal of $V is not at work "*"there is no /proc/fs/jbd2/"*"/info" ]]
}

# without PROGRAM...: these are not installed.
without() {
    local directory line=: n=0
    for directory in /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin; do
        [ ! -L $directory ] || continue
        ls "${@/#/$directory/}" >/dev/null 2>&1 || continue
        n=$((n + 1))
        mkdir -p "$WORK/all$n" "$WORK/some$n"
        find "$directory" -mindepth 1 -maxdepth 1 -printf '%f\0' |
            xargs -0 -I@ ln -sfn "$WORK/all$n/@" "$WORK/some$n/@"
        (cd "$WORK/some$n" && rm -f "$@")
        line+=" && mount --bind $directory $WORK/all$n && mount --bind $WORK/some$n $directory"
    done
    on "$line"
}

@test "no e2fsck: nothing is moved, and nothing is made that could not be checked" {
    without e2fsck
    said 3 "e2fsck is not installed" "$JBDLAB" move "$V" --to none --state-dir "$WORK/state"
    said 3 "e2fsck is not installed" \
        "$JBDLAB" move "$V" --to "external=$J" --state-dir "$WORK/state"
    [ -z "$(ls -A "$WORK/state/moves" 2>/dev/null)" ]
    run on_it timeout 60 "$JBDLAB" check "$V" --to none
    echo "$output"
    [ "$status" = 3 ]
    [[ $output == *e2fsck* ]]
}

@test "no mke2fs: the experiment says so before it asks for more" {
    experiment "$V" none
    without mke2fs
    run_it "3 4" "mke2fs is not installed"
}
