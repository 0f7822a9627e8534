# SPDX-License-Identifier: GPL-3.0-or-later
# jbdlab run --resume and --restore: after kill -9, ^C, lost disks and renamed devices a run
# goes on at its next cell, or its volumes go back to where they were.

load ../lib

setup() {
    need_loop
    # In memory, because what is measured does not matter here.
    [ ! -w /dev/shm ] || export TMPDIR=/dev/shm
    common_setup
    export TMPDIR=$WORK
    BUNDLE=$WORK/bundle
    DISKS=()
    LEASED=()
}

teardown() {
    [ ! -d "$BUNDLE" ] || timeout 60 "$JBDLAB" run --restore "$BUNDLE" --quiet || true
    [ ${#DISKS[@]} = 0 ] || timeout 60 "$JBDLAB" scratch destroy "${DISKS[@]}"
    for device in "${LEASED[@]}"; do timeout 60 "$JBDLAB" scratch unlease "$device"; done
    common_teardown
}

# plan BLOCKS DEVICE JOURNAL [LINE...]: $WORK/x.ini; the lines go into [volume data].  Of
# three workloads in each cell the last one lasts as long as the test wants; see held_program.
plan() {
    local blocks=$1 device=$2 journal=$3
    shift 3
    held_program
    {
        cat <<END
[experiment]
blocks = $blocks
seed   = 7
repeat = 0
[arm inline]
journal = inline,size=4M
[arm ssd]
journal = external=$journal,size=4M
${ARM:-}
[workload dd]
type  = dd
bs    = 4k
count = 50
sync  = dsync
[workload tio]
type = tiobench
size = 64k
threads = 2
random = 4
$HELD
[volume data]
device = $device
END
        printf '%s\n' "$@"
    } >"$WORK/x.ini"
}

own_disks() {
    cat >>"$WORK/x.ini" <<END
$(disk_section slow 64M)
$(disk_section fast 16M)
END
}

begin() {
    "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" --yes --no-progress \
        >"$WORK/out" 2>"$WORK/err" 3>&- &
    pid=$!
}

# until_logged PATTERN [COUNT]: until so many lines of the state log match.
until_logged() {
    until_done 120 is_logged "$@" || { cat "$WORK/err"; return 1; }
}

is_logged() {
    local lines
    lines=$(grep -c "$1" "$BUNDLE/state.log" 2>/dev/null) || : # 0, or no log yet
    [ "${lines:-0}" -ge "${2:-1}" ]
}

kill_it() {
    kill_run "$pid"
    wait "$pid" || true
    release
}

jbdlab() {
    timeout 200 "$JBDLAB" "$@" --no-progress >"$WORK/out" 2>"$WORK/err" || {
        echo "status $?"
        cat "$WORK/err"
        return 1
    }
}

# expect_complete BLOCKS: every cell is there once, in the order of the plan, with its runs.
expect_complete() {
    local cells=$((2 * $1))
    [ "$(jq -r .state "$BUNDLE/bundle.json")" = complete ]
    [ "$(jq -r '"\(.block) \(.position)"' "$BUNDLE/cells.jsonl" | sort -u | wc -l)" = $cells ]
    [ "$(wc -l <"$BUNDLE/cells.jsonl")" = $cells ]
    [ "$(wc -l <"$BUNDLE/runs.jsonl")" = $((3 * cells)) ]
    [ "$(jq -r .arm "$BUNDLE/cells.jsonl")" = \
        "$("$JBDLAB" run --dry-run --json "$BUNDLE/plan.ini" | jq -r '.order[][]')" ]
    [ "$(jq -r '"\(.block) \(.position) \(.arm)"' "$BUNDLE/cells.jsonl")" = \
        "$(jq -r '"\(.block) \(.position) \(.arm)"' "$BUNDLE/runs.jsonl" | uniq)" ]
    "$JBDLAB" report "$BUNDLE" | cmp - "$BUNDLE/report.txt"
    expect_nothing_left
}

# Nothing that lies in $WORK is attached or mounted, but what the test itself has made.
expect_nothing_left() {
    local left
    left=$("$JBDLAB" scratch list --json | grep -F "\"$WORK/jbdlab-run" || true
        cut -d' ' -f5 /proc/self/mountinfo | grep '^/run/jbdlab/run' || true
        find "$WORK" -name 'jbdlab-run*'
        find /run/jbdlab/run -mindepth 1)
    echo "left: $left"
    [ -z "$left" ]
}

@test "killed in a cell, it goes on at that cell and no row is doubled" {
    plan 2 slow fast 'mkfs = ext3 -b 1024'
    own_disks
    hold 2
    begin
    until_held 2
    kill_it
    [ "$(jq -r .state "$BUNDLE/bundle.json")" = running ]
    # What was being written when it died.
    printf '{"block":0,' >>"$BUNDLE/cells.jsonl"
    printf '0123 {"what":' >>"$BUNDLE/state.log"
    jbdlab run --resume "$BUNDLE"
    cmp "$WORK/out" "$BUNDLE/report.txt"
    expect_complete 2
    # The first cell was not measured again.
    [ "$(grep -c '"block":0,.*"position":0,"what":"cell"' "$BUNDLE/state.log")" = 1 ]
    jq -e 'has("before") and has("resumed") and has("after")' "$BUNDLE/environment.json"

    # There is nothing left to do, and it says so.
    cp "$BUNDLE/state.log" "$WORK/before"
    jbdlab run --resume "$BUNDLE"
    grep -q 'is complete' "$WORK/err"
    cmp "$WORK/before" "$BUNDLE/state.log"

    # Killed at the very end it still owes the report.
    mv "$BUNDLE/report.txt" "$WORK/report.txt"
    jbdlab run --resume "$BUNDLE"
    cmp "$WORK/report.txt" "$BUNDLE/report.txt"
}

@test "killed anywhere, again and again, it still comes to its end" {
    local n=0
    plan 4 slow fast 'mkfs = ext4 -b 1024'
    own_disks
    begin
    until_logged disk-made
    kill_it
    for word in '"make"' '"place"' '"work"' '"cell-done"' '"disk-destroy"'; do
        n=$(grep -c "\"what\":$word" "$BUNDLE/state.log" || true)
        # The first signal may have come after the volume was made, which is not done again.
        [ "$word" != '"make"' ] || [ "$n" = 0 ] || continue
        # A signal that comes late shall find it at work, but for the last one.
        case $word in
        *cell-done*) hold $(($(wc -l <"$WORK/ran") + 2)) ;;
        *disk*) ;;
        *) hold $(($(wc -l <"$WORK/ran") + 1)) ;;
        esac
        "$JBDLAB" run --resume "$BUNDLE" --no-progress >"$WORK/out" 2>"$WORK/err" 3>&- &
        pid=$!
        until_logged "\"what\":$word" $((n + 1))
        kill_it
    done
    jbdlab run --resume "$BUNDLE"
    expect_complete 4
}

