# SPDX-License-Identifier: GPL-3.0-or-later
# The examples of README.md and of the manual that need no root do what they say; those that
# do are in tests/loop/610-examples.bats.

bats_require_minimum_version 1.5.0
load ../lib
load ../examples

setup() { example_setup; }
teardown() { common_teardown; }

@test "every example has a name, and every name a test" {
    local name
    "$BATS_TEST_DIRNAME/../examples.py" list "${DOCUMENTS[@]}" >"$WORK/names"
    [ "$(sort "$WORK/names" | uniq -d)" = "" ]
    while read -r name; do
        grep -qE "(play|show_example) $name( |;|\$|\))" "$BATS_TEST_DIRNAME/../"*/*.bats ||
            { echo "nothing runs the example $name"; return 1; }
    done <"$WORK/names"
}

@test "an example that does not do what it says is found" {
    # shellcheck disable=SC2016 # a block of Markdown
    printf '<!-- example: %s -->\n```\n%s\n```\n' \
        good $'$ echo 12 MiB/s; echo b\n13 MiB/s\n...' \
        other $'$ echo a\nb' less $'$ echo a; echo b\na' fails '$ false' >"$WORK/x.md"
    DOCUMENTS=("$WORK/x.md")
    play good
    run -1 play other
    run -1 play less
    run -1 play fails
    play fails 1
    # shellcheck disable=SC2016
    printf '```\n$ true\n```\n' >>"$WORK/x.md"
    run -1 "$BATS_TEST_DIRNAME/../examples.py" list "$WORK/x.md"
}

@test "old tables" { play old-table 1 5; }

@test "plans of the cookbook" {
    play server
    play database
    play sizes
}

@test "measuring without root" { play bench; }

@test "completion" { play completion; }

@test "reading a bundle with jq" {
    command -v jq >/dev/null || skip "needs jq"
    ln -s "$(realpath "$REPOSITORY/tests/report/in/real")" "$WORK/x/mine"
    play jq
}

@test "the experiment files of the manual are understood" {
    local arms
    show_example jbdlab.ini >"$WORK/x.ini"
    "$JBDLAB" run "$WORK/x.ini" --dry-run
    show_example first.ini >"$WORK/x.ini"
    "$JBDLAB" run "$WORK/x.ini" --dry-run
    show_example grid >"$WORK/x.ini"
    printf '[volume v]\ndevice = /dev/v\nmkfs = ext4\n[workload w]\ntype = dd\n' >>"$WORK/x.ini"
    arms=$("$JBDLAB" run "$WORK/x.ini" --dry-run --json | jq -r '.order[0] | sort | join(" ")')
    # As the page says below it.
    [ "$arms" = "1G 400M base external jdata none writeback" ]
}
