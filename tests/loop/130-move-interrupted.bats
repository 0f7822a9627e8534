#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Moves that are killed, disturbed by signals or by errors at each of their writes and
# flushes, and what brings the volume to one of its two placements afterwards: recover,
# recover --rollback, the same command again, a mount, e2fsck -p.  The journal is never
# lost, the files are what they were, and no intent log stays behind.
#
# JBDLAB_TESTS=full tries each way at each place; otherwise the ways take turns.

load ../lib
load ../move

setup() {
    need_loop
    command -v strace >/dev/null || skip "needs strace"
    disks_in_memory
    common_setup
    DEVICES=()
    loop_new V 40M
    loop_new A 6M
    loop_new B 6M
    mkdir "$WORK/mnt"
}

teardown() { common_teardown; }

# A volume with files, whose journal is at placement $1.
prepare() {
    rm -rf "$WORK/state"
    wipefs -qa "$A" "$B"
    mke2fs -q -F -t ext4 -b "${2:-1024}" -J size=4 "$V"
    mount "$V" "$WORK/mnt"
    fill_volume "$WORK/mnt" 25
    umount "$WORK/mnt"
    [ "$1" = inline ] || moved "$V" "$1"
    sync "$V"
    cp --sparse=always "$WORK/V.img" "$WORK/V.saved"
    cp --sparse=always "$WORK/A.img" "$WORK/A.saved"
    cp --sparse=always "$WORK/B.img" "$WORK/B.saved"
}

# All devices as prepare left them.
again() {
    local name
    for name in V A B; do
        dd if="$WORK/$name.saved" of="${!name}" bs=1M conv=fsync status=none
    done
    rm -rf "$WORK/state"
}

# disturbed SYSCALL:WHAT:WHEN PLACEMENT [OPTION...]: a move with strace's hand in it; its
# status in $status.
disturbed() {
    status=0
    { traced -o "$WORK/trace" -e trace=pwrite64,fsync,rename,mount,umount2,rmdir,wait4 \
        -e inject="$1" "$JBDLAB" move "$V" --to "$2" --state-dir "$WORK/state" \
        --verify=none "${@:3}" >"$WORK/out" 2>&1; } 2>/dev/null || status=$?
}

fail() {
    echo "$*"
    cat "$WORK/out"
    return 1
}

files_intact() {
    local journal=${1#external=}
    mount -t ext4 "$V" "$WORK/mnt" || return
    check_files "$WORK/mnt" || return
    umount "$WORK/mnt"
    [ "$journal" != "$1" ] || journal=
    fsck_clean "$V" ${journal:+"${journal%%,*}"} >"$WORK/out" 2>&1
}

is_placed() {
    case "$1" in
    external=*) local device=${1#external=} && is_external "$V" "${device%%,*}" ;;
    inline*) is_inline "$V" ;;
    none) is_none "$V" ;;
    esac
}

# ways N: how to go on after the kill number N.
ways() {
    local all=(finish rollback again)
    if [ "${JBDLAB_TESTS-}" = full ]; then echo "${all[@]}"; else echo "${all[$1 % 3]}"; fi
}

# killed_everywhere ORIGIN TARGET: at every write and every flush; then one of the ways.
killed_everywhere() {
    local call n way wanted kills=0
    prepare "$1"
    for call in pwrite64 fsync; do
        for ((n = 1; ; n++)); do
            for way in $(ways "$n"); do
                again
                disturbed "$call:signal=KILL:when=$n" "$2"
                [ "$status" != 0 ] || break 2
                [ "$status" = 137 ] || fail "$call $n: status $status" || return
                kills=$((kills + 1))
                wanted=$2
                case $way in
                again) move "$V" "$2" --verify=none >"$WORK/out" 2>&1 ;;
                finish) "$JBDLAB" recover "$V" --state-dir "$WORK/state" >"$WORK/out" 2>&1 ;;
                rollback)
                    "$JBDLAB" recover "$V" --rollback --state-dir "$WORK/state" \
                        >"$WORK/out" 2>&1
                    wanted=$1
                    ;;
                esac || fail "$call $n, $way: failed" || return
                # Killed before the log was in its place, or when it was gone already.
                ! grep -q 'nothing to recover' "$WORK/out" || is_placed "$2" || wanted=$1
                ! grep -q 'nothing to recover' "$WORK/out" || is_placed "$1" || wanted=$2
                is_placed "$wanted" || fail "$call $n, $way: not $wanted" || return
                no_pending_move && files_intact "$wanted" ||
                    fail "$call $n, $way: damaged" || return
            done
        done
    done
    echo "# $1 to $2: killed $kills times" >&3
    [ $kills -gt 6 ]
}

