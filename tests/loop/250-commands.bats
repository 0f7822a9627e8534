#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Commands that come with jbdlab, each with the real program on a small ext4: it runs from
# bench, its figures are there and plausible, nothing is left.  A program that is not
# installed skips its test.

# bats file_tags=slow
load ../lib.bash

setup() {
    common_setup
    need_loop
    export TMPDIR=$WORK
    loop_new disk 300M
    mke2fs -q -t ext4 -J size=8 "$disk"
    mkdir "$WORK/m"
    mount "$disk" "$WORK/m"
}
teardown() {
    if [ -n "${SCRATCH-}" ]; then
        until_done 30 umount "$WORK/m"
        destroy_disk "$SCRATCH"
    fi
    common_teardown
}

need_command() {
    "$JBDLAB" workloads "$1" --json | jq -e '.workloads[0].installed' >/dev/null ||
        skip "$1: its program is not installed"
}

# command NAME KEY=VALUE...: runs it; the result is in $WORK/json.
command_runs() {
    need_command "$1"
    runs "$@"
}

runs() {
    local name=$1 word
    local -a words=()
    for word in "${@:2}"; do words+=(-s "$word"); done
    timeout 200 "$JBDLAB" bench "$WORK/m" -w "$name" "${words[@]}" --json --seed 1 \
        >"$WORK/json" || { cat "$WORK/json"; false; }
    jq -c '.phases[] | {name, metrics: [.metrics[] | {name, value}]}' "$WORK/json"
    nothing_left
    # Every figure that the definition names.
    [ "$(jq '[.phases[].metrics[]] | length' "$WORK/json")" = \
        "$("$JBDLAB" workloads "$name" --json | jq '.workloads[0].metrics | length')" ]
}

nothing_left() {
    [ "$(ls -A "$WORK/m")" = lost+found ]
    [ -z "$(find "$WORK" -name '_jbdlab*')" ]
    ! grep -lsz "^JBDLAB_DIR=$WORK/" /proc/[0-9]*/environ || false
}

# value PHASE METRIC
value() {
    jq -r --arg p "$1" --arg m "$2" \
        '.phases[] | select(.name == $p) | .metrics[] | select(.name == $m) | .value' \
        "$WORK/json"
}

# between LOW VALUE HIGH
between() {
    awk -v low="$1" -v x="$2" -v high="$3" 'BEGIN {
        if (x == "" || x + 0 < low || x + 0 > high) { print "value " x; exit 1 } }'
}

commits() { awk 'NR == 1 { print $1 }' "/proc/fs/jbd2/${disk#/dev/}-8/info"; }

@test "fio-commit commits for every write" {
    before=$(commits)
    command_runs fio-commit env.SIZE=400k env.THREADS=2
    [ $(($(commits) - before)) -ge 50 ]
    between 1 "$(value run operations)" 1e6
    between "$(value run sync_p50)" "$(value run sync_max)" 1e10
    awk -v rate="$(value run rate)" -v ops="$(value run operations)" \
        'BEGIN { exit !(rate > 4000 * ops && rate < 4200 * ops) }'
}

@test "fio-server reads four times as often as it writes" {
    command_runs fio-server env.SIZE=8M env.IO=2M env.DEPTH=8
    awk -v r="$(value read operations)" -v w="$(value write operations)" \
        'BEGIN { exit !(r > 2 * w && r < 8 * w) }'
}

@test "fio-shared loads one directory from several servers at once, whose own are gone after it" {
    local port=() pid i
    command_runs fio-shared env.SIZE=1M env.RUNTIME=1
    [ "$(value run servers)" = 2 ]
    awk -v all="$(value write operations)" -v slowest="$(value write slowest)" \
        'BEGIN { exit !(slowest > 0 && slowest <= all / 2) }'
    between 1000 "$(value write sync_mean)" 1e10
    # Three that somebody else has started, at ports where nobody is.
    mapfile -t -O 1 port < <(free_ports 3)
    for i in 1 2 3; do
        (cd "$WORK" && exec fio --server="127.0.0.1,${port[i]}" >/dev/null 2>&1 3>&-) &
        pid[i]=$!
        until_done 60 listens "${port[i]}"
    done
    command_runs fio-shared env.SIZE=1M env.RUNTIME=1 \
        "env.SERVERS=127.0.0.1,${port[1]} 127.0.0.1,${port[2]} 127.0.0.1,${port[3]}"
    [ "$(value run servers)" = 3 ]
    kill "${pid[@]:1:2}"
    # One that is not there fails the run.
    run timeout 200 "$JBDLAB" bench "$WORK/m" -w fio-shared -s env.SIZE=1M -s env.RUNTIME=1 \
        -s "env.SERVERS=127.0.0.1,${port[3]} 127.0.0.1,1"
    kill "${pid[3]}"
    [ "$status" != 0 ]
}

@test "dbench" {
    command_runs dbench env.CLIENTS=2 env.RUNTIME=2
    between 1e3 "$(value run rate)" 1e11
    between 1 "$(value run flush_max)" 1e11
    command_runs dbench env.CLIENTS=1 env.RUNTIME=3 'env.SYNC=-s -S'
}

