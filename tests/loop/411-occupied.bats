#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Every command that writes, against every kind of device that somebody else has: refused,
# with the reason, and not one byte changed.  Each device was leased before it was taken, so
# that no lease is what saves it.

# bats sets status and output, and runs each test in a subshell.
# shellcheck disable=SC2154,SC2030,SC2031

load ../lib.bash

setup() {
    need_loop
    common_setup
    # A bundle on the disk of the files would be a reason of its own.
    OUT=$(mktemp -d /dev/shm/jbdlab-test.XXXXXX)
    mkdir "$WORK/mnt" "$WORK/still"
    loop_new V 16M
    mke2fs -q -t ext4 -b 4096 "$V"
    lease "$V"
    new_disk 32M
}

# new_disk SIZE: $D, leased.  Small: all of it is read again and again.
new_disk() {
    local name=D$1
    loop_new "$name" "$1"
    D=${!name}
    lease "$D"
    HASHES=
}

teardown() {
    if [ -n "${HOLDER:-}" ]; then
        kill "$HOLDER" 2>/dev/null || true
        until_done 60 gone "$HOLDER"
    fi
    [ -z "${SWAPPED:-}" ] || swapoff "$SWAPPED"
    ! mountpoint -q "$WORK/mnt" || unmount_still "$WORK/mnt"
    # Unleasing is refused while somebody has the device, and when it is gone.
    drop_leases
    rm -rf "$OUT"
    common_teardown
}

gone() {
    [ ! -e "/proc/$1" ]
}

# experiment VOLUME JOURNAL [MKFS [OPTION...]]
experiment() {
    cat >"$OUT/x.ini" <<END
[experiment]
name = occupied
blocks = 1
[volume v]
device = $1
${3:+mkfs = $3}
[arm a]
journal = $2
[workload w]
type = dd
bs = 64k
count = 4
END
    rm -rf "$OUT/bundle"
    timeout 60 "$JBDLAB" run "$OUT/x.ini" --output "$OUT/bundle" --yes "${@:4}"
}

hashes() {
    sha256sum "$V" "$D" "${MORE[@]}"
}

# refused REASON COMMAND...: a pattern that the message must fit.
refused() {
    local before reason=$1
    before=${HASHES:-$(hashes)}
    shift
    run "$@"
    if [ "$status" != 3 ] || ! grep -qE "$reason" <<<"$output"; then
        echo "$*: status $status, not 3, or not \"$reason\":"
        echo "$output"
        return 1
    fi
    HASHES=$(hashes) # those before the next command
    [ "$HASHES" = "$before" ] || { echo "$*: bytes were changed"; return 1; }
}

move() {
    timeout 60 "$JBDLAB" move "$@" --yes --state-dir "$WORK/state"
}

# in_use REASON [DEVICE]: nothing can be done with a device that somebody has.
in_use() {
    local device=${2:-$D}
    HASHES=
    refused "$1" move "$device" --to none
    refused "$1" move "$device" --to inline,size=4M --replay
    refused "$1" move "$device" --to inline --lost-journal --verify mount
    refused "$1" move "$V" --to "external=$device"
    refused "$1" move "$V" --to "external=$device" --overwrite ext4,swap,jbd,xfs,btrfs
    refused "$1" timeout 60 "$JBDLAB" recover "$device" --state-dir "$WORK/state"
    refused "$1" timeout 60 "$JBDLAB" recover "$device" --rollback --state-dir "$WORK/state"
    refused "$1" timeout 60 "$JBDLAB" scratch lease "$device" --yes --serial x
    refused "$1" timeout 60 "$JBDLAB" tiobench --raw --target "$device" --size 1
    refused "$1" experiment "$device" inline,size=4M "ext4 -b 4096"
    refused "$1" experiment "$device" inline,size=4M
    refused "$1" experiment "$V" "external=$device" "ext4 -b 4096"
    refused "$1" timeout 60 "$JBDLAB" check-disks "$device"
}

# carries WORD: nothing can be done with what carries something that came after the lease.
carries() {
    HASHES=
    local data="carries .*$1|not an ext|no ext|$1|Bad magic|is no volume"
    refused "$data" move "$D" --to none
    refused "$data" move "$D" --to inline,size=4M --replay
    refused "carries .*$1" move "$V" --to "external=$D"
    refused "$1.*which was not there when it was leased" \
        timeout 60 "$JBDLAB" tiobench --raw --target "$D" --size 1
    refused "$1.*which was not there when it was leased" \
        experiment "$D" inline,size=4M "ext4 -b 4096"
    refused "$1.*which was not there when it was leased" \
        experiment "$V" "external=$D" "ext4 -b 4096"
    refused "$1" timeout 60 "$JBDLAB" check-disks "$D"
    wipefs -q -a "$D"
}

