# SPDX-License-Identifier: GPL-3.0-or-later
# jbdlab import: outputs of other programs, as they were printed and as they were
# published, give the rows and warnings that they should; what holds no result is refused
# with the reason; what was read can be written as a bundle.

load ../lib

setup() {
    common_setup
    IN=$BATS_TEST_DIRNAME/../import
    PUBLISHED=$IN/published/ext3-ssd-journal-tiobench-dd.txt
}

teardown() {
    common_teardown
}

# metric FILE ARM PHASE METRIC [OPTION...]: the value in base units.
metric() {
    timeout 20 "$JBDLAB" import --json -q "${@:5}" "$1" 2>/dev/null |
        jq -r --arg arm "$2" --arg phase "$3" --arg metric "$4" '
            .files[].arms[] | select($arm == "" or .name == $arm) | .runs[].phases[]
            | select(.name == $phase) | .metrics[] | select(.name == $metric) | .value'
}

# near VALUE EXPECTED: within a millionth.
near() {
    awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= b * 1e-6) }' ||
        { echo "$1 is not $2"; return 1; }
}

# says FILE WORDS: each of "a; b" is among the messages about the file in $WORK/err.
says() {
    local word bad=0
    while read -r word; do
        grep -F "$1" "$WORK/err" | grep -qF -- "$word" || { echo "$1: no \"$word\""; bad=1; }
    done <<<"${2//; /$'\n'}"
    return $bad
}

@test "every sample imports as the table says" {
    local file status rest words bad=0
    cd "$IN"
    grep -v '^#' table | awk '$2 == 0 { print $1 }' |
        xargs timeout 60 "$JBDLAB" import --json --verbose >"$WORK/out" 2>"$WORK/err"
    jq -r '.files[] | [.file, 0, .rows, .malformed,
        ([.notes[] | select(.kind == "warning")] | length), (.arms | length)]
        | join(" ")' "$WORK/out" >"$WORK/found"
    diff <(grep -v '^#' table | awk '$2 == 0 { print $1, $2, $3, $4, $5, $6 }') "$WORK/found"
    while read -r file status rest; do
        [ "$status" = 0 ] || {
            run timeout 20 "$JBDLAB" import --json "$file"
            echo "$output" >>"$WORK/err"
            [ "$status" = 2 ] || { echo "$file is not refused"; bad=1; }
        }
        words=${rest#*|}
        [ "$words" = "$rest" ] || says "$file" "${words# }" || bad=1
    done < <(grep -v '^#' table)
    [ "$bad" = 0 ]
}

@test "what holds for several rows is said once" {
    run timeout 20 "$JBDLAB" import "$IN/published/ext3-ssd-journal-tiobench-dd.txt"
    [ "$status" = 0 ]
    [ "$(grep -c 'recovered from CPU' <<<"$output")" = 1 ]
    grep -qE ':11: rate "######" .* 1210 MB/s; also in lines 12, 13, .*, 41$' <<<"$output"
    grep -qE ':8: dd without sync: .*; also in line 31$' <<<"$output"
}

@test "every sample is in the table" {
    diff <(cd "$IN" && find . -mindepth 2 -type f | sed 's,^\./,,' | sort) \
        <(grep -v '^#' "$IN/table" | cut -d' ' -f1 | sort)
}

@test "the published table gives its numbers, and the arms their names" {
    local ssd="400 MB SSD journal"
    near "$(metric "$PUBLISHED" "$ssd" write/t1 rate)" "$(awk 'BEGIN { printf "%.9g", 43.03 * 2^20 }')"
    near "$(metric "$PUBLISHED" "$ssd" write/t8 latency_max)" 3098380000
    near "$(metric "$PUBLISHED" "$ssd" write/t8 latency_over_2s)" 0.0001211
    near "$(metric "$PUBLISHED" "$ssd" read/t2 rate)" "$(awk 'BEGIN { printf "%.9g", 518 * 3.99 * 2^20 }')"
    # dd's megabytes are others, and the count of bytes is that of its command.
    near "$(metric "$PUBLISHED" "$ssd" write rate)" "$(awk 'BEGIN { printf "%.9g", 2621440000 / 51.3763 }')"
    near "$(metric "$PUBLISHED" "Default Journal on same disk" rwrite/t4 rate)" \
        "$(awk 'BEGIN { printf "%.9g", 44.56 * 2^20 }')"
}

