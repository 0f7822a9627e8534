# SPDX-License-Identifier: GPL-3.0-or-later
# The Ansible role with real ansible and real sshd: each "host" is an sshd on a port of its
# own, in mount and host name namespaces of its own.  What fails on one never stops another.

bats_require_minimum_version 1.5.0
load ../lib

ROOT=$BATS_TEST_DIRNAME/../..

setup() {
    need_loop
    need_mount_namespace
    local program
    for program in ansible-playbook /usr/sbin/sshd ssh-keygen; do
        command -v "$program" >/dev/null || skip "needs ${program##*/}"
    done
    common_setup
    PIDS=()
}

teardown() {
    local pid
    for pid in "${PIDS[@]}"; do kill "$pid" 2>/dev/null || :; done
    [ -z "${WORK:-}" ] || rm -rf "$WORK/ansible"
    common_teardown
}

# host NUMBER: its sshd
host() {
    mkdir -p "$WORK/node$1"
    # shellcheck disable=SC2016 # for the shell in the namespace
    unshare --mount --uts --propagation private bash -c '
        hostname "$1" && mkdir -p /var/lib/jbdlab /run && mount -t tmpfs none /var/lib/jbdlab &&
            mount -t tmpfs none /run && mkdir /run/sshd &&
            exec /usr/sbin/sshd -D -e -f "$2" -p "$3"' - "node$1" "$WORK/sshd" "${PORTS[$1]}" \
        >"$WORK/node$1/sshd.log" 2>&1 3>&- &
    PIDS+=($!)
}

ssh_set_up() {
    ssh-keygen -q -t ed25519 -N '' -f "$WORK/key"
    ssh-keygen -q -t ed25519 -N '' -f "$WORK/hostkey"
    cat >"$WORK/sshd" <<END
ListenAddress 127.0.0.1
HostKey $WORK/hostkey
AuthorizedKeysFile $WORK/key.pub
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
PidFile none
END
}

# plan [SETUP]: a small experiment on scratch disks of each host
plan() {
    cat >"$WORK/$1.ini" <<END
[experiment]
name   = fleet
blocks = 1
probe  = no
primary = w/append-fsync/operations
[disk slow]
size = 24M
directory = {{ jbdlab_directory }}
[disk fast]
size = 8M
directory = {{ jbdlab_directory }}
[volume data]
device = slow
mkfs = ext4 -b 1024
[arm inline]
journal = inline,size=4M
[arm external]
journal = external=fast,size=4M
$2
[workload w]
type = commit
kind = append-fsync
count = 20
END
}

# playbook [OPTION...]
playbook() {
    ANSIBLE_HOME=$WORK/ansible ANSIBLE_HOST_KEY_CHECKING=False ANSIBLE_PIPELINING=1 \
        ANSIBLE_SSH_ARGS="-o ControlMaster=no -o UserKnownHostsFile=/dev/null -o ConnectTimeout=5" \
        ANSIBLE_REMOTE_TMP=$WORK/remote ANSIBLE_NOCOLOR=1 ANSIBLE_NOCOWS=1 \
        timeout 250 ansible-playbook -i "$WORK/hosts.ini" "$ROOT/scripts/fleet/ansible/fleet.yml" \
        -e "jbdlab_results=$WORK/results" -e "jbdlab_local=$JBDLAB" "$@"
}

