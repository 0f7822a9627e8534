#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# jbdlab tiobench prints what tiobench.pl prints, takes its options, does the work that it
# reports, and leaves no file behind on any way out.

load ../lib.bash

setup() {
    common_setup
    mkdir "$WORK/d"
    report=$BATS_TEST_DIRNAME/../report/in/tiobench-wide-threads.txt
}
teardown() { common_teardown; }

empty() {
    [ -z "$(ls -A "$WORK/d")" ]
}

tiobench() {
    "$JBDLAB" tiobench --target "$WORK/d" --no-progress "$@"
}

@test "the report is tiobench's, column for column" {
    tiobench --size 128 --threads 1 --threads 4 --random 2000 --identifier ext4-loop \
        >"$WORK/out" 2>"$WORK/messages"
    empty
    # tiobench's own report without the rows of 16 threads.
    grep -v '^ext4-loop  *128  *4096  *16 ' "$report" >"$WORK/want"
    [ "$(wc -l <"$WORK/out")" = "$(wc -l <"$WORK/want")" ]
    # All but the rows to the last blank; of the rows the first three columns, and where
    # the others end.
    awk 'NR == FNR { want[FNR] = $0; next }
        !/^ext4-loop/ { if ($0 != want[FNR]) { print FNR ": " $0; bad = 1 }; next }
        { ok = length($0) == length(want[FNR]) &&
            substr($0, 1, 48) == substr(want[FNR], 1, 48) &&
            substr($0, 49, 13) ~ /^ *[0-9]+\.[0-9][0-9] $/ &&
            substr($0, 62, 7) ~ /^ *[0-9]+(\.[0-9]+)?% $/ &&
            substr($0, 69, 10) ~ /^ *[0-9]+\.[0-9][0-9][0-9] $/ &&
            substr($0, 79, 11) ~ /^ *[0-9]+\.[0-9][0-9]$/ &&
            substr($0, 90, 11) ~ /^ *[0-9]+\.[0-9][0-9][0-9][0-9][0-9] $/ &&
            substr($0, 101, 8) ~ /^ *[0-9]+\.[0-9][0-9][0-9][0-9][0-9]$/ && substr($0, 109, 8) ~ /^ +[0-9]+$/
          if (!ok) { print FNR ": " $0; bad = 1 } }
        END { exit bad }' "$WORK/want" "$WORK/out"
}

@test "the classic format has the narrow columns" {
    tiobench --size 1 --threads 2 --random 50 --format classic --identifier x >"$WORK/out"
    grep -qx 'File size = megabytes' "$WORK/out"
    # A rate of 1000 or more widens its column.
    grep -qxE -- '-{28} -{6} -{5} -{3}  -{6,8} -{6} -{9} -{11}  -{8} -{8} -{5,6}' "$WORK/out"
    run grep -c '^====' "$WORK/out"
    [ "$output" = 1 ]
}

@test "what is reported was done, counted by strace" {
    traced -f -qq -o "$WORK/trace" -e trace=pread64,pwrite64,fsync \
        "$JBDLAB" tiobench --target "$WORK/d" --size 10 --threads 3 --random 1000 \
        --json >"$WORK/json"
    # 10 MB are 2560 blocks: 853 for each of 3 threads; 1000 random ones: 334 333 333.
    [ "$(grep -c 'pwrite64.* = 4096$' "$WORK/trace")" = $((3 * 853 + 1000)) ]
    [ "$(grep -c 'pread64.* = 4096$' "$WORK/trace")" = $((3 * 853 + 1000)) ]
    for phase in write rwrite read rread; do
        case $phase in
        write | read) want=2559 ;;
        *) want=1000 ;;
        esac
        jq -e --arg p "$phase/t3" --argjson n "$want" '.phases[] | select(.name == $p) |
            .counters.operations == $n and .counters.bytes == $n * 4096 and
            .latency.count == $n' "$WORK/json"
    done
}

@test "random operations are spread without losing the remainder" {
    tiobench --size 1 --threads 8 --random 13 --json >"$WORK/json"
    jq -e '[.phases[] | select(.name | startswith("r")) | select(.name != "read/t8") |
        .counters.operations] == [13, 13]' "$WORK/json"
}

@test "several sizes, blocks and runs give a row for each combination" {
    tiobench --size 1 --size 2M --block 4096 --block 8k --threads 1 --threads 2 \
        --random 20 --numruns 2 --identifier m >"$WORK/out"
    [ "$(grep -c '^m ' "$WORK/out")" = 32 ]
    [ "$(awk '/^Random Writes/ { here = 1 } here && /^m / { print $2, $3, $4 }' \
        "$WORK/out" | tr '\n' ,)" = \
        "1 4096 1,1 4096 2,1 8192 1,1 8192 2,2 4096 1,2 4096 2,2 8192 1,2 8192 2," ]
}

