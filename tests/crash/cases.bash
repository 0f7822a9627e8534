# SPDX-License-Identifier: GPL-3.0-or-later
# The cases of the crash proof: which exist, how a volume is prepared for one, which
# commands are the move. A case is called FS-BLOCK-MOVE[-TARGET][-AFTER]:
#   FS      ext3 | ext4 (no metadata_csum) | ext4c (metadata_csum, 64bit) | ext4b (bigalloc)
#           | ext4m (meta_bg, no flex_bg) | ext4s (sparse_super2) | ext4u (uninit_bg)
#           | ext4x (orphan_file, fast_commit, inline_data, metadata_csum_seed)
#   BLOCK   1k | 4k
#   MOVE    i2e e2i e2e i2i n2i n2e i2n: from and to inline, external, none
#   TARGET  of a move to an external journal: used (default; another volume had its journal
#           there) | fresh (just formatted) | raw (holds neither a journal nor zeroes)
#   AFTER   cutN: the move is killed before operation N, and what is recorded is "recover";
#           backN: "recover --rollback"
# Commands are text that sh expands in the sandbox, hence the single quotes.
# shellcheck disable=SC2016
# Sourced by run and faults; the functions below the line run in a sandbox (withdisks),
# where $V is the volume, $J1 $J2 are journal devices and $W is a spare disk.

MOVES='i2e e2i e2e i2i n2i n2e i2n'

# all_cases - every case of the full form
all_cases() {
    local fs block move
    for fs in ext4c ext4 ext3; do
        for block in 4k 1k; do
            for move in $MOVES; do
                echo "$fs-$block-$move"
            done
        done
    done
    printf '%s\n' ext4c-4k-i2e-fresh ext3-4k-i2e-fresh ext4c-4k-e2e-fresh ext4c-4k-n2e-fresh \
        ext4c-4k-i2e-raw ext3-1k-i2e-raw
    for fs in ext4m ext4s ext4u; do
        printf "$fs-4k-%s\n" i2e e2i e2e i2i
    done
    # tune2fs, which prepares the others, cannot take the journal away from these.
    for fs in ext4b ext4x; do
        printf "$fs-4k-%s\n" i2e i2i
    done
    for move in i2e e2i e2e i2i n2e n2i; do
        printf "ext4c-4k-$move-%s\n" cut5 cut9 cut12 back5 back9 back12
    done
}

# quick_cases - the ones that differ most
quick_cases() {
    printf '%s\n' ext4c-4k-i2e ext4c-4k-e2i ext4c-4k-e2e ext4c-1k-i2i ext3-4k-e2i \
        ext3-1k-i2e ext4-1k-e2e ext4c-4k-n2e ext4c-4k-i2e-back12
}

# case_split CASE - sets fs block move target after
case_split() {
    IFS=- read -r fs block move target after <<<"$1"
    case $target in
    cut* | back*) after=$target target= ;;
    esac
    target=${target:-used}
}

# case_cut CASE - the operation before which the move is killed first, or nothing
case_cut() {
    case $1 in
    *-cut*) echo "${1##*-cut}" ;;
    *-back*) echo "${1##*-back}" ;;
    esac
}

# case_disks CASE - the arguments for withdisks; two groups or more in every volume
case_disks() {
    local fs block move target after
    case_split "$1"
    [ "$block" = 4k ] && echo V=192M J1=8M J2=16M W=64M || echo V=64M J1=8M J2=16M W=64M
}

# case_fstype CASE - how the volume is mounted
case_fstype() {
    case $1 in
    ext3-*) echo ext3 ;;
    *) echo ext4 ;;
    esac
}

# case_is_apart CASE - does it end without a journal? Then nothing protects the last step
# from a mount without e2fsck.
case_is_apart() {
    case $1 in
    *-i2n | *-n2?-back*) return 0 ;;
    *) return 1 ;;
    esac
}

