# SPDX-License-Identifier: GPL-3.0-or-later
# The flush ledger counts what the kernel sends, to the last flush, byte and commit; "make
# ledger" does the same for every placement and mode.

bats_require_minimum_version 1.5.0
# bats file_tags=slow
load ../lib

setup() {
    need_loop
    common_setup
}

teardown() {
    common_teardown
}

@test "flushes, bytes and commits of the ledger are those of an independent trace" {
    run timeout 170 "$BATS_TEST_DIRNAME/../ledger/run" --short --count 12
    echo "$output"
    [ "$status" != 77 ] || skip "${output##*skip: }"
    [ "$status" = 0 ]
    # Two arms of ext3 and five of ext4, of five kinds each, under a heading.
    [ "$(grep -c ' exact$' <<<"$output")" = 35 ]
}