@test "fs-mark syncs every file" {
    before=$(commits)
    command_runs fs-mark env.FILES=100 env.THREADS=1
    [ $(($(commits) - before)) -ge 100 ]
    between "$(value run sync_mean)" "$(value run sync_max)" 1e11
    # Files per second cannot be more than syncs take.
    awk -v ops="$(value run operations)" -v ns="$(value run sync_mean)" \
        'BEGIN { exit !(ops * ns < 1.1e9) }'
    command_runs fs-mark-1m env.FILES=10 space=20M
}

@test "postmark" {
    command_runs postmark env.FILES=50 env.TRANSACTIONS=500 env.HIGH=10000
    between 1 "$(value run operations)" 500
}

@test "postmark that runs out of files has failed, and says so" {
    need_command postmark
    run timeout 200 "$JBDLAB" bench "$WORK/m" -w postmark -s env.FILES=2 \
        -s env.TRANSACTIONS=2000 -s env.HIGH=6000
    echo "$output"
    [ "$status" = 4 ]
    [[ $output == *"out of files"*"increase the number of files"* ]]
    ! grep -q ^PHASE <<<"$output" || false
}

@test "sysbench" {
    command_runs sysbench env.SIZE=1M env.RUNTIME=1
    between "$(awk -v x="$(value run operations)" 'BEGIN { print .9 * x }')" \
        "$(value run syncs)" "$(awk -v x="$(value run operations)" 'BEGIN { print 1.1 * x + 5 }')"
}

@test "ioping" {
    command_runs ioping env.COUNT=20 env.SIZE=64k
    between "$(value run latency_mean)" "$(value run latency_max)" 1e11
}

@test "sqlite commits for every row" {
    before=$(commits)
    command_runs sqlite env.ROWS=50
    [ $(($(commits) - before)) -ge 50 ]
    command_runs sqlite env.ROWS=20 env.MODE=wal
}

@test "gzip, unpack and compile-tree" {
    command_runs gzip env.SIZE=1M space=4M
    mkdir "$WORK/tree"
    for i in 1 2 3 4 5 6 7 8 9; do echo "file $i" >"$WORK/tree/f$i"; done
    tar -C "$WORK" -cJf "$WORK/tree-1.tar.xz" tree
    runs unpack "env.TARBALL=$WORK/tree-*.tar.xz" env.SIZE=1M
    command_runs compile-tree env.TREES=2 env.FILES=100 space=10M
    between "$(value run tree_min)" 1e12 1e12
}

@test "a static web site" {
    command_runs web env.REQUESTS=300 env.CLIENTS=3
    # Somebody else's server is not measured.
    command -v python3 >/dev/null || skip "the rest needs python3"
    python3 -u -c 'import http.server
s = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(s.server_port)
s.serve_forever()' >"$WORK/port" 2>/dev/null 3>&- &
    server=$!
    until_done 60 [ -s "$WORK/port" ]
    run timeout 200 "$JBDLAB" bench "$WORK/m" -w web -s "env.PORT=$(cat "$WORK/port")"
    kill "$server"
    echo "$output"
    [ "$status" = 4 ]
    [[ $output == *"no server of ours at port "* ]]
    nothing_left
}

@test "pg-test-fsync" {
    command_runs pg-test-fsync env.RUNTIME=1
}

@test "bonnie" {
    need_command bonnie
    [ -c /dev/fuse ] || skip "needs /dev/fuse"
    # What it does in less than half a second it does not tell: a thousand files on a disk
    # that takes a millisecond to flush are more than that on every machine.
    umount "$WORK/m"
    SCRATCH=bonnie-$$
    disk=$("$JBDLAB" scratch create --name "$SCRATCH" --size 64M --directory "$WORK" --quiet \
        --model ssd,read=0,write=0,flush=1ms,overhead=0,interface=0)
    mke2fs -q -t ext4 -N 8192 "$disk"
    mount "$disk" "$WORK/m"
    command_runs bonnie env.FILES=1 env.BYTES=0 space=1M
}

@test "pgbench, with the log elsewhere, leaves no server" {
    need_command pgbench
    need_mount_namespace
    loop_new wal 150M
    mke2fs -q -t ext4 -J size=4 "$wal"
    mkdir "$WORK/w"
    mount "$wal" "$WORK/w"
    before=$(awk '{ print $7 }' "/sys/block/${wal#/dev/}/stat")
    timeout 200 "$JBDLAB" bench "$WORK/m" "$WORK/w" -w pgbench -s env.SCALE=1 \
        -s env.CLIENTS=2 -s env.RUNTIME=1 -s env.WAL_MB=64 --json >"$WORK/json"
    after=$(awk '{ print $7 }' "/sys/block/${wal#/dev/}/stat")
    nothing_left
    [ "$(ls -A "$WORK/w")" = lost+found ]
    # The tables, 12 MB and more, went through the log.
    [ $((after - before)) -gt 20000 ]
    between 1 "$(value run operations)" 1e6
    between "$(value run latency_p50)" "$(value run latency_p99)" 1e11
}

