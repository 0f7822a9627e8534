# SPDX-License-Identifier: GPL-3.0-or-later
# Bundles of many hosts: arms are compared within hosts and then over them, and a host that
# failed never stops the others.

bats_require_minimum_version 1.5.0
load ../lib

setup() {
    common_setup
    FLEET=$WORK/fleet
}

teardown() {
    common_teardown
}

simulate() {
    command -v python3 >/dev/null || skip "needs python3"
    "$BATS_TEST_DIRNAME/../fleet/simulate-hosts" "$FLEET" "$@"
}

compare() {
    timeout 60 "$JBDLAB" compare "$@"
}

# is FILTER: true of the JSON in $WORK/json
is() {
    jq -e "$1" "$WORK/json" >/dev/null || { jq -c "del(.rows)" "$WORK/json"; false; }
}

@test "300 hosts are merged in less than five seconds of the processor" {
    local TIMEFORMAT='%U %S'
    simulate 300
    { time compare "$FLEET"/* --json >"$WORK/json" || [ $? = 1 ]; } 2>"$WORK/time"
    cat "$WORK/time"
    awk '{ exit $1 + $2 >= 5 }' "$WORK/time"
    is '.schema == "jbdlab-hosts/1" and .hosts_used == 300 and (.hosts | length) == 300'
    is '.rows[] | select(.phase == "write" and .metric == "rate") |
        .hosts == 300 and .low < 1.5 and .high > 1.5 and .verdict == "higher" and
        .spread_between_hosts > 1.07 and .spread_between_hosts < 1.13'
    is '.rows[] | select(.phase == "read" and .metric == "rate") | .verdict == "equivalent"'
}

@test "the estimate is that of Hodges and Lehmann over the hosts' own" {
    simulate 9 --blocks 5
    run -1 compare "$FLEET"/* --json
    printf '%s\n' "$output" >"$WORK/json"
    # In the order of numbers: medians of all Walsh averages, within hosts and over them,
    # and for nine hosts the sixth from either end.
    python3 - "$FLEET" "$WORK/json" <<'END'
import glob, json, math, sys
def walsh(d):
    return sorted((d[i] + d[k]) / 2 for i in range(len(d)) for k in range(i, len(d)))
def median(v):
    n = len(v)
    return (v[(n - 1) // 2] + v[n // 2]) / 2
hosts = []
for path in sorted(glob.glob(sys.argv[1] + "/*/runs.jsonl")):
    rates = {}
    for line in open(path):
        run = json.loads(line)
        rates[run["block"], run["arm"]] = run["phases"][0]["metrics"][0]["value"]
    blocks = {block for block, _ in rates}
    hosts.append(median(walsh([math.log(rates[b, "ssd"] / rates[b, "inline"]) for b in blocks])))
w = walsh(hosts)
row = next(r for r in json.load(open(sys.argv[2]))["rows"]
           if r["phase"] == "write" and r["metric"] == "rate")
assert abs(row["ratio"] - math.exp(median(w))) < 1e-9, row
assert abs(row["low"] - math.exp(w[5])) < 1e-9, row
assert abs(row["high"] - math.exp(w[-6])) < 1e-9, row
for value, own in zip(row["values"], hosts):
    assert abs(value["ratio"] - math.exp(own)) < 1e-9, value
mean = sum(hosts) / 9
sd = math.sqrt(sum((h - mean) ** 2 for h in hosts) / 8)
assert abs(row["spread_between_hosts"] - math.exp(sd)) < 1e-9, row
END
}

@test "hosts that failed, broke off or have nothing are listed, and the others compared" {
    simulate 12
    rm "$FLEET/host-001/bundle.json"
    echo '{"schema": ' >"$FLEET/host-002/runs.jsonl"
    echo '{}' >>"$FLEET/host-002/runs.jsonl"
    : >"$FLEET/host-003/runs.jsonl"
    sed -i 's/"state": "complete", "reason": ""/"state": "failed", "reason": "disk gone"/' \
        "$FLEET/host-003/bundle.json"
    sed -i 's/"state": "complete", "reason": ""/"state": "interrupted", "reason": "SIGTERM"/' \
        "$FLEET/host-004/bundle.json"
    sed -i 4q "$FLEET/host-004/runs.jsonl"
    run -1 compare "$FLEET"/* "$FLEET/no-such"
    echo "$output"
    [[ $output == *"on 9 of 13 hosts"* ]]
    awk 'length > 80 && !/\/host-002\// { bad = 1 } END { exit bad }' <<<"$output"
    output=$(tr -s ' \n' ' ' <<<"$output") # where lines break depends on the paths
    [[ $output == *"- host-001: failed, "*"; left out"* ]]
    [[ $output == *"- host-002: failed, "* ]]
    [[ $output == *"- host-003: failed, disk gone; left out"* ]]
    [[ $output == *"- host-004: incomplete, interrupted: SIGTERM; with what it has it takes"* ]]
    [[ $output == *"- no-such: failed, "* ]]
    [[ $output =~ \ dd/write\ rate\ 9\ [^a-z]*\ better\  ]]
}

@test "two bundles of a host count once, and the name of the machine counts" {
    simulate 7
    cp -r "$FLEET/host-007" "$WORK/again"
    run compare "$FLEET"/* "$WORK/again" --json
    printf '%s\n' "$output" >"$WORK/json"
    is '.hosts_used == 7 and (.hosts[6].bundles | length) == 2'
    is '[.rows[] | select(.metric == "rate") | .values[6].bundles] == [2, 2]'
    rm "$FLEET/host-006/environment.json"
    mv "$FLEET/host-006" "$FLEET/unnamed"
    run compare "$FLEET"/* --json
    printf '%s\n' "$output" >"$WORK/json"
    is '.hosts[6].host == "unnamed"'
}

@test "report shows many bundles as text, JSON and HTML; its status is no verdict" {
    simulate 6
    mv "$FLEET/host-006/bundle.json" "$FLEET/host-006/<b>"
    timeout 20 "$JBDLAB" report "$FLEET"/* >"$WORK/text"
    grep -q "fewer than six hosts" "$WORK/text"
    timeout 20 "$JBDLAB" report "$FLEET"/* --json | jq -e '.hosts_used == 5' >/dev/null
    timeout 20 "$JBDLAB" report "$FLEET"/* --format html >"$WORK/page.html"
    grep -q "5 of 6 hosts compared" "$WORK/page.html"
    python3 - "$WORK/page.html" <<'END'
import sys, xml.dom.minidom as dom
text = open(sys.argv[1], encoding="utf-8").read()
body = text[text.index("<header>"):text.index("</body>")]
dom.parseString("<body>" + body + "</body>")
assert body.count('<th scope="row">host-') == 6
END
    run -2 timeout 20 "$JBDLAB" report "$FLEET"/* --format csv
    [[ $output == *"text, json or html"* ]]
    run -2 timeout 20 "$JBDLAB" report "$FLEET"/* --watch
}

@test "one or two bundles need --hosts, and arms can be chosen" {
    simulate 2
    run -5 compare --hosts "$FLEET/host-001"
    [[ $output == *"on 1 of 1 host"$'\n'* ]]
    run -5 compare --hosts "$FLEET"/* --baseline ssd
    [[ $output == *"Baseline: ssd"* ]]
    grep -qE '^dd/write rate +2 +0\.[0-9]+ ' <<<"$output"
    run -2 compare --hosts "$FLEET"/* --baseline nvme
    [[ $output == *'no arm "nvme"'* ]]
    run -2 compare --hosts "$WORK/a" "$WORK/b" "$WORK/c"
    [[ $output == *"none of 3 bundles"* ]]
    run -2 compare --hosts "$FLEET"/* --correct
}
