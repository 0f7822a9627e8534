# SPDX-License-Identifier: GPL-3.0-or-later
# Traces: what an fsync waits for is what the kernel sends with this placement, and nothing
# of ours stays in tracefs.

bats_require_minimum_version 1.5.0
load ../lib

setup() {
    need_loop
    common_setup
    TRACING=$WORK/tracing
    mkdir "$TRACING"
    mount -t tracefs none "$TRACING" 2>/dev/null && [ -d "$TRACING/instances" ] ||
        { common_teardown; skip "needs tracefs"; }
}

teardown() {
    if [ -n "${VICTIM:-}" ]; then
        kill_run "$VICTIM"
        destroy_disk "run$VICTIM-0-slow" || :
    fi
    [ -z "${HELD:-}" ] || exec {HELD}<&-
    [ ! -d "$TRACING/instances" ] ||
        find "$TRACING/instances" -mindepth 1 -maxdepth 1 -name 'jbdlab-99999*' -exec rmdir {} +
    common_teardown
}

# experiment ARM...: with lines of [arm NAME] sections.
experiment() {
    cat >"$WORK/x.ini" <<END
[experiment]
blocks = 1
repeat = 0
trace = yes
$(disk_section slow 64M)
${1:+[disk fast]
size = 16M
directory = $WORK}
[volume data]
device = slow
mkfs   = ext4 -b 4096
mount  = data=ordered,commit=300
[arm inline]
journal = inline,size=8M
$(printf '%b' "$*")
[workload w]
type = commit
count = 24
kind = append-fsync overwrite-fdatasync
END
}

run_experiment() {
    rm -rf "$WORK/b"
    timeout 60 "$JBDLAB" run "$WORK/x.ini" --output "$WORK/b" --yes --no-progress
}

# steps ARM PHASE: the words of the steps of its fsync, the role of a flushed disk behind.
steps() {
    jq -r --arg a "$1" --arg p "$2/t1" 'select(.arm == $a and .phase == $p) | .fsync_steps[] |
        .what + (if .what != "flush" then "" elif .journal then "-journal" else "-data" end)' \
        "$WORK/b/traces.jsonl" | tr '\n' ' '
}

no_instance_of_ours() {
    local name
    for name in "$TRACING"/instances/jbdlab-*; do
        [ ! -e "$name" ] || [ -d "/proc/${name##*-}" ] || { echo "$name stayed"; return 1; }
    done
}

@test "an fsync is taken apart as the placement demands" {
    mkdir "$TRACING/instances/jbdlab-9999999" # of a run that was killed
    experiment "[arm outside]\njournal = external=fast,size=8M\n"
    run_experiment
    no_instance_of_ours
    [ "$(steps inline append-fsync)" = "data journal flush-data commit_record flush-data " ]
    [ "$(steps inline overwrite-fdatasync)" = "data flush-data " ]
    # The data disk is flushed while blocks are written to the journal.
    case "$(steps outside append-fsync)" in
    "data flush-data journal flush-journal commit_record flush-journal ") ;;
    "data journal flush-data flush-journal commit_record flush-journal ") ;;
    *) steps outside append-fsync; false ;;
    esac
    [ "$(steps outside overwrite-fdatasync)" = "data flush-data " ]
    # All parts lie within it, and all was seen.
    jq -se 'all(.[]; . as $t | .lost_events == 0 and .fsync_count == 24 and
        .fsync_duration_ns == .fsync_median_ns and
        all(.fsync_steps[]; .start_ns + .duration_ns <= $t.fsync_duration_ns))' "$WORK/b/traces.jsonl"
    # As many transactions as jbd2 counted itself.
    "$JBDLAB" audit "$WORK/b" --json | jq -e '([.traces[] | {phase, arm, n: .transactions}] | sort) ==
        ([.ledger[] | {phase, arm, n: .commits}] | sort)'
    run -0 "$JBDLAB" audit "$WORK/b"
    echo "$output"
    [[ $output == *"Trace of w/append-fsync/t1"* ]]
    [[ $output == *"flush journal disk"* ]]
    [ "$(awk 'length > 80' <<<"$output")" = "" ]
    [ "$("$JBDLAB" report "$WORK/b" --format csv --table transactions | wc -l)" -gt 48 ]
}

@test "--trace does the same; a tracer that cannot be had is said once, and the run goes on" {
    local instance
    experiment
    sed -i 's/^trace = yes/trace = no/; s/ overwrite-fdatasync$//' "$WORK/x.ini"
    run_experiment
    [ ! -e "$WORK/b/traces.jsonl" ]
    # The name of its instance is taken, and in use.
    # shellcheck disable=SC2016 # expanded by that shell
    run -0 timeout 60 bash -c 'i=$1/instances/jbdlab-$$; mkdir "$i"; echo "$i" >"$2/name"
        exec {fd}<"$i/tracing_on"; rm -r "$2/b"; shift 2; exec "$@"' - "$TRACING" "$WORK" \
        "$JBDLAB" run "$WORK/x.ini" --output "$WORK/b" --yes --no-progress --trace
    instance=$(cat "$WORK/name")
    rmdir "$instance"
    echo "$output"
    [ "$(grep -c "nothing is traced: make the tracer ${instance##*/}: File exists" <<<"$output")" = 1 ]
    [ ! -e "$WORK/b/traces.jsonl" ]
    "$JBDLAB" audit "$WORK/b" --json | jq -e '.traces == []'
}

@test "what a killed run leaves is removed by the next, what is in use is not" {
    mkdir "$TRACING/instances/jbdlab-9999998"
    exec {HELD}<"$TRACING/instances/jbdlab-9999998/tracing_on"
    experiment
    # For minutes.
    sed -i 's/^count = .*/count = 10000\nthink = 50ms/' "$WORK/x.ini"
    "$JBDLAB" run "$WORK/x.ini" --output "$WORK/b" --yes --no-progress >/dev/null 2>&1 3>&- &
    VICTIM=$!
    until_done 120 [ -d "$TRACING/instances/jbdlab-$VICTIM" ]
    kill_run "$VICTIM"
    wait "$VICTIM" || :
    [ -d "$TRACING/instances/jbdlab-$VICTIM" ] || skip "somebody else's run has removed it"
    sed -i 's/^count = .*/count = 4/; /^think/d' "$WORK/x.ini"
    run_experiment
    [ ! -d "$TRACING/instances/jbdlab-$VICTIM" ]
    [ -d "$TRACING/instances/jbdlab-9999998" ]
}
