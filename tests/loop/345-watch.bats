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
[disk slow]
size = 64M
directory = $WORK
model = $model
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
    timeout -k 5 120 "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" --no-progress "$@" \
        >"$WORK/out" 2>"$WORK/err" 3>&- &
    timeout=$!
    for _ in $(seq 100); do
        pid=$(pgrep -P "$timeout") && return 0
        sleep 0.02
    done
    return 1
}

# The child that carries the run out.
process_of_run() {
    pgrep -P "$pid" -x jbdlab
}

# until_status FILTER: until jq finds it true of status.json, which always is whole.
until_status() {
    for _ in $(seq 2000); do
        if [ -e "$BUNDLE/status.json" ]; then
            jq . "$BUNDLE/status.json" >/dev/null || return 1
            ! jq -e "$1" "$BUNDLE/status.json" >/dev/null || return 0
        fi
        sleep 0.02
    done
    cat "$BUNDLE/status.json" "$WORK/err"
    return 1
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
    until_status '.workload == "dd"'
    child=$(process_of_run)
    ends 4
    grep -Eq 'it hangs in block 1 of 1, arm (inline|none), workload dd, phase "measure" for [0-9.]+s: loop[0-9]+ \(volume data\) has answered nothing for [23]s$' "$WORK/err"
    grep -Eq '^  loop[0-9]+ \(volume data\): [1-9][0-9]* requests in flight$' "$WORK/err"
    grep -Eq '^  [^ ]+, process [0-9]+: waits in [a-z_0-9]+' "$WORK/err"
    grep -q "process $child cannot be ended" "$WORK/err"
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
    for _ in $(seq 500); do
        [ -d "/proc/$child" ] || break
        sleep 0.02
    done
    timeout 100 "$JBDLAB" run --resume "$BUNDLE" --no-progress >"$WORK/out" 2>"$WORK/err" ||
        { cat "$WORK/err"; false; }
    jq -e '.state == "complete"' "$BUNDLE/bundle.json"
    jq -e '.state == "done" and .reason == null' "$BUNDLE/status.json"
    [ "$(wc -l <"$BUNDLE/cells.jsonl")" = 2 ]
    [ ! -d "/proc/$child" ]
    expect_nothing_left
}

@test "a disk that answers again while the run is being ended leaves nothing" {
    experiment "$FAST,hang=3000,hang_for=4s" 3000 'blocks = 1' 'hang = 3s'
    begin
    ends 4
    grep -q 'has answered nothing for [34]s' "$WORK/err"
    grep -q 'then it could be ended (.*interrupted by SIGTERM' "$WORK/err"
    jq -e '.state == "interrupted"' "$BUNDLE/bundle.json"
    jq -e '.state == "failed"' "$BUNDLE/status.json"
    expect_nothing_left
}

# bats test_tags=slow
@test "a disk that is only slow does not hang" {
    # A request each second, and a bound of two.
    experiment "ssd,channels=1,read=0,write=0,flush=1200ms,overhead=0,interface=0" 3 \
        'blocks = 1' 'hang = 2s'
    begin
    ends 0
    run grep -c 'hangs' "$WORK/err"
    [ "$output" = 0 ]
}

@test "^C ends a run whose disk hangs" {
    experiment "$FAST,hang=3000" 3000 'blocks = 1' 'hang = 3s'
    begin
    until_status '.workload == "dd"'
    sleep 1
    kill -INT "$pid"
    ends 4
    grep -q 'it hangs in ' "$WORK/err"
}

@test "SIGUSR1 and status.json say where it is" {
    local before now
    experiment "$FAST" 2000 'blocks = 50'
    begin --quiet
    until_status '.workload == "dd" and .block == 2'
    kill -USR1 "$pid"
    for _ in $(seq 100); do
        [ ! -s "$WORK/err" ] || break
        sleep 0.05
    done
    grep -Eq '^watched: block [2-9] of 50, arm (inline|none), .*phase ".*" for [0-9]+.*s, in all about .*s left' "$WORK/err"
    [ "$(wc -l <"$WORK/err")" = 1 ]
    before=$(date +%s)
    until_status '.block == 3 and .workload == "dd"'
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
    experiment "$FAST" 1000 'blocks = 2'
    begin
    until_status '.workload == "dd"'
    kill -KILL "$(process_of_run)"
    ends 4
    grep -q 'the process of the run was ended by signal 9 (Killed); go on with "run --resume"' "$WORK/err"
    jq -e '.state == "failed"' "$BUNDLE/status.json"
    timeout 100 "$JBDLAB" run --resume "$BUNDLE" --quiet
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
        experiment "$FAST" 2000 'blocks = 50'
        begin
        until_status '.workload == "dd"'
        [ "$(cat "$WORK/bin/state")" = begun ]
        [ "$(sed 3,4d "$WORK/bin/words" | xargs)" = "--what=sleep:shutdown:idle --mode=block cat" ]
        [ "$(sed -n 3,4p "$WORK/bin/words" | xargs)" = "--who=jbdlab --why=experiment watched" ]
        if [ $moment = KILL ]; then
            kill_run "$pid"
            ends 137
            for _ in $(seq 100); do
                [ "$(cat "$WORK/bin/state")" = begun ] || break
                sleep 0.05
            done
            [ "$(cat "$WORK/bin/state")" = ended ]
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