@test "every format gives the numbers of its program in base units" {
    near "$(metric "$IN/tiotest/tiotest-head-8t-64M.txt" "" read/t8 rate)" "$(awk 'BEGIN { printf "%.9g", 9954.892 * 2^20 }')"
    near "$(metric "$IN/tiotest/tiotest-head-8t-64M.txt" "" write/t8 latency_max)" 39079000
    near "$(metric "$IN/tiotest/tiotest-head-terse.txt" "" write/t8 rate)" "$(awk 'BEGIN { printf "%.9g", 64 * 2^20 / 0.29794 }')"
    near "$(metric "$IN/tiotest/pts-tiotest-2017.txt" "" rwrite/t32 rate --correct)" \
        "$(awk 'BEGIN { printf "%.9g", 1653.932 * 2^20 / 16.384 }')"
    near "$(metric "$IN/iozone/iozone-t4-ec.txt" "" write/t4 parent)" "$(awk 'BEGIN { printf "%.9g", 367530.53 * 1024 }')"
    near "$(metric "$IN/iozone/iozone-t2-o.txt" "" rewrite/t2 operations)" 529.34
    near "$(metric "$IN/iozone/iozone-single.txt" "" reread/t1 rate)" "$((3508457 * 1024))"
    near "$(metric "$IN/published/iozone-x4240-1-vs-10-disks.txt" "" write/t10 children)" \
        "$(awk 'BEGIN { printf "%.12g", 857660.77 * 1024 }')"
    near "$(metric "$IN/published/pgbench-raid-vs-iodrive.txt" Fusion read-write latency_p95)" 11000000
    near "$(metric "$IN/published/pgbench-raid-vs-iodrive.txt" RAID read-only operations)" 673
    near "$(metric "$IN/pg/pgbench.txt" "" read-write/t4 operations)" 2967.655172
    near "$(metric "$IN/pg/pgbench.txt" "" read-write/t4 latency_mean)" 1339000
    near "$(metric "$IN/pg/pgbench-l-log.txt" "" transactions latency_max)" 4994000
    near "$(metric "$IN/fsmark/fsmark-S1-v.txt" "" create/t2 operations)" 561.5
    near "$(metric "$IN/fsmark/fsmark-S1-v.txt" "" create/t2 sync_max)" 23944000
    near "$(metric "$IN/dbench/dbench.txt" "" load/t2 rate)" 178540000
    near "$(metric "$IN/dbench/dbench-s-F.txt" "" flush/t2 latency_mean)" 684000
    near "$(metric "$IN/postmark/postmark.txt" "" transactions operations)" 2000
    near "$(metric "$IN/postmark/postmark-terse.txt" "" data-write rate)" 10071540
    near "$(metric "$IN/bonnie/bonnie-s.txt" "" write rate)" "$((966080 * 1024))"
    near "$(metric "$IN/bonnie/bonnie-sync.txt" lbl create latency_max)" 22467000
    [ -z "$(metric "$IN/bonnie/bonnie-sync.txt" lbl stat operations)" ]
    near "$(metric "$IN/published/phoronix-hdd-vs-ssd.txt" SSD "Dbench v4.0, 12 Clients" value)" 148.30
}

@test "fio is read from its JSON" {
    local file=$IN/fio/fio-fdatasync-json.txt path
    sed 1d "$file" | sed '/^rc=/d' >"$WORK/fio.json"
    for path in "rate bw_bytes" "operations iops" "latency_max clat_ns.max" "latency_p99 clat_ns.percentile.\"99.000000\""; do
        near "$(metric "$file" "" fd/write/t1 "${path% *}")" \
            "$(jq ".jobs[0].write.${path#* }" "$WORK/fio.json")"
    done
    near "$(metric "$file" "" fd/write/t1 sync_mean)" "$(jq .jobs[0].sync.lat_ns.mean "$WORK/fio.json")"
}

@test "a ratio table of Phoronix compares as it was published" {
    run timeout 20 "$JBDLAB" compare "$IN/published/phoronix-hdd-vs-ssd.txt" --all --baseline HDD
    echo "$output"
    [ "$status" = 5 ]
    grep -qE '^pts/Dbench v4.0, 12 Clients value .* 3\.49 better' <<<"$output"
    grep -qE '^pts/Gzip Compression, 2GB File Compression .* 1\.01 worse' <<<"$output"
}

@test "what a table does not say is null" {
    timeout 20 "$JBDLAB" import --json -q "$PUBLISHED" 2>/dev/null >"$WORK/out"
    jq -e '[.files[].arms[].runs[] | select(.type == "tiobench") | .phases[].counters
        | .wall_ns, .bytes, .operations, .syncs, .user_ns] | all(. == null)' "$WORK/out"
    jq -e '[.files[].arms[].runs[].phases[] | .counters.block_bytes] | all(. > 0)' "$WORK/out"
    run grep -c -- '-1' "$WORK/out"
    [ "$output" = 0 ]
}

