#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Disks that misbehave, in each role and at each moment of a run: it ends within a bound,
# names the device and says what to do; what it leaves is put in order when the disk is
# well; and what a disk only pretended is no result.

# bats sets status and output, and runs each test in a subshell.
# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0
load ../lib.bash

# No disk takes any time, so that the faults are all that there is.
QUICK=ssd,read=0,write=0,flush=0,overhead=0,interface=0

# Of a run whose disk hangs: the bound of the plan (hang), as much again for it to end when
# it is asked to, and five seconds from kill -9 until it is given up; jbdlab-run(8).  What
# is more is for a busy machine.
BOUND=40

setup() {
    need_loop
    [ -c /dev/fuse ] || skip "needs /dev/fuse"
    [ ! -w /dev/shm ] || export TMPDIR=/dev/shm
    common_setup
    export WORK JBDLAB
    mkdir "$WORK/bin" "$WORK/files"
    fill_volume "$WORK/files" 12
    BUNDLE=$WORK/bundle
    VOLUME=mis-v-$$-$BATS_TEST_NUMBER LOG=mis-l-$$-$BATS_TEST_NUMBER
    V=$(scratch create --name "$VOLUME" --size 32M --directory "$WORK" --model "$QUICK" --quiet)
    L=$(scratch create --name "$LOG" --size 16M --directory "$WORK" --model "$QUICK" --quiet)
    programs
}

teardown() {
    lift_faults 2>/dev/null || true
    [ ! -d "$BUNDLE" ] || until_done 60 timeout 60 "$JBDLAB" run --restore "$BUNDLE" --quiet || true
    ! grep -qF " $WORK/mnt " /proc/self/mountinfo || until_done 30 umount "$WORK/mnt"
    destroy_disk "${VOLUME:-none}"
    destroy_disk "${LOG:-none}"
    common_teardown
}

scratch() {
    timeout 30 "$JBDLAB" scratch "$@"
}

lift_faults() {
    scratch fault "$VOLUME" none
    scratch fault "$LOG" none
}

# "at MOMENT" sets the faults when their moment has come, for the first time only; mke2fs is
# one of the moments, and "work" with the journal outside another one than inside.
programs() {
    cat >"$WORK/bin/at" <<'END'
#!/bin/bash
read -r moment role disk faults <"$WORK/faults"
[ "$1" != move ] || touch "$WORK/outside"
[ "$1" = "$moment" ] || exit 0
[ "$moment $role" != "work journal" ] || [ -e "$WORK/outside" ] || exit 0
! mkdir "$WORK/happened" 2>/dev/null || timeout 30 "$JBDLAB" scratch fault "$disk" "$faults"
END
    cat >"$WORK/bin/mke2fs" <<END
#!/bin/bash
"$WORK/bin/at" mkfs
exec "$(command -v mke2fs)" "\$@"
END
    chmod +x "$WORK/bin/at" "$WORK/bin/mke2fs"
}

# plan [LINE]: a journal that is moved to $L and back; the line goes into [volume v].
plan() {
    cat >"$WORK/x.ini" <<END
[experiment]
name = misbehaves
blocks = 1
seed = 3
probe = no
repeat = 0
hang = ${HANG:-30s}
[volume v]
device = $V
${1:-}
[arm inline]
journal = inline,size=4M
[arm out]
journal = external=$L,size=4M
setup = $WORK/bin/at move
[workload set]
type = command
exec = $WORK/bin/at work
metric.seconds = s lower elapsed
[workload dd]
type = dd
bs = 4k
count = 60
sync = dsync
END
}

# fresh: $V has files and its journal of 4 MiB, nothing is on $L.
fresh() {
    lift_faults
    mke2fs -q -F -t ext4 -b 1024 -J size=4 -d "$WORK/files" "$V"
    dd if=/dev/zero of="$L" bs=64k count=1 conv=fsync status=none
    rm -rf "$BUNDLE" "$WORK/happened" "$WORK/outside"
}

