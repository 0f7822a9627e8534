# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
#
# What the host of the power-cut tests calls in the guest (see scripts/vm/init). It sets
# VOLUME and JOURNAL (devices), TYPE, INLINE_MB, MOVER (jbdlab or tune2fs) and VERIFY (as for
# jbdlab move). A real program is named by path where busybox has an applet of the same
# name, which its shell would prefer.

# try COMMAND...: run it quietly, show its output only when its status is not 0.
try() {
    out=$("$@" 2>&1)
    rc=$?
    [ $rc = 0 ] || printf '%s\n' "$*: exit $rc" "$out"
    return $rc
}

# recover_by kernel|fsck|jbdlab|rollback|again [TARGET]: what an administrator, or the
# machine alone, does after a cut. Ends with the volume mounted on /mnt.
recover_by() {
    case $1 in
    kernel) ;;
    fsck)
        try /sbin/e2fsck -p "$VOLUME"
        [ $? -le 1 ] || return
        ;;
    jbdlab) try jbdlab recover "$VOLUME" --yes || return ;;
    rollback) try jbdlab recover "$VOLUME" --rollback --yes || return ;;
    again) move_again "$2" || return ;;
    esac
    mount_volume
}

# move_again TARGET: the same command once more. If there is no intent log (it was lost,
# or the cut came in the trial mount after the move), the volume is one that needs
# recovery like any other, and the move is refused until it may replay the journal.
move_again() {
    try move "$1"
    rc=$?
    if [ $rc = 3 ]; then
        try move "$1" --replay
        rc=$?
    fi
    return $rc
}

mount_volume() {
    try mount -t "$TYPE" "$VOLUME" /mnt
}

# settle: after the verification, with the volume unmounted: nothing may be left over.
# jbdlab recover is not called here, so that a move has to cope with an old intent log.
settle() {
    try /sbin/e2fsck -p "$VOLUME"
    [ $? -le 1 ] || return
    try /sbin/e2fsck -fn "$VOLUME" || return
    placement
}

# placement: prints PLACEMENT inline|external|none.
placement() {
    /sbin/dumpe2fs -h "$VOLUME" 2>/dev/null |
        awk '/^Filesystem features:/ && / has_journal/ { p = "lost" }
             /^Journal inode:/ { p = "inline" }
             /^Journal device:/ { p = "external" }
             END { print "PLACEMENT", p == "" ? "none" : p }'
}

# kept: one line that changes when any file in the keep directory does.
kept() {
    (cd /mnt/keep && find . -type f | sort | xargs sha256sum) | sha256sum |
        sed 's/^/KEPT /'
}

# move inline|external [OPTION]: the thing under test.
move() {
    case $MOVER-$1 in
    jbdlab-external) to=external=$JOURNAL ;;
    jbdlab-inline) to=inline,size=${INLINE_MB}M ;;
    tune2fs-external) to="-J device=$JOURNAL" ;;
    tune2fs-inline) to="-j -J size=$INLINE_MB" ;;
    esac
    if [ "$MOVER" = jbdlab ]; then
        jbdlab move "$VOLUME" --to "$to" --yes --verify="$VERIFY" ${2:+"$2"}
    else
        # shellcheck disable=SC2086 # two or three words
        try /sbin/tune2fs -O ^has_journal "$VOLUME" && try /sbin/tune2fs $to "$VOLUME"
    fi
}
