#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Which capabilities of root each part keeps, as /proc/PID/status has them; jbdlab(8), RIGHTS.

# bats runs each test in a subshell.
# shellcheck disable=SC2030,SC2031

load ../lib.bash

# The sets of core/privilege.h.
FILES=$((1 << 1 | 1 << 2))                                   # CAP_DAC_*
WORKERS=$((FILES | 1 << 24 | 1 << 14 | 1 << 23))             # SYS_RESOURCE IPC_LOCK SYS_NICE
COMMANDS=$((WORKERS | 1 << 0 | 0xf8 | 1 << 8 | 1 << 10 | 1 << 29 | 1 << 18 | 1 << 21))
MODEL=$((FILES | 1 << 14 | 1 << 21))                         # SYS_ADMIN
MODEL_THREAD=$((1 << 14))

setup() {
    common_setup
    need_root
    mkdir "$WORK/dir"
    OWN=$((0x$(capability Bnd /proc/self/status)))
    PID=
}

teardown() {
    [ -z "$PID" ] || kill -KILL "$PID" 2>/dev/null || true
    [ -z "${DISK:-}" ] || destroy_disk "$DISK"
    common_teardown
}

# capability SET FILE: of a status file of /proc, in hexadecimal.
capability() {
    sed -n "s/^Cap$1:[[:space:]]*//p" "$2"
}

# has MASK FILE: what this process may have of it, and nothing else, in every set.
has() {
    local set want
    want=$(printf %016x $((OWN & $1)))
    for set in Prm Eff Bnd; do
        [ "$(capability $set "$2")" = "$want" ] || {
            echo "Cap$set of $2 is $(capability $set "$2"), not $want"
            return 1
        }
    done
    [ $((0x$(capability Inh "$2") | 0x$(capability Amb "$2"))) = 0 ]
}

# begin COMMAND...: in the background, as $PID.
begin() {
    "$@" >"$WORK/out" 2>&1 3>&- &
    PID=$!
}

end() {
    kill -INT "$PID" 2>/dev/null || true
    wait "$PID" || true
    PID=
}

# threads_have COUNT MASK: so many threads of $PID beside the first, and all of them.
threads_have() {
    local count=0 task
    for task in /proc/"$PID"/task/*; do
        [ "${task##*/}" != "$PID" ] || continue
        count=$((count + 1))
        has "$2" "$task/status" || return 1
    done
    [ $count = "$1" ]
}

children_have() {
    local count=0 child
    for child in $(pgrep -P "$PID"); do
        count=$((count + 1))
        has "$2" "/proc/$child/status" || return 1
    done
    [ $count = "$1" ]
}

status_of_command() {
    printf '#!/bin/sh\ncat /proc/self/status >%s\nexit 3\n' "$WORK/status" >"$WORK/program"
    chmod 755 "$WORK/program"
    : >"$WORK/status"
    chmod 666 "$WORK/status"
    chmod 755 "$WORK"
    run timeout 60 "$JBDLAB" bench "$WORK/dir" --workload command \
        --set "exec=$WORK/program" --set 'metric.t=s lower elapsed' "$@"
    [ "$status" = 4 ]
}

@test "a command keeps what becoming another user takes, and cannot get the rest back" {
    status_of_command
    has $COMMANDS "$WORK/status"
    grep -q '^NoNewPrivs:.*0' "$WORK/status"
    # It becomes another user as the definitions of pgbench and nginx do.
    run timeout 60 "$JBDLAB" bench "$WORK/dir" --workload command \
        --set "exec=setpriv --reuid=nobody --clear-groups grep -c 'Uid:.65534.65534' /proc/self/status" \
        --set 'metric.t=count higher regex ^(1)'
    [ "$status" = 0 ]
}

@test "a command with a user has nothing, and can get nothing" {
    status_of_command --set user=nobody
    [ $((0x$(capability Prm "$WORK/status") | 0x$(capability Eff "$WORK/status"))) = 0 ]
    grep -q '^NoNewPrivs:.*1' "$WORK/status"
}

@test "the keeper of a command may end what has become another user, and no more" {
    mkfifo "$WORK/ready"
    # shellcheck disable=SC2016 # for the script to expand
    printf '#!/bin/sh\necho $PPID >%s\nexec sleep 60\n' "$WORK/ready" >"$WORK/program"
    chmod 755 "$WORK/program"
    begin "$JBDLAB" bench "$WORK/dir" --workload command --set "exec=$WORK/program" \
        --set 'metric.t=s lower elapsed'
    keeper=$(timeout 20 cat "$WORK/ready")
    has $COMMANDS "/proc/$keeper/status"
    end
}

@test "threads that measure" {
    begin "$JBDLAB" bench "$WORK/dir" --workload tiobench --set size=1M --set threads=3 \
        --set random=1000000000 --set sync=osync
    until_done 20 threads_have 3 $WORKERS
    end
}

@test "processes that measure" {
    begin "$JBDLAB" bench "$WORK/dir" --workload throughput --set size=1M --set threads=2 \
        --set block=4k --set rate=1
    until_done 20 children_have 2 $WORKERS
    end
}

@test "what only reads and writes files" {
    mkdir "$WORK/witness"
    begin "$JBDLAB" witness "$WORK/witness"
    until_done 20 threads_have 4 $FILES
    has $FILES "/proc/$PID/status"
    end
    mkdir "$WORK/bin"
    printf '#!/bin/sh\ncat /proc/self/status >%s\nexit 1\n' "$WORK/status" >"$WORK/bin/gnuplot"
    chmod 755 "$WORK/bin/gnuplot"
    PATH=$WORK/bin:$PATH timeout 60 "$JBDLAB" report --format html \
        "$BATS_TEST_DIRNAME/../report/in/real" >"$WORK/html"
    has $FILES "$WORK/status"
}

@test "a disk model, and its threads that answer" {
    need_loop
    [ -c /dev/fuse ] || skip "needs /dev/fuse"
    DISK=rights-$$
    timeout 60 "$JBDLAB" scratch create --name "$DISK" --size 16M --model ssd --directory "$WORK"
    PID=$(grep -lzxF -- "$DISK" /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3 | head -n 1)
    local task answer=0
    has $MODEL "/proc/$PID/status"
    for task in /proc/"$PID"/task/*; do
        # Who has given up CAP_SETPCAP cannot lower the bounding set any more.
        [ "$(capability Prm "$task/status")" != "$(printf %016x $((OWN & MODEL_THREAD)))" ] ||
            answer=$((answer + 1))
    done
    PID=
    [ $answer = 4 ]
}

@test "the programs of an arm keep all: to set up disks is what they are for" {
    need_loop
    printf '#!/bin/sh\ncat /proc/self/status >%s\n' "$WORK/status" >"$WORK/program"
    chmod 755 "$WORK/program"
    cat >"$WORK/x.ini" <<END
[experiment]
name = rights
blocks = 1
$(disk_section d 32M)
[volume v]
device = d
mkfs = ext4 -b 1024
[arm a]
journal = inline,size=4M
setup = $WORK/program
[arm b]
journal = none
[workload w]
type = dd
bs = 4k
count = 4
END
    run timeout 60 "$JBDLAB" run "$WORK/x.ini" --output "$WORK/bundle" --yes
    echo "$output"
    has "$OWN" "$WORK/status"
}
