# SPDX-License-Identifier: GPL-3.0-or-later
# The time that the models of scratch disks charged in a phase is in its evidence, and is
# what their parameters say for the requests that the kernel counted.

bats_require_minimum_version 1.5.0
load ../lib

setup() {
    need_loop
    [ -c /dev/fuse ] || skip "needs /dev/fuse"
    common_setup
}

teardown() {
    common_teardown
}

# A read or write takes 4 ms and a flush 7 ms, one after the other, whatever their size; the
# journal device takes half of that.  What else it is on: a plain scratch disk.
experiment() {
    cat >"$WORK/x.ini" <<END
[experiment]
blocks = 1
repeat = 0
probe  = no
$(disk_section slow 128M ssd,read=4ms,write=4ms,flush=7ms,channels=1,overhead=0,interface=0)
$(disk_section fast 16M ssd,read=2ms,write=2ms,flush=3500us,channels=1,overhead=0,interface=0)
$(disk_section plain 16M)
[volume data]
device = slow
mkfs   = ext4 -b 4096
mount  = noatime,commit=300
[arm inline]
journal = inline,size=8M
[arm outside]
journal = external=fast,size=8M
[arm plain]
journal = external=plain,size=8M
[workload read]
type  = aio
kind  = randread
depth = 1
size  = 8M
count = 50
[workload append]
type  = commit
kind  = append-fsync
count = 20
END
    timeout 120 "$JBDLAB" run "$WORK/x.ini" --output "$WORK/b" --yes --no-progress \
        >"$WORK/out" 2>&1 || { cat "$WORK/out"; return 1; }
}

# disks WORKLOAD ARM: of its phase that is named last.
disks() {
    jq -c --arg w "$1" --arg a "$2" 'select(.workload == $w and .arm == $a) |
        .phases[-1].evidence.disks' "$WORK/b/runs.jsonl"
}

# charged WHICH MS: the one disk of standard input that fits has what its requests cost.  Of
# those of others, who look at all disks, one may be under way at each end of the phase: the
# model counts it when it comes, the kernel when it is done.
charged() {
    tee /dev/stderr | jq -e "[.[] | select($1)] | length == 1 and
        (.[0] | .model_busy_ns / 1000000 - ($2) | fabs | IN(0, 2, 4))"
}

@test "a phase has the time that the parameters say" {
    experiment
    for arm in inline outside plain; do
        disks read $arm | charged .data '.reads * 4'
        disks read $arm | jq -e 'any(.[]; .data and .reads >= 50)'
    done
    # Both flushes of a commit come with a block of the journal.
    disks append inline | charged .data '.writes * 4 + .flushes * 7'
    disks append inline | jq -e 'any(.[]; .data and .flushes >= 40 and .writes >= 60)'
    # Here the data disk is flushed by an empty write, which the kernel counts as a write.
    for arm in outside plain; do
        disks append $arm | charged .data '(.writes - .flushes) * 4 + .flushes * 7'
        disks append $arm | jq -e 'any(.[]; .data and .flushes >= 20)'
    done
    disks append outside | charged .journal '.writes * 2 + .flushes * 3.5'
    disks append outside | jq -e 'any(.[]; .journal and .flushes >= 40)'
    disks read outside | charged .journal '.reads * 2'
    # Without others it is known to the nanosecond.
    disks append inline | jq -e 'any(.[]; .data and
        (.reads > 0 or .writes != 60 or .model_busy_ns == (60 * 4 + 40 * 7) * 1000000))'
    # A disk without a model knows nothing of this.
    disks append plain | jq -e 'any(.[]; .journal and (has("model_busy_ns") | not))'
    run ! compgen -G "/run/jbdlab/scratch/run*-slow"
}
