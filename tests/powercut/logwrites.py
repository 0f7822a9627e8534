# SPDX-License-Identifier: GPL-3.0-or-later
"""Every state that a power cut could have left of a machine's life, checked on the host.

The machine has one disk with two partitions, volume and journal, under one write log: so
there is one order of all writes and flushes. It makes the volume, moves the journal out,
writes, moves it back, writes. Afterwards the host builds from the log

  every prefix      of the two moves: the states that a kill leaves
  torn states       of the two moves: what was flushed, and of the rest a random part
  a sample of both  of the time in which the volume was mounted

and lets three recoveries loose on each: the kernel's mount alone, e2fsck -p and mount, and
jbdlab recover and mount (without an intent log, for there is none on the host). Each must
end with a clean e2fsck -fn, a journal, unharmed files and all acknowledged records.

This is another kernel than the guest's, which makes a second witness of what we leave.
"""

import bisect
import contextlib
import os
import random
import re
import struct
import subprocess

import cuts
import disks
import guest
import machine
import writelog

START = 1 << 20  # of the first partition
VOLUME_BYTES = 96 * disks.MIB
JOURNAL_BYTES = 8 * disks.MIB
SAMPLE = 60  # states of each stretch with the volume mounted
# Torn states per request of a move, by the bytes that the disk writes whole. We promise
# to survive torn blocks; the kernel does not.
TORN = (4096, 512)
DEFAULT_FILE_SYSTEMS = ("ext4 -b 4096",)


class State:
    """A state of the disk: the first `durable` requests, and of the ones up to `end` the
    pieces that the seed chooses (all of them without one)."""

    def __init__(self, phase, durable, end, seed=None, unit=4096):
        self.phase, self.durable, self.end, self.seed = phase, durable, end, seed
        self.unit = unit

    def __str__(self):
        if self.seed is None:
            return f"{self.phase}: after request {self.end}"
        return (f"{self.phase}: request {self.durable} flushed, up to {self.end} torn into "
                f"{self.unit} bytes by {self.seed}")


class Record:
    """What happened in the machine's life: phases and acknowledgements by request number."""

    def __init__(self):
        self.phases = []  # (name, first request, last request)
        self.acks = [[] for _ in range(cuts.WRITERS)]  # (request, number), rising
        self.kept = None

    def acked(self, request):
        """The --acked argument for the state after so many requests."""
        found = []
        for writer, acks in enumerate(self.acks):
            i = bisect.bisect_right(acks, (request, float("inf")))
            if i:
                found.append(f"{writer}:{acks[i - 1][1]}")
        return ",".join(found)


def live(settings, disk, fs):
    """Run the machine; returns the Record. The disk keeps its base and its log."""
    record = Record()
    state = disks.Disk(settings.directory, "state", 8 * disks.MIB)
    state.mke2fs("-t", "ext4")
    vm = machine.Machine(settings.kernel, settings.initrd, [disk, state], settings.directory)

    def on_line(line):
        ack = re.fullmatch(r"ACK (\d+) (\d+)", line)
        if ack:
            # Read after the fact: the number may be too high, which asks for less.
            record.acks[int(ack[1])].append((vm.requests([disk]), int(ack[2])))
        return bool(ack)

    def phase(name, *commands):
        first = vm.requests([disk])
        for command in commands:
            result = vm.call(command)
            if result.status:
                raise cuts.Bad(f"{name}: {command}: {result}")
        record.phases.append((name, first, vm.requests([disk])))
        return result.lines

    vm.on_line = on_line
    write = f"jbdlab witness /mnt --writers={cuts.WRITERS} --time="
    try:
        vm.wait_ready()
        phase("prepare", guest.guest_variables("/dev/vda1", "/dev/vda2", fs.split()[0], 4,
                                                 settings.peer, "fsck"),
              "mount -t ext4 /dev/vdb /var/lib/jbdlab",
              f"try /sbin/mke2fs -q -t {fs} -J size=4 $VOLUME",
              "try /sbin/mke2fs -q -O journal_dev -b "
              + re.search(r"-b (\d+)", fs)[1] + " $JOURNAL",
              "mount_volume && cp -r /sbin /mnt/keep", write + "200ms", "umount /mnt")
        record.kept = phase("look", "mount_volume", "kept", "umount /mnt; true")
        phase("move inline -> external", "move external")
        phase("mounted, external", "mount_volume", write + "1s", "umount /mnt")
        phase("move external -> inline", "move inline")
        phase("mounted, inline", "mount_volume", write + "500ms", "umount /mnt")
        vm.call("mount_volume")
        record.kept = vm.call("kept").lines
        vm.call("umount /mnt")
    finally:
        vm.kill()
    if vm.complaints():
        raise cuts.Bad("; ".join(vm.complaints()[:3]))
    return record


