# SPDX-License-Identifier: GPL-3.0-or-later
# What a cell records of its surroundings: who else was at work on the disks, where files and
# journal lay, what changed, what the kernel said.

# shellcheck disable=SC2154 # output is set by bats

bats_require_minimum_version 1.5.0
load ../lib

setup() {
    need_loop
    common_setup
    writer=
}

teardown() {
    [ -z "$writer" ] || { kill "$writer" && wait "$writer"; } 2>/dev/null || true
    [ -z "$DATA" ] || "$JBDLAB" scratch unlease "$DATA" 2>/dev/null || true
    common_teardown
}

# experiment: an existing volume of 40 MiB on a leased disk of 64, so that there is room
# behind it for others.
experiment() {
    mkdir "$WORK/t"
    mount -t tmpfs tmpfs "$WORK/t"
    loop_new DATA 64M
    "$JBDLAB" scratch lease "$DATA" --serial DATA.img --yes
    mke2fs -q -F -t ext4 -b 4096 -E lazy_itable_init=0 "$DATA" 40M
    cat >"$WORK/x.ini" <<END
[experiment]
blocks = 1
repeat = 0
$(disk_section fast 16M)
[volume data]
device = $DATA
[arm inline]
journal = inline,size=8M
[arm outside]
journal = external=fast,size=8M
[workload append]
type = dd
bs = 4k
count = 200
sync = dsync
rate = 200
END
}

# A workload that lasts until it is told to end; see held_program.
held() {
    held_program
    echo "$HELD" >>"$WORK/x.ini"
}

# The bundle must not lie on the disk that is measured.
run_it() {
    rm -rf "$WORK/t/b"
    timeout 200 "$JBDLAB" run "$WORK/x.ini" --output "$WORK/t/b" --yes --no-progress
}

# foreign: bytes that others wrote to the data disk, in all cells.
foreign() {
    jq -s '[.[].devices[] | select(.role == "data").foreign_write_bytes] | add' \
        "$WORK/t/b/cells.jsonl"
}

@test "a foreign writer beside the run is noticed, and none where there is none" {
    experiment
    sed -i -e '/^.disk/,/^directory/d' -e '/^.arm outside/,/^journal/d' "$WORK/x.ini"
    run_it
    [ "$(foreign)" = 0 ]
    # Behind the end of the volume, in the middle of the cell.
    held
    hold 1
    run_it 3>&- &
    writer=$!
    until_held 1
    for _ in 1 2 3; do
        dd if=/dev/zero of="$DATA" bs=1M seek=48 count=8 oflag=direct conv=notrunc status=none ||
            skip "this kernel lets nobody write to a mounted device"
    done
    release
    wait "$writer"
    writer=
    [ "$(foreign)" -gt 4000000 ]
    "$JBDLAB" audit "$WORK/t/b" >"$WORK/audit"
    cat "$WORK/audit"
    grep -q '^foreign_io: Somebody else' "$WORK/audit"
    grep -q '^volume data: /dev/loop.* unknown' "$WORK/audit"
    [ -z "$(awk 'length > 80' "$WORK/audit")" ]
    "$JBDLAB" report "$WORK/t/b" | grep -q '^foreign_io: '
    "$JBDLAB" audit "$WORK/t/b" --json | jq -e --arg disk "${DATA#/dev/}" '
        any(.confounds[]; .id == "foreign_io" and (.detail | contains($disk))) and
        any(.devices[]; .disk == $disk and .foreign_write_bytes > 4000000) and
        ([.places[] | select(.workload == "append")] | length == 1 and .[0].mean > 0 and
            .[0].journal > 0)'
}

@test "positions, superblocks and readings are in the record of a cell" {
    experiment
    sed -i -e 's/^count = 200/count = 40/' -e '/^rate/d' "$WORK/x.ini"
    run_it
    jq -se 'length == 2 and all(
        (.files[0] | .workload == "append" and .place.files == 1 and
            .place.bytes == 163840 and .place.first_byte > 0 and
            .place.last_byte <= 41943040) and
        (.volumes[0].superblock | .journal_bytes == 8388608 and .block_bytes == 4096 and
            (.features | contains("has_journal")) and
            (.journal_features | contains("journal_64bit"))) and
        .different_from_start == [] and .changed == [] and
        (.readings_before.host.load | type) == "string")' \
        "$WORK/t/b/cells.jsonl"
    jq -se 'map(select(.arm == "inline").volumes[0].journal_first_byte > 0) == [true]' \
        "$WORK/t/b/cells.jsonl"
    jq -e '.before.host | .kernel and .e2fsprogs and .dirty_ratio and
        (.readings.memory_available_bytes > 0)' "$WORK/t/b/environment.json"
}

@test "what is changed and what the kernel says during a run is in the record" {
    local queue value
    experiment
    queue=/sys/block/${DATA#/dev/}/queue/read_ahead_kb
    value=$(cat "$queue")
    held
    hold 2
    run_it 3>&- &
    writer=$!
    # In the second cell.
    until_held 2
    echo $((value + 4)) >"$queue"
    echo "<4>a complaint of $WORK" >/dev/kmsg
    release
    wait "$writer"
    writer=
    echo "$value" >"$queue"
    jq -se --argjson was "$value" '[.[] | (.changed[], .different_from_start[]) |
        select(.fact == "devices/volume data/queue/read_ahead_kib")][0] |
        .before == $was and .after == $was + 4' "$WORK/t/b/cells.jsonl"
    # Readable for root, unless dmesg is restricted further.
    if jq -se 'all(.kernel)' "$WORK/t/b/cells.jsonl"; then
        jq -se --arg w "$WORK" 'any(.[].kernel.lines[]; .level == 4 and
            (.text | contains("a complaint of " + $w)))' "$WORK/t/b/cells.jsonl"
        "$JBDLAB" report "$WORK/t/b" | grep -q '^kernel_messages: '
    fi
    "$JBDLAB" report "$WORK/t/b" | tr '\n' ' ' | tr -s ' ' |
        grep -q "changes: .*read_ahead_kib from $value to $((value + 4))"
}

@test "what speaks against a plan is said before it runs, and refused when it is strict" {
    local before words=(few_blocks journal_sizes shared_disk dd_unsynced)
    # What lies in memory lies on no disk.
    [ "$(stat -f -c %T "$WORK")" != tmpfs ] || words=(few_blocks journal_sizes dd_unsynced)
    experiment
    sed -i -e 's/^count = 200/count = 10/' -e '/^rate/d' -e 's/^sync = dsync/sync = none/' \
        -e 's/size=8M$/size=4M/;t' "$WORK/x.ini"
    sed -i '/^.arm outside/,/^journal/s/size=4M/size=8M/' "$WORK/x.ini"
    sed 's/^blocks = 1/blocks = 1\nstrict = yes/' "$WORK/x.ini" >"$WORK/strict.ini"
    before=$(sha256sum <"$WORK/DATA.img")
    run -3 timeout 60 "$JBDLAB" run "$WORK/strict.ini" --output "$WORK/t/s" --yes --no-progress
    echo "$output"
    for word in "${words[@]}"; do
        grep -q "^$word: " <<<"$output"
    done
    [ ! -e "$WORK/t/s" ]
    [ "$(sha256sum <"$WORK/DATA.img")" = "$before" ]
    run_it 2>"$WORK/err"
    for word in "${words[@]}"; do
        grep -q "warning: $word: " "$WORK/err"
    done
    # And again in the report, of what was measured.
    "$JBDLAB" audit "$WORK/t/b" --json |
        jq -e '[.confounds[].id] | contains(["journal_sizes", "dd_unsynced"])'
}
