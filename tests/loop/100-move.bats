#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The promise: there and back twenty times on a volume with two thousand files leaves every
# file as it was, and e2fsck finds nothing each time.  Then the same, less often, for what
# else a volume can be.

load ../lib
load ../move

setup() {
    need_loop
    disks_in_memory
    common_setup
    DEVICES=()
    mkdir "$WORK/mnt"
}

teardown() { common_teardown; }

# many_files DIRECTORY: 2,000 files of random content; the checksums in $WORK/sums.
many_files() {
    local bytes
    for bytes in 97 1024 3333 4096 8191; do
        mkdir "$1/d$bytes"
        head -c $((400 * bytes)) /dev/urandom | split -b $bytes -a 3 - "$1/d$bytes/f"
    done
    (cd "$1" && find . -type f -print0 | xargs -0 sha256sum) >"$WORK/sums"
    [ "$(wc -l <"$WORK/sums")" = 2000 ]
}

# twenty_times TYPE BLOCK-BYTES
twenty_times() {
    local i
    loop_new V 72M
    loop_new A 8M
    mke2fs -q -t "$1" -b "$2" -J size=6 "$V"
    mount -t "$1" "$V" "$WORK/mnt"
    many_files "$WORK/mnt"
    umount "$WORK/mnt"
    for ((i = 1; i <= 20; i++)); do
        moved "$V" "external=$A"
        is_external "$V" "$A"
        moved "$V" inline,size=6M
        is_inline "$V"
        [ -z "$(users "$A")" ]
    done
    mount -t "$1" "$V" "$WORK/mnt"
    check_files "$WORK/mnt"
    umount "$WORK/mnt"
}

# bats test_tags=slow
@test "ext3, 1 KiB blocks: there and back 20 times, 2,000 files" { twenty_times ext3 1024; }

# bats test_tags=slow
@test "ext3, 4 KiB blocks: there and back 20 times, 2,000 files" { twenty_times ext3 4096; }

# bats test_tags=slow
@test "ext4, 1 KiB blocks: there and back 20 times, 2,000 files" { twenty_times ext4 1024; }

# bats test_tags=slow
@test "ext4, 4 KiB blocks: there and back 20 times, 2,000 files" { twenty_times ext4 4096; }

# each_way VOLUME: from everywhere to everywhere, with writes by the kernel in between.
each_way() {
    local to
    for to in "external=$A" inline,size=4M "external=$B" "external=$A" none "external=$B" \
        inline,size=4M,at=end none inline,size=4M; do
        [[ "$NO_NONE" != 1 || $to != none ]] || continue
        moved "$1" "$to" || { echo "to $to"; return 1; }
        # What only e2fsck can judge has no driver here.
        [ "$MOUNTS" = 1 ] || continue
        mount -t "$DRIVER" "$1" "$WORK/mnt"
        check_files "$WORK/mnt"
        dd if=/dev/urandom of="$WORK/mnt/new" bs=64k count=20 conv=fsync status=none
        rm "$WORK/mnt/new"
        umount "$WORK/mnt"
    done
}

# kinds OPTIONS...: each a string of options for mke2fs.
kinds() {
    local options
    loop_new V 64M
    loop_new A 8M
    loop_new B 8M
    for options; do
        echo "mke2fs $options"
        NO_NONE=0 MOUNTS=0 DRIVER=ext4
        wipefs -qa "$A" "$B"
        # shellcheck disable=SC2086
        mke2fs -q -F $options "$V" 2>"$WORK/mke2fs" || { cat "$WORK/mke2fs"; return 1; }
        [[ $options != *orphan_file* ]] || NO_NONE=1
        if mount -t ext4 "$V" "$WORK/mnt" 2>/dev/null; then
            MOUNTS=1
            rm -rf "$WORK/mnt/"d*
            fill_volume "$WORK/mnt" 30
            umount "$WORK/mnt"
        fi
        each_way "$V"
    done
}

@test "checksums, sizes of numbers, maps of blocks" {
    kinds "-t ext4 -O ^metadata_csum" "-t ext4 -O ^64bit" "-t ext4 -O metadata_csum_seed" \
        "-t ext4 -O ^extents,^64bit" "-t ext4 -O ^metadata_csum,uninit_bg,^64bit" \
        "-t ext3" "-t ext2"
}

@test "features of ext4" {
    kinds "-t ext4 -O fast_commit" "-t ext4 -O orphan_file" "-t ext4 -O inline_data" \
        "-t ext4 -O fast_commit,orphan_file" "-t ext4 -O bigalloc -C 16384" \
        "-t ext4 -O ea_inode,large_dir" "-t ext4 -O encrypt,verity,stable_inodes"
}

# bats test_tags=slow
@test "features that this kernel may lack" {
    kinds "-t ext4 -O quota" "-t ext4 -O quota,project" "-t ext4 -O casefold"
}

# bats test_tags=slow
@test "layouts of groups" {
    kinds "-t ext4 -O ^flex_bg" "-t ext4 -O meta_bg,^resize_inode" "-t ext4 -O sparse_super2" \
        "-t ext4 -O ^sparse_super,^resize_inode" "-t ext4 -b 1024 -g 1024" \
        "-t ext4 -E packed_meta_blocks=1" "-t ext4 -G 2 -b 1024" \
        "-t ext4 -b 1024 -O meta_bg,^resize_inode,^flex_bg -g 512" \
        "-t ext4 -E lazy_itable_init=1,lazy_journal_init=1"
}

# bats test_tags=slow
@test "sizes of inodes and blocks" {
    kinds "-t ext4 -I 128" "-t ext4 -I 512" "-t ext4 -I 1024 -b 4096" \
        "-t ext4 -I 4096 -b 4096 -N 1000" "-t ext4 -b 2048" "-t ext4 -m 0" "-t ext4 -N 16"
}

@test "blocks that this kernel may not mount" {
    loop_new V 900M
    loop_new A 80M
    loop_new B 80M
    NO_NONE=0 MOUNTS=0
    for bytes in 8192 65536; do
        mke2fs -q -F -t ext4 -b $bytes -J size=$((bytes / 1024)) "$V" 2>/dev/null
        moved "$V" "external=$A"
        moved "$V" "inline,size=$((bytes / 1024))M,at=end"
        moved "$V" "external=$B,size=70M"
        moved "$V" none
        moved "$V" "inline,size=$((bytes / 1024))M"
    done
}

@test "a long name of the last mount point" {
    local deep
    loop_new V 32M
    loop_new A 8M
    loop_new B 8M
    # The kernel notes names of up to 63 bytes.
    deep=$WORK/$(printf '%60s' '' | tr ' ' x)
    deep=${deep::63}
    mkdir "$deep"
    mke2fs -q -t ext4 "$V"
    mount "$V" "$deep"
    : >"$deep/file" # the kernel notes the name when a file is opened
    umount "$deep"
    [ "$(header "$V" 'Last mounted on')" = "$deep" ]
    mkdir -p "$WORK/mnt"
    MOUNTS=0 NO_NONE=0
    each_way "$V"
    [ "$(header "$V" 'Last mounted on')" = "$deep" ]
    mounts_fine "$V"
    fsck_clean "$V"
}
