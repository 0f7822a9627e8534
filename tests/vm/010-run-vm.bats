# SPDX-License-Identifier: GPL-3.0-or-later
# run --vm: a whole experiment in the small virtual machine, without root; what it counted is
# real, and it says everywhere that its times are not.

bats_require_minimum_version 1.5.0
load ../lib

setup() {
    local program
    for program in qemu-system-x86_64 busybox cpio modprobe xz python3; do
        command -v "$program" >/dev/null || PATH=$PATH:/usr/sbin:/sbin command -v "$program" \
            >/dev/null || skip "needs $program"
    done
    TMPDIR=/tmp common_setup # nobody must get there
    chmod 755 "$WORK"
    export JBDLAB_VM_CACHE=${JBDLAB_VM_CACHE:-$BATS_TEST_DIRNAME/../../build/vm}
    mkdir -p "$JBDLAB_VM_CACHE"
    plan 30 1
}

teardown() {
    common_teardown
}

# plan COUNT BLOCKS
plan() {
    cat >"$WORK/x.ini" <<END
[experiment]
name = vm
blocks = $2
probe = no
seed = 1
[disk slow]
size = 64M
model = hdd-7200
[disk fast]
size = 16M
model = ssd
directory = /nowhere/outside
[volume data]
device = slow
mkfs = ext3 -b 4096
[arm inline]
journal = inline,size=8M
[arm ssd]
journal = external=fast,size=8M
[workload w]
type = commit
kind = append-fsync create-nosync
count = $1
END
}

# without_root COMMAND...: as nobody, where we are root and the program and the cache can be
# read and written so.
without_root() {
    if [ "$(id -u)" = 0 ]; then
        chown -R nobody "$WORK"
        mkdir -p "$WORK/cache"
        cp -r "$JBDLAB_VM_CACHE"/kernel-* "$WORK/cache/"
        install -m 755 "$JBDLAB" "$WORK/jbdlab"
        cp -r "$BATS_TEST_DIRNAME/../../scripts/vm" "$WORK/vm"
        chown -R nobody "$WORK/cache"
        chmod -R a+rX "$WORK"
        (cd "$WORK" && JBDLAB_VM=$WORK/vm/run-vm JBDLAB_VM_CACHE=$WORK/cache HOME=$WORK \
            TMPDIR=$WORK setpriv --reuid nobody --clear-groups "$WORK/jbdlab" "$@")
    else
        "$JBDLAB" "$@"
    fi
}

is() {
    jq -e "$1" "$WORK/json" >/dev/null || { jq . "$WORK/json" | head -n 80; false; }
}

@test "an experiment runs in the machine, and root is not needed" {
    # The kernel once, as whoever runs this.
    "$BATS_TEST_DIRNAME/../../scripts/vm/build-vm" "$JBDLAB_VM_CACHE" "$JBDLAB" ||
        skip "no kernel can be had"
    without_root run --vm x.ini -o b --json >"$WORK/json" 2>"$WORK/said" ||
        { cat "$WORK/said"; false; }
    jq -e '.state == "complete" and .name == "vm"' "$WORK/b/bundle.json"
    jq -e '.before.host.cpu_model | contains("TCG")' "$WORK/b/environment.json"
    # Counts are real: every sync was flushed, with the external journal once more.
    is '[.summary[] | select(.kind == "audit") | .text] ==
        ["Sync audit: ok in all 2 phases that synced."]'
    is '.summary[0].kind == "machine" and (.summary[0].text | contains("mean nothing"))'
    [ "$(jq -s 'length' "$WORK/b/cells.jsonl")" = 2 ]
    grep -q "^- Emulated machine: times, rates and latencies mean nothing" "$WORK/b/report.txt"
    timeout 30 "$JBDLAB" report "$WORK/b" --format html >"$WORK/page.html"
    grep -q "emulated machine: times mean nothing" "$WORK/page.html"
    grep -q "<li class=\"machine warning\">Emulated machine" "$WORK/page.html"
    grep -q "making the volume data" "$WORK/said"
    run ! grep -q "/var/tmp/bundle" "$WORK/said"
    [ -z "$(find "$WORK" -maxdepth 1 -name '.run-vm*')" ]
}

@test "^C ends the run in the machine, and what was measured comes out" {
    local pid status=0
    plan 300 99
    "$JBDLAB" run --vm "$WORK/x.ini" -o "$WORK/b" --no-progress >"$WORK/out" 2>"$WORK/said" 3>&- &
    pid=$!
    until_done 250 grep -q "making the volume data" "$WORK/said"
    kill -INT "$pid"
    wait "$pid" || status=$?
    cat "$WORK/said"
    [ "$status" = 130 ]
    jq -e '.state == "interrupted"' "$WORK/b/bundle.json"
    [ -s "$WORK/b/state.log" ]
}
