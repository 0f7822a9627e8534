#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Every option and every key with words that mean nothing: no crash, no wait, the status for
# wrong words, and one message.

# bats runs each test in a subshell.
# shellcheck disable=SC2030,SC2031

load ../lib.bash

# Nothing, no number, below and beyond all numbers, a control; and LONG.
WORDS=('' x -1 99999999999999999999 1e999 nan $'\e[31m' '%s%n')

setup() {
    common_setup
    cd "$WORK" || return 1
    mkdir d
    LONG=$(printf 'long%.0s' {1..2000})
}

teardown() {
    cd /
    common_teardown
}

# answers WHAT COMMAND...: it ends, by itself, and says at most one thing that is wrong.
answers() {
    local status=0
    timeout 60 "${@:2}" </dev/null >out 2>err || status=$?
    if [ $status -gt 7 ] || { [ $status != 0 ] && [ $status != 5 ] &&
        [ "$(grep -cE '^jbdlab: ([^w]|w[^a])' err)" != 1 ]; } ||
        grep -q 'Sanitizer\|runtime error' err || grep -q $'\e' err; then
        echo "$1: status $status:"
        head -c 2000 err | cat -v
        return 1
    fi
    STATUS=$status
}

# options COMMAND: those that take a value.
options() {
    "$JBDLAB" "$1" --help | awk '/^Options of every/ { exit }
        match($0, /--[a-z-]+ [A-Z]/) { print substr($0, RSTART, RLENGTH - 2) }'
}

# What an option stands beside; nothing of it writes to anything.
operands() {
    case $1 in
    bench) echo "$WORK/d --list" ;;
    tiobench) echo "--dir $WORK/none" ;;
    run) echo "$WORK/none.ini --dry-run" ;;
    report | audit | compare) echo "$BATS_TEST_DIRNAME/../report/in/two-arms" ;;
    import) echo "$WORK/none" ;;
    scratch) echo "models" ;;
    witness) echo "$WORK/none" ;;
    check) echo "$WORK/none --to none" ;;
    move) echo "$WORK/none --to none --dry-run" ;;
    *) echo "$WORK/none" ;;
    esac
}

# bats test_tags=slow
@test "every option" {
    local command option word n=0 before
    before=$(ls)
    for command in advise bench check check-disks compare import move recover report run scratch \
        show tiobench witness; do
        for option in $(options $command); do
            for word in "${WORDS[@]}" "$LONG"; do
                # shellcheck disable=SC2046 # words
                answers "$command $option ${word:0:40}" \
                    "$JBDLAB" $command $(operands $command) "$option=$word"
                n=$((n + 1))
            done
            answers "$command $option" "$JBDLAB" $command "$option"
        done
    done
    echo "# $n" >&3
    [ $n -ge 300 ]
    [ "$(ls)" = "$(printf '%s\nerr\nout' "$before" | sort)" ]
}

# plan SECTION LINE: with this line in the section, "workload TYPE" among them.
plan() {
    local section=$1 type=dd
    case $section in
    workload\ *) type=${section#workload } section=workload ;;
    esac
    {
        echo '[experiment]'
        [ "$section" != experiment ] || echo "$2"
        printf '%s\n' '[disk d]' 'size = 64M' 'directory = /var/tmp'
        [ "$section" != disk ] || echo "$2"
        printf '%s\n' '[volume v]' 'device = d'
        [[ $2 == mkfs* ]] || echo 'mkfs = ext4'
        [ "$section" != volume ] || echo "$2"
        printf '%s\n' '[arm a]' 'journal = none' '[arm b]' 'journal = inline'
        [ "$section" != arm ] || echo "$2"
        printf '%s\n' '[workload w]' "type = $type"
        [ "$section" != workload ] || echo "$2"
    } >x.ini
}

# bats test_tags=slow
@test "every key" {
    local section key word n=0 refused=0
    plan none ""
    answers "the plan as it is" "$JBDLAB" run x.ini --dry-run
    [ "$STATUS" = 0 ]
    while IFS='|' read -r section key; do
        for word in '' x -1 99999999999999999999 $'\e[31m' "$LONG"; do
            plan "$section" "$key = $word"
            answers "$section $key = ${word:0:40}" "$JBDLAB" run x.ini --dry-run
            n=$((n + 1))
            [ "$STATUS" = 0 ] || {
                refused=$((refused + 1))
                [ "$STATUS" = 2 ] || [ "$STATUS" = 3 ] || { cat err; return 1; }
                grep -q 'x\.ini' err || { cat err; return 1; }
            }
        done
    done < <("$JBDLAB" keys | awk '
        /^\[/ { section = $1; gsub(/[][]/, "", section) }
        /^\[workload.*type = / { sub(/.*type = /, ""); sub(/[^a-z].*/, ""); section = "workload " $0 }
        /^  [a-z_.]+ = / && section { print section "|" $1 }')
    echo "# $n, $refused refused" >&3
    [ $n -ge 500 ] && [ $refused -ge 200 ] && [ $refused -lt $n ]
}