def choose(record, log, rng):
    """The states to check, in rising order of their durable part."""
    flushes = [0] + [i + 1 for i, entry in enumerate(log.entries) if entry.is_flush]
    states = []
    for name, first, last in record.phases[2:]:
        ends = range(first, last + 1)
        torn = TORN
        if name.startswith("mounted"):
            ends = sorted(rng.sample(ends, min(SAMPLE, len(ends))))
            torn = TORN[:1]
        for end in ends:
            states.append(State(name, end, end))
            durable = flushes[bisect.bisect_right(flushes, end) - 1]
            if durable < end:
                states += [State(name, durable, end, rng.randrange(10**6), unit)
                           for unit in torn]
    return sorted(states, key=lambda s: (s.durable, s.end))


def hide_devices(directory, kept):
    """In our mount namespace, leave no devices but these: what looks for a journal by UUID
    then finds it at once, and nobody can hurt a disk."""
    dev = os.path.join(directory, "dev")
    os.mkdir(dev)
    disks.program("mount", "-t", "tmpfs", "tmpfs", dev)
    for path in ("/dev/null", "/dev/zero", "/dev/urandom", *kept):
        st = os.stat(path)
        os.mknod(os.path.join(dev, os.path.basename(path)), st.st_mode, st.st_rdev)
    os.mkdir(os.path.join(dev, "shm"))
    disks.program("mount", "--bind", "/dev/shm", os.path.join(dev, "shm"))
    disks.program("mount", "--move", dev, "/dev")


class Bench:
    """The host's side: two loop devices that are filled with one state at a time."""

    def __init__(self, settings):
        self.settings = settings
        self.prefix = os.path.join(settings.directory, "prefix.img")
        self.torn = os.path.join(settings.directory, "torn.img")
        self.mount = os.path.join(settings.directory, "mnt")
        self.state_dir = os.path.join(settings.directory, "no-intent")
        os.mkdir(self.mount)
        self.loops = []
        for name, length in (("volume", VOLUME_BYTES), ("journal", JOURNAL_BYTES)):
            path = os.path.join(settings.directory, f"partition-{name}.img")
            with open(path, "wb") as f:
                f.truncate(length)
            self.loops.append(disks.program("losetup", "--find", "--show", path).strip())
        hide_devices(settings.directory, self.loops)

    def close(self):
        subprocess.run(["umount", self.mount], stderr=subprocess.DEVNULL, check=False)
        for loop in self.loops:
            subprocess.run(["losetup", "-d", loop], check=False)

    def begin(self, disk, fs_type):
        """Turn to another life."""
        self.log, self.type, self.applied = disk.log, fs_type, 0
        disks.copy_sparse(disk.base, self.prefix)

    def build(self, state):
        """Make the whole disk of a state. States come in rising order of `durable`."""
        with open(self.prefix, "r+b") as f:
            for entry in self.log.entries[self.applied : state.durable]:
                self.log.apply(f.fileno(), entry)
            self.applied = state.durable
        if state.seed is None:
            return self.prefix
        disks.copy_sparse(self.prefix, self.torn)
        with open(self.torn, "r+b") as f:
            rng = random.Random(state.seed)
            writelog.apply_some(self.log, f.fileno(),
                                self.log.entries[state.durable : state.end], rng,
                                rng.choice((0.1, 0.5, 0.9)), state.unit)
        return self.torn

    def load(self, image):
        """Put the two partitions of a disk image into the loop devices."""
        at = START
        for loop, length in zip(self.loops, (VOLUME_BYTES, JOURNAL_BYTES)):
            disks.fill_device(image, at, length, loop)
            at += length

    def run(self, *argv, good=(0,)):
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, text=True, errors="replace", check=False)
        if done.returncode not in good:
            raise cuts.Bad(f"{' '.join(argv[:3])}: exit {done.returncode}: "
                           + "; ".join(done.stdout.splitlines()[:3]))
        return done.stdout

    def placement(self):
        text = self.run("dumpe2fs", "-h", self.loops[0])
        for place in ("inline", "external"):
            if re.search({"inline": "^Journal inode:", "external": "^Journal device:"}[place],
                         text, re.M):
                return place
        raise cuts.Bad("the volume has no journal")

    def fsck(self, *options, good=(0,)):
        self.run("e2fsck", *options, "-j", self.loops[1], self.loops[0], good=good)

    @contextlib.contextmanager
    def mounted(self):
        options = []
        if self.placement() == "external":
            options = ["-o", f"journal_path={self.loops[1]}"]
        self.run("mount", "-t", self.type, *options, self.loops[0], self.mount)
        try:
            yield
        finally:
            self.run("umount", self.mount)

    def look(self, record, state):
        """With the volume mounted: are the files and the records there?"""
        acked = record.acked(state.durable)
        self.run(self.settings.jbdlab, "witness", self.mount, "--verify",
                 f"--writers={cuts.WRITERS}", f"--acked={acked}")
        kept = self.run("sh", "-c", 'cd "$0/keep" && find . -type f | LC_ALL=C sort | '
                        "xargs sha256sum | sha256sum", self.mount)
        if kept.split()[0] != record.kept[-1].split()[1]:
            raise cuts.Bad("a file that nobody wrote to has changed")

    def check(self, record, state, how):
        """Recover in one way; raises cuts.Bad."""
        if how == "fsck":
            self.fsck("-p", good=(0, 1))
        elif how == "jbdlab":
            self.run(self.settings.jbdlab, "recover", "--yes", "--state-dir", self.state_dir,
                     self.loops[0])
        with self.mounted():
            self.look(record, state)
        if how == "kernel":
            self.fsck("-p", good=(0, 1))
        self.fsck("-fn")
        self.placement()