# case_tolerated CASE - faults that are only counted
case_tolerated() {
    ! case_is_apart "$1" || echo DJ
}

# case_placement MOVE - the placement that the move shall reach
case_placement() {
    case $1 in
    i2e | n2e) echo "external=\$J1" ;;
    e2e) echo "external=\$J2" ;;
    e2i | n2i) echo 'inline,size=4M' ;;
    i2i) echo 'inline,size=8M' ;;
    i2n) echo 'none' ;;
    esac
}

# jbdlab_move CASE - the command that an administrator types
jbdlab_move() {
    local fs block move target after
    case_split "$1"
    echo "\"\$JBDLAB\" move \"\$V\" --to \"$(case_placement "$move")\" --yes"
}

# jbdlab_command CASE - the recorded command. A trial mount would write through the kernel,
# where nothing is recorded.
jbdlab_command() {
    case $1 in
    *-cut*) echo '"$JBDLAB" recover "$V" --yes' ;;
    *-back*) echo '"$JBDLAB" recover "$V" --yes --rollback' ;;
    # Named by its UUID, a journal device keeps it, so that the same words find it again.
    *-fresh)
        jbdlab_move "$1" |
            sed 's/=\(\$J[12]\)/=UUID=$(blkid -p -s UUID -o value \1)/; s/$/ --verify=fsck/'
        ;;
    *) echo "$(jbdlab_move "$1") --verify=fsck" ;;
    esac
}

# jbdlab_ways CASE - ways to go on after an interruption, one a line: when, whether the
# program's records are there, where to
jbdlab_ways() {
    local move recover='"$JBDLAB" recover "$V" --yes'
    move=$(jbdlab_move "$1")
    case $1 in
    *-back*)
        echo "cut kept target $recover --rollback"
        echo "boot kept target $recover --rollback"
        return
        ;;
    esac
    case $1 in
    *-fresh) echo "cut needed target ${move/=\$J?/=UUID=@UUID@}" ;;
    *) echo "cut kept target $move" ;;
    esac
    echo "cut kept target $recover && $move"
    echo "cut lost target $recover && $move"
    case $1 in
    *-cut*) ;;
    *) echo "cut kept origin $recover --rollback" ;;
    esac
    echo "boot kept target $move"
    echo "raw kept target $move"
}

# peer_command CASE - the same with tune2fs
peer_ways() { :; }

peer_command() {
    local fs block move target after
    case_split "$1"
    case $move in
    i2e) echo 'tune2fs -O ^has_journal $V && tune2fs -J device=$J1 $V' ;;
    e2e) echo 'tune2fs -O ^has_journal $V && tune2fs -J device=$J2 $V' ;;
    e2i) echo 'tune2fs -O ^has_journal $V && tune2fs -j -J size=4 $V' ;;
    i2i) echo 'tune2fs -O ^has_journal $V && tune2fs -j -J size=8 $V' ;;
    n2i) echo 'tune2fs -j -J size=4 $V' ;;
    n2e) echo 'tune2fs -J device=$J1 $V' ;;
    i2n) echo 'tune2fs -O ^has_journal $V' ;;
    esac
}

# ---------------------------------------------------------------------------------------

mountpoint=/var/lib/.sandbox/volume

make_volume() { # DEVICE
    local features
    case $fs in
    ext3) features='-t ext3' ;;
    ext4) features='-t ext4 -O ^metadata_csum,^64bit,^orphan_file' ;;
    ext4c) features='-t ext4 -O metadata_csum,64bit,^orphan_file' ;;
    ext4b) features='-t ext4 -O metadata_csum,64bit,bigalloc,^orphan_file' ;;
    ext4m) features='-t ext4 -O metadata_csum,64bit,meta_bg,^resize_inode,^flex_bg,^orphan_file' ;;
    ext4s) features='-t ext4 -O metadata_csum,64bit,sparse_super2,^resize_inode,^orphan_file' ;;
    ext4u) features='-t ext4 -O uninit_bg,^metadata_csum,^64bit,^orphan_file' ;;
    ext4x) features='-t ext4 -O metadata_csum,64bit,orphan_file,fast_commit,inline_data,metadata_csum_seed' ;;
    esac
    # shellcheck disable=SC2086
    mke2fs -q -F $features -b "$bytes" -J size=4 -E lazy_itable_init=0 "$1"
}

