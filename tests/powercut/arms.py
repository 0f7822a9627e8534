# SPDX-License-Identifier: GPL-3.0-or-later
"""One power cut for each arm: does what jbdlab witness acknowledged survive?

The same writers, the same cut, which loses everything that was not flushed:

  inline, external      nothing may be lost
  moved                 the journal was moved while the records were there: nothing either
  nobarrier             the kernel flushes nothing: records must be lost, or the witness
                        would not see losses
  lying                 disks that acknowledge flushes and do not carry them out: the same
"""

import collections
import random
import re

import cuts
import disks
import guest
import machine

WRITERS = 4
ENOUGH = 40  # acknowledgements before the cut
Arm = collections.namedtuple("Arm", "name options move lying must_lose")
ARMS = (
    Arm("inline", "defaults", (), False, False),
    Arm("external", "defaults", ("external",), False, False),
    Arm("moved", "defaults", ("external", "inline"), False, False),
    Arm("nobarrier", "nobarrier", ("external",), False, True),
    Arm("lying", "defaults", (), True, True),
)


class Cut:
    """The life before the cut, and the one after it."""

    def __init__(self, settings, arm):
        self.settings, self.arm = settings, arm
        self.acked = [0] * WRITERS
        self.volume = disks.Disk(settings.directory, "volume", 64 * disks.MIB)
        self.journal = disks.Disk(settings.directory, "journal", 16 * disks.MIB)
        self.state = disks.Disk(settings.directory, "state", 8 * disks.MIB)
        self.disks = [self.volume, self.journal, self.state]
        self.volume.mke2fs("-t", "ext4", "-b", "4096", "-J", "size=4")
        self.state.mke2fs("-t", "ext4")

    def on_line(self, line):
        found = re.fullmatch(r"ACK (\d+) (\d+)", line)
        if found:
            self.acked[int(found[1])] = int(found[2])
        return bool(found)

    def boot(self):
        vm = machine.Machine(self.settings.kernel, self.settings.initrd, self.disks,
                             self.settings.directory)
        vm.on_line = self.on_line
        vm.wait_ready()
        self.must(vm, guest.guest_variables("/dev/vda", "/dev/vdb", "ext4", 4, False, "none"))
        self.must(vm, "mount -t ext4 /dev/vdc /var/lib/jbdlab")
        return vm

    @staticmethod
    def must(vm, command):
        result = vm.call(command)
        if result.status:
            raise cuts.Bad(f"{command}: {result}")

    def write(self):
        """Records, the move between them, records until the power is cut."""
        vm = self.boot()
        mount = f"mount -t ext4 -o {self.arm.options} $VOLUME /mnt"
        witness = f"jbdlab witness /mnt --writers={WRITERS} --time="
        try:
            for target in self.arm.move:
                for command in (mount, witness + "200ms", "umount /mnt", f"move {target}"):
                    self.must(vm, command)
            self.must(vm, mount)
            before = sum(self.acked)
            try:
                # With barriers off nothing but the timer empties the cache: be quick.
                vm.call(witness + "100s", lambda: sum(self.acked) >= before + ENOUGH)
            except machine.PowerCut:
                return
            raise cuts.Bad("the witness ended before the cut")
        finally:
            vm.kill()

    def verify(self):
        """How many records the witness misses; what else is lost counts as one."""
        vm = self.boot()
        acked = ",".join(f"{w}:{n}" for w, n in enumerate(self.acked))
        try:
            mounted = vm.call("mount_volume")
            if mounted.status:
                return 1, f"cannot be mounted: {mounted}"
            found = vm.call(f"jbdlab witness /mnt --verify --writers={WRITERS} --acked={acked}")
            lost = [line for line in found.lines if line.startswith("LOST")]
            if found.status != (6 if lost else 0):
                return 1, str(found)
            return len(lost), lost[0] if lost else ""
        finally:
            vm.kill()
            for disk in self.disks:
                disk.power_off()


def one(settings, arm):
    """Cut and look. True when the arm did what it must."""
    cut = Cut(settings, arm)
    rng = random.Random(settings.seed)
    cut.write()
    settings.lying = arm.lying
    for disk in cut.disks:
        # The intent log's disk is honest: it is not under test.
        settings.lying = arm.lying and disk is not cut.state
        disk.power_cut(rng, "lost", settings)
    lost, example = cut.verify()
    good = bool(lost) == arm.must_lose
    print(f"arm {arm.name}: acked {sum(cut.acked)}, lost {lost}"
          f"{' as it must' if lost and good else ''}{'' if good else ' BAD'}"
          f"{': ' + example if example else ''}", flush=True)
    return good


def run(settings, _rng):
    """All arms. Returns the exit status."""
    bad = sum(not one(settings, arm) for arm in ARMS)
    print(f"arms {len(ARMS)}, bad {bad}", flush=True)
    return 1 if bad else 0
