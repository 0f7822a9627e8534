# SPDX-License-Identifier: GPL-3.0-or-later
# Advice about volumes at work: what is said agrees with what was done, and with the place
# of the journal; nothing is said of what cannot be watched.

bats_require_minimum_version 1.5.0
load ../lib

setup() {
    need_loop
    common_setup
    mkdir "$WORK/m"
}

teardown() {
    calm
    common_teardown
}

# volume [MKE2FS-OPTION...]: a mounted volume on $volume
volume() {
    loop_new volume 128M
    mkfs.ext4 -q "$@" "$volume"
    mount "$volume" "$WORK/m"
}

# busy [DD-WORD...]: synchronous writes until calm, for ten minutes at most.  They have begun
# when this returns.
busy() {
    : >"$WORK/busy"
    (for ((i = 0; i < 6000 && SECONDS < 600; i++)); do
        [ -e "$WORK/busy" ] || break
        timeout 5 dd if=/dev/zero of="$WORK/m/f$((i % 40))" "${@:-bs=4k}" count=1 conv=fsync
    done) >/dev/null 2>&1 3>&- &
    LOAD=$!
    until_done 60 [ -s "$WORK/m/f3" ]
}

# When this returns nobody uses the volume.
calm() {
    [ -n "${LOAD:-}" ] || return 0
    rm -f "$WORK/busy"
    wait "$LOAD" || :
    LOAD=
}

advise() {
    timeout --foreground 200 "$JBDLAB" advise "$@" --no-progress
}

# is FILTER: true of the JSON in $WORK/advice
is() {
    jq -e "$1" "$WORK/advice" >/dev/null || { jq . "$WORK/advice"; false; }
}

# the experiment that was printed is one
experiment_is_good() {
    jq -r .experiment "$WORK/advice" >"$WORK/x.ini"
    timeout 20 "$JBDLAB" run --dry-run "$WORK/x.ini" >"$WORK/plan" || { cat "$WORK/x.ini"; false; }
    grep -qF "device = $volume" "$WORK/plan"
}

@test "an inline journal under fsyncs has commits, a bound and an experiment" {
    volume -J size=8
    busy
    advise "$volume" --seconds 3 --json --journal /dev/disk/by-id/x >"$WORK/advice"
    is '.schema == "jbdlab-advice/1" and .journal.placement == "inline"'
    is '.journal.size_bytes == 8 * 1048576'
    is '.watched.commits > 0 and .watched.requested > 0'
    is '.watched.volume.flushes > 0 and .watched.journal == null'
    is '.watched.elapsed_ns > 2.9e9 and .watched.stopped == false'
    is '.watched.logging_share.high > 0 and .watched.logging_share.high <= 1'
    is '.external_journal_saves.kind == "upper bound"'
    is '.size.wanted_bytes >= 4 * 1048576'
    if [ "$(jq .commits.traced "$WORK/advice")" = true ]; then
        is '(.commits.commits - .watched.commits) | fabs <= 2'
        is '.commits.logging_ns <= .watched.elapsed_ns'
        is '.external_journal_saves.speed_ratio >= 1'
    fi
    experiment_is_good
    grep -qF "external=/dev/disk/by-id/x" "$WORK/plan"
}

@test "the text names bounds as bounds and ends with an experiment" {
    volume
    busy
    advise "$volume" --seconds 3 >"$WORK/text"
    grep -q "^Saving: .*at most\|^Saving: .*no bound" "$WORK/text"
    grep -q "this is a bound, no forecast" "$WORK/text"
    run awk 'length > 80 && !/^(Volume|device|;)/' "$WORK/text"
    [ -z "$output" ]
    sed -n '/^; What advise/,$p' "$WORK/text" >"$WORK/x.ini"
    timeout 20 "$JBDLAB" run --dry-run "$WORK/x.ini" | grep -qF "device = $volume"
}

@test "an idle volume has no commits and saves nothing" {
    volume -E lazy_itable_init=0,lazy_journal_init=0
    # What a mount leaves is committed now, and nothing by the timer.
    mount -o remount,commit=300 "$WORK/m"
    sync -f "$WORK/m"
    advise "$volume" --seconds 1 --json >"$WORK/advice"
    is '.watched.commits == 0 and .size.wanted_bytes == null'
    is '.external_journal_saves.time_share == 0'
    experiment_is_good
    advise "$volume" --seconds 1 | grep -q "nothing: there was no commit"
}