@test "ansible runs an experiment on every host and compares; what fails stays with its host" {
    local i
    mapfile -t -O 1 PORTS < <(free_ports 5)
    ssh_set_up
    for i in 1 2 3 4; do host "$i"; done # 5 is down
    for i in 1 2 3 4; do until_done 60 listens "${PORTS[i]}"; done
    loop_new unleased 8M
    plan good ""
    plan broken "setup = /bin/false"
    {
        for i in 1 2 3 4 5; do
            echo "node$i ansible_host=127.0.0.1 ansible_port=${PORTS[i]}" \
                "jbdlab_directory=$WORK/node$i/run"
        done
        cat <<END
[all:vars]
ansible_user=root
ansible_ssh_private_key_file=$WORK/key
ansible_python_interpreter=/usr/bin/python3
jbdlab_program=$JBDLAB
jbdlab_binary=$WORK/jbdlab
jbdlab_plan=$WORK/good.ini
jbdlab_poll_seconds=1
END
    } >"$WORK/hosts.ini"
    sed -i "/^node3/s,\$, jbdlab_devices='[\"$unleased\"]'," "$WORK/hosts.ini"
    sed -i "/^node4/s,\$, jbdlab_plan=$WORK/broken.ini," "$WORK/hosts.ini"
    run playbook
    echo "$output"
    tail -n 3 "$WORK"/node*/sshd.log
    [ "$status" != 0 ] # because some hosts failed
    [[ $output == *"$unleased is not leased"* ]]
    for i in 1 2; do
        [ "$(cat "$WORK/results/node$i/status")" = 0 ]
        jq -e '.state == "complete"' "$WORK/results/node$i/bundle/bundle.json"
        jq -e --arg host "node$i" '.before.host.host == $host' \
            "$WORK/results/node$i/bundle/environment.json"
        [ -s "$WORK/results/node$i/report.txt" ]
    done
    [ ! -e "$WORK/results/node3/bundle" ]
    [ "$(cat "$WORK/results/node4/status")" = 4 ]
    [ -s "$WORK/results/node4/log" ]
    jq -e '.state == "failed"' "$WORK/results/node4/bundle/bundle.json"
    [ ! -e "$WORK/results/node5/bundle" ]
    # What all of them found is in the playbook's own output.
    [[ $output == *"fleet on 2 of 3 hosts"* ]]
    [[ $output == *"node4: failed"* ]]
    # The unit that systemd would get.
    ! grep -rq "{{" "$WORK/node1/run/plan.ini" || false
}

@test "host-run goes on with what was interrupted, and leaves a complete bundle alone" {
    local pid
    plan good ""
    held_program
    {
        sed "s,{{ jbdlab_directory }},$WORK,; s/count = 20/count = 300/" "$WORK/good.ini"
        echo "$HELD"
    } >"$WORK/x.ini"
    hold 2
    "$ROOT/scripts/fleet/host-run" "$WORK/run" "$WORK/x.ini" 3>&- &
    pid=$!
    until_held 2
    kill "$pid"
    ! wait "$pid" || false
    release
    grep -qE "^1(43|30)$" "$WORK/run/status"
    jq -e '.state == "interrupted"' "$WORK/run/bundle/bundle.json"
    timeout 200 "$ROOT/scripts/fleet/host-run" "$WORK/run" "$WORK/x.ini"
    [ "$(cat "$WORK/run/status")" = 0 ]
    jq -e '.state == "complete"' "$WORK/run/bundle/bundle.json"
    cp "$WORK/run/bundle/runs.jsonl" "$WORK/runs"
    timeout 60 "$ROOT/scripts/fleet/host-run" "$WORK/run" "$WORK/x.ini"
    cmp "$WORK/run/bundle/runs.jsonl" "$WORK/runs"
    # Another plan is no reason to call it done.
    sed -i 's/count = 300/count = 200/' "$WORK/x.ini"
    run -3 timeout 60 "$ROOT/scripts/fleet/host-run" "$WORK/run" "$WORK/x.ini"
    [ "$(cat "$WORK/run/status")" = 3 ]
    cmp "$WORK/run/bundle/runs.jsonl" "$WORK/runs"
}

@test "the unit for systemd is one that systemd understands" {
    command -v systemd-analyze >/dev/null || skip "needs systemd-analyze"
    local unit=$ROOT/scripts/fleet/ansible/roles/jbdlab/templates/jbdlab.service
    sed -e "s|{{ jbdlab_binary }}|$JBDLAB|; s|{{ jbdlab_name }}|x|" \
        -e "s|{{ jbdlab_directory }}/host-run|$ROOT/scripts/fleet/host-run|" \
        -e "s|{{ jbdlab_directory }}|$WORK|" "$unit" >"$WORK/jbdlab-x.service"
    run ! grep -q "{{" "$WORK/jbdlab-x.service"
    run timeout 20 systemd-analyze verify "$WORK/jbdlab-x.service"
    echo "$output"
    [ "$status" = 0 ]
    [[ $output != *"jbdlab-x.service"* ]] # no complaint about it
}
