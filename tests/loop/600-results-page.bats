# SPDX-License-Identifier: GPL-3.0-or-later
# jbdlab-results(5) names every file of a bundle and every key in it, of an experiment that
# leaves as much as possible.

load ../lib

PAGE=$BATS_TEST_DIRNAME/../../src/man/jbdlab-results.5

setup() {
    need_loop
    need_mount_namespace
    common_setup
    export TMPDIR=$WORK
}

teardown() { common_teardown; }

in_page() {
    timeout 60 "$BATS_TEST_DIRNAME/../pages.py" keys "$PAGE" "$@"
}

experiment() {
    cat >"$WORK/x.ini" <<END
[experiment]
blocks = 1
warmup = 1
trace  = yes
precondition = 100ms
$(disk_section slow 128M ssd)
$(disk_section fast 16M)
[volume data]
device = slow
mkfs   = ext4 -b 1024
[arm inline]
journal  = inline,size=4M
setup    = true
teardown = true
levels   = journal=inline
[arm ssd]
journal = external=fast,size=4M
levels  = journal=external
[workload commit]
type  = commit
count = 20
[workload own]
type     = command
exec     = sh -c "echo 3; echo why >&2"
metric.n = count higher regex ([0-9]+)
END
}

@test "every file and every key of a bundle is in the page" {
    local file
    experiment
    timeout 200 "$JBDLAB" run "$WORK/x.ini" --output "$WORK/b" --json >"$WORK/report.json"
    for file in "$WORK"/b/*; do
        file=${file#"$WORK/b/"}
        grep -qxE "\.SS ($file|$file/)" "$PAGE" || { echo "$file is not in the page"; return 1; }
    done
    # shellcheck disable=SC2013 # words
    for file in $(sed -n 's/^\.SS \([a-z]*\.[a-z]*\)$/\1/p' "$PAGE"); do
        [ -s "$WORK/b/$file" ]
    done
    [ -s "$WORK/b/output/block1-ssd-own/exec.stderr" ]
    for file in bundle.json runs.jsonl traces.jsonl environment.json state.log status.json; do
        in_page $file -- "$WORK/b/$file"
    done
    in_page cells.jsonl environment.json -- "$WORK/b/cells.jsonl"
    sed "s/[\\]//g" "$PAGE" | grep -q "$(jq -r .schema "$WORK/report.json")"
}

@test "what commands print of devices is in the page" {
    loop_new V 64M
    loop_new A 16M
    mke2fs -q -t ext4 "$V"
    timeout 60 "$JBDLAB" move "$V" --to "external=$A" --state-dir "$WORK/state" --json \
        >"$WORK/json"
    in_page move -- "$WORK/json"
    timeout 60 "$JBDLAB" show "$V" "$A" --json >"$WORK/json"
    in_page show -- "$WORK/json"
    mkdir "$WORK/mnt"
    mount "$V" "$WORK/mnt"
    timeout 60 "$JBDLAB" advise "$V" --seconds 1 --json >"$WORK/json"
    umount "$WORK/mnt"
    in_page advise -- "$WORK/json"
    timeout 60 "$JBDLAB" scratch create --name "page$$" --size 16M --model ssd \
        --directory "$WORK" --json >"$WORK/json"
    in_page "scratch create, scratch list" -- "$WORK/json"
    timeout 60 "$JBDLAB" scratch list --json >"$WORK/list"
    timeout 60 "$JBDLAB" scratch stats "page$$" --json >"$WORK/stats"
    timeout 60 "$JBDLAB" scratch destroy "page$$"
    in_page "scratch create, scratch list" -- "$WORK/list"
    in_page "scratch stats, scratch models" -- "$WORK/stats"
}
