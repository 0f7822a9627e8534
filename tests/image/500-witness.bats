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

# never_written REASON: neither writing nor verifying touches what is no file of the witness.
never_written() {
    echo precious >target
    mkdir -p target.d
    for mode in --time=200ms --verify; do
        run timeout 20 "$JBDLAB" witness e "$mode"
        echo "$output"
        [ "$status" = 3 ]
        [[ $output == "jbdlab: e/w"*"$1"* ]]
    done
    [ "$(cat target)" = precious ]
    [ -z "$(ls target.d)" ]
}

@test "links, pipes and directories in place of its files are refused" {
    local name
    for name in w0.append w2.slots w3.database; do
        rm -rf e && mkdir e
        ln -s ../target "e/$name"
        never_written "of its own only"
        ln -sf nowhere "e/$name"
        never_written "of its own only"
        [ ! -e e/nowhere ]
        ln -sf "$name" "e/$name"
        never_written "of its own only"
        rm "e/$name" && mkfifo "e/$name"
        never_written "no regular file"
        rm "e/$name" && mkdir "e/$name"
        never_written "empty directory"
    done
    rm -rf e && mkdir e
    ln -s ../target.d e/w1.spool
    never_written "of its own only"
    rm e/w1.spool && touch e/w1.spool
    never_written "no directory"
}

@test "links and pipes in the spool are not written through, nor waited for" {
    local n
    echo precious >target
    ln -s ../../target d/w1.spool/new
    write_for 200ms
    [ "$(cat target)" = precious ]
    run -0 verify
    n=$(printf %010d "$(last 1)")
    rm "d/w1.spool/$n" && mkfifo "d/w1.spool/$n"
    run -6 verify
    [[ $output = *"LOST 1 $(last 1): "* ]]
    rm "d/w1.spool/$n" && ln -s ../../target "d/w1.spool/$n"
    run -6 verify
}

@test "what is no directory is named, with status 3 or 4, and nothing is made" {
    local name before
    mkfifo pipe
    ln -s nowhere nowhere-link
    ln -s loop loop
    before=$(ls)
    for name in pipe nowhere-link loop none acks "$(printf 'x%.0s' {1..250})/$(printf 'y%.0s' {1..250})"; do
        for mode in --time=200ms --verify; do
            run timeout 20 "$JBDLAB" witness "$name" "$mode"
            echo "$name: $status $output"
            [ "$status" = 4 ] || [ "$status" = 3 ]
            [ "${#lines[@]}" = 1 ]
            [[ $output == *"${name:0:200}"* ]]
        done
    done
    [ "$(ls)" = "$before" ]
}
