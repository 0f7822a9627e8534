# SPDX-License-Identifier: GPL-3.0-or-later
# jbdlab run: whole experiments on tiny scratch disks; every way out leaves nothing mounted,
# no scratch disk and no mount point, and a bundle that says what happened.

load ../lib

setup() {
    need_loop
    common_setup
    export TMPDIR=$WORK
    BUNDLE=$WORK/bundle
    DISKS=()
    LEASED=()
}

teardown() {
    [ ${#DISKS[@]} = 0 ] || "$JBDLAB" scratch destroy "${DISKS[@]}"
    for device in "${LEASED[@]}"; do "$JBDLAB" scratch unlease "$device"; done
    common_teardown
}

# experiment [LINE...]: $WORK/x.ini with two arms on scratch disks in $WORK; the lines go
# into [experiment].  A block is measured again only where that is asked for: on a machine
# with neighbours any may be disturbed.
experiment() {
    {
        echo '[experiment]'
        [[ "$*" == *repeat* ]] || echo 'repeat = 0'
        printf '%s\n' "$@"
        cat <<END
$(disk_section slow 64M)
$(disk_section fast 16M)
[volume data]
device = slow
mkfs   = ext3 -b 1024
mount  = data=ordered
[arm inline]
journal = inline,size=4M
[arm ssd]
journal = external=fast,size=4M
mount = commit=30
END
    } >"$WORK/x.ini"
}

workload() {
    printf '%s\n' "$@" >>"$WORK/x.ini"
}

small_dd() {
    workload '[workload dd]' 'type = dd' 'bs = 4k' 'count = 64' 'sync = dsync'
}

# Where only the number of cells matters.
tiny_dd() {
    workload '[workload dd]' 'type = dd' 'bs = 4k' 'count = 4' 'sync = dsync'
}

# Nothing of process $1 may be left.
expect_nothing_left() {
    local left
    left=$("$JBDLAB" scratch list --json | grep "\"run$1-" || true
        grep " /run/jbdlab/run[/ ]" /proc/self/mountinfo || true
        losetup -l | grep -F "$WORK/" || true
        find "$WORK" -name '*run[0-9-]*'
        find /run/jbdlab/run -mindepth 1)
    echo "left: $left"
    [ -z "$left" ]
}

# run_jbdlab ARGUMENT...: in the background; $pid, $status and $WORK/out, $WORK/err.
# In the background, and returns when it catches SIGINT: a shell starts it with that
# signal ignored.
run_jbdlab() {
    "$JBDLAB" "$@" >"$WORK/out" 2>"$WORK/err" 3>&- &
    pid=$!
    until_done 60 catches_signals_or_ended "$pid"
}

catches_signals_or_ended() {
    catches_signals "$1" || has_ended "$1"
}

wait_jbdlab() {
    status=0
    wait "$pid" || status=$?
    cat "$WORK/out" "$WORK/err"
}

@test "an experiment is run, checked, recorded and reported" {
    experiment 'blocks = 3' 'seed = 2010' 'primary = dd/write/rate'
    small_dd
    workload '[workload tio]' 'type = tiobench' 'size = 1M' 'threads = 1 2' 'random = 20'
    run_jbdlab run "$WORK/x.ini" --output "$BUNDLE"
    wait_jbdlab
    [ "$status" = 0 ]
    expect_nothing_left "$pid"

    # The order is that of the plan, every cell is complete, every run is there.
    [ "$(jq -r '"\(.block) \(.position)"' "$BUNDLE/cells.jsonl" | xargs)" = \
        "0 0 0 1 1 0 1 1 2 0 2 1" ]
    [ "$(jq -r .arm "$BUNDLE/cells.jsonl")" = \
        "$("$JBDLAB" run --dry-run --json "$BUNDLE/plan.ini" | jq -r '.order[][]')" ]
    [ "$(jq -r '.volumes[].fsck' "$BUNDLE/cells.jsonl" | sort | uniq -c | tr -s ' ')" = " 6 clean" ]
    [ "$(wc -l <"$BUNDLE/runs.jsonl")" = 12 ]
    [ "$(jq -r .state "$BUNDLE/bundle.json")" = complete ]

    # The kernel wrote the journal where the arm says, with the options of the arm.
    [ "$(jq -r 'select(.arm == "inline") | .volumes[0].jbd2 | sub("loop[0-9]+"; "loop")' \
        "$BUNDLE/cells.jsonl" | sort -u)" = loop-8 ]
    [ "$(jq -r 'select(.arm == "ssd") | .volumes[0].jbd2 | sub("loop[0-9]+"; "loop")' \
        "$BUNDLE/cells.jsonl" | sort -u)" = loop ]
    jq -r 'select(.arm == "ssd") | .volumes[0].mount_options_in_force' "$BUNDLE/cells.jsonl" |
        grep -q commit=30
    run jq -r 'select(.arm == "inline") | .volumes[0].mount_options_in_force' \
        "$BUNDLE/cells.jsonl"
    [[ "$output" == *data=ordered* && "$output" != *commit=30* ]]
    [ "$(jq -r '.volumes[0].move | select(.moved) | .journal_bytes' \
        "$BUNDLE/cells.jsonl" | sort -u)" = 4194304 ]

    # The plan is the one that was hashed, and can be run again.
    [ "$(sha256sum <"$BUNDLE/plan.ini" | cut -d' ' -f1)" = \
        "$(jq -r .plan_sha256 "$BUNDLE/bundle.json")" ]
    "$JBDLAB" run --dry-run "$BUNDLE/plan.ini" >/dev/null

    # The report on standard output is the one in the bundle and the one of "report".
    cmp "$WORK/out" "$BUNDLE/report.txt"
    "$JBDLAB" report "$BUNDLE" | cmp - "$WORK/out"
    grep -q '^ssd: journal external=fast,size=4M, mounted with data=ordered,commit=30$' "$WORK/out"
    [ "$(grep -c '^262144 bytes (262 kB, 256 KiB) copied, ' "$WORK/out")" = 6 ]
    [ "$(grep -c '^Random Writes$' "$WORK/out")" = 2 ]

    # The devices were probed at the start of each block.
    [ "$(jq -c 'select(.probe) | [.position, (.probe | map(.device)), (.probe[0] |
        .read_latency > 0 and .read_rate > 0 and .write_rate > 0), .probe[1].write_rate]' \
        "$BUNDLE/cells.jsonl" | uniq -c | tr -s ' ')" = \
        ' 3 [0,["volume data","journal ssd"],true,null]' ]

    # The environment is there, before and after.
    jq -e '.before.host.kernel == .after.host.kernel and
        (.before.devices | map(.role) == ["volume", "journal"]) and
        .before.devices[0].size_bytes == 67108864' "$BUNDLE/environment.json"
}

@test "the same seed gives every arm of a block the same data and places" {
    experiment 'blocks = 2' 'seed = 7'
    workload '[workload tio]' 'type = tiobench' 'size = 64k' 'threads = 1' 'random = 4'
    "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" >/dev/null
    "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE.2" >/dev/null
    cmp "$BUNDLE/plan.ini" "$BUNDLE.2/plan.ini"
    [ "$(jq -r .arm "$BUNDLE/cells.jsonl")" = "$(jq -r .arm "$BUNDLE.2/cells.jsonl")" ]
    "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE.3" --seed 8 --json >"$WORK/json"
    [ "$(jq .seed "$WORK/json")" = 8 ]
    grep -qx 'seed = 8' "$BUNDLE.3/plan.ini"
}

@test "SIGINT and SIGTERM end a workload, unmount and destroy" {
    local signal code
    experiment 'blocks = 50'
    small_dd
    # For minutes.
    workload '[workload long]' 'type = dd' 'bs = 4k' 'count = 10000' 'sync = dsync' 'rate = 50'
    for signal in INT TERM; do
        code=130
        [ "$signal" = INT ] || code=143
        rm -rf "$BUNDLE"
        run_jbdlab run "$WORK/x.ini" --output "$BUNDLE"
        # Until the second workload is in progress.
        until_done 120 [ -s "$BUNDLE/runs.jsonl" ]
        kill -"$signal" "$pid"
        wait_jbdlab
        [ "$status" = "$code" ]
        grep -q "interrupted by SIG$signal" "$WORK/err"
        expect_nothing_left "$pid"
        [ "$(jq -r .state "$BUNDLE/bundle.json")" = interrupted ]
        [ "$(wc -l <"$BUNDLE/runs.jsonl")" = 1 ]
        [ ! -s "$BUNDLE/cells.jsonl" ]
        "$JBDLAB" report "$BUNDLE" | grep -q 'not complete (interrupted)'
    done
}

@test "killed, it leaves scratch disks that can be destroyed, and nothing else" {
    experiment 'blocks = 50'
    workload '[workload long]' 'type = dd' 'bs = 4k' 'count = 10000' 'sync = dsync' 'rate = 50'
    run_jbdlab run "$WORK/x.ini" --output "$BUNDLE"
    until_done 120 grep -qs '"what":"work"' "$BUNDLE/state.log"
    kill_run "$pid"
    wait_jbdlab
    [ "$status" = 137 ]
    "$JBDLAB" scratch list
    until_done 60 "$JBDLAB" scratch destroy "run$pid-0-slow" "run$pid-1-fast"
    expect_nothing_left "$pid"
    # The bundle can still be read.
    "$JBDLAB" report "$BUNDLE" | grep -q 'not complete (running)'
}

@test "interrupted at any moment nothing is left" {
    local delay
    experiment 'blocks = 1000'
    small_dd
    for delay in 0.05 0.1 0.2 0.3 0.5 0.8 1.3 2.1; do
        rm -rf "$BUNDLE"
        run_jbdlab run "$WORK/x.ini" --output "$BUNDLE"
        sleep $delay
        kill -INT "$pid" || wait_jbdlab
        wait_jbdlab
        [ "$status" = 130 ]
        expect_nothing_left "$pid"
    done
}

@test "with --keep the disks stay, consistent, and it is said where the journal is" {
    local device last
    experiment 'blocks = 2'
    small_dd
    run_jbdlab run "$WORK/x.ini" --output "$BUNDLE" --keep
    wait_jbdlab
    [ "$status" = 0 ]
    device=$(tail -n 1 "$BUNDLE/cells.jsonl" | jq -r '.volumes[0].device')
    last=$(tail -n 1 "$BUNDLE/cells.jsonl" | jq -r '.volumes[0].placement')
    grep -q "volume data ($device) has its journal $last" "$WORK/err"
    e2fsck -fn "$device"
    "$JBDLAB" scratch destroy "run$pid-0-slow" "run$pid-1-fast"
    expect_nothing_left "$pid"
}

# scratch_disk VARIABLE SIZE: a scratch disk that is not one of the run; destroyed in
# teardown.
scratch_disk() {
    local device
    device=$("$JBDLAB" scratch create --name "test$$-$1" --size "$2" --directory "$WORK" \
        --model none --quiet)
    DISKS+=("test$$-$1")
    printf -v "$1" %s "${device##*$'\n'}"
}

@test "the journal device of one experiment serves the next" {
    scratch_disk data 64M
    scratch_disk log 16M
    experiment 'blocks = 1' 'seed = 1'
    small_dd
    sed -i -e '/^\[disk/,/^directory/d' -e "s,^device = slow,device = $data," \
        -e "s,external=fast,external=$log," -e '/^\[arm inline\]/,/^journal/d' "$WORK/x.ini"
    "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" --yes 2>"$WORK/err" || { cat "$WORK/err"; false; }
    grep -q "has its journal external=$log,size=4M" "$WORK/err"
    # The volume is made anew while the journal still names the old one as its user.
    "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE.2" --yes
    fsck_clean "$data" "$log"
}

@test "a volume that exists keeps its files and gets its journal back" {
    scratch_disk data 64M
    scratch_disk log 16M
    experiment 'blocks = 1' 'seed = 1'
    small_dd
    sed -i -e '/^\[disk/,/^directory/d' -e "s,^device = slow,device = $data," \
        -e "s,external=fast,external=$log," -e '/^mkfs/d' "$WORK/x.ini"
    mke2fs -q -t ext4 -J size=8 "$data"
    mkdir "$WORK/mnt"
    mount "$data" "$WORK/mnt"
    fill_volume "$WORK/mnt"
    umount "$WORK/mnt"

    "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" --yes 2>"$WORK/err" || { cat "$WORK/err"; false; }
    grep -q 'the journal is back, inline,size=8M' "$WORK/err"
    fsck_clean "$data"
    "$JBDLAB" move "$data" --to external="$log",size=6M
    "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE.2" --yes 2>"$WORK/err" || { cat "$WORK/err"; false; }
    cat "$WORK/err"
    grep -q "the journal is back, external=$log,size=6M" "$WORK/err"
    fsck_clean "$data" "$log"
    "$JBDLAB" show "$data" | grep -q '^Journal size: *6M'
    mount "$data" "$WORK/mnt"
    check_files "$WORK/mnt"
    [ ! -e "$WORK/mnt/jbdlab-work" ]
    umount "$WORK/mnt"
}

@test "a device that is not leased is refused and not written" {
    local before
    loop_new disk 64M
    loop_new log 16M
    experiment 'blocks = 1'
    small_dd
    sed -i -e '/^\[disk/,/^directory/d' -e "s,^device = slow,device = $disk," \
        -e "s,external=fast,external=$log," "$WORK/x.ini"
    head -c 1M /dev/urandom >"$disk"
    before=$(sha256sum <"$disk")
    run "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" --yes
    echo "$output"
    [ "$status" = 3 ]
    [[ "$output" == *lease* ]]
    [ "$(sha256sum <"$disk")" = "$before" ]
    [ ! -e "$BUNDLE" ]
    # Without --yes it is not even asked for.
    run "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" </dev/null
    [ "$status" = 3 ]
    [[ "$output" == *"everything on it is destroyed"* ]]
    [[ "$output" == *"a journal device is made"* ]]
}

@test "a leased disk is used, but not with the bundle on it" {
    local word
    loop_new disk 64M
    loop_new log 16M
    experiment 'blocks = 1'
    small_dd
    sed -i -e '/^\[disk/,/^directory/d' -e "s,^device = slow,device = $disk," \
        -e "s,external=fast,external=$log," "$WORK/x.ini"
    for device in "$disk" "$log"; do
        word=$(losetup -n -O BACK-FILE "$device")
        "$JBDLAB" scratch lease "$device" --yes --serial "${word: -8}"
        LEASED+=("$device")
    done
    run "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" --yes
    echo "$output"
    # Where $WORK is on no disk at all (tmpfs, overlayfs) there is nothing to refuse.
    if [ "$status" = 3 ]; then
        [[ "$output" == *"would lie on the same disk as $disk"* ]]
        mkdir "$WORK/ram"
        mount -t tmpfs none "$WORK/ram"
        "$JBDLAB" run "$WORK/x.ini" --output "$WORK/ram/bundle" --yes
        umount "$WORK/ram"
    else
        [ "$status" = 0 ]
    fi
}

@test "a bundle that exists is not touched" {
    experiment 'blocks = 1'
    small_dd
    mkdir "$BUNDLE"
    run "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE"
    echo "$output"
    [ "$status" = 3 ]
    [[ "$output" == *"exists already"* ]]
    [ -z "$(ls "$BUNDLE")" ]
}

@test "a workload that fails ends the run with everything put back" {
    experiment 'blocks = 2'
    small_dd
    # There is room for the data, but not for so many files.
    workload '[workload many]' 'type = tiobench' 'size = 1M' 'threads = 64'
    sed -i 's/^mkfs.*/mkfs = ext3 -b 1024 -N 16/' "$WORK/x.ini"
    run_jbdlab run "$WORK/x.ini" --output "$BUNDLE"
    wait_jbdlab
    [ "$status" = 4 ]
    grep -q 'block [12], arm .*: measure: workload many: .*No space' "$WORK/err"
    expect_nothing_left "$pid"
    [ "$(jq -r .state "$BUNDLE/bundle.json")" = failed ]
    "$JBDLAB" report "$BUNDLE" | grep -q 'not complete (failed)'
}

@test "too little space is noticed before anything is measured" {
    experiment 'blocks = 2'
    small_dd
    workload '[workload big]' 'type = dd' 'bs = 1M' 'count = 62'
    run_jbdlab run "$WORK/x.ini" --output "$BUNDLE"
    wait_jbdlab
    [ "$status" = 4 ]
    grep -q 'workload big needs 62M of space, and there are' "$WORK/err"
    [ ! -e "$BUNDLE/runs.jsonl" ]
    expect_nothing_left "$pid"
}

# locks FILE: the files by which experiments hold their devices; killed ones leave some.
locks() {
    find /run/jbdlab/locks -type f 2>/dev/null | sort >"$1"
}

@test "two experiments on one disk are refused" {
    locks "$WORK/locks.before"
    scratch_disk data 64M
    scratch_disk log 16M
    experiment 'blocks = 1000'
    small_dd
    sed -i -e '/^\[disk/,/^directory/d' -e "s,^device = slow,device = $data," \
        -e "s,external=fast,external=$log," "$WORK/x.ini"
    run_jbdlab run "$WORK/x.ini" --output "$BUNDLE" --yes
    until_done 120 [ -s "$BUNDLE/runs.jsonl" ]
    # Whether it is mounted or between two cells, it is refused.
    for _ in 1 2 3 4 5 6; do
        run "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE.2" --yes
        echo "$output"
        [ "$status" = 3 ]
        [ ! -e "$BUNDLE.2" ]
    done
    locks "$WORK/locks"
    comm -13 "$WORK/locks.before" "$WORK/locks" >"$WORK/locks.new"
    [ -s "$WORK/locks.new" ]
    kill -INT "$pid"
    wait_jbdlab
    [ "$status" = 130 ]
    # Its locks have gone with it.
    locks "$WORK/locks"
    [ -z "$(comm -12 "$WORK/locks.new" "$WORK/locks")" ]
}

@test "max_time ends it after whole blocks" {
    experiment 'blocks = 1000' 'max_time = 1s'
    small_dd
    run_jbdlab run "$WORK/x.ini" --output "$BUNDLE"
    wait_jbdlab
    [ "$status" = 0 ]
    [ "$(jq -r .state "$BUNDLE/bundle.json")" = complete ]
    [[ "$(jq -r .reason "$BUNDLE/bundle.json")" == "max_time ended it after "*" of 1000 blocks" ]]
    [ $(($(wc -l <"$BUNDLE/cells.jsonl") % 2)) = 0 ]
    expect_nothing_left "$pid"
}

@test "a target is planned after the pilot, and max_blocks caps it" {
    experiment 'target = 0.01%' 'max_blocks = 7' 'primary = dd/write/rate' 'seed = 1'
    tiny_dd
    run_jbdlab run "$WORK/x.ini" --output "$BUNDLE"
    wait_jbdlab
    [ "$status" = 0 ]
    grep -Eq '^spread between blocks [0-9.]+ %: the target of \+-0.01 % would need [0-9]+ blocks, max_blocks allows 7: 1 more, about ' "$WORK/err"
    [ "$(wc -l <"$BUNDLE/cells.jsonl")" = 14 ]
    [ "$(jq -c '[.state, .blocks, .design.pilot, .design.target]' "$BUNDLE/bundle.json")" = \
        '["complete",7,6,0.0001]' ]
    "$JBDLAB" report "$BUNDLE" --json >"$WORK/json"
    # With seven blocks the report says how devices and arms drifted.
    [ "$(jq -r '.drift[] | select(.workload == "probe") | "\(.phase) \(.metric) \(.blocks)"' \
        "$WORK/json" | xargs -n4)" = "$(printf '%s 7\n' 'volume data read_latency' \
        'volume data read_rate' 'volume data write_rate' 'journal ssd read_latency' \
        'journal ssd read_rate')" ]
    grep -q '^Drift from the first to the last block' "$BUNDLE/report.txt"
    jq -e '[.comparison[] | select(.stein_low) | [.primary, .metric, .stein_low < .stein_high]] ==
        [[true, "rate", true]]' "$WORK/json"
    expect_nothing_left "$pid"
}

@test "a primary metric that is not there is noticed after the first block" {
    experiment 'target = 5%' 'primary = dd/write/speed'
    tiny_dd
    run_jbdlab run "$WORK/x.ini" --output "$BUNDLE"
    wait_jbdlab
    [ "$status" = 2 ]
    grep -q 'there is no metric dd/write/speed in arm inline' "$WORK/err"
    [ "$(wc -l <"$BUNDLE/cells.jsonl")" = 2 ]
    expect_nothing_left "$pid"
}

@test "with early_stop it ends at a look" {
    experiment 'early_stop = yes' 'max_blocks = 12' 'margin = 90%' 'primary = dd/write/rate'
    tiny_dd
    run_jbdlab run "$WORK/x.ini" --output "$BUNDLE"
    wait_jbdlab
    [ "$status" = 0 ]
    grep -q 'look after 6 blocks: ' "$WORK/err"
    [ "$(jq .design.level "$BUNDLE/bundle.json")" = 0.975 ]
    [[ $(wc -l <"$BUNDLE/cells.jsonl") = 12 || $(wc -l <"$BUNDLE/cells.jsonl") = 24 ]]
    expect_nothing_left "$pid"
}

@test "a block during which somebody else reads the disk is measured again" {
    local device
    experiment 'blocks = 1' 'repeat = 2'
    # Of four seconds, so that reading comes to its turn in them.
    workload '[workload dd]' 'type = dd' 'bs = 4k' 'count = 200' 'sync = dsync' 'rate = 50'
    run_jbdlab run "$WORK/x.ini" --output "$BUNDLE" --verbose
    until_done 120 grep -qs '"what":"make"' "$BUNDLE/state.log"
    device=$("$JBDLAB" scratch list --json |
        jq -r --arg n "run$pid-0-slow" '.disks[] | select(.name == $n) | .device')
    # Until the first phase has seen it; reading goes on through all of it.
    while [ ! -s "$BUNDLE/runs.jsonl" ] && ! has_ended "$pid"; do
        dd if="$device" of=/dev/null bs=1M count=16 iflag=direct 2>/dev/null || sleep 0.1
    done
    wait_jbdlab
    [ "$status" = 0 ]
    "$JBDLAB" report "$BUNDLE" --format csv --table invalid
    grep -q 'block 1 is invalid (foreign_io) and measured again' "$WORK/err"
    grep -q 'Invalid by the rules and measured again: 1 block (foreign_io)' "$BUNDLE/report.txt"
    [ "$(jq -c '[.block, .slot, .attempt, (.invalid // [] | length > 0)]' "$BUNDLE/cells.jsonl" |
        sed -n '3,4p' | xargs)" = "[1,0,1,false] [1,0,1,false]" ]
    expect_nothing_left "$pid"
}

@test "the first arm is compared with itself, after warming up, and that counts nowhere else" {
    experiment 'blocks = 1' 'calibrate = warn' 'warmup = 1' 'primary = dd/write/operations' \
        'repeat = 0'
    tiny_dd
    run_jbdlab run "$WORK/x.ini" --output "$BUNDLE"
    wait_jbdlab
    [ "$status" = 0 ]
    grep -q 'calibration: inline against itself, 6 blocks: ratio ' "$WORK/err"
    grep -q '^Calibration: inline against itself in dd/write/operations, 6 blocks: ratio' \
        "$BUNDLE/report.txt"
    # Moved to the other arm's place and back before each cell, roles in random order.
    [ "$(jq -c 'select(.stage == "calibrate") | [.arm, .volumes[0].move.moved]' \
        "$BUNDLE/cells.jsonl" | sort | uniq -c | tr -s ' ')" = ' 12 ["inline",true]' ]
    [ "$(jq 'select(.stage == "calibrate" and .position == 0) | .role' "$BUNDLE/cells.jsonl" |
        sort | uniq -c | tr -s ' ' | xargs)" = "3 0 3 1" ]
    # Every run that counts has a warm one before it; the report has one block.
    [ "$(jq -r .stage "$BUNDLE/runs.jsonl" | xargs -n2 | sort | uniq -c | tr -s ' ')" = \
        "$(printf ' 12 warmup calibrate\n 2 warmup measure')" ]
    grep -q '^2 arms, 1 of 1 block,' "$BUNDLE/report.txt"
    expect_nothing_left "$pid"
}

@test "where an inline journal lies does not depend on the arms before" {
    {
        printf '[experiment]\nblocks = 4\nseed = 3\nprobe = no\nrepeat = 0\n'
        printf '[disk one]\nsize = 64M\ndirectory = %s\n' "$WORK"
        printf '[volume data]\ndevice = one\nmkfs = ext4 -b 1024\n'
        printf '[arm end]\njournal = inline,size=4M,at=end\n'
        printf '[arm large]\njournal = inline,size=8M,at=end\n'
        printf '[arm any]\njournal = inline,size=4M\n'
        printf '[arm none]\njournal = none\n'
    } >"$WORK/x.ini"
    tiny_dd
    timeout 200 "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" --yes --no-progress >"$WORK/out"
    jq -s -c 'group_by(.arm)[] | { arm: .[0].arm,
        first: (map(.volumes[0].journal_first_block) | unique) }' "$BUNDLE/cells.jsonl" |
        tee "$WORK/places"
    jq -s -e 'length == 4 and all(.[]; .first | length == 1)' "$WORK/places"
    # Both at the end, somewhere else where no place was asked for.
    jq -s -e 'map({ (.arm): .first[0] }) | add | .any < .large and .large < .end and
        .none == null' "$WORK/places"
}