@test "killed from inline to external" { killed_everywhere inline "external=$A"; }

@test "killed from external to inline" { killed_everywhere "external=$A" inline,size=2M; }

@test "killed from external to another external" {
    killed_everywhere "external=$A" "external=$B"
}

@test "killed from inline to inline elsewhere" { killed_everywhere inline inline,size=5M,at=end; }

@test "killed from inline to none" { killed_everywhere inline none; }

@test "killed from none to inline" { killed_everywhere none inline,size=3M; }

@test "killed between none and external" {
    killed_everywhere none "external=$B,size=2M"
    killed_everywhere "external=$B,size=2M" none
}

@test "killed while the size of an external journal changes" {
    killed_everywhere "external=$A" "external=$A,size=2M"
    killed_everywhere "external=$A,size=2M" "external=$A,size=5M"
}

# others_go_first TARGET COMMAND: killed at every flush; then COMMAND comes before recover.
others_go_first() {
    local n
    prepare inline
    for ((n = 1; ; n++)); do
        again
        disturbed "fsync:signal=KILL:when=$n" "$1"
        [ "$status" != 0 ] || break
        $2 >"$WORK/out" 2>&1 || fail "fsync $n: $2" || return
        "$JBDLAB" recover "$V" --state-dir "$WORK/state" >"$WORK/out" 2>&1 ||
            fail "fsync $n: recover" || return
        no_pending_move
        is_placed "$1" || move "$V" "$1" >"$WORK/out" 2>&1 || fail "fsync $n: move" || return
        is_placed "$1" && files_intact "$1" || fail "fsync $n: damaged" || return
    done
    [ $n -gt 6 ]
}

mount_and_write() {
    mount -t ext4 "$V" "$WORK/mnt" && dd if=/dev/urandom of="$WORK/mnt/new" bs=1M count=5 &&
        umount "$WORK/mnt" && e2fsck -p "$V"
    [ $? -le 1 ] && mount -t ext4 "$V" "$WORK/mnt" && rm "$WORK/mnt/new" && umount "$WORK/mnt"
}

preen() {
    e2fsck -p "$V"
    [ $? -le 1 ]
}

@test "a mount without e2fsck may come before recover" {
    others_go_first "external=$A" mount_and_write
    others_go_first inline,size=5M,at=end mount_and_write
}

@test "e2fsck -p may come before recover" {
    others_go_first "external=$A" preen
    others_go_first none preen
}