# misbehave MOMENT ROLE FAULTS: a run on a disk that does; $status, $output, $device.
misbehave() {
    local disk
    fresh
    case $2 in
    data) device=$V disk=$VOLUME ;;
    journal) device=$L disk=$LOG ;;
    esac
    echo "$1 $2 $disk $3" >"$WORK/faults"
    if [ "$1" = mkfs ]; then plan "mkfs = ext4 -b 1024"; else plan; fi
    # Not with "run": whoever hangs keeps the pipe open.
    status=0
    PATH=$WORK/bin:$PATH timeout -k 5 $BOUND "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" \
        --yes --no-progress >"$WORK/out" 2>&1 3>&- </dev/null || status=$?
    output=$(cat "$WORK/out")
    echo "== $*: status $status"
    echo "$output"
    [ -d "$WORK/happened" ]
}

# Nothing of the run is mounted, in whatever namespace, or works on.
nothing_is_left() {
    ! grep -qsE " /dev/(${V##*/}|${L##*/}) " /proc/[0-9]*/mountinfo || return 1
    ! grep -qsF "$WORK/x.ini" /proc/[0-9]*/cmdline
}

# The disk is well again, with what it holds.  The run is completed, and
# taken back; the volume has the files and the journal that it had.
recovers() {
    lift_faults
    until_done 30 nothing_is_left
    run timeout 60 "$JBDLAB" run --resume "$BUNDLE" --no-progress
    [ "$status" = 0 ] || { echo "resume: status $status: $output"; return 1; }
    [ "$(jq -r .state "$BUNDLE/bundle.json")" = complete ]
    [ "$(jq -r .arm "$BUNDLE/cells.jsonl" | sort | xargs)" = "inline out" ]
    is_restored
}

is_restored() {
    lift_faults
    timeout 60 "$JBDLAB" run --restore "$BUNDLE" --no-progress
    until_done 30 nothing_is_left
    fsck_clean "$V"
    ! grep -q ^mkfs "$WORK/faults" || return 0
    "$JBDLAB" show "$V" | grep -q '^Placement: *inline'
    rm -rf "$WORK/now"
    mkdir "$WORK/now"
    debugfs -R "rdump / $WORK/now" "$V"
    check_files "$WORK/now"
    [ ! -e "$WORK/now/jbdlab-work" ]
}

# fails STATUS: with the device and what to do in the message.  "4|7" if it depends on how
# many steps come before the switch.
fails() {
    [[ $status =~ ^($1)$ ]]
    [ "$status" = 4 ] || [[ $output == *'run "jbdlab recover'* ]]
    [[ $output == *"$device"* ]]
    [[ $output == *'"run --resume" goes on with it, "run --restore" takes the volumes back'* ]]
    [ "$(jq -r .state "$BUNDLE/bundle.json")" = failed ]
    jq -r .reason "$BUNDLE/bundle.json" | grep -qF "$device"
}

# From a table of "STATUS MOMENT ROLE FAULTS".
each_fails_and_recovers() {
    local wanted moment role faults
    while read -r wanted moment role faults; do
        misbehave "$moment" "$role" "$faults"
        fails "$wanted"
        nothing_is_left
        recovers
    done
}

@test "a disk that fails while a workload runs" {
    each_fails_and_recovers <<'END'
4 work data fail_write=1,fail_times=1
4 work data fail_write=20
4 work data fail_flush=3
4 work data fail_read=1
4 work data vanish=30
4 work journal fail_write=20
4 work journal fail_flush=3
4 work journal vanish=30
END
}

@test "a disk that fails while the journal moves" {
    each_fails_and_recovers <<'END'
7 move data fail_write=1
7 move data fail_write=2,fail_times=1
4 move data fail_read=1
4 move data bad_at=1k,bad_bytes=1k
4 move data vanish=12
4 move journal fail_write=1
4|7 move journal fail_write=2
4|7 move journal fail_write=3
4 move journal fail_read=1
4|7 move journal fail_flush=3
4 move journal vanish=4
END
}

@test "a disk that fails while the volume is made" {
    each_fails_and_recovers <<'END'
4 mkfs data fail_write=5
4 mkfs data fail_flush=1
4 mkfs data bad_at=0,bad_bytes=4k
4 mkfs data vanish=20
END
}

@test "a disk that is only slow" {
    misbehave work data slow=1,slow_by=3ms
    [ "$status" = 0 ]
    is_restored
}