@test "several volumes, an arm without journal, volumes made anew for every cell" {
    experiment 'blocks = 2'
    workload '[volume two]' 'device = fast' 'mkfs = ext4 -b 1024' 'prepare = mkfs' \
        '[arm none]' 'journal = none' \
        '[workload tio]' 'type = tiobench' 'size = 1M' 'threads = 2' 'random = 8'
    sed -i -e 's/^size = 16M/size = 32M/' -e '/^\[arm ssd\]/,/^mount/d' "$WORK/x.ini"
    run_jbdlab run "$WORK/x.ini" --output "$BUNDLE"
    wait_jbdlab
    [ "$status" = 0 ]
    expect_nothing_left "$pid"
    [ "$(jq -r '.volumes | map("\(.volume) \(.mount_type)") | join(", ")' \
        "$BUNDLE/cells.jsonl" | sort | uniq -c | tr -s ' ')" = \
        "$(printf ' 2 data ext2, two ext4\n 2 data ext3, two ext4')" ]
    jq -c ".phases[0].evidence.disks[] | [.name, .data, .below, .write_bytes]" "$BUNDLE/runs.jsonl"
    # Both are written in the same phase of every cell, each at least its half of 1 MiB.
    [ "$(jq -c '.phases[0].evidence.disks | map(select(.data and (.below | not))) | map(.write_bytes >= 524288)' \
        "$BUNDLE/runs.jsonl" | sort -u)" = "[true,true]" ]
}

