#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What a run leaves behind on the machine: nothing, however it ends; after kill -9 nothing
# once --restore or "scratch destroy" has been there.

# bats runs each test in a subshell.
# shellcheck disable=SC2030,SC2031

load ../lib.bash

setup() {
    need_loop
    [ -c /dev/fuse ] || skip "needs /dev/fuse"
    common_setup
    mkdir "$WORK/disks" "$WORK/tmp"
    BUNDLE=$WORK/bundle
    MARK=JBDLAB_TEST_MARK=$WORK # in the environment of all that the run starts
    RIGHTS=$(rights)
}

teardown() {
    [ ! -d "$BUNDLE" ] || timeout 60 "$JBDLAB" run --restore "$BUNDLE" --quiet || true
    common_teardown
}

# plan COMMAND: two scratch disks, one with a process that models it, and a journal that
# moves between them.
plan() {
    cat >"$WORK/x.ini" <<END
[experiment]
name = leaves
blocks = 2
repeat = 0
[disk slow]
size = 32M
model = ssd
directory = $WORK/disks
[disk fast]
size = 16M
directory = $WORK/disks
[volume data]
device = slow
mkfs = ext4 -b 1024
[arm inline]
journal = inline,size=4M
[arm ssd]
journal = external=fast,size=4M
[workload w]
type = command
exec = $1
metric.seconds = s lower elapsed
END
}

begin() {
    env TMPDIR="$WORK/tmp" "$MARK" "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" --yes \
        --no-progress >"$WORK/out" 2>&1 3>&- &
    PID=$!
}

ended() {
    STATUS=0
    wait "$PID" || STATUS=$?
    cat "$WORK/out"
}

# in_cell: the workload of a cell is running.
in_cell() {
    until_done 60 grep -qs '"what":"work"' "$BUNDLE/state.log"
    until_done 60 runs_sleep
}

runs_sleep() {
    local environ
    for environ in $(marked); do
        [ "$(cat "${environ%/environ}/comm")" != sleep ] || return 0
    done
    return 1
}

marked() {
    grep -lzxF -- "$MARK" /proc/[0-9]*/environ 2>/dev/null
}

# Capabilities of this process, and of files that a run may have made.
rights() {
    grep -h '^Cap' /proc/$$/status
    python3 - "$WORK" /run/jbdlab /var/lib/jbdlab <<'END'
import os, sys
for top in sys.argv[1:]:
    for directory, names, files in os.walk(top):
        for path in (os.path.join(directory, name) for name in names + files):
            try:
                if "security.capability" in os.listxattr(path, follow_symlinks=False):
                    print(path)
            except OSError:
                pass # gone meanwhile, or another kind of file
END
}

# What there is of the run: processes of ours and what they started, loop devices, mounts in
# any namespace, directories and files, its records; one a line.
left() {
    marked
    losetup -n -O NAME,BACK-FILE | grep -F -e "$WORK/disks/" -e "run$PID-"
    grep -lE "run$PID-| $WORK/" /proc/[0-9]*/mountinfo 2>/dev/null
    find "$WORK/disks" "$WORK/tmp" -mindepth 1
    find /run/jbdlab /var/lib/jbdlab -name "*run$PID-*" 2>/dev/null
    find /tmp /var/tmp /dev/shm -maxdepth 1 -name "*jbdlab*run$PID-*"
}

# The last of the model's process and of programs that were killed go by themselves.
nothing_is_left() {
    until_done 60 has_left_nothing || { left; return 1; }
    [ "$(rights)" = "$RIGHTS" ] || { echo "capabilities: $(rights), not $RIGHTS"; return 1; }
}

has_left_nothing() {
    [ -z "$(left)" ]
}

@test "after success" {
    plan true
    begin
    ended
    [ "$STATUS" = 0 ] || [ "$STATUS" = 5 ]
    nothing_is_left
}

@test "after a workload that fails" {
    plan false
    begin
    ended
    [ "$STATUS" = 4 ]
    nothing_is_left
}

@test "after a refusal" {
    plan true
    loop_new other 16M
    sed -i -e "s|external=fast|external=$other|" -e '/^.disk fast/,/^directory/d' "$WORK/x.ini"
    begin
    ended
    [ "$STATUS" = 3 ]
    nothing_is_left
}

@test "after ^C and after SIGTERM" {
    local signal
    for signal in INT TERM; do
        plan "sleep 300"
        begin
        in_cell
        kill -"$signal" "$PID"
        ended
        [ "$STATUS" = "$([ $signal = INT ] && echo 130 || echo 143)" ]
        nothing_is_left
        rm -rf "$BUNDLE"
    done
}

@test "after kill -9 and --restore" {
    plan "sleep 300"
    begin
    in_cell
    kill_run "$PID"
    wait "$PID" || true
    # Nothing works on; the disks stay for whoever resumes.
    until_done 60 eval "! runs_sleep"
    [ -n "$(left)" ]
    timeout 120 "$JBDLAB" run --restore "$BUNDLE"
    nothing_is_left
}

@test "after kill -9 and \"scratch destroy\"" {
    plan "sleep 300"
    begin
    in_cell
    kill_run "$PID"
    wait "$PID" || true
    until_done 60 timeout 60 "$JBDLAB" scratch destroy "run$PID-0-slow" "run$PID-1-fast"
    nothing_is_left
}