lose_log() { rm -f "$WORK/state/moves"/*; }

garble_log() {
    local file
    for file in "$WORK/state/moves"/*.json; do
        [ ! -e "$file" ] || truncate -s 1000 "$file"
    done
}

@test "a log that is lost or damaged is no obstacle" {
    others_go_first "external=$A" lose_log
    others_go_first inline,size=5M,at=end lose_log
    others_go_first "external=$A" garble_log
}

@test "a log that is lost on the way back is no obstacle" {
    local n
    prepare "external=$A"
    for ((n = 1; ; n++)); do
        again
        disturbed "pwrite64:signal=KILL:when=$n" inline,size=2M
        [ "$status" != 0 ] || break
        lose_log
        "$JBDLAB" recover "$V" --state-dir "$WORK/state" >"$WORK/out" 2>&1 ||
            fail "write $n: recover" || return
        # A journal device that is not used any more lists nobody.
        if is_inline "$V"; then [ -z "$(users "$A")" ]; fi || fail "write $n: $A is not free"
        moved "$V" inline,size=2M
        files_intact inline || fail "write $n: damaged" || return
        [ -z "$(users "$A")" ]
    done
    [ $n -gt 10 ]
}

# erring ORIGIN TARGET: each write and flush fails, once and for ever.
erring() {
    local call error when n=0 runs=0 failed
    prepare "$1"
    for call in pwrite64 fsync; do
        for error in EIO ENOSPC; do
            for when in '' +; do
                # A full device (a thin one) or a broken one: the same to us.
                [ "$error$when" != ENOSPC+ ] || [ "${JBDLAB_TESTS-}" = full ] || continue
                for ((n = 1; ; n++)); do
                    again
                    disturbed "$call:error=$error:when=$n$when" "$2"
                    [ "$status" != 0 ] || break
                    runs=$((runs + 1))
                    failed=$status
                    case $status in
                    4)
                        no_pending_move && is_placed "$1" && files_intact "$1" ||
                            fail "$call $n$when $error: status 4, but not as before" || return
                        ;;
                    7)
                        "$JBDLAB" recover "$V" --state-dir "$WORK/state" \
                            >"$WORK/out" 2>&1 || fail "$call $n$when: recover" || return
                        no_pending_move && is_placed "$2" && files_intact "$2" ||
                            fail "$call $n$when $error: recovered, but damaged" || return
                        ;;
                    *) fail "$call $n$when $error: status $failed" || return ;;
                    esac
                done
                # Only when nothing failed any more it may end well.
                is_placed "$2" && files_intact "$2" || fail "$call: false success" || return
            done
        done
    done
    echo "# $1 to $2: failed $runs times" >&3
    [ $runs -gt 40 ]
}

@test "errors of the devices on the way to an external journal" { erring inline "external=$A"; }

@test "errors of the devices on the way to an inline journal" { erring "external=$A" inline,size=2M; }

@test "errors of the devices between inline journals" { erring inline inline,size=5M,at=end; }

@test "signals are obeyed when the move is over, never in the middle" {
    local signal n number
    prepare inline
    for signal in INT TERM HUP QUIT; do
        number=130
        [ $signal != TERM ] || number=143
        for ((n = 1; ; n += 3)); do
            again
            disturbed "pwrite64:signal=$signal:when=$n" "external=$A"
            [ "$status" != 0 ] || break
            [ "$status" = $number ] || fail "$signal at write $n: status $status" || return
            grep -q "the move of $V is complete: interrupted by SIG$signal" "$WORK/out" ||
                fail "$signal at write $n" || return
            no_pending_move || fail "$signal at write $n" || return
            is_placed "external=$A" || fail "$signal at write $n" || return
            files_intact "external=$A" || fail "$signal at write $n" || return
        done
        [ $n -gt 9 ]
    done
}

@test "a mounted volume is mounted again after a signal" {
    local when call n from=inline
    prepare inline
    mount -o noatime "$V" "$WORK/mnt"
    for when in wait4:1 umount2:1 pwrite64:1 pwrite64:5 fsync:3 fsync:8 mount:1; do
        call=${when%:*} n=${when#*:}
        if [ "$from" = inline ]; then to=external=$A; else to=inline; fi
        disturbed "$call:signal=INT:when=$n" "$to" --remount
        [ "$status" = 130 ] || fail "$when: status $status" || return
        grep -q "^$V $WORK/mnt ext4 rw,noatime" /proc/self/mounts ||
            fail "$when: not mounted" || return
        check_files "$WORK/mnt"
        no_pending_move || fail "$when" || return
        ! grep -q "is complete" "$WORK/out" || from=${to%=*}
    done
    umount "$WORK/mnt"
    fsck_clean "$V"
}

@test "signals are obeyed when recover is done" {
    local n
    prepare inline
    for ((n = 1; ; n += 2)); do
        again
        disturbed "fsync:signal=KILL:when=6" "external=$A"
        [ "$status" = 137 ]
        status=0
        traced -o "$WORK/trace" -e trace=pwrite64 -e inject="pwrite64:signal=TERM:when=$n" \
            "$JBDLAB" recover "$V" --state-dir "$WORK/state" >"$WORK/out" 2>&1 || status=$?
        [ "$status" != 143 ] || grep -q "is whole, with its journal" "$WORK/out" ||
            fail "$n" || return
        is_placed "external=$A" || fail "$n" || return
        no_pending_move
        files_intact "external=$A"
        [ "$status" = 143 ] || break
    done
    [ "$status" = 0 ]
    [ $n -gt 4 ]
}

@test "a signal during the trial mount leaves nothing mounted" {
    local call n
    prepare inline
    for call in mount umount2; do
        for n in 1 2; do
            again
            disturbed "$call:signal=INT:when=$n" "external=$A" --verify=mount
            [ "$status" = 130 ] || fail "$call $n: status $status" || return
            if grep "^$V " /proc/self/mounts; then
                umount "$V"
                fail "$call $n: was still mounted" || return
            fi
            grep -q '^rmdir("/.*jbdlab-mount.*= 0' "$WORK/trace"
            is_placed "external=$A"
            files_intact "external=$A"
        done
    done
}

@test "without room for the intent log nothing is changed" {
    prepare inline
    mkdir "$WORK/state"
    mount -t tmpfs -o size=16k none "$WORK/state"
    DEVICES=("$A")
    unchanged_with_status 4 "$V" "external=$A" "No space left on device"
    umount "$WORK/state"
    mount -t tmpfs -o ro none "$WORK/state"
    unchanged_with_status 4 "$V" "external=$A" "Read-only file system"
    umount "$WORK/state"
    rmdir "$WORK/state"
    echo >"$WORK/state"
    unchanged_with_status 4 "$V" "external=$A" "Not a directory"
}

@test "recover finds devices that have other names now" {
    local order
    prepare inline
    for order in finish rollback; do
        again
        disturbed "pwrite64:signal=KILL:when=4" "external=$A"
        [ "$status" = 137 ]
        # The name that was typed is now that of another, empty device.
        detach "$A" "$B"
        losetup "$A" "$WORK/B.img"
        losetup "$B" "$WORK/A.img"
        DEVICES=()
        "$JBDLAB" recover "$V" --$order --state-dir "$WORK/state"
        cmp "$WORK/B.img" "$WORK/B.saved"
        if [ $order = finish ]; then is_placed "external=$B"; else is_inline "$V"; fi
        detach "$A" "$B"
        losetup "$A" "$WORK/A.img"
        losetup "$B" "$WORK/B.img"
    done
}

@test "a clone of the volume is not taken for it" {
    local n C
    prepare inline
    cp --sparse=always "$WORK/V.saved" "$WORK/C.img"
    C=$(losetup -f --show "$WORK/C.img")
    LOOPS+=("$C")
    for ((n = 1; ; n++)); do
        again
        disturbed "fsync:signal=KILL:when=$n" "external=$A"
        [ "$status" != 0 ] || break
        [ -n "$(find "$WORK/state/moves" -name '*.json' 2>/dev/null)" ] || continue
        run "$JBDLAB" recover "$C" --state-dir "$WORK/state"
        [ "$status" = 3 ]
        [[ "$output" == *"another device than $V"* ]]
        run "$JBDLAB" move "$C" --to none --state-dir "$WORK/state"
        [ "$status" = 3 ]
        cmp "$WORK/C.img" "$WORK/V.saved"
        "$JBDLAB" recover "$V" --state-dir "$WORK/state"
        is_placed "external=$A"
        files_intact "external=$A"
    done
}

@test "the journal device of a clone is not released" {
    local C
    prepare inline
    cp --sparse=always "$WORK/V.saved" "$WORK/C.img"
    C=$(losetup -f --show "$WORK/C.img")
    LOOPS+=("$C")
    moved "$C" "external=$B"
    mount "$C" "$WORK/mnt"
    date >"$WORK/mnt/date"
    sync
    cp "$WORK/B.img" "$WORK/B.saved"
    umount "$WORK/mnt"
    "$JBDLAB" recover "$V" --state-dir "$WORK/state"
    [ "$(users "$B")" = "$(header "$C" 'Filesystem UUID')" ]
    fsck_clean "$C" "$B"
    mounts_fine "$C"
}

# The new journal device vanishes with the kill.
@test "without the new journal device there is a way back, and none forward" {
    local n switched=0 back=0
    prepare inline
    for ((n = 1; ; n++)); do
        again
        disturbed "fsync:signal=KILL:when=$n" "external=$A"
        [ "$status" != 0 ] || break
        [ -n "$(find "$WORK/state/moves" -name '*.json' 2>/dev/null)" ] || continue
        detach "$A"
        run "$JBDLAB" recover "$V" --state-dir "$WORK/state"
        if [ "$status" = 0 ]; then
            back=$((back + 1))
            is_inline "$V"
            no_pending_move
            files_intact inline
        else
            switched=$((switched + 1))
            [ "$status" = 7 ]
            [[ "$output" == *"is not there; connect it"*"--lost-journal"* ]]
            if ((switched % 2)); then
                losetup "$A" "$WORK/A.img"
                "$JBDLAB" recover "$V" --state-dir "$WORK/state"
                is_placed "external=$A"
                files_intact "external=$A"
                continue
            fi
            move "$V" inline --lost-journal >"$WORK/out" 2>&1 || fail "lost journal" || return
            is_inline "$V"
            no_pending_move
            files_intact inline
        fi
        losetup "$A" "$WORK/A.img"
    done
    [ $back -ge 2 ]
    [ $switched -ge 2 ]
}

@test "without the old journal device the move is finished, and it is released later" {
    local n finished=0
    prepare "external=$A"
    for ((n = 3; ; n++)); do
        again
        disturbed "fsync:signal=KILL:when=$n" "external=$B"
        [ "$status" != 0 ] || break
        [ -n "$(find "$WORK/state/moves" -name '*.json' 2>/dev/null)" ] || continue
        [ "$(header "$V" 'Journal UUID')" = "$(header "$B" 'Filesystem UUID')" ] || continue
        detach "$A"
        "$JBDLAB" recover "$V" --state-dir "$WORK/state" >"$WORK/out" 2>&1 || fail "$n" || return
        is_placed "external=$B"
        files_intact "external=$B"
        no_pending_move
        losetup "$A" "$WORK/A.img"
        "$JBDLAB" recover "$V" --state-dir "$WORK/state"
        [ -z "$(users "$A")" ]
        finished=$((finished + 1))
    done
    [ $finished -ge 1 ]
}

# broken CALL: of the journal device alone, for ever; status in $status.
broken() {
    again
    status=0
    traced -o "$WORK/trace" -P "$A" -e trace="$1" -e inject="$1:error=EIO:when=1+" \
        "$JBDLAB" move "$V" --to "external=$A" --state-dir "$WORK/state" --verify=none \
        >"$WORK/out" 2>&1 || status=$?
    grep -q INJECTED "$WORK/trace"
}

@test "a new journal device that is broken leaves the volume as it was" {
    local call
    prepare inline
    for call in pwrite64 fsync; do
        broken $call
        [ "$status" = 4 ] || fail "$call: status $status" || return
        grep -q "stays where it was" "$WORK/out"
        cmp "$WORK/V.img" "$WORK/V.saved"
        no_pending_move
        # Mended, it takes the journal, whatever was left on it.
        moved "$V" "external=$A"
        files_intact "external=$A"
    done
}
