# SPDX-License-Identifier: GPL-3.0-or-later
# A run under watch: a disk that does not answer ends it with a word and leaves it
# resumable, SIGUSR1 and status.json say where it is, systemd is asked to stay awake.

load ../lib

setup() {
    need_loop
    [ -c /dev/fuse ] || skip "needs /dev/fuse"
    [ ! -w /dev/shm ] || export TMPDIR=/dev/shm
    common_setup
    export TMPDIR=$WORK
    BUNDLE=$WORK/bundle
    pid=
}

teardown() {
    local name
    [ -z "$pid" ] || kill_run "$pid"
    for name in $(disks); do
        timeout 30 "$JBDLAB" scratch wake "$name" || true
    done
    # As soon as what hung has ended.
    [ ! -d "$BUNDLE" ] || until_done 60 timeout 60 "$JBDLAB" run --restore "$BUNDLE" --quiet
    common_teardown
}

# The scratch disks that lie in $WORK.
disks() {
    timeout 30 "$JBDLAB" scratch list --json |
        jq -r --arg w "$WORK/" '.disks[]? | select(.file // "" | startswith($w)) | .name'
}

# experiment MODEL COUNT [LINE...]: $WORK/x.ini; the lines go into [experiment].
experiment() {
    local model=$1 count=$2
    shift 2
    {
        cat <<END
$(disk_section slow 64M "$model")
[volume data]
device = slow
mkfs   = ext4 -b 4096
[arm inline]
journal = inline,size=4M
[arm none]
journal = none
[workload dd]
type  = dd
bs    = 4k
count = $count
sync  = dsync
${HELD-}
[experiment]
name  = watched
seed  = 3
probe = no
repeat = 0
END
        printf '%s\n' "$@"
    } >"$WORK/x.ini"
}

FAST=ssd,read=0,write=0,flush=0,overhead=0,interface=0

begin() {
    timeout -k 5 250 "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" --no-progress "$@" \
        >"$WORK/out" 2>"$WORK/err" 3>&- &
    timeout=$!
    until_done 60 pgrep -P "$timeout" >/dev/null
    pid=$(pgrep -P "$timeout")
}

# The child that carries the run out.
process_of_run() {
    pgrep -P "$pid" -x jbdlab
}

# until_status FILTER: until jq finds it true of status.json, which always is whole.
until_status() {
    until_done 120 has_status "$1" || { cat "$BUNDLE/status.json" "$WORK/err"; return 1; }
    jq . "$BUNDLE/status.json" >/dev/null
}

has_status() {
    [ -e "$BUNDLE/status.json" ] && jq -e "$1" "$BUNDLE/status.json" >/dev/null
}

# ends STATUS
ends() {
    local status=0
    wait "$timeout" || status=$?
    pid=
    echo "status $status"
    cat "$WORK/err"
    [ "$status" = "$1" ]
}

expect_nothing_left() {
    local left
    left=$(disks
        cut -d' ' -f5 /proc/self/mountinfo | grep '^/run/jbdlab/run' || true
        find "$WORK" -name 'jbdlab-run*')
    echo "left: $left"
    [ -z "$left" ]
}

@test "a disk that hangs for ever ends the run, which goes on when it is woken" {
    local name child
    experiment "$FAST,hang=3000" 3000 'blocks = 1' 'hang = 2s'
    begin
    ends 4
    child=$(sed -n 's/.*process \([0-9]*\) cannot be ended.*/\1/p' "$WORK/err")
    grep -Eq 'it hangs in block 1 of 1, arm (inline|none), workload dd, phase "measure" for [0-9.]+s: loop[0-9]+ \(volume data\) has answered nothing for ([2-9]|[0-9]{2,})s$' "$WORK/err"
    grep -Eq '^  loop[0-9]+ \(volume data\): [1-9][0-9]* requests in flight$' "$WORK/err"
    grep -Eq '^  [^ ]+, process [0-9]+: waits in [a-z_0-9]+' "$WORK/err"
    [ -d "/proc/$child" ]
    until_status '.state == "failed" and (.reason | test("volume data. has answered nothing"))'
    jq -e '.state == "failed" and (.reason | test("workload dd.*has answered nothing"))' \
        "$BUNDLE/bundle.json"

    # As long as it hangs, the run is taken.
    run timeout 60 "$JBDLAB" run --resume "$BUNDLE"
    echo "$output"
    [ "$status" = 3 ]
    [[ $output == *"another jbdlab is working on this run"* ]]

    name=$(disks)
    timeout 30 "$JBDLAB" scratch wake "$name"
    until_done 120 [ ! -d "/proc/$child" ]
    timeout 200 "$JBDLAB" run --resume "$BUNDLE" --no-progress >"$WORK/out" 2>"$WORK/err" ||
        { cat "$WORK/err"; false; }
    jq -e '.state == "complete"' "$BUNDLE/bundle.json"
    jq -e '.state == "done" and .reason == null' "$BUNDLE/status.json"
    [ "$(wc -l <"$BUNDLE/cells.jsonl")" = 2 ]
    [ ! -d "/proc/$child" ]
    expect_nothing_left
}

@test "a disk that answers again while the run is being ended leaves nothing" {
    # It is asked to end when it hangs for ten seconds, and is woken then: for ten more it
    # may take to end.
    experiment "$FAST,hang=3000" 3000 'blocks = 1' 'hang = 10s'
    begin
    until_done 200 grep -q 'it hangs in' "$WORK/err"
    timeout 30 "$JBDLAB" scratch wake "$(disks)"
    ends 4
    grep -Eq 'has answered nothing for [0-9]{2,}s' "$WORK/err"
    grep -q 'then it could be ended (.*interrupted by SIGTERM' "$WORK/err"
    jq -e '.state == "interrupted"' "$BUNDLE/bundle.json"
    jq -e '.state == "failed"' "$BUNDLE/status.json"
    expect_nothing_left
}