@test "an external journal is measured and has nothing to save" {
    loop_new journal 16M
    mke2fs -q -F -O journal_dev -b 4096 "$journal"
    volume -b 4096 -J "device=$journal"
    busy
    advise "$volume" --seconds 3 --json >"$WORK/advice"
    is '.journal.placement == "external" and .watched.commits > 0'
    is ".journal.device == \"$journal\""
    is '.watched.journal.write_bytes > 0 and .watched.journal.busy_share != null'
    # Both count the same blocks, but for the commits at both ends.
    if [ "$(jq .commits.traced "$WORK/advice")" = true ]; then
        is '((.watched.journal.write_bytes - .watched.log_bytes.high) | fabs) <=
            2 * 4096 * .commits.largest_blocks'
    fi
    is '.external_journal_saves.time_share == null'
    experiment_is_good
}

@test "of two devices with the UUID of the journal the one that is used is watched" {
    local clone
    loop_new first 16M
    mke2fs -q -F -O journal_dev -b 4096 "$first"
    volume -b 4096 -J "device=$first"
    umount "$WORK/m"
    loop_new clone 16M
    cat "$WORK/first.img" >"$WORK/clone.img"
    mount -o "journal_path=$clone" "$volume" "$WORK/m"
    busy
    advise "$volume" --seconds 3 --json >"$WORK/advice"
    is ".journal.device == \"$clone\" and .watched.commits > 0"
}

@test "a journal that is too small is seen to be full" {
    volume -J size=4
    mount -t tracefs none "$WORK/m" 2>/dev/null && umount "$WORK/m" || skip "needs tracefs"
    # So that data fills it too: four writes are more than it holds.
    umount "$WORK/m"
    mount -o data=journal "$volume" "$WORK/m"
    busy bs=1M
    advise "$volume" --seconds 6 --json >"$WORK/advice"
    is '.commits.journal_full > 0'
    is '.size.wanted_bytes > 4 * 1048576'
}

@test "watching changes nothing on the volume" {
    volume -E lazy_itable_init=0,lazy_journal_init=0
    sync -f "$WORK/m"
    fsfreeze -f "$WORK/m"
    before=$(sha256sum <"$WORK/volume.img")
    advise "$volume" --seconds 1 >/dev/null
    [ "$(sha256sum <"$WORK/volume.img")" = "$before" ]
    fsfreeze -u "$WORK/m"
}

@test "^C prints what is known so far" {
    volume
    busy
    local pid status=0
    "$JBDLAB" advise "$volume" --seconds 250 --json --no-progress --quiet >"$WORK/advice" 3>&- &
    pid=$!
    until_done 60 catches_signals "$pid"
    kill -INT "$pid"
    wait "$pid" || status=$?
    [ "$status" = 130 ]
    is '.watched.stopped and .watched.elapsed_ns < 200e9'
    experiment_is_good
}

@test "what cannot be watched is refused with what to do" {
    volume -O ^has_journal
    run -3 advise "$volume" --seconds 1
    [[ $output == *"has no journal"*none*inline* ]]
    umount "$WORK/m"
    mkfs.ext4 -q -F "$volume"
    run -3 advise "$volume" --seconds 1
    [[ $output == *"is not mounted"* ]]
    dd if=/dev/zero of="$volume" bs=64k count=8 status=none
    run -3 advise "$volume" --seconds 1
    [[ $output == *"$volume"* ]]
    mke2fs -q -F -O journal_dev "$volume"
    run -3 advise "$volume" --seconds 1
    [[ $output == *"journal device"* ]]
    truncate -s 8M "$WORK/image"
    mkfs.ext4 -q -F "$WORK/image"
    run -3 advise "$WORK/image" --seconds 1
    [[ $output == *"no block device"* ]]
    run -3 advise /dev/no-such-device --seconds 1
    run -2 advise
    run -2 advise "$volume" --seconds 0
    run -2 advise "$volume" --journal "a b"
    [[ $output == *"no device"* ]]
}
