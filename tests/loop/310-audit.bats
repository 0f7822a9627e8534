# SPDX-License-Identifier: GPL-3.0-or-later
# The flush ledger: what it counts is what the kernel sent, and a run whose syncs did not
# reach the device is stamped.

bats_require_minimum_version 1.5.0
load ../lib

setup() {
    need_loop
    common_setup
    LEASED=()
}

teardown() {
    local device
    for device in "${LEASED[@]}"; do "$JBDLAB" scratch unlease "$device"; done
    common_teardown
}

# lease DEVICE VARIABLE: a loop device made by loop_new VARIABLE, or a partition of it.
lease() {
    local file=$WORK/$2.img
    "$JBDLAB" scratch lease "$1" --yes --serial "${file: -8}"
    LEASED+=("$1")
}

# on DEVICE JOURNAL: 24 synced appends with the journal inside and on JOURNAL.  The bundle
# may not lie on the disk under test.
on() {
    mkdir "$WORK/ram"
    mount -t tmpfs none "$WORK/ram"
    cat >"$WORK/x.ini" <<END
[experiment]
blocks = 1
repeat = 0
[volume data]
device = $1
mkfs   = ext4 -b 4096
[arm inline]
journal = inline,size=8M
[arm outside]
journal = external=$2,size=8M
[workload append]
type = dd
bs = 4k
count = 24
sync = dsync
END
}

# experiment MKFS MOUNT: inline and external arm on plain scratch disks (a loop device has a
# volatile write cache and no FUA), 64 synced appends of 4 KiB in each.
experiment() {
    cat >"$WORK/x.ini" <<END
[experiment]
blocks = 1
repeat = ${REPEAT:-0}
$(disk_section slow 64M)
$(disk_section fast 16M)
[volume data]
device = slow
mkfs   = $1
mount  = $2
[arm inline]
journal = inline,size=8M
[arm outside]
journal = external=fast,size=8M
[workload append]
type = dd
bs = 4k
count = 64
sync = dsync
[workload over]
type = dd
bs = 4k
count = 64
sync = dsync
overwrite = yes
END
}

# audit_row ARM WORKLOAD: syncs, commits, data and journal flushes, verdict of its row.
audit_row() {
    "$JBDLAB" report "$WORK/b" --format csv --table audit | awk -F, -v a="$1" -v w="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["arm"] == a && $at["workload"] == w {
            print $at["syncs"], $at["commits"], $at["data_flushes"],
                $at["journal_flushes"] == "" ? "-" : $at["journal_flushes"],
                $at["verdict"] }'
}

# Flushes beyond those for the syncs come from the timer of the kernel: a few are allowed.
near() { # VALUE EXPECTED
    [ "$1" -ge "$2" ] && [ "$1" -le $(($2 + 8)) ] || { echo "$1 is not about $2"; false; }
}

@test "synced appends: two flushes inline, one and two with an external journal" {
    local fs syncs commits data journal verdict
    for fs in "ext3 -b 4096" "ext4 -b 4096"; do
        rm -rf "$WORK/b"
        experiment "$fs" data=ordered
        "$JBDLAB" run "$WORK/x.ini" --output "$WORK/b" --yes --no-progress
        read -r syncs commits data journal verdict < <(audit_row inline append)
        [ "$syncs" = 64 ] && [ "$verdict" = ok ]
        near "$commits" 64
        near "$data" 128
        read -r syncs commits data journal verdict < <(audit_row outside append)
        [ "$syncs" = 64 ] && [ "$verdict" = ok ]
        near "$commits" 64
        near "$data" 64
        near "$journal" 128
    done
    run -0 "$JBDLAB" audit "$WORK/b"
    [[ $output == *append/write*ok* ]]
    [ "$(awk 'length > 80' <<<"$output")" = "" ]
}

@test "data=journal: fsync still flushes the data disk" {
    local syncs commits data journal verdict
    experiment "ext3 -b 4096" data=journal
    "$JBDLAB" run "$WORK/x.ini" --output "$WORK/b" --yes --no-progress
    read -r syncs commits data journal verdict < <(audit_row outside append)
    [ "$verdict" = ok ]
    near "$journal" 128
    [ "$data" -ge 64 ]
}

@test "without barriers every synced phase is stamped FAILED, status 6" {
    experiment "ext4 -b 4096" barrier=0
    run -6 "$JBDLAB" run "$WORK/x.ini" --output "$WORK/b" --yes --no-progress
    [[ $output == *"without barriers"* ]]
    run -6 "$JBDLAB" audit "$WORK/b"
    [[ $(tr -s '\n ' ' ' <<<"$output") == *"failed: "*"(arm inline: append/write, "* ]]
    [ "$("$JBDLAB" audit "$WORK/b" --json | jq -r '.audit[] | select(.syncs > 0).verdict' | sort -u)" = failed ]
}