@test "pgbench, reading only" {
    command_runs pgbench-readonly env.SCALE=1 env.CLIENTS=2 env.RUNTIME=2 env.WAL_MB=64
    between 10 "$(value run operations)" 1e7
    between "$(value run latency_p50)" "$(value run latency_p99)" 1e10
}

@test "programs on a file system that is full: the reason, no row, nothing left" {
    umount "$WORK/m"
    mke2fs -q -F -t ext4 -J size=1 -b 1024 "$disk" 12M
    mount "$disk" "$WORK/m"
    for words in 'fs-mark-1m' 'dbench env.CLIENTS=2' 'compile-tree env.FILES=1500' \
        'gzip env.SIZE=30M' 'postmark env.TRANSACTIONS=10'; do
        # shellcheck disable=SC2086 # words
        set -- $words
        "$JBDLAB" workloads "$1" --json | jq -e '.workloads[0].installed' >/dev/null ||
            continue
        run timeout 200 "$JBDLAB" bench "$WORK/m" -w "$1" -s space=1M ${2:+-s "$2"}
        echo "$words: $output"
        [ "$status" = 4 ]
        grep -qiE 'no space left|insufficient free space|error: cannot open|wrote .* expected to write' <<<"$output"
        ! grep -q ^PHASE <<<"$output" || false
        nothing_left
    done
}

@test "a full file system, no program: no row, nothing left" {
    need_command fio-commit
    run "$JBDLAB" bench "$WORK/m" -w fio-commit -s env.SIZE=1G
    echo "$output"
    [ "$status" = 3 ]
    [[ $output == *"needs 1.10G there"* ]]
    run "$JBDLAB" bench "$WORK/m" -w fio-commit -s space=1M -s env.SIZE=1G -s env.BLOCK=1M
    echo "$output"
    [ "$status" = 4 ]
    [[ $output == *"exec: fio ended with status 1; its last lines:"*"No space left on device"* ]]
    ! grep -q ^PHASE <<<"$output" || false
    nothing_left
    mount -o remount,ro "$WORK/m"
    run "$JBDLAB" bench "$WORK/m" -w fio-commit
    [ "$status" = 4 ]
    [[ $output == *"Read-only file system"* ]]
}

@test "a command in an experiment: figures, evidence, kept output, comparison" {
    need_command fio-commit
    cat >"$WORK/x.ini" <<END
[experiment]
blocks = 2
primary = fio/run/operations
$(disk_section a 64M)
$(disk_section b 32M)
[volume v]
device = a
mkfs = ext4 -b 4096
[arm inline]
journal = inline,size=8M
[arm ssd]
journal = external=b,size=8M
[workload fio]
type = command
command = fio-commit
env.SIZE = 200k
END
    "$JBDLAB" run --dry-run "$WORK/x.ini" | grep -x 'env.SIZE = 200k'
    timeout 200 "$JBDLAB" run "$WORK/x.ini" --output "$WORK/bundle" >"$WORK/out"
    cat "$WORK/out"
    grep 'fio/run/operations' "$WORK/out"
    [ "$(wc -l <"$WORK/bundle/runs.jsonl")" = 4 ]
    jq -e '.phases[0].evidence.journal.requested >= 40' "$WORK/bundle/runs.jsonl"
    # What fio syncs is not known to us, but what came of it is.
    jq -e '.phases[0].evidence | .verdict == "unknown" and
        (.reason | test("a program syncs"))' "$WORK/bundle/runs.jsonl"
    jq -e '.jobs' "$WORK/bundle/output/block1-ssd-fio/exec.stdout" >/dev/null
    grep -x fio "$WORK/bundle/output/block2-inline-fio/exec.command"
    grep -x 'env.SIZE = 200k' "$WORK/bundle/plan.ini"
    "$JBDLAB" report "$WORK/bundle" --format csv | grep 'fio,run,sync_p99'
    # A program that fails ends the experiment; its output is kept.
    sed -i 's/^command = .*/exec = sh -c "echo out; echo err >\&2; exit 9"\nmetric.x = s lower elapsed/' "$WORK/x.ini"
    sed -i 's,^primary.*,,' "$WORK/x.ini"
    run timeout 200 "$JBDLAB" run "$WORK/x.ini" --output "$WORK/failed"
    echo "$output"
    [ "$status" = 4 ]
    [[ $output == *"workload fio: exec: sh ended with status 9"*err* ]]
    [ ! -s "$WORK/failed/runs.jsonl" ]
    grep -rx err "$WORK"/failed/output/block1-*-fio/exec.stderr
    # One that is not installed: before any disk is made.
    sed -i 's/^exec.*/exec = true\nneeds = no-such-thing (there)/' "$WORK/x.ini"
    run "$JBDLAB" run "$WORK/x.ini" --output "$WORK/none"
    [ "$status" = 3 ]
    [[ $output == *"no-such-thing is not installed"* ]]
    [ ! -e "$WORK/none" ]
}
