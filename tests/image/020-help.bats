# SPDX-License-Identifier: GPL-3.0-or-later
# What the program says of itself fits into a terminal of 80 columns.

load ../lib

setup() { common_setup; }
teardown() { common_teardown; }

# expect_narrow COMMAND...: no line of its output is longer than 80 columns, but for a path of
# the test, which nobody can break.
expect_narrow() {
    timeout 60 "$@" >"$WORK/all"
    sed -e "s|$WORK|/tmp|g" -e "s|$(realpath "$BATS_TEST_DIRNAME/../..")|/|g" \
        -e "s|$BATS_TEST_DIRNAME|/tests|g" "$WORK/all" >"$WORK/out"
    [ -s "$WORK/out" ]
    ! awk 'length > 80 { print; bad = 1 } END { exit !bad }' "$WORK/out"
}

@test "the help of every command, the keys and the list of workloads fit into 80 columns" {
    local command
    expect_narrow "$JBDLAB" --help
    expect_narrow "$JBDLAB" keys
    expect_narrow "$JBDLAB" bench --list
    "$JBDLAB" --help |
        awk '/^Commands:/ { here = 1; next } /^$/ { here = 0 } here { print $1 }' >"$WORK/commands"
    [ "$(wc -l <"$WORK/commands")" -gt 8 ]
    while read -r command; do
        expect_narrow "$JBDLAB" "$command" --help
    done <"$WORK/commands"
}

# on_terminal WORD...: what the program shows on a terminal, in $WORK/screen.
on_terminal() {
    # shellcheck disable=SC2016 # the inner shell's
    timeout 130 "$BATS_TEST_DIRNAME/../terminal.py" 120 '' '' bash -c \
        'stty cols 80; exec "$0" "$@"' "$JBDLAB" "$@" | tr -d '\r' >"$WORK/screen"
}

@test "lists for people and plans fit into a terminal of 80 columns" {
    local words
    for words in "scratch models" "import --list" "show -o help" "report --columns help" \
        workloads "workloads pgbench"; do
        # shellcheck disable=SC2086 # a command and its words
        on_terminal $words
        expect_narrow cat "$WORK/screen"
    done
    for words in "$BATS_TEST_DIRNAME"/../../configs/suites/*.ini; do
        on_terminal run "$words" --dry-run
        sed '1,/^block 1:/{/^block 1:/!d}' "$WORK/screen" >"$WORK/plan"
        expect_narrow cat "$WORK/plan"
    done
}

@test "a line of progress fits into the terminal, so that the next one replaces it" {
    mkdir "$WORK/d"
    timeout 60 "$BATS_TEST_DIRNAME/../terminal.py" 30 '' '' bash -c 'stty cols 24; exec "$@"' - \
        "$JBDLAB" bench "$WORK/d" -w dd -s bs=4k -s rate=1000 -s runtime=3s >"$WORK/screen"
    tr '\r' '\n' <"$WORK/screen" | sed -n 's/^\x1b\[K//p' |
        grep ' %,' >"$WORK/progress"
    cat "$WORK/progress"
    [ -z "$(awk 'length > 23' "$WORK/progress")" ]
}

@test "on a terminal, warnings break between words, and are a line each elsewhere" {
    local old=import/published/ext3-ssd-journal-tiobench-dd.txt
    cd "$BATS_TEST_DIRNAME/.."
    on_terminal compare $old
    sed '/^A: /,$d' "$WORK/screen" >"$WORK/warnings"
    grep -q '^  ' "$WORK/warnings"
    expect_narrow cat "$WORK/warnings"
    run "$JBDLAB" compare $old
    grep -Eq '^jbdlab: warning: .{70}' <<<"$output"
    ! grep '^  ' <<<"${output%%A: *}" || false
}

# says STATUS TEXT WORD...: the program called with these words.
says() {
    run timeout 60 "$JBDLAB" "${@:3}"
    echo "$output"
    [ "$status" = "$1" ]
    [[ "$output" == *"$2"* ]]
}

@test "what was mistyped is said with what was probably meant" {
    says 2 'unknown option --versoin; did you mean --version?' --versoin
    says 2 'unknown option --colums; did you mean --columns?' show --colums=x
    says 2 'unknown option --dryrun; did you mean --dry-run?' run x.ini --dryrun
    says 2 'unknown option -Z' -Z
    says 2 'no command was given' --quiet
    says 2 'did you mean "move"?' mvoe
    says 2 'dd has no key "cuont"; did you mean "count"?' bench . -w dd -s cuont=1
}

@test "an operand that is missing is asked for, and a missing file needs no help" {
    local command
    for command in advise audit check move recover report witness; do
        says 2 "none was given" $command
        [[ "$output" == *"Try \"jbdlab $command --help\"."* ]]
    done
    says 2 'takes one device, not 2' recover a b
    says 2 "$WORK/none: No such file or directory" report "$WORK/none"
    [[ "$output" != *Try* ]]
}

@test "facts fit into a terminal of 80 columns, and are a line each for programs" {
    truncate -s 8M "$WORK/volume"
    mke2fs -q -t ext4 "$WORK/volume"
    timeout 60 "$JBDLAB" show "$WORK/volume" >"$WORK/out"
    grep -q '^Features: .* metadata_csum' "$WORK/out"
    cd "$WORK"
    on_terminal show volume
    grep -q '^Features: ' "$WORK/screen"
    grep -q '^ \{21\}.*metadata_csum' "$WORK/screen"
    expect_narrow cat "$WORK/screen"
}