# What is left alone is named: a process that waits in the kernel cannot be ended.
@test "a disk that hangs" {
    local moment role
    HANG=1s
    while read -r moment role; do
        misbehave "$moment" "$role" hang=1
        [ "$status" = 4 ]
        [[ $output == *"${device##*/} ("*") has answered nothing for "* ]]
        [[ $output == *"and keeps the devices until they answer"*'go on with "run --resume"'* ||
            $output == *"was killed, and what it has left is put in order by \"run --resume\""* ]]
        jq -r .reason "$BUNDLE/bundle.json" | grep -qF "${device##*/} ("
        recovers
    done <<'END'
work data
work journal
move journal
mkfs data
END
}

# audited ARM VERDICT PATTERN: of the dd in that arm.
audited() {
    jq -r --arg a "$1" 'select(.arm == $a and .workload == "dd") | .phases[].evidence |
        "\(.verdict): \(.reason)"' "$BUNDLE/runs.jsonl" | grep -E "^$2: .*$3" ||
        { cat "$BUNDLE/runs.jsonl"; return 1; }
}

# The cell is not valid, and the block is measured again, as often as it may.
@test "a disk that lies about flushes gives no proof" {
    local name
    misbehave work data lie_flush=1
    [ "$status" = 6 ]
    audited inline failed "data disk ${V##*/} acknowledged [1-9][0-9]* writes and flushes that it did not carry out"
    grep -q 'Sync audit: failed' "$BUNDLE/report.txt"
    jq -se 'all(.[]; .invalid | any(.[]; .rule == "audit_failed"))' "$BUNDLE/cells.jsonl"
    is_restored
    misbehave work journal lie_flush=1
    [ "$status" = 6 ]
    audited inline ok ""
    audited out failed "journal disk ${L##*/} acknowledged [1-9][0-9]* writes and flushes"
    is_restored
}

# What the log of the volume holds is not there: that may end the run before its audit.
@test "a disk that drops writes gives no proof" {
    misbehave work data drop_write=1
    [ "$status" = 4 ]
    audited inline failed "data disk ${V##*/} acknowledged [1-9][0-9]* writes and flushes that it did not carry out"
    is_restored
    misbehave work journal drop_write=1
    [ "$status" = 4 ] || [ "$status" = 6 ]
    audited out failed "journal disk ${L##*/} acknowledged [1-9][0-9]* writes and flushes"
    is_restored
    # A move reads back what it has written.
    each_fails_and_recovers <<'END'
4 move data drop_write=1
4 move journal drop_write=1
4|7 move journal drop_write=3
4 mkfs data drop_write=1
END
}

# moves STATUS DISK FAULTS: a move alone, and "recover" when the disk is well.
moves() {
    fresh
    scratch fault "$2" "$3"
    run timeout 60 "$JBDLAB" move "$V" --to "external=$L" --yes --state-dir "$WORK/state"
    echo "== $*: status $status: $output"
    [ "$status" = "$1" ]
    lift_faults
    # Whatever there is to do, and also if there is nothing.
    timeout 60 "$JBDLAB" recover "$V" --state-dir "$WORK/state"
    fsck_clean "$V"
    rm -rf "$WORK/now"
    mkdir "$WORK/now"
    debugfs -R "rdump / $WORK/now" "$V"
    check_files "$WORK/now"
}

@test "a move alone on disks that misbehave" {
    moves 0 "$VOLUME" hang=10,hang_for=300ms
    moves 0 "$LOG" slow=1,slow_by=2ms
    moves 4 "$VOLUME" fail_read=1
    [[ $output == *"$V"*"Input/output error"* ]]
    moves 4 "$VOLUME" vanish=5
    [[ $output == *"$V"*"Input/output error"* ]]
    moves 4 "$LOG" fail_read=1
    [[ $output == *"$L: Input/output error"* ]]
    moves 4 "$LOG" fail_flush=1
    [[ $output == *"the journal of $V stays where it was"*"flush $L: Input/output error"* ]]
    moves 7 "$VOLUME" fail_flush=1
    [[ $output == *'could not be undone; run "jbdlab recover'*"flush $V: Input/output error"* ]]
    moves 7 "$VOLUME" fail_write=2,fail_times=1
    [[ $output == *'past its switch and not finished; run "jbdlab recover'*"flush $V"* ]]
    moves 4 "$LOG" drop_write=1
    [[ $output == *"stays where it was"*"$L acknowledged a write at byte "*" and a flush, and does not hold what was written"* ]]
    moves 4 "$VOLUME" drop_write=1
    [[ $output == *"stays where it was"*"$V acknowledged a write at byte "* ]]
    moves 7 "$VOLUME" drop_write=2
    [[ $output == *"past its switch"*"$V acknowledged a write at byte "* ]]
}