def partition(disk):
    """An MBR with two partitions, without gap."""
    table = b""
    at = START
    for length in (VOLUME_BYTES, JOURNAL_BYTES):
        table += struct.pack("<4xB3xII", 0x83, at // 512, length // 512)
        at += length
    with open(disk.image, "r+b") as f:
        f.seek(446)
        f.write(table.ljust(64, b"\0") + b"\x55\xaa")


def keep_evidence(settings, image, state):
    """Copy the disk of a bad state, and say where it is."""
    to = os.path.join(settings.out, f"bad-{settings.seed}-{state.end}-{state.seed}.img")
    disks.copy_sparse(image, to)
    print(f"  the disk: {to}", flush=True)


def check_all(settings, bench, record, states):
    """Print one line per phase and per bad state (5 of a phase); returns how many are bad."""
    counts = {}
    for number, state in enumerate(states):
        hows = ["kernel", "fsck"] + ([] if settings.peer else ["jbdlab"])
        if state.phase.startswith("mounted"):
            hows = [hows[number % len(hows)]]
        image = bench.build(state)
        problem = None
        for how in hows:
            bench.load(image)
            try:
                bench.check(record, state, how)
            except cuts.Bad as e:
                problem = f"by {how}: {e}"
                break
        tally = counts.setdefault(state.phase, [0, 0])
        tally[0] += 1
        tally[1] += bool(problem)
        if problem and tally[1] <= 5:
            print(f"BAD {state}: {problem}", flush=True)
            if not settings.peer or state.phase.startswith("mounted"):
                keep_evidence(settings, image, state)
    for phase, (total, bad) in counts.items():
        print(f"{phase}: states {total}, bad {bad}", flush=True)
    return sum(bad for _, bad in counts.values())


def run(settings, rng):
    """One life per file system. Returns the exit status."""
    bad = total = 0
    bench = Bench(settings)
    try:
        for fs in settings.file_systems:
            print(f"-- {fs}", flush=True)
            disk = disks.Disk(settings.directory, "disk",
                              START + VOLUME_BYTES + JOURNAL_BYTES + START)
            partition(disk)
            record = live(settings, disk, fs)
            disk.log.read_new()
            disk.log.check_super()
            states = choose(record, disk.log, rng)
            bench.begin(disk, fs.split()[0])
            bad += check_all(settings, bench, record, states)
            total += len(states)
            disk.power_off()
    finally:
        bench.close()
    who = "tune2fs: " if settings.peer else ""
    print(f"{who}states {total}, bad {bad}", flush=True)
    return 1 if bad and not settings.peer else 0