# Files, links and directories; as many again are removed, so that free blocks hold
# something, and one directory is large enough to have an index.
populate() { # DIRECTORY
    local i d
    for i in 1 2 3 4; do
        d=$1/dir$i
        mkdir -p "$d/below/deeper"
        head -c $((i * 3000 + 17)) /dev/urandom >"$d/small$i"
        head -c $((i * 70000 + 5)) /dev/urandom >"$d/middle$i"
        head -c 40000 /dev/urandom >"$d/below/file"
        head -c 9 /dev/urandom >"$d/below/deeper/tiny"
        : >"$d/below/empty"
        ln "$d/middle$i" "$d/hardlink"
        ln -s "below/file" "$d/symlink"
        ln -s "$(printf 'long/%.0s' {1..20})target" "$d/longlink"
        head -c 200000 /dev/urandom >"$1/gone$i"
    done
    mkdir "$1/many"
    for i in {1..18}; do
        head -c $((i * 400)) /dev/urandom >"$1/many/a-name-that-fills-directory-blocks-$i"
    done
    head -c 900000 /dev/urandom >"$1/large"
    truncate -s 300000 "$1/sparse"
    printf 'end' >>"$1/sparse"
    sync -f "$1"
    rm "$1"/gone?
}

# A few more transactions, so that the journal holds a log of its own.
use_volume() { # DEVICE TAG [OPTIONS]
    local i
    mount -t "$(case_fstype "$fs-")" ${3:+-o "$3"} "$1" $mountpoint
    for i in 1 2 3 4 5; do
        head -c 30000 /dev/urandom >"$mountpoint/$2-$i"
        sync -f $mountpoint
    done
    rm "$mountpoint/$2-2" "$mountpoint/$2-4"
    umount $mountpoint
}

make_journal() { # DEVICE
    mke2fs -q -F -O journal_dev -b "$bytes" "$1"
}

make_target() { # DEVICE
    case $target in
    fresh) make_journal "$1" ;;
    used)
        make_journal "$1"
        make_volume "$W"
        tune2fs -O ^has_journal "$W"
        tune2fs -J device="$1" "$W"
        use_volume "$W" other
        tune2fs -O ^has_journal "$W"
        ;;
    raw) head -c 4M /dev/urandom >"$1" ;;
    esac
}

# prepare CASE - makes the devices what they are before the move
prepare() {
    local fs block move target after bytes
    case_split "$1"
    bytes=$((${block%k} * 1024))
    make_volume "$V"
    mount -t "$(case_fstype "$fs-")" "$V" $mountpoint
    populate $mountpoint
    umount $mountpoint
    use_volume "$V" first
    case $move in
    e2? | n2?) tune2fs -O ^has_journal "$V" ;;
    esac
    case $move in
    e2?)
        make_journal "$J1"
        tune2fs -J device="$J1" "$V"
        use_volume "$V" second
        ;;
    esac
    case $move in
    i2e | n2e) make_target "$J1" ;;
    e2e) make_target "$J2" ;;
    esac
    e2fsck -fn "$V"
}

# save_disks DIRECTORY SUFFIX - copies the devices to sparse files
save_disks() {
    local disk
    for disk in V J1 J2; do
        dd if="${!disk}" of="$1/$disk.$2" bs=64k conv=sparse status=none
        truncate -s "$(blockdev --getsize64 "${!disk}")" "$1/$disk.$2"
    done
}