@test "after ^C it goes on with new scratch disks" {
    plan 2 slow fast 'mkfs = ext3 -b 1024'
    own_disks
    hold 2
    begin
    until_held 2
    kill -INT "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" = 130 ]
    release
    expect_nothing_left
    jbdlab run --resume "$BUNDLE" "$WORK/x.ini"
    expect_complete 2
}

@test "scratch disks that went down with the system are attached again" {
    local file device
    plan 2 slow fast 'mkfs = ext3 -b 1024'
    own_disks
    sed -i '/^\[disk fast\]/a model = ssd' "$WORK/x.ini"
    hold 2
    begin
    until_held 2
    kill_it
    # As a reboot leaves them: the data files alone.
    for file in "$WORK"/jbdlab-run*.disk; do
        for device in $(losetup -n -O NAME,BACK-FILE | grep -F "${file##*/}" | cut -d' ' -f1); do
            detach "$device"
        done
    done
    jbdlab run --resume "$BUNDLE"
    [ "$(grep -c 'attached the scratch disk run.* again' "$WORK/err")" = 2 ]
    expect_complete 2
}

# A volume with files and a journal of 8 MiB on $data, $log beside it; both leased.
real_disks() {
    local device word
    loop_new data 64M
    loop_new log 16M
    for device in "$data" "$log"; do
        word=$(losetup -n -O BACK-FILE "$device")
        timeout 60 "$JBDLAB" scratch lease "$device" --yes --serial "${word: -8}"
        LEASED+=("$device")
    done
    # Without a mount, which namespaces of others might keep for a while.
    mkdir "$WORK/files"
    fill_volume "$WORK/files"
    mke2fs -q -t ext4 -J size=8 -d "$WORK/files" "$data"
    # On another disk than these, which lie in $WORK, or in memory.
    mkdir "$WORK/ram"
    mount -t tmpfs none "$WORK/ram"
    BUNDLE=$WORK/ram/bundle
}

# Until it is in a cell in which the journal is outside.
begin_outside() {
    local n
    n=$("$JBDLAB" run --dry-run --json "$WORK/x.ini" | jq '.order[0] | index("ssd") + 1')
    hold "$n"
    begin
    until_held "$n"
}

expect_as_before() {
    fsck_clean "$data"
    "$JBDLAB" show "$data" | grep -q '^Placement: *inline'
    "$JBDLAB" show "$data" | grep -q '^Journal size: *8M'
    rm -rf "$WORK/now"
    mkdir "$WORK/now"
    debugfs -R "rdump / $WORK/now" "$data"
    check_files "$WORK/now"
    [ ! -e "$WORK/now/jbdlab-work" ]
    expect_nothing_left
}

