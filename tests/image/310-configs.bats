# SPDX-License-Identifier: GPL-3.0-or-later
# The experiment files in configs/ are understood, need no privilege and no device to be
# looked at, and the template names every key that there is.

load ../lib

setup() {
    common_setup
    CONFIGS=$BATS_TEST_DIRNAME/../../configs
}

teardown() {
    common_teardown
}

@test "every experiment file is understood, and its plan is a plan" {
    local file
    for file in "$CONFIGS"/*.ini "$CONFIGS"/suites/*.ini; do
        echo "$file"
        "$JBDLAB" run --dry-run "$file" >"$WORK/out"
        grep -q '^plan:  SHA-256 [0-9a-f]\{64\}$' "$WORK/out"
        # What is printed before the order of blocks is the plan itself.
        sed '/^block 1:/,$d' "$WORK/out" >"$WORK/plan.ini"
        "$JBDLAB" run --dry-run --json "$WORK/plan.ini" | jq -r .plan >"$WORK/again"
        diff <(cat -s "$WORK/plan.ini") <(cat -s "$WORK/again")
    done
}

@test "the template names every key" {
    "$JBDLAB" keys | awk '
        /^\[/ { section = $1 " " $2; sub(/ NAME/, "", section) }
        /^  [a-zA-Z_.]+ =/ { print $1 }' | sort -u >"$WORK/keys"
    [ "$(wc -l <"$WORK/keys")" -gt 20 ]
    while read -r key; do
        grep -qE "^(; )?$key +=" "$CONFIGS/template.ini" || { echo "missing: $key"; false; }
    done <"$WORK/keys"
}

@test "every key of the template is one that is known" {
    # With all comments of the form "; key = value" or "; [section]" taken away it still is
    # a plan.
    sed -e '/include/d' -e 's/^; \([a-zA-Z_.]* *=\|\[\)/\1/' -e 's/ *;.*//' \
        "$CONFIGS/template.ini" >"$WORK/all.ini"
    "$JBDLAB" run --dry-run "$WORK/all.ini" >"$WORK/out"
    [ "$(grep -c ' = ' "$WORK/all.ini")" -gt 30 ]
}

@test "the demo compares two placements with journals of equal size" {
    "$JBDLAB" run --dry-run "$CONFIGS/demo.ini" >"$WORK/out"
    grep -qx 'journal = inline,size=64M' "$WORK/out"
    grep -qx 'journal = external=fast,size=64M' "$WORK/out"
    grep -qx 'block 1: .*' "$WORK/out"
    grep -qx 'block 2: .*' "$WORK/out"
}

@test "a dry run says that preconditioning comes on top" {
    sed 's/^\[experiment\]/&\nprecondition = 1min/' "$CONFIGS/demo.ini" >"$WORK/x.ini"
    "$JBDLAB" run --dry-run "$WORK/x.ini" >"$WORK/out"
    grep -A1 -x 'first: each device is filled twice, then written at random for' "$WORK/out" |
        grep -qx '       5min 0s to 25min 0s, which is not in that time'
    "$JBDLAB" run --dry-run "$CONFIGS/demo.ini" >"$WORK/out"
    ! grep -q '^first:' "$WORK/out" || false
}

@test "a dry run says what its blocks could show" {
    printf '%s\n' '[experiment]' 'blocks = 6' 'seed = 1' '[volume v]' 'device = /dev/sdz9' \
        '[grid]' 'design = full' 'journal = inline none' 'data = ordered journal' \
        '[workload dd]' 'type = dd' >"$WORK/x.ini"
    "$JBDLAB" run --dry-run "$WORK/x.ini" >"$WORK/out"
    cat "$WORK/out"
    grep -q '^cells: 18, each writes and reads ' "$WORK/out"
    grep -qx 'left out 1 combination of the grid: a volume without journal has no .*' "$WORK/out"
    # (t(0.975, 5) + t(0.8, 5)) / sqrt(6) = 1.425 times the spread, as a ratio.
    grep -qx '       differences of 2.9 %, 7.4 %, 15.3 %' "$WORK/out"
    "$JBDLAB" run --dry-run --json "$WORK/x.ini" >"$WORK/json"
    jq -e '.detectable[1] | (.spread - 0.05 | fabs) < 1e-9 and (.ratio * 1000 | floor) == 1073' "$WORK/json"
    jq -e '.notes | startswith("left out 1 combination")' "$WORK/json"
    sed -i 's/^blocks.*/blocks = 5/' "$WORK/x.ini"
    "$JBDLAB" run --dry-run "$WORK/x.ini" | grep -qx 'shows: nothing about noise: .* 6 blocks'
    "$JBDLAB" run --dry-run --json "$WORK/x.ini" | jq -e '.detectable == []'
}

@test "a fault in a file is named with file and line, status 2" {
    printf '[experiment]\nblock = 3\n' >"$WORK/x.ini"
    run "$JBDLAB" run --dry-run "$WORK/x.ini"
    echo "$output"
    [ "$status" = 2 ]
    [[ "$output" == *"x.ini:2: unknown key \"block\" in [experiment]; did you mean \"blocks\"?"* ]]
    run "$JBDLAB" run --dry-run "$WORK/none.ini"
    [ "$status" = 2 ]
    run "$JBDLAB" run --dry-run
    [ "$status" = 2 ]
    run "$JBDLAB" run --dry-run "$WORK"
    [ "$status" = 2 ]
}

@test "the space that is needed is that of all volumes together" {
    run "$JBDLAB" run "$BATS_TEST_DIRNAME/../../configs/suites/multi-disk.ini" --dry-run
    [ "$status" -eq 0 ]
    [[ "$output" == *" free, spread over the volumes"* ]]
}
