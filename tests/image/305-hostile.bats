# SPDX-License-Identifier: GPL-3.0-or-later
# Bundles and surroundings that nobody would make on purpose: report and import end soon, say
# what is wrong in one sentence, and leave nothing behind.

load ../lib

setup() {
    common_setup
    REPORT=$BATS_TEST_DIRNAME/../report
    cp -r "$REPORT/in/real" "$WORK/bundle"
    B=$WORK/bundle
    mkdir "$WORK/tmp" "$WORK/bin"
    export TMPDIR=$WORK/tmp
}

teardown() {
    common_teardown
}

# expect STATUS PATTERN COMMAND...
expect() {
    run timeout 30 "${@:3}"
    echo "$output"
    [ "$status" = "$1" ]
    [[ "$output" == *"$2"* ]]
}

# gnuplot_is SCRIPT: what is called gnuplot from now on.
gnuplot_is() {
    printf '#!/bin/sh\n%s\n' "$1" >"$WORK/bin/gnuplot"
    chmod +x "$WORK/bin/gnuplot"
}

@test "what stands in place of a file of a bundle is named, and never waited for" {
    local file
    for file in bundle.json plan.ini runs.jsonl cells.jsonl traces.jsonl environment.json; do
        mv "$B/$file" "$WORK/kept"
        mkfifo "$B/$file"
        expect 2 "$file is not a regular file" "$JBDLAB" report "$B"
        rm "$B/$file"
        ln -s /dev/zero "$B/$file"
        expect 2 "$file is not a regular file" "$JBDLAB" report "$B" --json
        rm "$B/$file"
        mkdir "$B/$file"
        expect 2 "$file is not a regular file" "$JBDLAB" audit "$B"
        rmdir "$B/$file"
        ln -s "$file" "$B/$file"
        expect 4 "$file: Too many levels of symbolic links" "$JBDLAB" report "$B"
        rm "$B/$file"
        mv "$WORK/kept" "$B/$file"
    done
    echo '[1]' >"$B/environment.json"
    expect 2 "environment.json: this is not an object" "$JBDLAB" report "$B"
}

@test "a watch does not wait for pipes, nor believe in a process that cannot be" {
    mkfifo "$B/status.json" "$B/state.log"
    expect 0 "The run is complete." "$JBDLAB" report --watch "$B"
    rm "$B/status.json"
    # 2^32 + 1 is no process, above all not the first one.
    echo '{"state": "running", "pid": 4294967297}' >"$B/status.json"
    expect 0 "The run is complete." "$JBDLAB" report --watch "$B"
    echo '{"state": "running", "pid": -1}' >"$B/status.json"
    expect 0 "The run is complete." "$JBDLAB" report --watch "$B"
}

@test "a watch whose reader is gone ends while the run goes on" {
    jq -n --argjson pid $$ '{state: "running", pid: $pid}' >"$B/status.json"
    expect 4 "write to standard output" sh -c "'$JBDLAB' report --watch '$B' >/dev/full"
    run timeout 30 bash -c "'$JBDLAB' report --watch '$B' | head -n 1; exit \${PIPESTATUS[0]}"
    [ "$status" = 4 ]
}

@test "every format says that the output is full" {
    local format
    for format in text html markdown csv json jsonl pts svg tiobench tiobench-classic tiotest \
        tiotest-terse dd; do
        expect 4 "write to standard output: No space left" \
            sh -c "'$JBDLAB' report '$B' -f $format >/dev/full"
        expect 4 "write to standard output: Bad file descriptor" \
            sh -c "'$JBDLAB' report '$B' -f $format >&-"
    done
}

@test "nothing is opened in place of a standard stream that is closed" {
    # The first file that the import opens to write would be the place of the messages.
    "$JBDLAB" import --output "$WORK/import" "$REPORT/in/tiobench-classic.txt" <&- >&- 2>&- || true
    "$JBDLAB" import --output "$WORK/right" "$REPORT/in/tiobench-classic.txt" >/dev/null
    cmp "$WORK/import/runs.jsonl" "$WORK/right/runs.jsonl"
    traced -f -e trace=openat -o "$WORK/trace" "$JBDLAB" report "$B" >&- 2>&- || true
    cat "$WORK/trace"
    grep -q '"/dev/null", O_RDONLY) *= 1$' "$WORK/trace"
    grep -q '"/dev/null", O_RDONLY) *= 2$' "$WORK/trace"
}

@test "names with control characters, without any, or twice are refused" {
    local name
    for name in '"a\nb"' '"\u001b[31m"' '"\u009b2J"' '""'; do
        jq --argjson name "$name" '.arms[0].name = $name' "$B/bundle.json" >"$WORK/new"
        cp "$B/bundle.json" "$WORK/kept"
        cp "$WORK/new" "$B/bundle.json"
        expect 2 'arms[0]: "name" is missing or not a name' "$JBDLAB" report "$B"
        cp "$WORK/kept" "$B/bundle.json"
    done
    jq '.arms[1].name = "inline"' "$B/bundle.json" >"$WORK/new"
    cp "$WORK/new" "$B/bundle.json"
    expect 2 'arms[1]: "name" is missing or not of this arm alone' "$JBDLAB" report "$B"
}