@test "workloads that cannot fit are refused before anything is made" {
    experiment 'blocks = 1'
    workload '[workload dd]' 'type = dd' 'bs = 1M' 'count = 100' 'sync = fdatasync'
    run "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" --yes --no-progress
    [ "$status" -eq 3 ]
    [[ $output == *"the workloads need 100M, and "*" has "* ]]
}

@test "a grid with fast commits: the kernel makes none without, and with them no others" {
    {
        cat <<END
[experiment]
blocks = 1
seed = 1
repeat = 0
$(disk_section slow 64M)
$(disk_section fast 32M)
[volume data]
device = slow
mkfs = ext4
[grid]
design = full
journal = inline external=fast
journal_size = 8M
position = start
fast_commit = no yes
END
    } >"$WORK/x.ini"
    workload '[workload c]' 'type = commit' 'kind = append-fsync' 'count = 20'
    run_jbdlab run "$WORK/x.ini" --output "$BUNDLE"
    wait_jbdlab
    [ "$status" = 0 ]
    expect_nothing_left "$pid"
    # SYNCS and COMMITS of the audit: with fast commits jbd2 has hardly anything to do.
    [ "$(awk '/^c\/append/ && NF > 8 { print $2, $3, ($4 >= 20 ? "commits" : $4 < 5 ? "none" : $4) }' "$WORK/out")" = \
        "inline-nofc 20 commits
inline-fc 20 none
external-nofc 20 commits
external-fc 20 none" ]
    grep -qx 'Factor journal: ratio to inline' "$WORK/out"
    grep -qx 'Factor fast_commit: ratio to no' "$WORK/out"
    [ "$(jq -r '.arms[3].levels' "$BUNDLE/bundle.json")" = "journal=external fast_commit=yes" ]
    [ "$(jq -r '"\(.arm) \(.volumes[0].placement | sub("/dev/loop[0-9]+"; "fast"))"' \
        "$BUNDLE/cells.jsonl" | sort)" = "external-fc external=fast,size=8M
external-nofc external=fast,size=8M
inline-fc inline,size=8M,at=start
inline-nofc inline,size=8M,at=start" ]
}

@test "several files are run in turn; one that fails does not hide the others" {
    local name
    for name in one two; do
        experiment 'blocks = 1' "name = $name"
        small_dd
        mv "$WORK/x.ini" "$WORK/$name.ini"
    done
    sed -i 's/^size = 64M/size = 64X/' "$WORK/one.ini"
    cd "$WORK"
    run_jbdlab run one.ini two.ini missing.ini
    wait_jbdlab
    [ "$status" = 2 ]
    grep -q 'one.ini: one.ini:[0-9]*: size: "64X"' err
    grep -q 'missing.ini: .*No such file' err
    [ "$(grep -c '^experiment [123] of 3: ' err)" = 3 ]
    [ "$(find . -maxdepth 1 -name 'one-*' | wc -l)" = 0 ]
    [ "$(jq -r '.name + " " + .state' two-*/bundle.json)" = "two complete" ]
    [ "$(grep -c '^two, 20' out)" = 1 ]
    expect_nothing_left "$pid"

    # Two that run have two bundles and two reports; status 4 is higher than 0.
    sed -i 's/^size = 64X/size = 64M/' one.ini
    sed -i 's/^count = 64/count = 100000/' two.ini
    rm -r two-*
    run_jbdlab run two.ini one.ini
    wait_jbdlab
    [ "$status" = 3 ]
    [ "$(jq -r '.name + " " + .state' one-*/bundle.json)" = "one complete" ]
    expect_nothing_left "$pid"
    run "$JBDLAB" run one.ini two.ini --output "$BUNDLE"
    [ "$status" = 2 ]
    [[ "$output" == *"--output names one bundle, and there are 2 experiments"* ]]
    "$JBDLAB" run --dry-run one.ini two.ini --seed 1 | grep -c '^plan:  SHA-256' | grep -qx 2
}
