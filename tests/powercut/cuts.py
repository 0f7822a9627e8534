# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop of power cuts: boot, recover, check, write and move, cut.

A series begins with a new volume and lasts for several cuts; all its acknowledged records
are checked after each. A life is one boot of the machine. Where its cut falls:

  move      right after the K-th request (write or flush) of a move, K random over the
            length of the moves seen before: a move lasts only milliseconds, so a random
            moment would hardly ever hit one
  work      at a random moment while the writers run
  remount   at a random request of umount or mount around a move
  recovery  at a random request of the recovery from the cut before (its verdict then
            comes with the next life)

The cut loses the volatile caches of the disks (see writelog.py): all, nothing, or a
random part of what was not flushed. /var/lib/jbdlab, where jbdlab keeps its intent log,
is on a third disk; in some cuts that disk is lost altogether.
"""

import os
import re
import time

import disks
import guest
import machine

WRITERS = 4
INLINE_MB = 8
KINDS = ("move", "work", "move", "recovery", "move", "remount")
# How a life recovers. After a cut inside a move there are two more: the same command
# typed again, and the way back.
HOWS = ("kernel", "fsck", "jbdlab")
HOWS_MOVE = ("kernel", "again", "fsck", "rollback", "jbdlab")
HOWS_PEER = ("kernel", "fsck")
DEFAULT_FILE_SYSTEMS = ("ext4 -b 4096", "ext4 -b 1024 -O ^metadata_csum", "ext3 -b 4096")
OTHER = {"inline": "external", "external": "inline"}


class Bad(Exception):
    """What must not happen after a power cut."""


class Plan:
    """What is decided about a cut before the machine boots; all from the seeded rng."""

    def __init__(self, number, rng, settings):
        self.number = number
        self.kind = KINDS[(number - 1) % len(KINDS)]
        self.fraction = rng.random()
        # Which requests count: the intent log alone takes as many as a move.
        self.watched = rng.choices((2, 3), (3, 1))[0]
        self.on_write = rng.random() < 0.6
        self.moves_before = rng.randrange(2)
        self.cache = rng.choices(("torn", "lost", "kept"), (3, 1, 1))[0]
        self.state_lost = not settings.peer and rng.random() < 0.4
        self.work_s = rng.uniform(0.1, 1.5)


class Experience:
    """What a run learns: the requests of each phase, and which recoveries had their turn."""

    def __init__(self):
        self.requests = {}
        self.turns = {}

    def note(self, phase, requests):
        """Requests of a complete phase, per disk."""
        self.requests[phase] = requests

    def length(self, phase, watched):
        """Requests to the first so many disks that the phase will take, at least 1."""
        return max(1, sum(self.requests.get(phase, (16, 8, 0))[:watched]))

    def next_how(self, hows):
        turn = self.turns.get(hows, 0)
        self.turns[hows] = turn + 1
        return hows[turn % len(hows)]


class Series:
    """A volume and what we know of it."""

    def __init__(self, settings, file_system):
        self.settings = settings
        self.file_system = file_system
        self.type = file_system.split()[0]
        self.acked = [0] * WRITERS
        self.kept = None
        self.placement = "inline"
        self.target = None  # of the move that the last cut interrupted
        directory = settings.directory
        self.volume = disks.Disk(directory, "volume", 160 * disks.MIB)
        self.journal = disks.Disk(directory, "journal", 16 * disks.MIB)
        self.state = disks.Disk(directory, "state", 8 * disks.MIB)
        self.disks = [self.volume, self.journal, self.state]
        self.volume.mke2fs("-t", *file_system.split(), "-J", f"size={INLINE_MB}",
                           "-d", settings.files)
        if settings.peer:
            block = re.search(r"-b (\d+)", file_system)[1]
            self.journal.mke2fs("-O", "journal_dev", "-b", block)
        self.state.mke2fs("-t", "ext4")

    def ack(self, line):
        """Note an acknowledgement; false when the line is none."""
        found = re.fullmatch(r"ACK (\d+) (\d+)", line)
        if found:
            self.acked[int(found[1])] = int(found[2])
        return bool(found)

    def acked_total(self):
        return sum(self.acked)

    def power_cut(self, plan, rng, counts):
        """Let the disks lose what they lose. Returns a sentence for the report."""
        pieces = [disk.power_cut(rng, plan.cache, self.settings, count)
                  for disk, count in zip(self.disks, counts)]
        kept, total = (sum(column) for column in zip(*pieces))
        text = f"cache {plan.cache} ({kept} of {total} pieces survive)"
        if plan.state_lost:
            self.state.mke2fs("-t", "ext4")
            text += ", intent log lost"
        return text


def stage(lines):
    """Where jbdlab move is, by the notes that it has printed."""
    if any("for a trial" in line for line in lines):
        return ", in the trial mount"
    if sum("with e2fsck" in line for line in lines) > 1:
        return ", in the check after it"
    return ""


class Life:
    """One boot: raises machine.PowerCut when the planned moment has come."""

    def __init__(self, series, plan, experience):
        self.series, self.plan, self.experience = series, plan, experience
        self.settings = series.settings
        hows = HOWS_PEER if self.settings.peer else HOWS_MOVE if series.target else HOWS
        if "fast_commit" in series.file_system:
            # e2fsck 1.47.0 loses what was fast-committed, or leaves a bad superblock.
            hows = tuple(how for how in hows if how != "fsck")
        self.how = experience.next_how(hows)
        self.doing = "boot"
        self.target, series.target = series.target, None
        self.recovered = False
        self.lost = 0
        self.vm = machine.Machine(self.settings.kernel, self.settings.initrd, series.disks,
                                  self.settings.directory)
        self.vm.on_line = series.ack

    def must(self, command, cut=None):
        """Run a command that has to succeed."""
        result = self.vm.call(command, cut)
        if result.status:
            raise Bad(f"{command}: {result}")
        return result.lines

    def at_request(self, phase):
        """A cut() that is true at the K-th request from now on, K within the length of
        the last phase of this kind; or at the first write after that."""
        disks_watched = self.series.disks[: self.plan.watched]
        start = self.vm.requests(disks_watched)
        length = self.experience.length(phase, self.plan.watched)
        k = 1 + int(self.plan.fraction * min(length, 200))

        def cut():
            if self.vm.requests(disks_watched) - start < k:
                return False
            if self.plan.on_write and self.vm.last_was_flush():
                return False
            self.vm.freeze()
            done = sum(self.vm.frozen[: self.plan.watched]) - start
            self.doing = (f"{phase}{stage(self.vm.said)}: request {done} of about {length}, "
                          f"{self.vm.last_request()}")
            return True

        return cut

    def at_time(self, phase, seconds):
        """A cut() that is true so many seconds from now; in half of the cases at the next
        write after that, since guests under emulation rarely have one in the cache."""
        end = time.monotonic() + seconds
        seen = None

        def cut():
            nonlocal seen
            if time.monotonic() < end:
                return False
            self.doing = f"{phase} for {seconds:.2f} s"
            if self.plan.fraction < 0.5:
                return True
            before, seen = seen, self.vm.requests()
            if before in (None, seen) or self.vm.last_was_flush():
                return False
            self.vm.freeze()
            return True

        return cut

    def phase(self, phase, command, cut):
        """Run a command that may be cut; learn how many requests it takes."""
        self.doing = phase
        self.vm.requests()
        before = [len(disk.log.entries) for disk in self.series.disks]
        lines = self.must(command, cut)
        self.vm.requests()
        self.experience.note(phase, [len(disk.log.entries) - n for disk, n
                                     in zip(self.series.disks, before)])
        return lines

    def kind_is(self, kind):
        return self.plan is not None and self.plan.kind == kind

    def boot(self):
        self.vm.wait_ready()
        self.must(guest.guest_variables("/dev/vda", "/dev/vdb", self.series.type,
                                          INLINE_MB, self.settings.peer, "mount"))
        self.must("mount -t ext4 /dev/vdc /var/lib/jbdlab")

    def recover(self):
        """Recover and check everything; ends with the volume not mounted."""
        series = self.series
        phase = f"recovery by {self.how}"
        cut = self.at_request(phase) if self.kind_is("recovery") else None
        self.phase(phase, f"recover_by {self.how} {self.target or ''}", cut)
        acked = ",".join(f"{w}:{n}" for w, n in enumerate(series.acked))
        verify = self.vm.call(f"jbdlab witness /mnt --verify --writers={WRITERS} "
                              f"--acked={acked}")
        self.lost = sum(line.startswith("LOST") for line in verify.lines)
        if verify.status:
            raise Bad(str(verify))
        kept = self.must("kept")
        series.kept = series.kept or kept
        if kept != series.kept:
            raise Bad("a file that nobody wrote to has changed")
        self.must("umount /mnt")
        series.placement = self.must("settle")[-1].split()[-1]
        if series.placement not in OTHER:
            raise Bad(f"the volume has no journal ({series.placement})")
        if self.how == "again" and series.placement != self.target:
            raise Bad(f"the same command again did not end with {self.target}")
        self.recovered = True

    def work_and_move(self, number):
        """Mount, write, unmount, move. Its number-th time in this life."""
        series, plan = self.series, self.plan
        target = OTHER[series.placement]
        now = number >= plan.moves_before if plan else False
        remount = now and self.kind_is("remount")
        self.phase("mount", "mount_volume",
                   self.at_request("mount") if remount and plan.fraction < 0.5 else None)
        cut = None
        if now and self.kind_is("work"):
            cut = self.at_time("writing", plan.work_s)
        self.phase("writing", f"jbdlab witness /mnt --writers={WRITERS} "
                              f"--time={'2s' if cut else '300ms'}", cut)
        self.phase("umount", "umount /mnt", self.at_request("umount") if remount else None)
        phase = f"move {series.placement} -> {target}"
        series.target = target
        self.phase(phase, f"move {target}",
                   self.at_request(phase) if now and self.kind_is("move") else None)
        series.target = None
        lines = self.must("placement")
        if lines[-1] != f"PLACEMENT {target}":
            raise Bad(f"{phase} ended with {lines[-1]}")
        series.placement = target

    def run(self):
        """Live until the cut; without a plan, until all is checked and moved twice."""
        self.boot()
        self.recover()
        if self.kind_is("recovery"):
            self.plan.kind = "work"  # it took fewer requests than the planned one
        for number in range(8 if self.plan else 2):
            self.work_and_move(number)
            if self.plan:
                self.plan.fraction *= 0.9  # the planned request may be one too far
        if self.plan:
            raise machine.MachineError("the planned moment did not come")
        self.recover()


class Tally:
    """Counts and prints what became of each cut."""

    def __init__(self, settings):
        self.settings = settings
        self.cuts = self.lost = self.bad = 0
        self.open = []  # report lines that wait for their verdict

    def cut(self, text):
        self.cuts += 1
        self.open.append(text)

    def verdict(self, life, problem):
        """Close the lines of all the cuts since the last verdict."""
        for text in self.open or (["no cut"] if problem else []):
            print(f"{text} | recovered by {life.how} | acked {life.series.acked_total()}, "
                  f"lost {life.lost} | {'BAD: ' + problem if problem else 'ok'}", flush=True)
        self.bad += bool(problem)
        self.lost += life.lost
        self.open = []

    def last_line(self):
        who = "tune2fs: " if self.settings.peer else ""
        return f"{who}cuts {self.cuts}, lost {self.lost}, bad {self.bad}"


def keep_evidence(settings, series, name):
    """Copy the disks as they were when the recovery began."""
    to = os.path.join(settings.out, f"bad-{settings.seed}-{name}")
    os.makedirs(to, exist_ok=True)
    for disk in series.disks:
        disks.copy_sparse(disk.base, os.path.join(to, disk.name + ".img"))
    disks.copy_sparse(os.path.join(settings.directory, "console.txt"),
                      os.path.join(to, "console.txt"))
    print(f"  the disks before this boot: {to}", flush=True)


def one_life(settings, series, plan, experience, tally, rng):
    """Boot once and cut as planned (or not, without a plan). False when the volume is bad."""
    life = Life(series, plan, experience)
    problem = None
    try:
        life.run()
    except machine.PowerCut:
        pass
    except (Bad, machine.MachineError) as e:
        problem = f"{e} (during {life.doing})"
    finally:
        moment = life.vm.seconds()
        life.vm.kill()
    complaints = life.vm.complaints()
    if complaints and not problem:
        problem = "kernel: " + "; ".join(complaints[:3])
    if life.recovered or problem:
        tally.verdict(life, problem)
    if problem and not settings.peer:
        keep_evidence(settings, series, plan.number if plan else f"{tally.cuts}-end")
    if problem or plan is None:
        for disk in series.disks:
            disk.power_off()
        return not problem
    what = series.power_cut(plan, rng, life.vm.frozen)
    tally.cut(f"cut {plan.number:2} at {moment:4.1f} s: {life.doing} | {what}")
    return True


def run(settings, rng):
    """The whole test. Returns the exit status."""
    tally = Tally(settings)
    experience = Experience()
    volumes = 0
    while tally.cuts < settings.cuts:
        series = Series(settings, settings.file_systems[volumes % len(settings.file_systems)])
        volumes += 1
        print(f"-- {series.file_system}", flush=True)
        end = min(tally.cuts + settings.series, settings.cuts)
        good = True
        while good and tally.cuts < end:
            plan = Plan(tally.cuts + 1, rng, settings)
            good = one_life(settings, series, plan, experience, tally, rng)
        if good:
            one_life(settings, series, None, experience, tally, rng)
        if volumes > settings.cuts + 3:
            print("too many volumes: this cannot work")
            return 1
    print(tally.last_line(), flush=True)
    return 1 if (tally.lost or tally.bad) and not settings.peer else 0
