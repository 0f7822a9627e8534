#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Leases: given for the right word only, bound to the disk and not to its name, and never
# for a disk of this system.

load ../lib.bash

setup() {
    common_setup
    need_loop
    loop_new DISK 64M
    FILE=$WORK/DISK.img
    WORD=${FILE: -8}
}

teardown() {
    [ -z "$SWAP" ] || swapoff "$SWAP"
    "$JBDLAB" scratch unlease "$DISK" 2>/dev/null || true
    [ -z "$PART" ] || "$JBDLAB" scratch unlease "$PART" 2>/dev/null || true
    [[ "${OUT:-}" != /dev/shm/* ]] || rm -rf "$OUT"
    common_teardown
}

lease() {
    "$JBDLAB" scratch lease "$1" --serial "$2" --yes
}

leases() {
    grep -l "$WORK" /var/lib/jbdlab/leases/* 2>/dev/null | wc -l
}

@test "the wrong word, no word and no terminal are refused" {
    mkfs.ext4 -q -L precious "$DISK"
    before=$(sha256sum <"$FILE")
    run lease "$DISK" wrong
    [ "$status" = 3 ]
    [[ "$output" == *precious* ]]
    [[ "$output" == *"file=$FILE"* ]]
    run lease "$DISK" ""
    [ "$status" = 3 ]
    run "$JBDLAB" scratch lease "$DISK" </dev/null
    [ "$status" = 3 ]
    run "$JBDLAB" scratch lease "$DISK" --serial "$WORD"
    [ "$status" = 2 ]
    run "$JBDLAB" scratch lease "$DISK" --yes </dev/null
    [ "$status" = 3 ]
    [ "$(leases)" = 0 ]
    [ "$(sha256sum <"$FILE")" = "$before" ]
}

@test "the last eight characters of the identity are taken, and the lease taken back" {
    lease "$DISK" "$WORD"
    [ "$(leases)" = 1 ]
    "$JBDLAB" scratch unlease "$DISK"
    [ "$(leases)" = 0 ]
    run "$JBDLAB" scratch unlease "$DISK"
    [ "$status" = 4 ]
    [[ "$output" == *"is not leased"* ]]
}

@test "the list shows leases, with the device that has the identity now" {
    lease "$DISK" "$WORD"
    "$JBDLAB" scratch list >"$WORK/list"
    cat "$WORK/list"
    grep -qE "^$DISK +64M +[^ ]+ +20[^ ]+ +file=$FILE\$" "$WORK/list"
    "$JBDLAB" scratch list --json >"$WORK/json"
    jq -e --arg disk "$DISK" --arg file "$FILE" '.leases | map(select(.device == $disk))[0] |
        .identity == "file=" + $file and .size_bytes == 67108864' "$WORK/json"
    "$JBDLAB" scratch unlease "$DISK"
    [ "$("$JBDLAB" scratch list --json | jq --arg disk "$DISK" \
        '.leases | map(select(.device == $disk)) | length')" = 0 ]
}

@test "on a terminal the word is asked for" {
    script -qec "'$JBDLAB' scratch lease '$DISK'" /dev/null <<<"$WORD" >"$WORK/typed"
    grep -q "is leased" "$WORK/typed"
    [ "$(leases)" = 1 ]
}

@test "a mounted disk is refused and its user named" {
    mkfs.ext4 -q "$DISK"
    mkdir "$WORK/mnt"
    mount "$DISK" "$WORK/mnt"
    run lease "$DISK" "$WORD"
    [ "$status" = 3 ]
    [[ "$output" == *"$WORK/mnt"* ]]
    [ "$(leases)" = 0 ]
}

@test "a file, a directory and a missing device are refused" {
    truncate -s 1M "$WORK/plain"
    run lease "$WORK/plain" plain
    [ "$status" = 3 ]
    run lease "$WORK" x
    [ "$status" = 3 ]
    run lease "$WORK/none" x
    [ "$status" = 3 ]
}

@test "a scratch disk of ours needs none" {
    name=lease-$$
    device=$("$JBDLAB" scratch create --name "$name" --size 16M --directory "$WORK")
    run lease "$device" x
    "$JBDLAB" scratch destroy "$name"
    [ "$status" = 3 ]
    [[ "$output" == *"needs no lease"* ]]
}

@test "a partition beside swap is refused, a partition of another disk is not" {
    # An MBR with disk signature 12345678 and two partitions of 16 MiB, at 1 and 17 MiB.
    printf '\x78\x56\x34\x12' | dd of="$FILE" bs=1 seek=440 conv=notrunc status=none
    {
        printf '\0\0\0\0\x83\0\0\0\x00\x08\0\0\x00\x80\0\0'
        printf '\0\0\0\0\x83\0\0\0\x00\x88\0\0\x00\x80\0\0'
    } | dd of="$FILE" bs=1 seek=446 conv=notrunc status=none
    printf '\x55\xaa' | dd of="$FILE" bs=1 seek=510 conv=notrunc status=none
    detach "$DISK"
    LOOPS=()
    DISK=$(losetup -P -f --show "$FILE")
    LOOPS+=("$DISK")
    [ -b "${DISK}p2" ] || skip "needs partitions of loop devices"
    PART=${DISK}p2
    # The identity of a partition on a loop device ends with the file's name.
    lease "$PART" "$WORD"
    run "$JBDLAB" scratch lease "$PART" --yes --serial wrong
    [[ "$output" == *"partuuid=12345678-02"* ]]
    "$JBDLAB" scratch unlease "$PART"
    mkswap -q "${DISK}p1"
    swapon "${DISK}p1" 2>/dev/null || skip "needs swapon"
    SWAP=${DISK}p1
    run lease "$PART" "$WORD"
    [ "$status" = 3 ]
    [[ "$output" == *"swap space"* ]]
}

# experiment: one volume that is made on $DISK.
experiment() {
    cat >"$WORK/x.ini" <<EOF
[experiment]
name = lease
blocks = 1
[volume v]
device = $DISK
mkfs = ext4 -b 4096
[arm a]
journal = inline,size=4M
[workload w]
type = dd
bs = 64k
count = 4
EOF
    timeout 120 "$JBDLAB" run "$WORK/x.ini" --output "$OUT/$1" --yes
}

@test "what came to a disk after its lease is not overwritten" {
    lease "$DISK" "$WORD"
    mke2fs -q -t ext4 -L precious "$DISK"
    before=$(sha256sum <"$FILE")
    OUT=$WORK
    run experiment refused
    [ "$status" = 3 ]
    [[ "$output" == *"carries ext4"*"which was not there when it was leased"* ]]
    run timeout 60 "$JBDLAB" tiobench --raw --target "$DISK" --size 1
    [ "$status" = 3 ]
    [ "$(sha256sum <"$FILE")" = "$before" ]
    "$JBDLAB" scratch unlease "$DISK"
    lease "$DISK" "$WORD"
    OUT=$(mktemp -d /dev/shm/jbdlab-test.XXXXXX) # a bundle must lie on another disk
    experiment first
    experiment second # over what the first has left
    grep -qs '"overwriting": false' "$(grep -l "$WORK" /var/lib/jbdlab/leases/*)"
}

@test "a lease that was changed is none" {
    lease "$DISK" "$WORD"
    path=$(grep -l "$WORK" /var/lib/jbdlab/leases/*)
    sed -i 's/"user": "root"/"user": "toor"/' "$path"
    before=$(sha256sum <"$FILE")
    OUT=$WORK
    run experiment refused
    [ "$status" = 3 ]
    [[ "$output" == *"is damaged or was changed"* ]]
    [ "$(sha256sum <"$FILE")" = "$before" ]
}

@test "a disk and its clone cannot be told apart: neither is leased, nor written" {
    # Files in memory of one name are the clones: their names are all that is known of them.
    mkfifo "$WORK/ready"
    perl -e 'for my $i (0, 1) {
            my $fd = syscall(319, my $name = "clone", 0);
            open(my $f, "+<&=", $fd) or die;
            truncate($f, 64 << 20) or die;
            push(@all, $f);
        }
        open(my $r, ">", $ARGV[0]); print $r join(" ", $$, map { fileno($_) } @all), "\n";
        close($r); sleep 300' "$WORK/ready" 3>&- &
    read -r HOLDER first second < <(timeout 60 cat "$WORK/ready")
    ONE=$(losetup -f --show "/proc/$HOLDER/fd/$first")
    LOOPS+=("$ONE")
    TWO=$(losetup -f --show "/proc/$HOLDER/fd/$second")
    LOOPS+=("$TWO")
    kill "$HOLDER"
    for clone in "$ONE" "$TWO"; do
        run lease "$clone" "deleted)"
        [ "$status" = 3 ]
        [[ "$output" == *"cannot be told apart: both have the same identity"* ]]
    done
    detach "$TWO"
    lease "$ONE" "deleted)"
    "$JBDLAB" scratch unlease "$ONE"
}

@test "the journal of a connected volume cannot be leased, mounted or not" {
    local V J before
    loop_new V 64M
    loop_new J 16M
    mke2fs -q -t ext4 -b 4096 "$V"
    "$JBDLAB" move "$V" --to "external=$J" --state-dir "$WORK/state" --verify fsck
    before=$(sha256sum "$J")
    run "$JBDLAB" scratch lease "$J" --yes --serial whatever
    [ "$status" -eq 3 ]
    [[ $output == *"$J is the journal of $V"* ]]
    [ "$(sha256sum "$J")" = "$before" ]
}
