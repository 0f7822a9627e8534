# SPDX-License-Identifier: GPL-3.0-or-later
# Arms with programs: setup runs before everything in a cell, teardown after everything,
# whatever happened; what setup puts over a volume is used, but only if it is made of it.

load ../lib

setup() {
    need_loop
    common_setup
    export TMPDIR=$WORK
    BUNDLE=$WORK/bundle
    mkdir "$WORK/bin"
}

teardown() {
    local device
    # What a teardown under test did not take away, by the name of the file below.
    while read -r device; do losetup -d "$device"; done < <(cat "$WORK/stacked" 2>/dev/null)
    common_teardown
}

# program NAME: a script in $WORK/bin from standard input.
program() {
    { echo '#!/bin/bash'; echo "WORK=$WORK"; cat; } >"$WORK/bin/$1"
    chmod +x "$WORK/bin/$1"
}

# experiment LINE...: two arms, the second with these lines.
experiment() {
    {
        cat <<END
[experiment]
name = x
blocks = 1
seed = 3
$(disk_section slow 32M)
$(disk_section fast 8M)
[volume data]
device = slow
mkfs = ext4 -b 1024
[arm plain]
journal = inline,size=4M
[arm changed]
journal = inline,size=4M
END
        printf '%s\n' "$@" '[workload dd]' 'type = dd' 'bs = 4k' 'count = 64' 'sync = dsync'
    } >"$WORK/x.ini"
}

run_experiment() {
    run timeout 200 "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE"
    echo "$output"
}

expect_nothing_left() {
    local left
    left=$(losetup -l | grep -F "$WORK/" || true
        grep " /run/jbdlab/run[/ ]" /proc/self/mountinfo || true)
    echo "left: $left"
    [ -z "$left" ]
}

