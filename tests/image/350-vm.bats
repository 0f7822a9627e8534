# SPDX-License-Identifier: GPL-3.0-or-later
# run --vm refuses, before any machine is started, what a machine cannot have.

bats_require_minimum_version 1.5.0
load ../lib

setup() {
    common_setup
    export JBDLAB_VM=$WORK/run-vm
    # shellcheck disable=SC2016 # for that script
    # Says what it is asked, and makes no bundle.
    printf '#!/bin/sh\necho "run-vm $*"; cp "$4" "%s/plan"; exit ${STATUS-3}\n' "$WORK" >"$JBDLAB_VM"
    chmod 755 "$JBDLAB_VM"
}

teardown() {
    common_teardown
}

# plan DEVICE WORKLOAD [ARM-LINE]
plan() {
    cat >"$WORK/x.ini" <<END
[experiment]
name = vm
seed = 7
[disk slow]
size = 64M
directory = /nowhere
[disk fast]
size = 16M
[volume data]
device = $1
mkfs = ext4
[arm inline]
journal = inline
${3-}
[arm ssd]
journal = external=fast
[workload w]
type = $2
END
}

@test "devices and programs of the host are refused" {
    plan /dev/sdz1 dd "[arm third]
journal = external=slow"
    run -3 timeout 20 "$JBDLAB" run --vm "$WORK/x.ini"
    [[ $output == *"/dev/sdz1 is a device of this host"* ]]
    plan slow dd "setup = /bin/true"
    run -3 timeout 20 "$JBDLAB" run --vm "$WORK/x.ini"
    [[ $output == *"arm inline runs programs of this host"* ]]
    plan slow "command
exec = /bin/true
metric.time = s lower elapsed"
    run -3 timeout 20 "$JBDLAB" run --vm "$WORK/x.ini"
    [[ $output == *"workload w is a program of this host"* ]]
    [ ! -e "$WORK/plan" ]
}

@test "a bundle that is there is not overwritten, and options that make no sense are refused" {
    plan slow dd
    mkdir "$WORK/b"
    run -3 timeout 20 "$JBDLAB" run --vm "$WORK/x.ini" -o "$WORK/b"
    [[ $output == *"never overwritten"* ]]
    run -2 timeout 20 "$JBDLAB" run --vm --keep "$WORK/x.ini"
    run -2 timeout 20 "$JBDLAB" run --vm --resume "$WORK/b"
    [ ! -e "$WORK/plan" ]
}

@test "the machine gets the resolved plan, and its status is that of the run" {
    plan slow dd
    export TMPDIR=$WORK
    run -3 timeout 20 "$JBDLAB" run --vm "$WORK/x.ini" -o "$WORK/b"
    [[ $output == *"run-vm --jbdlab "*" --output $WORK/b"* ]]
    grep -q "^seed *= 7" "$WORK/plan"
    run ! grep -q nowhere "$WORK/plan"
    STATUS=4 run -4 timeout 20 "$JBDLAB" run --vm "$WORK/x.ini" -o "$WORK/b"
    run -0 timeout 20 "$JBDLAB" run --vm --dry-run "$WORK/x.ini"
    [ -z "$(find "$WORK" -name 'jbdlab-plan*')" ]
    JBDLAB_VM=/no/such run -4 timeout 20 "$JBDLAB" run --vm "$WORK/x.ini" -o "$WORK/b"
    [[ $output == *"was not installed"* ]]
}
