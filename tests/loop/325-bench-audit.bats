# SPDX-License-Identifier: GPL-3.0-or-later
# bench --audit: the evidence of an experiment for a workload in any directory.

# shellcheck disable=SC2154 # output is set by bats

bats_require_minimum_version 1.5.0
load ../lib

setup() {
    need_loop
    common_setup
    loop_new DATA 64M
    loop_new LOG 16M
    mkdir "$WORK/m"
    mke2fs -q -F -t ext4 -b 4096 -E lazy_itable_init=0 -J size=4 "$DATA"
}

teardown() {
    common_teardown
}

bench() {
    timeout 60 "$JBDLAB" bench "$WORK/m" --workload dd --set bs=4k --set count=50 \
        --set sync=dsync --audit --no-progress "$@"
}

# row KEY: of the one phase.
row() {
    jq -r ".audit[0].$1" "$WORK/json"
}

@test "an inline journal is found, its flushes are counted and judged" {
    mount "$DATA" "$WORK/m"
    bench >"$WORK/out"
    cat "$WORK/out"
    grep -qE '^dd/write here +50 +.* ok$' "$WORK/out"
    grep -q '^volume here: /dev/loop' "$WORK/out"
    grep -q '^dd: here at ' "$WORK/out"
    [ -z "$(sed '1,/^PHASE.* CACHE$/d' "$WORK/out" | awk 'length > 80')" ]
}

@test "an external journal is found by the number that the kernel keeps" {
    "$JBDLAB" move "$DATA" --to "external=$LOG" --verify=none
    mount "$DATA" "$WORK/m"
    bench --json >"$WORK/json"
    [ "$(row syncs)" = 50 ] && [ "$(row verdict)" = ok ]
    [ "$(row data_flushes)" -ge 50 ] && [ "$(row journal_flushes)" -ge 100 ]
    jq -e --arg log "$LOG" '.arms == [.arms[0]] and
        .arms[0].placement == "external=" + $log and .places[0].mean > 0 and
        any(.devices[]; .role == "journal" and .write_bytes > 0)' "$WORK/json"
}

@test "without barriers the status is 6" {
    mount -o nobarrier "$DATA" "$WORK/m"
    run -6 bench
    [[ $output == *"failed: dd/write, arm here: mounted without barriers"* ]]
    [[ $output == *"barriers: Mounted without barriers"* ]]
}

@test "what cannot be audited is refused" {
    mount -t tmpfs tmpfs "$WORK/m"
    run -3 bench
    [[ $output == *"lies on no block device"* ]]
    [ -z "$(ls "$WORK/m")" ]
    umount "$WORK/m"
    run -2 timeout 60 "$JBDLAB" bench "$WORK/m" "$WORK" --workload dd --audit
}

@test "a trace explains one fsync" {
    [ -d /sys/kernel/tracing ] || skip "needs tracefs"
    mount "$DATA" "$WORK/m"
    bench --trace >"$WORK/out"
    cat "$WORK/out"
    ! grep -q "nothing is traced" "$WORK/out" || skip "nothing can be traced here"
    awk '$3 == "STEP" { on = 1; next } /^$/ { on = 0 } on' "$WORK/out" >"$WORK/steps"
    grep -q ' write data ' "$WORK/steps" && grep -q ' flush data disk ' "$WORK/steps" &&
        grep -q ' write commit record ' "$WORK/steps"
    bench --trace --json >"$WORK/json"
    jq -e '[.traces[].phase] == ["write"] and (.fsync_steps | length) > 2' "$WORK/json"
    run -2 timeout 20 "$JBDLAB" bench "$WORK/m" --workload dd --trace
    [[ $output == *"--trace is a part of --audit"* ]]
}
