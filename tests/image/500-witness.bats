#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What finds losses finds them: jbdlab witness each lost or damaged record of each kind of
# writer, the disk model of the power-cut tests what a cut may take.

# bats sets stderr and stderr_lines, and runs each test in a subshell.
# shellcheck disable=SC2154,SC2030,SC2031

bats_require_minimum_version 1.5.0
load ../lib.bash

setup() {
    common_setup
    cd "$WORK" || return 1
    mkdir d
    write_until 2
}

teardown() {
    cd /
    common_teardown
}

# write_for TIME: go on writing; the acknowledgements replace those in acks.
write_for() {
    timeout 60 "$JBDLAB" witness d --time="$1" >acks
}

# write_until COUNT: until each writer has at least so many records, on disks that are slow
# as well; acks has some of each.
write_until() {
    until_done 120 have_written "$1"
}

have_written() {
    local w
    write_for 300ms
    for w in 0 1 2 3; do
        [ "$(last $w)" -ge "$1" ] || return
    done
}

verify() {
    timeout 60 "$JBDLAB" witness d --verify "$(acked)"
}

# last WRITER: its last acknowledged number.
last() {
    sed -n "s/^ACK $1 //p" acks | tail -n 1
}

acked() {
    echo "--acked=0:$(last 0),1:$(last 1),2:$(last 2),3:$(last 3)"
}

@test "all that was acknowledged is found" {
    run -0 verify
    [ "$output" = "$(for w in 0 1 2 3; do echo "SEEN $w $(last $w)"; done)" ]
}

@test "writing goes on after the last record" {
    local before
    before=$(last 0)
    write_for 2s
    [ "$(sed -n 's/^ACK 0 //p;' acks | head -n 1)" = $((before + 1)) ]
    run -0 verify
}

@test "a log that ends too early is a loss" {
    truncate -s -1 d/w0.append
    truncate -s -1 d/w3.database
    run -6 verify
    [[ $output = *"LOST 0 $(last 0): "* && $output = *"LOST 3 $(last 3): "* ]]
}

@test "a changed bit in a log is a loss of all that follows" {
    printf '\377' | dd of=d/w0.append bs=1 seek=100 conv=notrunc status=none
    run -6 verify
    [[ $output = *"SEEN 0 0"* && $output = *"LOST 0 $(last 0): "* ]]
}

@test "the fragment of a record that was not acknowledged is no loss" {
    head -c 40 /dev/urandom >>d/w0.append
    rm -f d/w1.spool/new
    echo fragment >d/w1.spool/new
    run -0 verify
    write_for 100ms
    run -0 verify
}

@test "a missing, damaged or returned file of a spool is a loss" {
    local n
    write_until 75
    n=$(last 1)
    cp -r d good
    rm "$(printf 'd/w1.spool/%010d' $((n - 3)))"
    run -6 verify
    [[ $output = *"LOST 1 $((n - 3)): "* ]]

    rm -r d; cp -r good d
    echo x >>"$(printf 'd/w1.spool/%010d' $((n - 4)))"
    run -6 verify
    [[ $output = *"LOST 1 $((n - 4)): "* ]]

    rm -r d; cp -r good d
    touch "$(printf 'd/w1.spool/%010d' $((n - 65)))"
    run -6 verify
    [[ $output = *"LOST 1 $((n - 65)): "*"came back"* ]]
}

@test "an oldest file of a spool that the cut kept is removed by the next writer" {
    local n
    write_until 75
    n=$(last 1)
    touch "$(printf 'd/w1.spool/%010d' $((n - 64)))"
    run -0 verify
    write_for 200ms
    run -0 verify
}

@test "only the slot of the next record may be damaged" {
    local n
    write_until 75
    n=$(last 2)
    dd if=/dev/zero of=d/w2.slots bs=1024 seek=$(((n + 1) % 64)) count=1 conv=notrunc \
        status=none
    run -0 verify
    dd if=/dev/zero of=d/w2.slots bs=1024 seek=$(((n + 2) % 64)) count=1 conv=notrunc \
        status=none
    run -6 verify
    [[ $output = *"LOST 2 $((n - 62)): "* ]]
}

@test "a writer does not go on over losses" {
    rm "$(printf 'd/w1.spool/%010d' "$(($(last 1) - 1))")"
    run -4 "$JBDLAB" witness d --time=100ms
    [[ $output = *"records are missing"* ]]
}

@test "acknowledgements go to a descriptor, a file or a TCP connection, and are read back" {
    local port receiver
    timeout 60 "$JBDLAB" witness d --time=1s --ack=fd:9 9>acks
    [ "$(last 0)" -gt 0 ]
    run -0 timeout 60 "$JBDLAB" witness d --verify --log acks
    timeout 60 "$JBDLAB" witness d --time=1s --ack="$WORK/more"
    run -0 timeout 60 "$JBDLAB" witness d --verify --log "$WORK/more"
    command -v python3 >/dev/null || skip "needs python3"
    timeout 250 python3 - >port 2>/dev/null 3>&- <<'END' &
import socket, sys
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
connection, _ = s.accept()
with open("acks", "wb") as f:
    while data := connection.recv(4096):
        f.write(data)
END
    receiver=$!
    until_done 60 [ -s port ]
    port=$(cat port)
    timeout 60 "$JBDLAB" witness d --time=2s --ack="tcp:127.0.0.1:$port"
    wait "$receiver"
    [ "$(last 0)" -gt 1 ] && [ "$(last 3)" -gt 1 ]
    run -0 timeout 60 "$JBDLAB" witness d --verify --log acks
    run -4 timeout 60 "$JBDLAB" witness d --time=200ms --ack="tcp:127.0.0.1:$port"
    [[ $output = *"connect to 127.0.0.1:$port"* ]]
}

# shellcheck disable=SC2016 # the inner shell's
@test "a receiver that goes away ends the witness with an error" {
    run -4 bash -c '"$JBDLAB" witness d --time=100s | head -n 3 >/dev/null; exit "${PIPESTATUS[0]}"'
    [[ $output = *"acknowledge a record"* ]]
}

# shellcheck disable=SC2016 # jq's and the inner shell's
@test "what is lost is in the JSON, a cut line of the log is not believed" {
    local n
    n=$(last 3)
    truncate -s -1 d/w3.database
    printf 'garbage\nACK 3 %d' 99999999 >>acks
    run -6 bash -c '"$JBDLAB" witness d --verify --log acks --json >json'
    jq -e --argjson n "$n" '.schema == "jbdlab-witness/1" and
        .writers[3] == {writer: 3, kind: "database", acknowledged: $n, found: ($n - 1)} and
        (.lost | length == 1 and .[0].writer == 3 and .[0].number == $n)' json
}

@test "wrong words are refused" {
    run -2 "$JBDLAB" witness
    run -2 "$JBDLAB" witness d --writers=17
    run -2 "$JBDLAB" witness d --verify --time=1s
    run -2 "$JBDLAB" witness d --acked=0:1
    run -2 "$JBDLAB" witness d --verify --acked=9:1
    run -2 "$JBDLAB" witness d --verify --acked=0:x
    run -2 "$JBDLAB" witness d --time=1s --ack=tcp:nowhere
    run -4 "$JBDLAB" witness d/none --time=1s
}

@test "the disk model keeps what was flushed and refuses logs with holes" {
    command -v python3 >/dev/null || skip "needs python3"
    run -0 python3 "$BATS_TEST_DIRNAME/../powercut/test_writelog.py"
}