# The log of a volume that was cleanly unmounted is not empty, as only a disk leaves it that
# has lost writes; e2fsck -p asks.
@test "a log that should be empty is dropped by the kernel, where --replay is given" {
    local i
    mke2fs -q -F -b 1024 -O journal_dev "$L"
    mke2fs -q -F -t ext4 -b 1024 -J device="$L" -d "$WORK/files" "$V"
    mkdir "$WORK/mnt"
    mount "$V" "$WORK/mnt"
    touch "$WORK/mnt/one"
    sync -f "$WORK/mnt"
    scratch fault "$LOG" drop_write=5
    for ((i = 0; i < 20; i++)); do
        echo "$i" >"$WORK/mnt/$i"
        sync "$WORK/mnt/$i"
    done
    umount "$WORK/mnt"
    scratch fault "$LOG" none
    run "$JBDLAB" move "$V" --to inline,size=4M --state-dir "$WORK/state"
    echo "$output"
    [ "$status" = 3 ]
    [[ $output == *"the log on $L is not empty, though $V was cleanly unmounted"*'"--replay"'* ]]
    run e2fsck -p "$V"
    [ "$status" = 4 ]
    timeout 60 "$JBDLAB" move "$V" --to inline,size=4M --replay --state-dir "$WORK/state"
    fsck_clean "$V"
    mount "$V" "$WORK/mnt"
    check_files "$WORK/mnt"
    [ "$(cat "$WORK/mnt/19")" = 19 ]
}

# mounted: $V, without a journal, so that no error is that of a journal that gave up.
mounted() {
    lift_faults
    mkdir -p "$WORK/mnt"
    mke2fs -q -F -t ext4 -b 1024 -O ^has_journal -E lazy_itable_init=0 "$V"
    mount -o errors=continue "$V" "$WORK/mnt"
}

@test "bench and tiobench alone on disks that misbehave" {
    local fault command
    for fault in fail_write=1 fail_flush=1 vanish=5; do
        for command in "bench $WORK/mnt -w dd -s bs=4k -s count=50 -s sync=dsync" \
            "tiobench --target $WORK/mnt --size 1 --threads 1"; do
            mounted
            scratch fault "$VOLUME" $fault
            # shellcheck disable=SC2086 # a command and its words
            run timeout 60 "$JBDLAB" $command --no-progress
            echo "$fault: $status: $output"
            lift_faults
            umount "$WORK/mnt"
            [ "$status" = 4 ]
            [[ $output == *"$WORK/mnt/"*"Input/output error"*"$V"* ]]
        done
    done
    mounted
    scratch fault "$VOLUME" lie_flush=1
    run timeout 60 "$JBDLAB" bench "$WORK/mnt" -w dd -s bs=4k -s count=50 -s sync=dsync \
        --audit --no-progress
    echo "$output"
    [ "$status" = 6 ]
    [[ $output == *"${V##*/} acknowledged "*" writes and flushes that it did not carry out"* ]]
}

# witness FAULTS: records, acknowledged until the disk has lost its power.
witness() {
    fresh
    mkdir -p "$WORK/mnt"
    mount "$V" "$WORK/mnt"
    scratch fault "$VOLUME" "$1"
    status=0
    timeout 60 "$JBDLAB" witness "$WORK/mnt" --time 50s >"$WORK/acks" || status=$?
    [ "$status" = 4 ]
    umount "$WORK/mnt"
    scratch stats "$VOLUME" | jq -e '.gone and (.unmade_flushes == 0 or .lost_bytes > 0)'
    scratch wake "$VOLUME"
    e2fsck -fy "$V" || [ $? -lt 4 ]
    mount "$V" "$WORK/mnt"
    run timeout 60 "$JBDLAB" witness "$WORK/mnt" --verify --log "$WORK/acks"
    umount "$WORK/mnt"
    echo "$output"
    rm "$WORK/acks"
}

@test "a power cut takes nothing from an honest disk, and all from one that lies" {
    witness vanish=500
    [ "$status" = 0 ]
    [[ $output == *SEEN* ]]
    witness vanish=500,lie_flush=1
    [ "$status" = 6 ]
    [[ $output == *LOST* ]]
}
