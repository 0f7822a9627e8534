#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The workload command: what a program prints becomes figures, and whatever a program does
# wrong ends in an error that says so, without a row, a file or a process left behind.

load ../lib.bash

setup() {
    common_setup
    export TMPDIR=$WORK
    D=$WORK/d
    mkdir "$D"
}
teardown() { common_teardown; }

# bench KEY=VALUE...
bench() {
    local -a words=()
    local word
    for word; do words+=(-s "$word"); done
    run timeout 60 "$JBDLAB" bench "$D" -w command "${words[@]}"
    echo "$output"
}

# failed STATUS TEXT...: that status, all texts, no row, no file, no process.
failed() {
    local text
    [ "$status" = "$1" ]
    for text in "${@:2}"; do
        [[ $output == *"$text"* ]] || { echo "missing: $text"; false; }
    done
    ! grep -q ^PHASE <<<"$output" || false
    nothing_left
}

nothing_left() {
    [ -z "$(ls -A "$D")" ]
    [ -z "$(find "$WORK" -name '_jbdlab*')" ]
    nobody_works
}

nobody_works() {
    ! grep -lsz "^JBDLAB_DIR=$D/" /proc/[0-9]*/environ || false
}

script() {
    cat >"$WORK/script"
}

@test "figures are read by regular expression, column and pointer" {
    bench 'exec=printf "10 tps\n25.5 tps\n"' 'metric.operations=ops/s higher regex ([0-9.]+) tps'
    [ "$status" = 0 ]
    [[ ${lines[1]} == "run "*" 25.5 kept" ]]
    bench 'exec=printf "name,MB\nx,7\n"' 'metric.rate=MiB/s higher csv MB'
    [ "$status" = 0 ]
    [[ ${lines[1]} == "run   7.00 MiB/s kept" ]]
    run "$JBDLAB" bench "$D" -w command -s 'exec=printf "note\n{\"a/b\": [{\"ms\": 2.5}]}"' \
        -s 'metric.read/latency_mean=ms lower json /a~1b/0/ms' --json
    [ "$status" = 0 ]
    jq -e '.phases[0] | .name == "read" and .metrics[0].value == 2500000' <<<"$output"
    nothing_left
}

@test "elapsed time is that of the program, not of setup and cleanup" {
    run "$JBDLAB" bench "$D" -w command -s 'setup=sleep 3' -s 'exec=sleep 0.2' \
        -s 'cleanup=sleep 3' -s 'metric.elapsed=s lower elapsed' --json
    jq -e '.phases[0].metrics[0].value | . >= 200000000 and . < 3000000000' <<<"$output"
    nothing_left
}

@test "no shell sees a command line; quotes and variables work, values are not split" {
    bench "exec=printf '%s|' a\"b c\" '\$X' \"\$X\" \$X \\\$X ; > \$JBDLAB_DIR/file" \
        'env.X=1 2' 'metric.x=count neither regex none([0-9])'
    # shellcheck disable=SC2016 # what it printed
    failed 4 'ab c|$X|1 2|1 2|$X|;|>|'
}

@test "the program works in a directory of its own, with our variables" {
    mkdir "$WORK/e"
    script <<'END'
[ "$PWD" = "$JBDLAB_DIR" ] && [ "$JBDLAB_DIRS" = "$JBDLAB_DIR:$JBDLAB_LAST_DIR" ] &&
[ -d "$JBDLAB_LAST_DIR" ] && [ -w "$JBDLAB_OUT" ] && touch here "$JBDLAB_LAST_DIR/there" &&
echo "seed $JBDLAB_SEED size $SIZE"
END
    run "$JBDLAB" bench "$D" "$WORK/e" -w command --seed 7 -s "exec=sh $WORK/script" \
        -s env.SIZE=4096 -s 'metric.seed=count neither regex seed ([0-9]+)' \
        -s 'metric.size=count neither regex size ([0-9]+)'
    echo "$output"
    [ "$status" = 0 ]
    [[ ${lines[1]} == "run      8 4096 kept" ]]
    nothing_left
    [ -z "$(ls -A "$WORK/e")" ]
}