@test "a setup changes a queue setting, and teardown finds it changed and puts it back" {
    program set <<'END'
queue=/sys/block/${JBDLAB_VOLUME_data#/dev/}/queue/read_ahead_kb
echo "set $* $JBDLAB_ARM $JBDLAB_BLOCK [$JBDLAB_JOURNAL] $(cat "$queue")" >>"$WORK/log"
cat "$queue" >"$WORK/before"
[ "$JBDLAB_VOLUME" = "$1" ] && [ -b "$JBDLAB_DISK_fast" ] || exit
echo 124 >"$queue"
END
    program put-back <<'END'
queue=/sys/block/${JBDLAB_VOLUME#/dev/}/queue/read_ahead_kb
echo "put back $(cat "$queue")" >>"$WORK/log"
cat "$WORK/before" >"$queue"
END
    # Blanks and quotes are ours, everything else reaches the program as it is.
    experiment "setup = $WORK/bin/set \$JBDLAB_VOLUME 'a b;\$(c)'" "teardown = $WORK/bin/put-back"
    run_experiment
    [ "$status" = 0 ]
    cat "$WORK/log"
    [[ "$(sed -n 1p "$WORK/log")" == "set /dev/loop"*" a b;\$(c) changed 1 [] $(cat "$WORK/before")" ]]
    [ "$(sed -n 2p "$WORK/log")" = "put back 124" ]
    [ "$(wc -l <"$WORK/log")" = 2 ]
    "$JBDLAB" run --dry-run "$BUNDLE/plan.ini" | grep -qx 'timeout = 60s'
    expect_nothing_left
}

@test "a device that setup puts over the volume is used and checked" {
    program stack <<'END'
device=$(losetup --find --show "$JBDLAB_VOLUME") || exit
echo "$device" >"$WORK/stacked"
echo "a line that means nothing"
echo "volume data $device"
END
    program unstack <<'END'
losetup -d "$(cat "$WORK/stacked")" && rm "$WORK/stacked"
END
    experiment "setup = $WORK/bin/stack" "teardown = $WORK/bin/unstack"
    sed -i 's/^mkfs.*/&\nprepare = mkfs/' "$WORK/x.ini"
    run_experiment
    [ "$status" = 0 ]
    jq -c '{arm, v: .volumes[0]}' "$BUNDLE/cells.jsonl"
    jq -se 'map(select(.arm == "changed"))[0].volumes[0] | .stacked_device != .device and
        .jbd2 == (.stacked_device | ltrimstr("/dev/")) + "-8" and .fsck == "clean"' \
        "$BUNDLE/cells.jsonl"
    jq -se 'map(select(.arm == "plain"))[0].volumes[0] | has("stacked_device") | not' \
        "$BUNDLE/cells.jsonl"
    expect_nothing_left
}

@test "a device that is not made of the volume is refused, and teardown runs" {
    program other <<'END'
echo "volume data $JBDLAB_DISK_fast"
END
    program note <<'END'
touch "$WORK/torn-down"
END
    experiment "setup = $WORK/bin/other" "teardown = $WORK/bin/note"
    run_experiment
    [ "$status" = 4 ]
    [[ "$output" == *"setup of arm changed: setup says that volume data is on /dev/loop"*", which is not made of /dev/loop"* ]]
    [ -e "$WORK/torn-down" ]
    expect_nothing_left
}

@test "a setup that fails, hangs or prints nonsense ends the run with a clear error" {
    local case
    program note <<'END'
echo "$JBDLAB_ARM" >>"$WORK/torn-down"
END
    program fail <<'END'
echo "no cache today" >&2
exit 3
END
    program hang <<'END'
sleep 600
END
    program nonsense <<'END'
echo "volume else /dev/null"
END
    for case in "fail:ended with status 3" \
        "hang:did not end within 5s (\"timeout\") and was ended" \
        "nonsense:which is not volume NAME DEVICE" "missing:No such file"; do
        rm -rf "$BUNDLE" "$WORK/torn-down"
        experiment "setup = $WORK/bin/${case%%:*}" "teardown = $WORK/bin/note" 'timeout = 5s'
        run_experiment
        [ "$status" = 4 ]
        [[ "$output" == *"arm changed: "*"setup of arm changed: "*"${case#*:}"* ]]
        [[ $case != fail:* || "$output" == *":"$'\n'"no cache today"* ]]
        [ "$(cat "$WORK/torn-down")" = changed ]
        [ "$(jq -r .state "$BUNDLE/bundle.json")" = failed ]
        expect_nothing_left
    done
}

@test "a teardown that fails is an error that says what may be left" {
    program fail <<'END'
echo "busy"
exit 1
END
    experiment "teardown = $WORK/bin/fail"
    run_experiment
    [ "$status" = 4 ]
    [[ "$output" == *"teardown of arm changed, whose setup may still be in force: "*"ended with status 1"*":"$'\n'"busy"* ]]
    expect_nothing_left
}

@test "a signal ends a setup, and teardown still runs" {
    program hang <<'END'
touch "$WORK/begun"
sleep 600
END
    program note <<'END'
touch "$WORK/torn-down"
END
    experiment "setup = $WORK/bin/hang" "teardown = $WORK/bin/note"
    timeout 200 "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" >"$WORK/out" 2>&1 3>&- &
    pid=$!
    until_done 120 [ -e "$WORK/begun" ]
    kill -INT "$(pgrep -P "$pid")"
    status=0
    wait "$pid" || status=$?
    cat "$WORK/out"
    [ "$status" = 130 ]
    [ -e "$WORK/torn-down" ]
    expect_nothing_left
}

# shellcheck disable=SC2016 # jbdlab expands it
@test "command lines are checked before anything is done" {
    experiment 'setup = /bin/true $JBDLAB_VOLUMES'
    run_experiment
    [ "$status" = 2 ]
    [[ "$output" == *'x.ini:18: $JBDLAB_VOLUMES is unknown'* ]]
    experiment "teardown = /bin/true 'open"
    run_experiment
    [ "$status" = 2 ]
    [ ! -e "$BUNDLE" ]
}