# bats test_tags=slow
@test "a disk that is only slow does not hang" {
    # A request each second, for longer than the bound.
    experiment "ssd,channels=1,read=0,write=0,flush=700ms,overhead=0,interface=0" 8 \
        'blocks = 1' 'hang = 4s'
    begin
    ends 0
    run grep -c 'hangs' "$WORK/err"
    [ "$output" = 0 ]
}

# Does the disk answer nothing at all, or has that been said already?
hangs() {
    local before
    ! grep -q 'it hangs in' "$WORK/err" || return 0
    before=$(requests) || return
    sleep 2
    [ "$(requests)" = "$before" ] && [ "${before##* }" -gt 0 ]
}

# requests: of the disk, that ended and that are in flight
requests() {
    local device
    device=$(timeout 30 "$JBDLAB" scratch list --json |
        jq -r --arg w "$WORK/" '.disks[] | select(.file // "" | startswith($w)) | .device')
    awk '{ print $1, $5, $16, $9 }' "/sys/block/${device#/dev/}/stat"
}

@test "^C ends a run whose disk hangs" {
    experiment "$FAST,hang=3000" 3000 'blocks = 1' 'hang = 3s'
    begin
    until_done 120 hangs
    kill -INT "$pid"
    ends 4
    grep -q 'it hangs in ' "$WORK/err"
}

@test "SIGUSR1 and status.json say where it is" {
    local before now
    # The third cell, and the fifth, last until we are done with them.
    held_program
    hold 3 5
    experiment "$FAST" 20 'blocks = 50'
    begin --quiet
    until_status '.workload == "held" and .block == 2'
    kill -USR1 "$pid"
    until_done 60 [ -s "$WORK/err" ]
    grep -Eq '^watched: block 2 of 50, arm (inline|none), .*phase ".*" for [0-9]+.*s, in all about .*s left' "$WORK/err"
    [ "$(wc -l <"$WORK/err")" = 1 ]
    before=$(date +%s)
    rm "$WORK/hold.3"
    until_status '.block == 3 and .workload == "held"'
    now=$(date +%s)
    jq -e --argjson pid "$pid" --argjson before "$before" --argjson now "$now" \
        '.schema == "jbdlab-status/1" and .state == "running" and .pid == $pid and
        .blocks == 50 and .attempt == 1 and .stage == "measure" and .phase == "measure" and
        .name == "watched" and .reason == null and
        .started_wall_ns < .phase_started_wall_ns and
        .phase_started_wall_ns / 1e9 >= $before - 1 and .phase_started_wall_ns / 1e9 <= $now + 1 and
        .estimated_end_wall_ns > .phase_started_wall_ns and
        (.devices | length) == 1 and .devices[0].role == "volume data" and .devices[0].major == 7' \
        "$BUNDLE/status.json"
    # Also if it is asked of all processes of the run.
    kill -USR1 "$(process_of_run)"
    kill -INT "$pid"
    ends 130
    jq -e '.state == "interrupted" and (.reason | test("SIGINT")) and .ended_wall_ns > .started_wall_ns' \
        "$BUNDLE/status.json"
    [ "$(find "$BUNDLE" -name 'status.json*' | wc -l)" = 1 ]
    expect_nothing_left
}

@test "a run whose process is killed says so, and goes on" {
    held_program
    hold 1
    experiment "$FAST" 20 'blocks = 2'
    begin
    until_status '.workload == "held"'
    kill -KILL "$(process_of_run)"
    ends 4
    grep -q 'the process of the run was ended by signal 9 (Killed); go on with "run --resume"' "$WORK/err"
    jq -e '.state == "failed"' "$BUNDLE/status.json"
    release
    timeout 200 "$JBDLAB" run --resume "$BUNDLE" --quiet
    jq -e '.state == "done"' "$BUNDLE/status.json"
    expect_nothing_left
}

@test "systemd is asked to stay awake, as long as the run lasts" {
    local moment
    mkdir "$WORK/bin"
    cat >"$WORK/bin/systemd-inhibit" <<'END'
#!/bin/bash
dir=${0%/*}
printf '%s\n' "$@" >"$dir/words"
echo begun >"$dir/state"
"${@: -1}"
echo ended >"$dir/state"
END
    chmod +x "$WORK/bin/systemd-inhibit"
    export PATH=$WORK/bin:$PATH
    for moment in KILL INT; do
        rm -rf "$BUNDLE"
        experiment "$FAST" 20 'blocks = 500'
        begin
        until_status '.workload == "dd"'
        until_done 60 grep -qs begun "$WORK/bin/state"
        [ "$(cat "$WORK/bin/state")" = begun ]
        [ "$(sed 3,4d "$WORK/bin/words" | xargs)" = "--what=sleep:shutdown:idle --mode=block cat" ]
        [ "$(sed -n 3,4p "$WORK/bin/words" | xargs)" = "--who=jbdlab --why=experiment watched" ]
        if [ $moment = KILL ]; then
            kill_run "$pid"
            ends 137
            until_done 60 grep -qs ended "$WORK/bin/state"
            rm "$WORK/bin/state"
            timeout 60 "$JBDLAB" run --restore "$BUNDLE" --quiet
        else
            kill -INT "$pid"
            ends 130
            # It was ended before we were.
            run pgrep -f "$WORK/bin/systemd-inhibit"
            [ "$status" = 1 ]
        fi
    done
    expect_nothing_left
}