@test "a program that fails is shown with its last lines" {
    script <<'END'
for i in 1 2 3 4 5 6 7 8; do echo "line $i" >&2; done
touch file
exit 3
END
    bench "exec=sh $WORK/script" 'metric.x=s lower elapsed'
    failed 4 'exec: sh ended with status 3' 'line 8'
    ! grep -q 'line 1' <<<"$output" || false
}

@test "a program that is killed" {
    # shellcheck disable=SC2016 # for the shell of the test
    bench 'exec=sh -c "echo begun; kill -9 \$\$"' 'metric.x=s lower elapsed'
    failed 4 'sh was killed by signal 9 (Killed)' begun
}

@test "a program that hangs, and ignores that it is told to end" {
    bench 'exec=sh -c "trap \"\" TERM; touch x; sleep 50 & setsid sleep 50 & wait"' \
        timeout=300ms 'metric.x=s lower elapsed'
    failed 4 'sh did not end within 300ms'
}

@test "a setup that hangs, and the cleanup runs nevertheless" {
    bench 'setup=sleep 50' 'exec=true' "cleanup=touch $WORK/cleaned" timeout=3s \
        'metric.x=s lower elapsed'
    failed 4 'setup: sleep did not end within 3s'
    [ -e "$WORK/cleaned" ]
}

@test "a program that prints without end" {
    bench 'exec=yes' 'metric.x=s lower elapsed'
    failed 4 'yes printed more than 4 MiB'
}

@test "rubbish is no figure" {
    bench 'exec=head -c 20000 /dev/urandom' 'metric.x=ops/s higher json /x'
    failed 4 'no JSON in what was printed'
    bench 'exec=echo ops=12x' 'metric.x=ops/s higher regex ops=(.*)'
    failed 4 'metric run/x: "12x" is no figure' 'ops=12x'
    bench 'exec=echo ops=-5' 'metric.x=ops/s higher regex ops=(.*)'
    failed 4 '"-5" is no figure'
    bench 'exec=echo ops=nan' 'metric.x=ops/s higher regex ops=(.*)'
    failed 4 '"nan" is no figure'
}

@test "a figure that is missing" {
    bench 'exec=echo all is well' 'metric.x=ops/s higher regex ([0-9]+) ops'
    failed 4 'metric run/x: nothing matches "([0-9]+) ops"' 'all is well'
    bench 'exec=echo {}' 'metric.x=ops/s higher json /jobs/0/iops'
    failed 4 'there is nothing at /jobs/0/iops'
    bench 'exec=echo 1,2' 'metric.x=ops/s higher csv 3'
    failed 4 'the last line has no column 3'
}

@test "a program that is not there" {
    bench exec=no-such-program-here 'metric.x=s lower elapsed'
    failed 4 'run no-such-program-here: No such file or directory'
    bench exec=true 'needs=no-such-program-here (some-package)' 'metric.x=s lower elapsed'
    failed 3 'no-such-program-here is not installed' "Debian's package some-package"
}

@test "what a program leaves behind is ended" {
    bench 'exec=sh -c "setsid sleep 51 & echo 5 ops"' 'metric.x=ops/s higher regex ([0-9]+) ops'
    [ "$status" = 0 ]
    [[ $output == *"sh left 1 process behind, which was killed"* ]]
    nothing_left
}

@test "^C ends the program, and so does the end of jbdlab itself" {
    local pid
    for signal in INT KILL; do
        "$JBDLAB" bench "$D" -w command -s 'exec=sh -c "echo >begun; sleep 300"' \
            -s 'metric.x=s lower elapsed' >"$WORK/out" 2>&1 3>&- &
        pid=$!
        until_written "$D"
        kill -$signal $pid
        status=0
        wait $pid || status=$?
        if [ $signal = INT ]; then
            [ $status = 130 ]
            nothing_left
        fi
    done
    until_done 60 nobody_works
}