@test "control characters in other texts are shown and not sent" {
    local format
    jq '.arms[0].mount = "\u001b[31mred\u0007"' "$B/bundle.json" >"$WORK/new"
    cp "$WORK/new" "$B/bundle.json"
    for format in text markdown; do
        "$JBDLAB" report "$B" --format $format >"$WORK/out"
        grep -q '\\x1b\\*\[31mred\\x07' "$WORK/out"
        [ "$(tr -d '\n\t' <"$WORK/out" | LC_ALL=C grep -c '[[:cntrl:]]')" = 0 ]
    done
}

@test "a gnuplot that fails is named with the reason, and leaves nothing" {
    local row
    for row in 'kill -9 $$|it was killed by SIGKILL' 'exit 3|it ended with status 3' 'yes|it printed without end' \
        'exit 0|gnuplot did not draw' 'mkfifo 0.svg more; echo|0.svg is not a regular file' \
        'echo no such colour >&2; exit 1|no such colour'; do
        gnuplot_is "${row%|*}"
        expect 4 "${row#*|}" env PATH="$WORK/bin:$PATH" "$JBDLAB" report "$B" -f svg
        expect 0 "${row#*|}" env PATH="$WORK/bin:$PATH" "$JBDLAB" report "$B" -f html
        [ -z "$(ls "$WORK/tmp")" ]
    done
}

@test "^C ends a gnuplot that hangs, and what it worked in is removed" {
    local format signal
    gnuplot_is 'echo $$ >"'"$WORK"'/pid"; exec sleep 1000'
    for format in svg html; do
        for signal in INT:130 TERM:143; do
            rm -f "$WORK/pid"
            env PATH="$WORK/bin:$PATH" "$JBDLAB" report "$B" --format $format 3>&- &
            pid=$! status=0
            until_done 60 [ -s "$WORK/pid" ]
            kill -"${signal%:*}" "$pid"
            wait "$pid" || status=$?
            [ "$status" = "${signal#*:}" ]
            [ -z "$(ls "$WORK/tmp")" ]
            ! kill -0 "$(cat "$WORK/pid")"
        done
    done
}

@test "what is imported can be reported, whatever file and arms are called" {
    local text=$REPORT/in/tiobench-classic.txt name
    for name in $'new\nline\e[31m' $'\xff\xfe' '<script>alert(1)</script>' 'é'; do
        name=${name//\//-}
        cp "$text" "$WORK/$name"
        timeout 30 "$JBDLAB" import "$WORK/$name" --output "$WORK/o" >/dev/null
        timeout 30 "$JBDLAB" report "$WORK/o" >"$WORK/out"
        timeout 30 "$JBDLAB" report "$WORK/o" --format html >"$WORK/html"
        ! grep -q '<script>alert' "$WORK/html"
        rm -r "$WORK/o"
    done
    for name in '' $'a\nb' $'\xff'; do
        expect 2 "--arm takes a name" "$JBDLAB" import "$text" --arm "$name" --output "$WORK/o"
    done
    expect 2 "two arms of the bundle would be called" "$JBDLAB" import "$text" "$text" --output "$WORK/o"
    [ ! -e "$WORK/o" ]
    # Nobody writes to it.
    mkfifo "$WORK/pipe"
    expect 2 "pipe is empty" "$JBDLAB" import "$WORK/pipe"
    timeout 30 "$JBDLAB" import <(sleep 0.3; cat "$text") >"$WORK/out"
    grep -q '4 rows of tiobench' "$WORK/out"
}

@test "what could not be looked for is not said to be absent" {
    timeout 30 "$JBDLAB" import "$REPORT/in/tiobench-classic.txt" --output "$WORK/o" >/dev/null
    timeout 30 "$JBDLAB" report "$WORK/o" --json >"$WORK/json"
    jq -r '.. | .text? // empty' "$WORK/json" >"$WORK/out"
    grep -q '^Confounds: nothing is known of the machine and its disks' "$WORK/out"
}

@test "a thousand arms are reported, and the summary names the first" {
    python3 - "$REPORT/in/two-arms" "$WORK/many" <<'EOF'
import json, os, shutil, sys
source, many = sys.argv[1:]
shutil.copytree(source, many)
info = json.load(open(source + "/bundle.json"))
info["arms"] = [{"name": f"arm{i}", "placement": "inline", "mount": ""} for i in range(1000)]
json.dump(info, open(many + "/bundle.json", "w"))
run = json.loads(open(source + "/runs.jsonl").readline())
with open(many + "/runs.jsonl", "w") as runs:
    for i in range(1000):
        run.update(arm=f"arm{i}", position=i)
        runs.write(json.dumps(run) + "\n")
EOF
    timeout 60 "$JBDLAB" report "$WORK/many" --format markdown >"$WORK/out"
    grep -q '[0-9]* more arms are in the comparison' "$WORK/out"
    [ "$(grep -c '| arm999 |' "$WORK/out")" -ge 1 ]
}
