# SPDX-License-Identifier: GPL-3.0-or-later
# The Slurm array script with a real Slurm of one node: munged, slurmctld and slurmd of our
# own, on ports of our own.  A task that fails stays alone with it.

bats_require_minimum_version 1.5.0
load ../lib

ROOT=$BATS_TEST_DIRNAME/../..

setup() {
    need_loop
    local program
    for program in slurmctld slurmd sbatch munged; do
        command -v "$program" >/dev/null || skip "needs $program"
    done
    common_setup
    chmod 755 "$WORK"
    export SLURM_CONF=$WORK/slurm.conf
}

teardown() {
    if [ -e "$WORK/slurm.conf" ]; then
        timeout 20 scancel --signal=KILL --user root || :
        timeout 20 scontrol shutdown || :
    fi
    local name pid
    for name in slurmd.pid slurmctld.pid munge/pid; do
        [ -s "$WORK/$name" ] || continue
        pid=$(cat "$WORK/$name")
        kill "$pid" 2>/dev/null || :
        until_done 20 has_ended "$pid" || :
    done
    common_teardown
}

slurm_start() {
    local host port
    mapfile -t port < <(free_ports 2)
    host=$(hostname -s)
    mkdir "$WORK/munge" "$WORK/state" "$WORK/spool"
    dd if=/dev/urandom of="$WORK/munge.key" bs=1024 count=1 status=none
    chmod 600 "$WORK/munge.key"
    munged --key-file="$WORK/munge.key" --socket="$WORK/munge/socket" \
        --pid-file="$WORK/munge/pid" --log-file="$WORK/munge/log" \
        --seed-file="$WORK/munge/seed" --force 3>&- || skip "munged cannot run here"
    cat >"$SLURM_CONF" <<END
ClusterName=jbdlab
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${port[0]}
SlurmdPort=${port[1]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$WORK/munge/socket
CredType=cred/munge
StateSaveLocation=$WORK/state
SlurmdSpoolDir=$WORK/spool
SlurmctldPidFile=$WORK/slurmctld.pid
SlurmdPidFile=$WORK/slurmd.pid
SlurmctldLogFile=$WORK/slurmctld.log
SlurmdLogFile=$WORK/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SwitchType=switch/none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
END
    slurmctld -c 3>&-
    slurmd -c 3>&-
    until_done 120 sh -c 'timeout 5 sinfo -h -o %t | grep -qx idle' ||
        { tail -n 5 "$WORK"/*.log; skip "slurm cannot run here"; }
}

@test "every task of an array is an experiment; one that fails leaves the others alone" {
    local task
    slurm_start
    cat >"$WORK/x.ini" <<END
[experiment]
name   = fleet
blocks = 1
probe  = no
$(disk_section slow 24M)
$(disk_section fast 8M)
[volume data]
device = slow
mkfs = ext4 -b 1024
[arm inline]
journal = inline,size=4M
[arm external]
journal = external=fast,size=4M
[workload w]
type = commit
kind = append-fsync
count = 20
END
    mkdir -p "$WORK/results/2/bundle"
    echo elsewhere >"$WORK/results/2/node" # began on another node
    cd "$ROOT"
    run timeout 240 sbatch --wait --array=1-3 --output="$WORK/out.%a" \
        scripts/fleet/slurm-array "$WORK/x.ini" "$WORK/results"
    tail -n 3 "$WORK"/out.*
    [ "$status" = 3 ] # the highest of the tasks
    for task in 1 3; do
        [ "$(cat "$WORK/results/$task/status")" = 0 ]
        jq -e '.state == "complete"' "$WORK/results/$task/bundle/bundle.json"
    done
    grep -q "began on elsewhere" "$WORK/out.2"
    run timeout 20 "$JBDLAB" compare --hosts "$WORK"/results/*/bundle
    [[ $output == *"fleet on 1 of 2 hosts"* ]]
}
