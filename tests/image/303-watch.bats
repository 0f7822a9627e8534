# SPDX-License-Identifier: GPL-3.0-or-later
# report --watch: an experiment while it runs.  The run is played by the test: it holds the
# lock of the bundle, or is the process that status.json names, and adds results.

load ../lib

setup() {
    common_setup
    cp -r "$BATS_TEST_DIRNAME/../report/in/two-arms" "$WORK/bundle"
    B=$WORK/bundle
    jq -R -c 'fromjson?' "$B/runs.jsonl" >"$WORK/runs" # the last line is torn
    : >"$B/state.log"
    state running ""
    head -n 3 "$WORK/runs" >"$B/runs.jsonl"
}

teardown() {
    [ -z "${watcher:-}" ] || kill "$watcher" 2>/dev/null || true
    common_teardown
}

state() {
    jq --arg state "$1" --arg reason "$2" '.state = $state | .reason = $reason' \
        "$B/bundle.json" >"$WORK/new"
    cp "$WORK/new" "$B/bundle.json.new"
    mv "$B/bundle.json.new" "$B/bundle.json"
}

# status STATE PID: what a run says of itself.
status() {
    jq -n --arg state "$1" --argjson pid "$2" --argjson now "$(date +%s)" '
        {schema: "jbdlab-status/1", state: $state, reason: null, name: "two-arms", pid: $pid,
        phase: "measure", phase_started_wall_ns: (($now - 65) * 1000000000), stage: "measure",
        block: 2, blocks: 3, attempt: 1, arm: "ssd", workload: "dd", devices: [],
        estimated_end_wall_ns: (($now + 300) * 1000000000)}' >"$B/status.new"
    mv "$B/status.new" "$B/status.json"
}

# lines N: waits until the watcher has said so much.
lines() {
    until_done 60 has_results "$1" || { cat "$WORK/out"; return 1; }
}

has_results() {
    [ "$(grep -c '^block ' "$WORK/out")" -ge "$1" ]
}

# pictures COUNT: were so many drawn on the terminal?
pictures() {
    [ "$(grep -c $'\x1b\[H' "$WORK/out")" -ge "$1" ]
}

begin() {
    timeout 250 "$JBDLAB" report --watch "$B" >"$WORK/out" 2>"$WORK/err" 9>&- 3>&- &
    watcher=$!
}

@test "each result is a line, and the overview comes when the run ends" {
    exec 9>>"$B/state.log"
    flock -x 9
    begin
    lines 3
    sed -n '4,$p' "$WORK/runs" >>"$B/runs.jsonl"
    lines "$(wc -l <"$WORK/runs")"
    kill -0 "$watcher"
    [ "$(grep -c Summary "$WORK/out")" = 0 ]
    state complete ""
    exec 9>&-
    wait "$watcher"
    cat "$WORK/out"
    [ "$(grep -c '^block ' "$WORK/out")" = "$(wc -l <"$WORK/runs")" ]
    grep -Eqx 'block 1, arm inline, dd: write [0-9.]+ MiB/s' "$WORK/out"
    grep -Eq '^block 1, arm inline, tio: write/t1 [0-9.]+ MiB/s, .*, rread/t1 [0-9.]+ KiB/s$' \
        "$WORK/out"
    grep -qx Summary "$WORK/out"
    grep -qx 'Comparison: ssd with inline' "$WORK/out"
    [ "$(tail -n 1 "$WORK/out")" = "The run is complete." ]
    [ ! -s "$WORK/err" ]
}

@test "an incomplete last line waits until it is whole" {
    status running $$
    begin
    lines 3
    sed -n 4p "$WORK/runs" | head -c 100 >>"$B/runs.jsonl"
    sleep 2
    kill -0 "$watcher"
    sed -n 4p "$WORK/runs" | tail -c +101 >>"$B/runs.jsonl"
    lines 4
    status interrupted $$
    state interrupted "interrupted by SIGINT"
    wait "$watcher"
    [ "$(tail -n 1 "$WORK/out")" = "The run is interrupted: interrupted by SIGINT." ]
}

@test "a run that was killed is said to be over" {
    status running 999999999
    run timeout 20 "$JBDLAB" report --watch "$B"
    echo "$output"
    [ "$status" = 0 ]
    [[ "$output" == *"ended without a word; jbdlab run --resume $B goes on."* ]]
}

@test "a signal ends the watching with the status of interrupted commands" {
    local status=0
    status running $$
    begin
    lines 3
    kill -INT "$watcher"
    wait "$watcher" || status=$?
    cat "$WORK/err"
    [ "$status" = 130 ]
    [ "$(grep -c Summary "$WORK/out")" = 0 ]
}

@test "a terminal is drawn anew, not wider than it is, with where the run is" {
    command -v script >/dev/null || skip "no script(1)"
    status running $$
    : >"$WORK/out"
    (
        until_done 60 pictures 3
        cp "$WORK/runs" "$B/runs.jsonl"
        until_done 60 pictures 6
        status "done" $$
        state complete ""
    ) 3>&- &
    player=$!
    timeout 200 script -qec "stty rows 30 cols 60; $JBDLAB report --watch $B" /dev/null \
        </dev/null >"$WORK/out" 2>&1
    wait "$player"
    tr -d '\r' <"$WORK/out" | sed 's/\x1b\[[0-9]*[A-Z]//g' >"$WORK/plain"
    cat "$WORK/plain"
    grep -q '^block 2 of 3, arm ssd, workload dd, phase "measure" for 1min' "$WORK/plain"
    grep -qx 'The run is complete.' "$WORK/plain"
    [ "$(grep -c $'\x1b\[H' "$WORK/out")" -ge 4 ]
    # The last picture is as wide as it must be, those before are not.
    [ -z "$(head -n 20 "$WORK/plain" | awk 'length > 60')" ]
    awk 'length > 60' "$WORK/plain" | grep -q .
}

@test "a format does not go with it" {
    run "$JBDLAB" report --watch "$B" -f csv
    [ "$status" = 2 ]
    [[ "$output" == *"takes no format"* ]]
    run "$JBDLAB" report --watch "$B" --json
    [ "$status" = 2 ]
    run "$JBDLAB" report --watch "$WORK/nothing"
    [ "$status" = 2 ]
}
