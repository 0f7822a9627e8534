# SPDX-License-Identifier: GPL-3.0-or-later
# A volume that was cut while mounted keeps what was fsynced: --replay leaves the log to the
# kernel and to e2fsck, never to code of our own.  And which UUID a journal device gets.

load ../lib

setup() {
    need_loop
    common_setup
    mkdir "$WORK/mnt"
}

teardown() {
    common_teardown
}

# cut_volume OPTION...: $V is what a power cut leaves of a volume with five fsynced files.
cut_volume() {
    local i
    loop_new LIVE 96M
    mke2fs -q "$@" "$LIVE"
    # Nothing else than what is asked for is written before the copy was made.
    mount -o commit=300,noinit_itable "$LIVE" "$WORK/mnt"
    for i in 1 2 3 4 5; do
        echo "fsynced $i" >"$WORK/mnt/f$i"
        sync "$WORK/mnt/f$i"
    done
    local copy=$WORK/${LIVE##*/}.img # a file of its own for each
    cp "$WORK/LIVE.img" "$copy"
    umount "$WORK/mnt"
    V=$(losetup -f --show "$copy")
    LOOPS+=("$V")
}

@test "what was fsynced before a cut is there after --replay, also with fast commits" {
    local features i
    loop_new J 16M
    for features in has_journal fast_commit; do
        cut_volume -t ext4 -b 4096 -O "$features"
        run "$JBDLAB" move "$V" --to "external=$J" --state-dir "$WORK/state"
        [ "$status" -eq 3 ]
        echo "$output"
        [[ $output == *--replay* ]]
        "$JBDLAB" move "$V" --to "external=$J" --replay --overwrite jbd \
            --state-dir "$WORK/state"
        fsck_clean "$V" "$J"
        mount -o "journal_path=$J" "$V" "$WORK/mnt"
        for i in 1 2 3 4 5; do
            [ "$(cat "$WORK/mnt/f$i")" = "fsynced $i" ]
        done
        umount "$WORK/mnt"
        "$JBDLAB" move "$V" --to none --state-dir "$WORK/state"
    done
}

@test "a journal device that is named by its UUID keeps it, any other gets a new one" {
    local uuid
    loop_new V 64M
    loop_new J 16M
    mke2fs -q -t ext4 -b 4096 "$V"
    mke2fs -q -F -b 4096 -O journal_dev "$J"
    uuid=$(blkid -p -s UUID -o value "$J")
    "$JBDLAB" move "$V" --to "external=UUID=$uuid" --state-dir "$WORK/state" --verify fsck
    [ "$(blkid -p -s UUID -o value "$J")" = "$uuid" ]
    run "$JBDLAB" move "$V" --to "external=UUID=$uuid" --state-dir "$WORK/state"
    [ "$status" -eq 0 ]
    [[ $output == *"has its journal there already"* ]]
    "$JBDLAB" move "$V" --to inline --state-dir "$WORK/state" --verify fsck
    "$JBDLAB" move "$V" --to "external=$J" --state-dir "$WORK/state" --verify fsck
    [ "$(blkid -p -s UUID -o value "$J")" != "$uuid" ]
}