@test "a block that fails the audit is measured again, until that is no reason any more" {
    REPEAT=1 experiment "ext4 -b 1024" "barrier=0"
    sed -i -e 's/^blocks = 1/blocks = 2/' -e 's/^count = 64/count = 4/' "$WORK/x.ini"
    run -6 "$JBDLAB" run "$WORK/x.ini" --output "$WORK/b" --no-progress
    output=${output//$'\n'/ }
    [[ $output == *"block 1 is invalid (audit_failed) and measured again"* ]]
    [[ $output == *"block 1 was invalid in all of 2 attempts (audit_failed): it counts"* ]]
    [[ $output == *"2 arms, 2 of 2 blocks"* ]]
    [[ $output == *"measured again: 1 block (audit_failed)."* ]]
    [[ $output == *"NOT VALID by the rules"*"2 blocks (audit_failed)"* ]]
    # Three blocks were measured, each cell says why it is not valid.
    [ "$(jq -r '"\(.block) \(.slot) \(.attempt)"' "$WORK/b/cells.jsonl" | xargs)" = \
        "0 0 0 0 0 0 1 0 1 1 0 1 2 1 0 2 1 0" ]
    [ "$(jq -r '[.invalid[].rule] | unique[]' "$WORK/b/cells.jsonl" | sort -u)" = audit_failed ]
    "$JBDLAB" report "$WORK/b" --format csv --table invalid >"$WORK/csv"
    [ "$(grep -c '^1,1,.*,yes$' "$WORK/csv")" -ge 2 ]
    [ "$(grep -c '^1,2,.*,no$' "$WORK/csv")" -ge 2 ]
    # Only what counts is in the tables: two blocks of two arms.
    [ "$("$JBDLAB" report "$WORK/b" --format csv --table values | grep -c '^append,write,operations')" = 4 ]
}

@test "disks that write through need no flush and get none: n/a, and said" {
    local device
    loop_new DATA 64M
    loop_new JOURNAL 16M
    for device in "$DATA" "$JOURNAL"; do
        echo "write through" >"/sys/block/${device##*/}/queue/write_cache" ||
            skip "the write cache of a loop device cannot be set"
    done
    lease "$DATA" DATA
    lease "$JOURNAL" JOURNAL
    on "$DATA" "$JOURNAL"
    timeout 60 "$JBDLAB" run "$WORK/x.ini" --output "$WORK/ram/b" --yes --no-progress
    run -0 "$JBDLAB" audit "$WORK/ram/b" --json
    jq -e '.audit | length == 2 and all(.[]; .verdict == "not_applicable" and .syncs == 24 and
        .data_flushes == 0 and (.reason | contains("write-through")))' <<<"$output"
    # A disk of the two with a volatile cache is one that must be flushed.
    echo "write back" >"/sys/block/${DATA##*/}/queue/write_cache"
    rm -rf "$WORK/ram/b"
    timeout 60 "$JBDLAB" run "$WORK/x.ini" --output "$WORK/ram/b" --yes --no-progress
    "$JBDLAB" audit "$WORK/ram/b" --json | jq -e '.audit | all(.[]; .verdict == "ok")'
}

@test "flushes of partitions are counted on their disk, while it has nothing else to do" {
    local writer
    loop_new DISK 128M
    printf 'label: dos\nstart=2048, size=131072\nstart=135168, size=40960\n' |
        sfdisk -q --no-reread --no-tell-kernel "$DISK"
    addpart "$DISK" 1 2048 131072
    addpart "$DISK" 2 135168 40960
    udevadm settle 2>/dev/null || true
    [ -b "${DISK}p1" ] || skip "no nodes of partitions here"
    lease "${DISK}p1" DISK
    lease "${DISK}p2" DISK
    on "${DISK}p1" "${DISK}p2"
    timeout 60 "$JBDLAB" run "$WORK/x.ini" --output "$WORK/ram/b" --yes --no-progress
    "$JBDLAB" audit "$WORK/ram/b" --json | jq -e --arg d "${DISK##*/}" '
        (.audit | all(.[]; .verdict == "ok" and (.reason | contains("counted on " + $d)))) and
        (.audit | all(.[]; .data_flushes >= (if .arm == "inline" then 48 else 72 end) and
            .data_flushes <= 88))'
    # Somebody else on the same disk, all through phases of three seconds.
    echo 'rate = 8' >>"$WORK/x.ini"
    # shellcheck disable=SC2016 # the inner shell's
    timeout 250 bash -c 'while dd if=/dev/zero of="$1" bs=4k count=64 seek=30000 oflag=direct \
        conv=notrunc status=none; do :; done' - "$DISK" 3>&- &
    writer=$!
    rm -rf "$WORK/ram/b"
    timeout 60 "$JBDLAB" run "$WORK/x.ini" --output "$WORK/ram/b" --yes --no-progress || :
    kill "$writer"
    wait "$writer" || :
    "$JBDLAB" audit "$WORK/ram/b" --json | jq -e '.audit | all(.[]; .verdict == "unknown" and
        (.reason | contains("for others")))'
}

@test "a journal that is not where the plan says stops the run" {
    need_mount_namespace
    experiment "ext4 -b 4096" data=ordered
    # An account of other journals only.
    mkdir "$WORK/jbd2"
    # shellcheck disable=SC2016 # expanded by that shell
    run -4 timeout 60 unshare -m bash -c 'mount --bind "$1" /proc/fs/jbd2; shift; exec "$@"' - \
        "$WORK/jbd2" "$JBDLAB" run "$WORK/x.ini" --output "$WORK/b" --yes --no-progress ||
        { echo "$output"; return 1; }
    [[ $output == *"the kernel does not write the journal where the plan says"* ]]
    [ ! -e "$WORK/b/runs.jsonl" ]
}