@test "mounted" {
    mke2fs -q -t ext4 -b 4096 "$D"
    mount_still "$D" "$WORK/mnt"
    in_use "is mounted on $WORK/mnt"
}

@test "mounted without a journal, which no log gives away" {
    mke2fs -q -t ext2 -b 4096 "$D"
    mount_still "$D" "$WORK/mnt"
    in_use "is mounted on $WORK/mnt"
}

@test "mounted in another mount namespace" {
    need_mount_namespace
    mke2fs -q -t ext4 -b 4096 "$D"
    mkfifo "$WORK/ready"
    unshare -m sh -c "mount -o ro $D $WORK/still && : >$WORK/ready && exec sleep 300" 3>&- &
    HOLDER=$!
    timeout 60 cat "$WORK/ready"
    in_use "is mounted on $WORK/still in another mount namespace"
}

@test "xfs and btrfs, mounted" {
    command -v mkfs.btrfs mkfs.xfs >/dev/null || skip "needs btrfs-progs and xfsprogs"
    new_disk 320M
    mkfs.xfs -q -f "$D"
    mount -t xfs "$D" "$WORK/mnt" 2>/dev/null || skip "needs xfs in the kernel"
    fsfreeze -f "$WORK/mnt"
    refused "is mounted on $WORK/mnt" move "$V" --to "external=$D" --overwrite xfs
    refused "is mounted on $WORK/mnt" experiment "$D" inline,size=4M "ext4 -b 4096"
    unmount_still "$WORK/mnt"
    HASHES=
    mkfs.btrfs -q -f "$D"
    mount -t btrfs "$D" "$WORK/mnt" 2>/dev/null || skip "needs btrfs in the kernel"
    fsfreeze -f "$WORK/mnt"
    HASHES=
    refused "is mounted on $WORK/mnt" move "$V" --to "external=$D" --overwrite btrfs
    refused "is mounted on $WORK/mnt" experiment "$D" inline,size=4M "ext4 -b 4096"
}

@test "swap space" {
    mkswap "$D" >/dev/null
    swapon "$D" 2>/dev/null || skip "needs swapon"
    SWAPPED=$D
    in_use "is swap space|a disk of this system \(swap space is on it\)"
}

@test "below a loop device, and above one that is mounted" {
    local upper
    mke2fs -q -t ext4 -b 4096 "$D"
    upper=$(losetup -f --show "$D")
    LOOPS=("$upper" "${LOOPS[@]}")
    in_use "backs the loop device $upper"
    mount_still "$D" "$WORK/mnt"
    in_use "lies on $D, which is mounted on $WORK/mnt" "$upper"
}

@test "another loop device over the file of one that is mounted" {
    local twin
    mke2fs -q -t ext4 -b 4096 "$D"
    mount_still "$D" "$WORK/mnt"
    twin=$(losetup -f --show "$WORK/D32M.img")
    LOOPS=("$twin" "${LOOPS[@]}")
    in_use "lies on the same bytes as the loop device $D|cannot be told apart" "$twin"
}

@test "the journal of a mounted volume" {
    mke2fs -q -b 4096 -O journal_dev "$D"
    loop_new U 16M
    MORE=("$U")
    mke2fs -q -t ext4 -b 4096 -J device="$D" "$U"
    mount_still "$U" "$WORK/mnt"
    in_use "is the journal of (the mounted volume )?$U"
}

@test "a partition of which another one is mounted, and the whole disk" {
    printf 'label: gpt\nsize=12M\nsize=12M\n' | sfdisk -q --no-reread --no-tell-kernel "$D"
    partx -a "$D" 2>/dev/null || true
    [ -b "${D}p2" ] || skip "needs partitions of loop devices"
    mke2fs -q -t ext4 -b 4096 "${D}p1"
    mount_still "${D}p1" "$WORK/mnt"
    in_use "has the partition ${D##*/}p1, which is mounted on $WORK/mnt"
    in_use "is mounted on $WORK/mnt" "${D}p1"
}

@test "opened exclusively by another program" {
    mkfifo "$WORK/ready"
    perl -MFcntl -e 'sysopen(my $f, $ARGV[0], O_RDWR | O_EXCL) or die "open: $!";
        open(my $r, ">", $ARGV[1]); close($r); sleep 300' "$D" "$WORK/ready" 3>&- &
    HOLDER=$!
    timeout 60 cat "$WORK/ready"
    in_use "is opened exclusively"
}

@test "read-only" {
    blockdev --setro "$D"
    refused "is a read-only device" move "$V" --to "external=$D"
    refused "is a read-only device" experiment "$D" inline,size=4M "ext4 -b 4096"
    refused "is a read-only device" timeout 60 "$JBDLAB" tiobench --raw --target "$D" --size 1
    refused "cannot be written" timeout 60 "$JBDLAB" check-disks "$D"
    blockdev --setrw "$D"
}