@test "what is wrong in the words is said before anything is begun" {
    bench exec=true
    failed 2 'without a "metric.NAME" nothing is measured'
    bench 'metric.x=s lower elapsed'
    failed 2 'needs a "command" or an "exec"'
    # shellcheck disable=SC2016 # for jbdlab
    bench 'exec=echo $NOPE' 'metric.x=s lower elapsed'
    # shellcheck disable=SC2016 # what it said
    failed 2 'exec: $NOPE is unknown (a workload sets it with env.NOPE)'
    bench 'exec=echo "x' 'metric.x=s lower elapsed'
    failed 2 'exec: a quote (") is not closed'
    bench exec=true 'metric.x=parsecs lower elapsed'
    failed 2 'unit: "parsecs" is not B/s'
    bench exec=true 'metric.x=s lower regex [0-9]+'
    failed 2 'has no parentheses'
    bench exec=true 'metric.x=s lower regex ([0-9]+'
    failed 2 '"([0-9]+": '
    bench exec=true env.JBDLAB_DIR=/ 'metric.x=s lower elapsed'
    failed 2 'is no name of a variable'
    bench command=fio-comit
    failed 2 'did you mean "fio-commit"?'
    bench command=fio-commit env.SIZ=4k
    failed 2 'did you mean "env.SIZE"?'
}

@test "definitions are found where JBDLAB_COMMANDS says, and faults name file and line" {
    mkdir "$WORK/c"
    printf '[command]\nexec = echo 5\nmetric.x = count higher regex ([0-9])\n' >"$WORK/c/five.ini"
    JBDLAB_COMMANDS=$WORK/c run "$JBDLAB" bench "$D" -w five
    [ "$status" = 0 ]
    [[ ${lines[1]} == "run   5 kept" ]]
    bench "command=$WORK/c/five.ini"
    [ "$status" = 0 ]
    printf '[command]\nexek = echo 5\n' >"$WORK/c/bad.ini"
    bench "command=$WORK/c/bad.ini"
    failed 2 'bad.ini:2: a command has no key "exek"'
}

@test "the time that a program is told to take is part of the estimate" {
    estimate() {
        cat >"$WORK/x.ini" <<END
[experiment]
blocks = 1
[disk a]
size = 1G
[volume v]
device = a
mkfs = ext4
[arm inline]
journal = inline
[workload w]
type = command
command = dbench
env.RUNTIME = $1
END
        "$JBDLAB" run --dry-run "$WORK/x.ini" | grep '^time: '
    }
    [[ $(estimate 1) == *"about "[0-9]*s,* ]]
    [[ $(estimate 3600) == *"about 1h 0min,"* ]]
    bench exec=true duration=soon 'metric.x=s lower elapsed'
    failed 2 'duration: '
}

@test "workloads lists all that there is, in 80 columns and as JSON" {
    run "$JBDLAB" workloads
    echo "$output"
    [ "$status" = 0 ]
    [[ $output == *$'\n'"tiobench "*" built in "* ]]
    [[ $output == *$'\n'"fio-commit "* ]]
    [ -z "$(awk 'length > 80' <<<"$output")" ]
    "$JBDLAB" workloads --json >"$WORK/json"
    for file in "$BATS_TEST_DIRNAME"/../../configs/commands/*.ini; do
        name=$(basename "$file" .ini)
        jq -e --arg n "$name" '.workloads[] | select(.name == $n) |
            (.needs | length > 0) and (.metrics | length > 0)' "$WORK/json"
    done
    run "$JBDLAB" workloads fio-commit
    [[ $output == *"needs fio, Debian package fio: "*"env.SIZE = 4M"*"run/operations: higher"* ]]
    PATH=/nowhere run "$JBDLAB" workloads fio-commit
    [[ $output == *"needs fio, Debian package fio: not installed"* ]]
    run "$JBDLAB" workloads nonsense
    [ "$status" = 2 ]
}