@test "faults are corrected only when that is wanted" {
    local file=$IN/tiobench/tiobench-0.4.2-2022-inflated.txt
    near "$(metric "$file" "" rread/t1 rate)" "$(awk 'BEGIN { printf "%.9g", 1890.14 * 2^20 }')"
    # 128 MiB of 4 KiB are 32768 blocks; 4000 operations were done.
    near "$(metric "$file" "" rread/t1 rate --correct)" \
        "$(awk 'BEGIN { printf "%.9g", 1890.14 * 2^20 / (32768 / 4000) }')"
    file=$IN/tiobench/tiobench-numruns3.txt
    near "$(metric "$file" "" read/t2 latency_mean)" 3000
    near "$(metric "$file" "" read/t2 latency_mean --correct)" 1000
    [ -z "$(metric "$file" "" read/t2 latency_max --correct)" ]
    file=$IN/tiobench/tiobench-0.3.3-run.txt
    near "$(metric "$file" "" write/t4 cpu)" 4.167
    near "$(metric "$file" "" write/t4 cpu --correct)" 1.04175
}

@test "a bundle of imports can be reported like any other" {
    run timeout 20 "$JBDLAB" import -q "$PUBLISHED" -o "$WORK/bundle" --arm ssd --arm inline
    [ "$status" = 0 ]
    timeout 20 "$JBDLAB" report "$WORK/bundle" >"$WORK/report"
    grep -qF "ssd: journal unknown" "$WORK/report"
    grep -qE '^ssd +2000 +4096 +1 +43\.03 23\.59% +0\.083 +2692\.94 +0\.00039 +0\.00000 +182$' \
        "$WORK/report"
    grep -qF "2621440000 bytes (2.6 GB, 2.4 GiB) copied, 51.3763 s, 51.0 MB/s" "$WORK/report"
    jq -e '.imported[0].notes | length > 20' "$WORK/bundle/environment.json"
    run timeout 20 "$JBDLAB" import -q "$PUBLISHED" -o "$WORK/bundle"
    [ "$status" = 3 ]
    [[ "$output" == *"exists already"* ]]
}

@test "files with arms of one name stay apart" {
    cp "$IN/tiobench/tiobench-0.4.1-run.txt" "$WORK/a.txt"
    cp "$IN/tiobench/tiobench-0.4.2-2024-run.txt" "$WORK/b.txt"
    cd "$WORK"
    timeout 20 "$JBDLAB" import -q a.txt b.txt -o bundle 2>/dev/null
    [ "$(jq -r '[.arms[].name] | join("|")' bundle/bundle.json)" = "a.txt: ext4-loop|b.txt: ext4-loop" ]
    run timeout 20 "$JBDLAB" report bundle --format csv --table arms
    [ "$status" = 0 ]
}

@test "a file with too many rows is cut, and says so" {
    { echo "Sequential Reads"
      yes "first 20 4096 1 10.00 1.00% 0.300 1.00 0 0 100" | head -n 10001
      echo "second 20 4096 1 10.00 1.00% 0.300 1.00 0 0 100"; } >"$WORK/long.txt"
    run timeout 60 "$JBDLAB" import "$WORK/long.txt"
    [ "$status" = 0 ]
    [[ "$output" == *"more than 10000 rows: the rest is left out"* ]]
    [[ "$output" == *"  first: 10000 of tiobench" ]]
    [[ "$output" != *second* ]]
}

@test "wrong words are refused" {
    local words
    for words in "" "$WORK/none" "$PUBLISHED -f tiobnech" "$PUBLISHED -a 1 -a 2 -a 3"; do
        # shellcheck disable=SC2086 # a list of words
        run timeout 20 "$JBDLAB" import -q $words
        echo "$output"
        [ "$status" = 2 ] || [ "$status" = 4 ]
    done
    run timeout 20 "$JBDLAB" import -q "$PUBLISHED" -f tiobnech
    [[ "$output" == *'did you mean "tiobench"?'* ]]
    run timeout 20 "$JBDLAB" import -q /proc/self/exe
    [ "$status" = 2 ]
    [[ "$output" == *"is no text"* ]]
    timeout 20 "$JBDLAB" import --list | grep -q '^tiobench '
}