@test "signatures of file systems and swap" {
    local tried=0
    mkswap "$D" >/dev/null
    carries swap
    new_disk 320M
    if command -v mkfs.xfs >/dev/null; then mkfs.xfs -q -f "$D" && carries xfs && tried=1; fi
    if command -v mkfs.btrfs >/dev/null; then
        mkfs.btrfs -q -f "$D" && carries btrfs && tried=$((tried + 1))
    fi
    echo "# $tried of xfs and btrfs" >&3
}

@test "a volume that somebody has made since the lease" {
    mke2fs -q -t ext4 -b 4096 -L precious "$D"
    refused "carries ext4" move "$V" --to "external=$D"
    refused "ext4.*which was not there when it was leased" \
        timeout 60 "$JBDLAB" tiobench --raw --target "$D" --size 1
    refused "ext4.*which was not there when it was leased" \
        experiment "$D" inline,size=4M "ext4 -b 4096"
    refused "ext4.*which was not there when it was leased" \
        experiment "$V" "external=$D" "ext4 -b 4096"
}

@test "signatures of partition tables" {
    command -v sfdisk >/dev/null || skip "needs sfdisk"
    printf 'label: gpt\nsize=4M\n' | sfdisk -q --no-reread --no-tell-kernel "$D"
    carries gpt
    printf 'label: dos\nsize=4M\n' | sfdisk -q --no-reread --no-tell-kernel "$D"
    carries dos
}

@test "signatures of LUKS" {
    command -v cryptsetup >/dev/null || skip "needs cryptsetup"
    local type
    for type in luks1 luks2; do
        echo x | cryptsetup -q luksFormat --type $type --pbkdf pbkdf2 \
            --pbkdf-force-iterations 1000 "$D" - 2>/dev/null
        carries crypto_LUKS
    done
}

@test "signatures of LVM" {
    command -v pvcreate >/dev/null || skip "needs lvm2"
    pvcreate -qq --config 'devices { filter = [ "a|loop|" ] use_devicesfile = 0 }' -y "$D" ||
        skip "pvcreate does not work here"
    carries LVM2_member
}

@test "signatures of md" {
    local version
    for version in 0.90 1.0 1.1 1.2; do
        md_member "$D" $version
        carries linux_raid_member
    done
}

@test "signatures of ZFS" {
    # The uberblocks of the first label, of which libblkid wants to see several.
    perl -e 'print((pack("Q<", 0xbab10c) . "\0" x 1016) x 128)' |
        dd of="$D" bs=131072 seek=1 conv=notrunc status=none
    blkid -p -o value -s TYPE "$D" | grep -q zfs_member || skip "libblkid sees no ZFS"
    carries zfs_member
}

# The superblock as include/uapi/linux/bcache.h of older kernels has it, of a backing device
# and of a cache; libblkid checks its sum.
@test "signatures of bcache" {
    local version
    for version in 1 3; do
        bcache_member "$D" $version
        blkid -p -o value -s TYPE "$D" | grep -qx bcache || skip "libblkid sees no bcache"
        carries bcache
    done
}

@test "a clone pair: the UUID names neither" {
    mke2fs -q -t ext4 -b 4096 "$V"
    loop_new C 16M
    MORE=("$C")
    cp "$WORK/V.img" "$WORK/C.img"
    uuid=$(blkid -p -o value -s UUID "$V")
    refused "is on more than one device" move "UUID=$uuid" --to none
    refused "is on more than one device" experiment "UUID=$uuid" inline,size=4M "ext4 -b 4096"
    refused "is on more than one device" timeout 60 "$JBDLAB" recover "UUID=$uuid" \
        --state-dir "$WORK/state"
}

@test "a name that is another disk by the time of the run" {
    ln -s "$V" "$WORK/name"
    experiment "$WORK/name" inline,size=4M "ext4 -b 4096" --dry-run >/dev/null
    # The plan named what is now another, unleased disk.
    loop_new O 16M
    MORE=("$O")
    mke2fs -q -t ext4 -b 4096 -L precious "$O"
    ln -sfn "$O" "$WORK/name"
    refused "$O is not leased" experiment "$WORK/name" inline,size=4M "ext4 -b 4096"
    refused "$O is not leased" timeout 60 "$JBDLAB" tiobench --raw --target "$WORK/name" --size 1
}

@test "vanished" {
    detach "$D"
    LOOPS=("$V")
    refused "." timeout 60 "$JBDLAB" check-disks "$WORK/no-such-device"
    D=$V HASHES= # of what there is
    refused "No such file|cannot be found|no device" move "$V" --to "external=$WORK/none"
    refused "No such file" experiment "$WORK/none" inline,size=4M "ext4 -b 4096"
    refused "No such file" experiment "$V" "external=$WORK/none" "ext4 -b 4096"
}
