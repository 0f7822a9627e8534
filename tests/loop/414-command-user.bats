#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# A command that is given a user: none of root's rights, its files are his, and nothing stays.

load ../lib.bash

setup() {
    common_setup
    need_root
    chmod 755 "$WORK"
    mkdir "$WORK/dir"
}

teardown() {
    common_teardown
}


@test "it has the rights of that user and no others" {
    cat >"$WORK/program" <<'END'
#!/bin/sh
grep -E '^(Uid|Gid|Groups|CapEff|CapPrm|NoNewPrivs)' /proc/self/status
pwd
touch here "$JBDLAB_OUT/there" || exit 1
stat -c %U here
! cat /etc/shadow || exit 2
exit 3
END
    chmod 755 "$WORK/program"
    run timeout 60 "$JBDLAB" bench "$WORK/dir" --workload command \
        --set "exec=$WORK/program" --set user=nobody --set 'metric.t=s lower elapsed'
    [ "$status" = 4 ]
    [[ $output == *"ended with status 3"* ]]
    run timeout 60 "$JBDLAB" bench "$WORK/dir" --workload command \
        --set "exec=grep -c ^CapEff:.0000000000000000 /proc/self/status" --set user=nobody \
        --set 'metric.caps=count higher regex ^([0-9]+)'
    [ "$status" = 0 ]
    [ -z "$(ls -A "$WORK/dir")" ]
}

@test "signals mean to it what they mean to any program" {
    run timeout 60 "$JBDLAB" bench "$WORK/dir" --workload command \
        --set "exec=grep -c ^SigIgn:.0000000000000000 /proc/self/status" \
        --set 'metric.none_ignored=count higher regex ^([0-9]+)'
    [ "$status" = 0 ]
}

@test "an unknown user is refused, and so is another one without root" {
    run timeout 60 "$JBDLAB" bench "$WORK/dir" --workload command --set exec=true \
        --set user=no-such-user --set 'metric.t=s lower elapsed'
    [ "$status" = 3 ]
    [[ $output == *'there is no user "no-such-user" on this machine'* ]]
}

@test "in an experiment it gets to its volume, and to nothing else of ours" {
    need_loop
    OUT=$WORK/bundle
    cat >"$WORK/x.ini" <<END
[experiment]
name = user
blocks = 1
repeat = 0
$(disk_section slow 32M)
[volume data]
device = slow
mkfs = ext4 -b 1024
[arm inline]
journal = inline,size=4M
[arm none]
journal = none
[workload w]
type = command
user = nobody
exec = touch \$JBDLAB_DIR/file \$JBDLAB_OUT/file
metric.t = s lower elapsed
END
    run timeout 120 "$JBDLAB" run "$WORK/x.ini" --output "$OUT" --yes
    echo "$output"
    [ "$status" = 0 ] || [ "$status" = 5 ]
    [ "$(stat -c %a /run/jbdlab)" = 711 ]
}