@test "restored, a volume has its journal and its files back" {
    real_disks
    ARM="setup = touch $WORK/is-up
teardown = rm $WORK/is-up"
    plan 2 "$data" "$log"
    begin_outside
    kill_it
    [ -e "$WORK/is-up" ]
    jbdlab run --restore "$BUNDLE"
    [ ! -e "$WORK/is-up" ]
    grep -q 'the journal is back, inline,size=8M' "$WORK/err"
    expect_as_before
    [ "$(jq -r '"\(.state), \(.reason)"' "$BUNDLE/bundle.json")" = \
        "interrupted, the volumes were restored" ]
    # Again there is nothing to do.
    jbdlab run --restore "$BUNDLE"
    run grep 'the journal is back' "$WORK/err"
    [ "$status" = 1 ]
    expect_as_before
}

@test "devices that have other names are found by what they are" {
    local first second
    real_disks
    plan 2 "$data" "$log"
    begin_outside
    kill_it
    first=$data second=$log
    detach "$data" "$log"
    # Where the volume was there is now something else.
    if losetup "$first" "$WORK/log.img" && losetup "$second" "$WORK/data.img"; then
        data=$second log=$first
    else
        skip "somebody else has taken the loop devices"
    fi
    jbdlab run --resume "$BUNDLE"
    expect_complete 2
    [ "$(tail -n 1 "$BUNDLE/cells.jsonl" | jq -r '.volumes[0].device')" = "$data" ]
    expect_as_before

    # Without a device it is refused, by its identity, and nothing is lost.
    sed -i 's/"state": "complete"/"state": "interrupted"/' "$BUNDLE/bundle.json"
    detach "$data"
    run "$JBDLAB" run --resume "$BUNDLE"
    echo "$output"
    [ "$status" = 3 ]
    [[ "$output" == *"$WORK/data.img) is not there; connect it"* ]]
    losetup "$data" "$WORK/data.img"
    jbdlab run --resume "$BUNDLE"
    expect_complete 2
}

@test "what a killed run has left running is ended" {
    local holder child
    need_mount_namespace # in a chroot the holder's mount has another name
    plan 1 slow fast 'mkfs = ext3 -b 1024'
    own_disks
    hold 1
    begin
    until_held 1
    # Such as a program that a workload has started.
    child=$(pgrep -P "$pid" -x jbdlab)
    nsenter -t "${child:-$pid}" -m sleep 300 3>&- &
    holder=$!
    until_done 60 grep -qx sleep "/proc/$holder/comm"
    kill_it
    jbdlab run --resume "$BUNDLE" --verbose
    grep -q "ended process $holder (sleep)" "$WORK/err"
    wait "$holder" || true
    expect_complete 1
}

@test "another plan, a damaged log and a run that is under way are refused" {
    plan 50 slow fast 'mkfs = ext3 -b 1024'
    own_disks
    hold 2
    begin
    until_held 2
    run timeout 60 "$JBDLAB" run --resume "$BUNDLE"
    echo "$output"
    [ "$status" = 3 ]
    [[ "$output" == *"another jbdlab is working on this run"* ]]
    kill_it

    run "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE"
    [ "$status" = 3 ]
    [[ "$output" == *"exists already"*"--resume"* ]]

    sed -i 's/blocks = 50/blocks = 2/' "$WORK/x.ini"
    run "$JBDLAB" run --resume "$BUNDLE" "$WORK/x.ini"
    echo "$output"
    [ "$status" = 3 ]
    [[ "$output" == *"is not the plan that the run"* ]]

    cp "$BUNDLE/plan.ini" "$WORK/plan"
    sed -i 's/blocks = 50/blocks = 2/' "$BUNDLE/plan.ini"
    run "$JBDLAB" run --resume "$BUNDLE"
    echo "$output"
    [ "$status" = 3 ]
    [[ "$output" == *"plan.ini was changed"* ]]
    # With a hash to fit there still is the state log.
    cp "$BUNDLE/bundle.json" "$WORK/info"
    sed -i "s/\"plan_sha256\": \"[0-9a-f]*\"/\"plan_sha256\": \"$(sha256sum <"$BUNDLE/plan.ini" |
        cut -d' ' -f1)\"/" "$BUNDLE/bundle.json"
    run "$JBDLAB" run --resume "$BUNDLE"
    echo "$output"
    [ "$status" = 3 ]
    [[ "$output" == *"begun with another plan"* ]]
    cp "$WORK/plan" "$BUNDLE/plan.ini"
    cp "$WORK/info" "$BUNDLE/bundle.json"

    cp "$BUNDLE/state.log" "$WORK/log"
    sed -i '2s/disk/disc/' "$BUNDLE/state.log"
    run "$JBDLAB" run --resume "$BUNDLE"
    echo "$output"
    [ "$status" != 0 ]
    [[ "$output" == *"state.log:2: the state log is damaged"* ]]
    cp "$WORK/log" "$BUNDLE/state.log"
    jbdlab run --restore "$BUNDLE"
    expect_nothing_left
}