@test "options are matched whole, and --dir is a directory" {
    run "$JBDLAB" tiobench --dir "$WORK/d" --size 1 --threads 1 --random 10 --quiet
    [ "$status" = 0 ]
    run tiobench --direct --size 1
    [ "$status" = 2 ]
    [[ $output == *"unknown option --direct"* ]]
    run tiobench --raw --size 1
    [ "$status" = 3 ] # no device
    [ -d "$WORK/d" ]
    run tiobench --size 1 --set raw=yes
    [ "$status" = 2 ]
    [[ $output == *"is no block device"* ]]
    run tiobench --dump
    [ "$status" = 2 ]
    run tiobench --size 1q
    [ "$status" = 2 ]
    [[ $output == *'size: "1q" is not a size'* ]]
    run tiobench --format narrow
    [ "$status" = 2 ]
}

@test "a missing directory is a usage error" {
    run "$JBDLAB" tiobench --target "$WORK/none" --size 1
    [ "$status" = 2 ]
    [[ $output == *"directory $WORK/none: No such file or directory"* ]]
    run "$JBDLAB" tiobench --target "$JBDLAB" --size 1
    [ "$status" = 2 ]
    [[ $output == *"is not a directory"* ]]
}

@test "a size that does not fit is refused with numbers" {
    run tiobench --size 900000G
    [ "$status" = 3 ]
    [[ $output == *"free ("*"needs"*"tenth"* ]]
    empty
}

@test "an error in the middle ends with errno and file, without any row" {
    ulimit -f 2048 # KiB
    run tiobench --size 8 --threads 2 --random 10
    [ "$status" = 4 ]
    [[ $output == *"_jbdlab_tiobench_"*"File too large"* ]]
    [[ $output != *"Sequential"* ]]
    empty
}

interrupt() {
    local signal=$1 want=$2 status=0 pid
    # Not through a function: $! would be its shell.  At a rate by which it lasts for minutes.
    "$JBDLAB" tiobench --target "$WORK/d" --size 256 --threads 2 --set sync=osync \
        --set rate=200 >"$WORK/out" 2>"$WORK/messages" 3>&- &
    pid=$!
    until_written "$WORK/d"
    kill "-$signal" "$pid"
    wait "$pid" || status=$?
    [ "$status" = "$want" ]
    [ ! -s "$WORK/out" ]
    grep -q "interrupted by SIG$signal" "$WORK/messages"
    empty
}

@test "SIGINT removes the files and ends with 130" {
    interrupt INT 130
}

@test "SIGTERM removes the files and ends with 143" {
    interrupt TERM 143
}

@test "equal seeds write equal data, which does not compress" {
    mkdir "$WORK/keep"
    local seed n=0
    for seed in 1 1 2; do
        traced -qq -o /dev/null -e trace=unlink -e inject=unlink:error=EBUSY \
            "$JBDLAB" bench --workload dd -s bs=64k -s count=32 --seed "$seed" \
            "$WORK/d" >/dev/null 2>"$WORK/messages"
        grep -q 'warning: cannot remove' "$WORK/messages"
        mv "$WORK"/d/_jbdlab* "$WORK/keep/$((n++))"
    done
    cmp "$WORK/keep/0" "$WORK/keep/1"
    ! cmp -s "$WORK/keep/0" "$WORK/keep/2" || false
    xz -c "$WORK/keep/0" >"$WORK/packed"
    [ "$(stat -c %s "$WORK/packed")" -ge $((32 * 65536)) ]
}

@test "nofrag writes one file after another, otherwise they are written together" {
    for option in --nofrag ''; do
        traced -f -qq -y -o "$WORK/trace" -e trace=pwrite64 "$JBDLAB" tiobench \
            --target "$WORK/d" --size 8 --threads 4 --random 4 --quiet $option >/dev/null
        # Changes from one file to another during the sequential writes.
        grep -o '_jbdlab[^>]*' "$WORK/trace" | head -2048 | uniq >"$WORK/changes-$option"
    done
    [ "$(wc -l <"$WORK/changes---nofrag")" = 4 ]
    [ "$(wc -l <"$WORK/changes-")" -gt 4 ]
}

@test "after the timeout no further combination begins, and what is done is printed" {
    tiobench --size 1 --threads 1 --threads 2 --threads 4 --random 10 --timeout 0.001 \
        --identifier x >"$WORK/out" 2>"$WORK/messages"
    grep -q 'timeout reached, 1 of 3 combinations done' "$WORK/messages"
    [ "$(grep -c '^x ' "$WORK/out")" = 4 ]
}

@test "512 threads start together and need little memory" {
    "$JBDLAB" tiobench --target "$WORK/d" --size 2 --threads 512 --random 512 \
        --verbose >"$WORK/out" 2>"$WORK/messages"
    [ "$(grep -c '512 threads started within' "$WORK/messages")" = 4 ]
    # The box of the widest rows: 3 figures and nothing cut.
    grep -qE ' 4096  512 ' "$WORK/out"
}

# peak OPTION...: most memory in KiB that a run of half a second and more has had.
peak() {
    local pid
    "$JBDLAB" bench "$WORK/d" -w commit -s kind=create-nosync -s count=1000000 -s rate=1000 \
        "$@" >/dev/null 2>&1 3>&- &
    pid=$!
    # Each thread has made a file, and most of them two.
    until_done 120 has_files 1000
    awk '/^VmHWM/ { print $2 }' "/proc/$pid/status"
    kill -INT "$pid"
    wait "$pid" || [ $? = 130 ]
}

