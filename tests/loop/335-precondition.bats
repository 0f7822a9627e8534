# SPDX-License-Identifier: GPL-3.0-or-later
# Preconditioning: what is overwritten anyway is written twice and then until it is steady,
# once, and nothing else is touched.

load ../lib

setup() {
    need_loop
    # In memory, which does not turn.
    [ -w /dev/shm ] || skip "needs /dev/shm"
    [ -c /dev/fuse ] || skip "needs /dev/fuse"
    export TMPDIR=/dev/shm
    common_setup
    export TMPDIR=$WORK
    BUNDLE=$WORK/bundle
    LEASED=()
}

teardown() {
    local device
    [ ! -d "$BUNDLE" ] || timeout 60 "$JBDLAB" run --restore "$BUNDLE" --quiet || true
    for device in "${LEASED[@]}"; do timeout 60 "$JBDLAB" scratch unlease "$device"; done
    common_teardown
}

# plan MODEL DEVICE [LINE...]: $WORK/x.ini; the lines go into [volume data].
plan() {
    local model=$1 device=$2
    shift 2
    {
        cat <<END
[experiment]
blocks = 1
seed   = 5
repeat = 0
precondition = 20ms
$(disk_section slow 64M "$model")
$(disk_section fast 16M "$model")
[arm inline]
journal = inline,size=4M
[arm outside]
journal = external=fast,size=8M
[arm small]
journal = external=fast,size=6M
[workload dd]
type  = dd
bs    = 4k
count = 20
sync  = dsync
[volume data]
device = $device
END
        printf '%s\n' "$@"
    } >"$WORK/x.ini"
}

# run_plan STATUS
run_plan() {
    local status=0
    timeout 120 "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" --yes --no-progress \
        >"$WORK/out" 2>"$WORK/err" || status=$?
    cat "$WORK/err"
    [ "$status" = "$1" ]
}

EVEN="ssd,channels=1,read=0,write=200us,flush=0,overhead=0,interface=0,transfer=0"

@test "each device is written twice, then until it is steady, once" {
    plan "$EVEN" slow 'mkfs = ext4 -b 4096'
    run_plan 0
    [ "$(grep -cE 'precondition .*steady after [0-9]+ rounds' "$WORK/err")" = 2 ]
    jq -e '.precondition | length == 2 and
        .[0].device == "volume data" and .[0].size_bytes == 67108864 and
        .[1].device == "journal outside" and .[1].size_bytes == 16777216 and
        all(.[]; .passes == 2 and .round_ns == 20000000 and
            (.writes_per_s | length) >= 5 and (.writes_per_s | length) <= 25 and
            all(.writes_per_s[]; . > 0 and . <= 5500))' "$BUNDLE/environment.json"
    # The rule, by another program.
    jq -e 'all(.precondition[]; .steady == (.writes_per_s[-5:] as $v |
        (($v | add) / 5) as $mean |
        ([range(5) | (. - 2) * $v[.]] | add / 10 * 4 | fabs) as $excursion |
        ($v | max) - ($v | min) <= 0.2 * $mean and $excursion <= 0.1 * $mean))' \
        "$BUNDLE/environment.json"
    [ "$(grep -c '"what":"preconditioned"' "$BUNDLE/state.log")" = 2 ]
    # Before anything is made.
    [ "$(grep -o '"what":"\(preconditioned\|make\)"' "$BUNDLE/state.log" | tail -n 1)" = '"what":"make"' ]
}

@test "it is not done again when the run goes on" {
    plan none slow 'mkfs = ext4 -b 4096'
    sed -i 's/^blocks = 1/blocks = 2/' "$WORK/x.ini"
    held_program
    echo "$HELD" >>"$WORK/x.ini"
    hold 2
    "$JBDLAB" run "$WORK/x.ini" --output "$BUNDLE" --yes --no-progress >/dev/null 2>"$WORK/err" 3>&- &
    pid=$!
    until_held 2
    kill_run "$pid"
    wait "$pid" || true
    release
    [ "$(jq -r .state "$BUNDLE/bundle.json")" = running ]
    [ "$(grep -c '"what":"preconditioned"' "$BUNDLE/state.log")" = 2 ]
    # As if nobody knew; there still is something on the devices.
    jq -e '.precondition | length == 2' "$BUNDLE/environment.json"
    timeout 100 "$JBDLAB" run --resume "$BUNDLE" --no-progress >/dev/null 2>"$WORK/err" ||
        { cat "$WORK/err"; false; }
    run grep -c 'precondition' "$WORK/err"
    [ "$output" = 0 ]
    [ "$(grep -c '"what":"preconditioned"' "$BUNDLE/state.log")" = 2 ]
    jq -e '.precondition | length == 2' "$BUNDLE/environment.json"
}

@test "a volume with files and its journal are left alone" {
    local device before
    loop_new data 64M
    loop_new log 16M
    for device in "$data" "$log"; do
        timeout 60 "$JBDLAB" scratch lease "$device" --yes \
            --serial "$(losetup -n -O BACK-FILE "$device" | tail -c 9)"
        LEASED+=("$device")
    done
    mkdir "$WORK/files"
    fill_volume "$WORK/files"
    mke2fs -q -t ext4 -b 4096 -O journal_dev "$log"
    mke2fs -q -t ext4 -b 4096 -J device="$log" -d "$WORK/files" "$data"
    plan none "$data"
    sed -i '/^\[disk slow/,/^model/d' "$WORK/x.ini"
    sed -i "s,external=fast\,size=8M,external=$log," "$WORK/x.ini"
    # On another disk than these.
    mkdir "$WORK/ram"
    mount -t tmpfs none "$WORK/ram"
    BUNDLE=$WORK/ram/bundle
    run_plan 0
    # The home of the journal is no device to overwrite, the other one is.
    [ "$(jq -r '.precondition[].device' "$BUNDLE/environment.json")" = "journal small" ]
    fsck_clean "$data" "$log"
    mkdir "$WORK/now"
    debugfs -R "rdump / $WORK/now" "$data"
    check_files "$WORK/now"
}

@test "what carries something else is refused" {
    loop_new log 16M
    timeout 60 "$JBDLAB" scratch lease "$log" --yes \
        --serial "$(losetup -n -O BACK-FILE "$log" | tail -c 9)"
    LEASED+=("$log")
    mkswap "$log" >/dev/null
    plan none slow 'mkfs = ext4 -b 4096'
    sed -i "s,external=fast\,size=8M,external=$log," "$WORK/x.ini"
    mkdir "$WORK/ram"
    mount -t tmpfs none "$WORK/ram"
    BUNDLE=$WORK/ram/bundle
    run_plan 3
    grep -q 'carries swap' "$WORK/err"
    blkid -p "$log" | grep -q swap
}
