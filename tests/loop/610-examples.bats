# SPDX-License-Identifier: GPL-3.0-or-later
# The examples of README.md and of the manual do what they say, on loop devices that stand
# for the disks that they name.

load ../lib
load ../examples

setup() {
    need_loop
    example_setup
    mkdir "$WORK/srv"
    called /srv "$WORK/srv"
}

teardown() {
    [ -z "${LEASED-}" ] || "$JBDLAB" scratch unlease "$V" 2>/dev/null || :
    [ -z "${LEASED-}" ] || "$JBDLAB" scratch unlease "$A" 2>/dev/null || :
    common_teardown
}

# two_disks VOLUME JOURNAL: what the example calls them.
two_disks() {
    loop_new V 2G
    loop_new A 512M
    called "$1" "$V"
    called "$2" "$A"
}

# The volume is mounted, as its line in fstab(5) says.
served() {
    mke2fs -q -t ext4 "$V"
    echo "$V $WORK/srv ext4 defaults 0 2" >"$WORK/fstab"
    export LIBMOUNT_FSTAB=$WORK/fstab
    mount "$V" "$WORK/srv"
    echo content >"$WORK/srv/file"
}

@test "the journals of a machine" { play show; }

@test "a scratch disk" {
    called mydisk "example-$$"
    play scratch
}

@test "a scratch disk that fails" {
    called weak "example-$$"
    play fault
}

# bats test_tags=slow
@test "two spare disks" {
    need_mount_namespace
    # The bundle may not lie on the disk that is measured.
    mount -t tmpfs none "$WORK/x"
    ln -s "$(realpath "$REPOSITORY/configs")" "$WORK/x"
    called /srv "$WORK/srv"
    two_disks /dev/disk/by-id/scsi-SLOW-part1 /dev/disk/by-id/ata-FAST-part1
    LEASED=yes
    # Who types the word for a lease, says yes, and edits the file: smaller, and once.
    prelude <<'END'
jbdlab() {
    local disk
    case "$1 $2" in
    "scratch lease")
        disk=$(losetup -n -O BACK-FILE "$3")
        command jbdlab "$@" --yes --serial "${disk: -8}"
        ;;
    "run mine.ini") command jbdlab "$@" --yes ;;
    *) command jbdlab "$@" ;;
    esac
}
END
    cat >"$WORK/bin/editor" <<END
#!/bin/bash
sed -i -e 's|/dev/disk/by-id/scsi-SLOW-part1|$V|; s|/dev/disk/by-id/ata-FAST-part1|$A|' \
    -e 's/^blocks .*/blocks = 1/; s/^count .*/count = 50/; s/^random .*/random = 50/' \
    -e 's/^size  *=.*/size = 8M/; s/^threads .*/threads = 2/; s/2x-ram/8M/' "\$1"
END
    chmod +x "$WORK/bin/editor"
    play spare-disks
}

@test "advice for a volume at work" {
    two_disks /dev/sdb1 /dev/sdc1
    called "60" 1
    served
    play advise
}

@test "a production volume, moved and moved back" {
    two_disks /dev/sdb1 /dev/sdc1
    served
    play there-and-back
    [ "$(cat "$WORK/srv/file")" = content ]
    [ "$(grep -c journal_path "$WORK/fstab")" = 0 ]
}

@test "a move without --remount" {
    two_disks /dev/sdb1 /dev/sdc1
    served
    play move
    play recover
    mount "$V" "$WORK/srv"
    [ "$(cat "$WORK/srv/file")" = content ]
}

@test "a volume of Lustre" {
    two_disks /dev/mapper/ost0 /dev/sdc1
    mke2fs -q -t ext4 "$V"
    debugfs -w -R "feature dirdata" "$V"
    play lustre 3
}

@test "a journal device that is lost" {
    two_disks /dev/sdb1 /dev/sdc1
    served
    umount "$WORK/srv"
    "$JBDLAB" move "$V" --to "external=$A"
    wipefs -qa "$A"
    dd if=/dev/zero of="$A" bs=64k count=1 conv=notrunc status=none
    run mount "$V" "$WORK/srv"
    [ "$status" != 0 ]
    play lost-journal
    [ "$(cat "$WORK/srv/file")" = content ]
}

# bats test_tags=slow
@test "an experiment without a spare disk, and gone on with" {
    need_mount_namespace
    show_example first.ini >"$WORK/x/first.ini"
    play run
    play resume
}

@test "what a power cut takes" {
    called --ack=tcp:other:7000 "--ack=$WORK/x/acks --time=500ms"
    play witness
    play witness-verify
}

@test "nobody is asked about a disk that is not there" {
    show_example first.ini | sed -e '/^\[disk/,/^size/d' -e 's|^device.*|device = /dev/none|' \
        -e 's|external=fast|external=/dev/none2|' >"$WORK/x/x.ini"
    run "$BATS_TEST_DIRNAME/../terminal.py" 30 'go on: ' 'yes\n' "$JBDLAB" run "$WORK/x/x.ini"
    [[ "$output" == *"volume data: /dev/none: No such file or directory"* ]]
    [[ "$output" != *"go on"* ]]
}
