# SPDX-License-Identifier: GPL-3.0-or-later
# Reports of a real experiment, while it runs and afterwards: the watching ends with the
# run, the summary knows of flushes and of the audit, JSON is as its schema says.

load ../lib

setup() {
    need_loop
    common_setup
    export TMPDIR=$WORK
    B=$WORK/bundle
    cat >"$WORK/x.ini" <<END
[experiment]
blocks = 2
repeat = 0
primary = dd/write/rate
$(disk_section slow 64M)
$(disk_section fast 16M)
[volume data]
device = slow
mkfs   = ext4 -b 1024
[arm inline]
journal = inline,size=4M
[arm ssd]
journal = external=fast,size=4M
[workload dd]
type = dd
bs = 4k
count = 64
sync = dsync
[workload append]
type = commit
kind = append-fsync
count = 32
END
}

teardown() {
    [ -z "${watcher:-}" ] || kill "$watcher" 2>/dev/null || true
    common_teardown
}

# bats test_tags=slow
@test "a running experiment is watched, and its report holds what was measured" {
    timeout 250 "$JBDLAB" run "$WORK/x.ini" -o "$B" --yes --no-progress >"$WORK/report" \
        2>"$WORK/log" 3>&- &
    runner=$!
    until_done 120 [ -e "$B/bundle.json" ]
    timeout 200 "$JBDLAB" report --watch "$B" >"$WORK/watched" 3>&- &
    watcher=$!
    wait "$runner"
    wait "$watcher"
    cat "$WORK/watched"
    [ "$(grep -c '^block ' "$WORK/watched")" = 8 ]
    grep -Eq '^block 2, arm ssd, dd: write [0-9.]+ [KM]iB/s$' "$WORK/watched"
    [ "$(tail -n 1 "$WORK/watched")" = "The run is complete." ]

    tr -s '\n ' ' ' <"$WORK/report" >"$WORK/words"
    grep -Eq 'Primary metric: dd/write with ssd .* 2 blocks, too few' "$WORK/words"
    grep -Eq 'Flushes for each sync: [0-9.]+ with ssd \([0-9.]+ of the data disk, [0-9.]+ of the journal.s\), [0-9.]+ with inline: [+-]' \
        "$WORK/words"
    grep -q 'Sync audit: ok in all 4 phases that synced\.' "$WORK/words"
    "$JBDLAB" report --schema >"$WORK/schema"
    "$JBDLAB" report "$B" --json >"$WORK/json"
    "$BATS_TEST_DIRNAME/../schema.py" "$WORK/schema" "$WORK/json"
    jq -e '(.audit | length == 4) and (.devices | length >= 4) and (.places | length > 0)' \
        "$WORK/json"
    "$JBDLAB" report "$B" -f pts | grep -Eq '^\| dd \| write rate, [KM]iB/s \|'
    "$JBDLAB" report "$B" -f markdown | grep -q '^## Sync audit'
}
