# SPDX-License-Identifier: GPL-3.0-or-later
# What the program says of itself fits into a terminal of 80 columns.

load ../lib

setup() { common_setup; }
teardown() { common_teardown; }

# expect_narrow COMMAND...: no line of its output is longer than 80 columns.
expect_narrow() {
    timeout 60 "$@" >"$WORK/out"
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