has_files() {
    [ "$(find "$WORK/d" -type f | wc -l)" -ge "$1" ]
}

@test "memory is below 40 MiB and 256 KiB for each thread" {
    [[ "$(ldd "$JBDLAB")" != *libasan* ]] || skip "AddressSanitizer needs memory"
    one=$(peak)
    many=$(peak -s threads=512)
    echo "1 thread: $one KiB, 512 threads: $many KiB"
    [ "$one" -gt 0 ] && [ "$one" -le $((40 * 1024 + 256)) ]
    [ "$many" -gt "$one" ] && [ "$many" -le $((40 * 1024 + 512 * 256)) ]
}

# kept OPTION...: the data that tiobench writes with one seed, kept in $WORK/kept.
kept() {
    rm -f "$WORK/kept"
    traced -f -qq -o "$WORK/trace" -e trace=unlink,pwrite64,pread64,msync,mmap \
        -e inject=unlink:error=EBUSY "$JBDLAB" tiobench --target "$WORK/d" --seed 5 \
        --size 1 --threads 1 --random 100 --quiet --set sync=dsync "$@" >/dev/null
    mv "$WORK"/d/_jbdlab* "$WORK/kept"
}

@test "through a map the same data gets into the file as by calls" {
    kept
    mv "$WORK/kept" "$WORK/by-calls"
    kept --set mmap=yes
    cmp "$WORK/kept" "$WORK/by-calls"
    [ "$(grep -c 'p\(read\|write\)64(.*= 4096$' "$WORK/trace")" = 0 ]
    [ "$(grep -c 'msync(.*, 4096, MS_SYNC) *= 0' "$WORK/trace")" = $((256 + 100)) ]
    [ "$(grep -c 'mmap(NULL, 1048576, PROT_READ|PROT_WRITE, MAP_SHARED' "$WORK/trace")" = 2 ]
    run tiobench --size 1 --set mmap=yes --directio
    [ "$status" = 2 ]
    [[ $output == *"direct and mmap exclude each other"* ]]
}

@test "a map of more than 1 GiB in one thread" {
    local memory
    [ "$(df --output=avail -m /dev/shm | tail -1)" -ge 2500 ] || skip "needs 2.5G of /dev/shm"
    memory=$(mktemp -d /dev/shm/jbdlab-test.XXXXXX)
    run timeout 60 "$JBDLAB" tiobench --target "$memory" --size 1100 --block 1M --threads 1 \
        --random 10 --set mmap=yes --json --quiet
    ls -A "$memory" >"$WORK/left"
    rm -rf "$memory"
    [ "$status" = 0 ]
    [ ! -s "$WORK/left" ]
    jq -e '[.phases[].counters.bytes] == [1153433600, 10485760, 1153433600, 10485760]' \
        <<<"$output"
}

@test "random operations of each thread, and syncs after each n-th write" {
    traced -f -qq -o "$WORK/trace" -e trace=fdatasync,fsync "$JBDLAB" tiobench \
        --target "$WORK/d" --size 1 --threads 4 --random 20 --set random_each=yes \
        --set sync=fdatasync --set sync_every=10 --json >"$WORK/json"
    jq -e '[.phases[].counters.operations] == [256, 80, 256, 80]' "$WORK/json"
    # 64 blocks of each thread: 6 and the end; 20 random ones: 2 and the end.
    jq -e '[.phases[].counters.syncs] == [28, 12, 0, 0]' "$WORK/json"
    [ "$(grep -c 'fdatasync(' "$WORK/trace")" = 40 ]
}

@test "several runs give true means, and how far they lie apart" {
    tiobench --size 1 --threads 2 --random 20 --numruns 4 --json >"$WORK/json" \
        2>"$WORK/messages"
    jq -e 'all(.phases[]; (.metrics | map({(.name): .value}) | add) as $m |
        ($m.rate - .counters.bytes * 1e9 / .counters.wall_ns | fabs) < 1 and
        $m.rate_min <= $m.rate and $m.rate <= $m.rate_max and $m.rate_sd >= 0 and
        $m.rate_sd <= ($m.rate_max - $m.rate_min))' "$WORK/json"
    # Operations of four runs, latency of one of them.
    jq -e '.phases[0] | .counters.operations == 1024 and .latency.count == 1024' "$WORK/json"
    grep -q 'rates of 4 runs with 2 threads, mean and standard deviation: write ' \
        "$WORK/messages"
    tiobench --size 1 --threads 2 --random 20 --json >"$WORK/json" 2>"$WORK/messages"
    jq -e 'all(.phases[].metrics[]; .name != "rate_sd")' "$WORK/json"
}

@test "runtime and rate limit all phases but the sequential write" {
    tiobench --size 4 --threads 2 --random 100000 --set rate=2000 --set runtime=200ms \
        --json >"$WORK/json"
    jq -e '.phases[0].counters.operations == 1024 and
        all(.phases[1:][]; .counters.operations >= 1 and .counters.operations <= 400)' \
        "$WORK/json"
}
