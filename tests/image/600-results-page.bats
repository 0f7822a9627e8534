# SPDX-License-Identifier: GPL-3.0-or-later
# jbdlab-results(5) names every key of every JSON text that needs no device, and no key that
# the program does not have.  tests/loop/600-results-page.bats does the rest.

bats_require_minimum_version 1.5.0
load ../lib

PAGE=$BATS_TEST_DIRNAME/../../src/man/jbdlab-results.5

setup() {
    common_setup
    mkdir "$WORK/d"
}

teardown() { common_teardown; }

# in_page HEADING... -- FILE...
in_page() {
    timeout 60 "$BATS_TEST_DIRNAME/../pages.py" keys "$PAGE" "$@"
}

# prints STATUS HEADING COMMAND...: what it prints is below that heading.
prints() {
    local status=0
    timeout 60 "$JBDLAB" "${@:3}" --json >"$WORK/json" 2>"$WORK/messages" || status=$?
    cat "$WORK/messages"
    [ $status = "$1" ]
    in_page "$2" -- "$WORK/json"
}

@test "what the page names, the program knows" {
    timeout 60 "$BATS_TEST_DIRNAME/../pages.py" known "$PAGE" "$BATS_TEST_DIRNAME/../../src"
}

@test "a check of the page finds what is missing" {
    echo '{"schema": "jbdlab-bundle/1", "nonsense": 1}' >"$WORK/bundle.json"
    run -1 in_page bundle.json -- "$WORK/bundle.json"
    [[ "$output" == *nonsense* ]]
    echo '{"schema": "jbdlab-bundle/99"}' >"$WORK/bundle.json"
    run -1 in_page bundle.json -- "$WORK/bundle.json"
}

@test "every key of a stored bundle is in the page" {
    local file b=$BATS_TEST_DIRNAME/../report/in/real
    for file in bundle.json runs.jsonl traces.jsonl environment.json; do
        in_page $file -- "$b/$file"
    done
    in_page cells.jsonl environment.json -- "$b/cells.jsonl"
}

@test "what commands print is in the page" {
    local table=$BATS_TEST_DIRNAME/../import/published/ext3-ssd-journal-tiobench-dd.txt
    printf '[experiment]\nblocks = 6\nseed = 1\n[volume v]\ndevice = /dev/null\n' >"$WORK/x.ini"
    printf '[arm %s]\njournal = %s\n' a inline b none >>"$WORK/x.ini"
    printf '[workload w]\ntype = dd\n' >>"$WORK/x.ini"
    prints 0 "run --dry-run" run "$WORK/x.ini" --dry-run
    prints 0 runs.jsonl bench "$WORK/d" --workload commit --set count=10
    prints 0 runs.jsonl tiobench --target "$WORK/d" --size 4 --threads 1 --random 10
    prints 5 compare compare "$table"
    prints 5 "compare --hosts" compare --hosts "$BATS_TEST_DIRNAME/../report/in/two-arms"
    prints 0 workloads workloads
    timeout 60 "$JBDLAB" import "$table" --json 2>/dev/null >"$WORK/json"
    in_page import runs.jsonl -- "$WORK/json"
    timeout 60 "$JBDLAB" import "$table" --output "$WORK/b" 2>/dev/null
    in_page environment.json import -- "$WORK/b/environment.json"
    prints 0 "scratch stats, scratch models" scratch models
    truncate -s 64M "$WORK/v"
    mke2fs -q -t ext4 "$WORK/v"
    prints 0 show show "$WORK/v"
    prints 0 check check "$WORK/v" --to none
    prints 3 check check "$WORK/v" --to external=/dev/null
    prints 0 move move "$WORK/v" --to none --state-dir "$WORK/state" --verify none
    mkdir "$WORK/d/w"
    timeout 60 "$JBDLAB" witness "$WORK/d/w" --time 1s >"$WORK/acks"
    prints 0 "witness --verify" witness "$WORK/d/w" --verify --log "$WORK/acks"
}

@test "what has no JSON says so" {
    local words
    for words in "bench --list" "import --list" "scratch destroy --all" "scratch wake x" \
        "scratch fault x none" \
        "scratch lease x" "scratch unlease x" keys; do
        # shellcheck disable=SC2086 # a command and its words
        run -2 timeout 60 "$JBDLAB" $words --json
        [[ "$output" == *"has no --json"* ]]
    done
}
