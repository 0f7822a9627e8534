# SPDX-License-Identifier: GPL-3.0-or-later
"""A virtual machine that is told what to do line by line, and that can lose its power.

The guest (see init) answers each command with its output and a line "DONE STATUS". The
kernel's console is another serial port, a file that is searched for complaints.
"""

import os
import re
import selectors
import subprocess
import time

COMPLAINT = re.compile(
    r"EXT4-fs error|EXT4-fs \(vd[ab]\d?\): (error|failed|Delayed block)|JBD2:.*(error|corrupt)"
    r"|Aborting journal|Kernel panic|BUG:|Oops|I/O error|blocked for more than|Call Trace"
)
POLL_S = 0.0002


class PowerCut(Exception):
    """The machine was killed, as planned."""


class MachineError(Exception):
    """The machine died by itself or does not answer."""


class Result:
    """Exit status and lines of one command."""

    def __init__(self, status, lines):
        self.status, self.lines = status, lines

    def __str__(self):
        return "; ".join(self.lines[:6]) or f"exit {self.status}"


class Machine:
    """Starts with the constructor; end it with kill(), always."""

    def __init__(self, kernel, initrd, disks, directory, memory_mib=384):
        """disks: each has power_on() and qemu_arguments(NUMBER); those whose requests are
        asked for have a log (see tests/powercut/disks.py) as well."""
        self.disks = disks
        self.memory_mib = memory_mib
        self.console_path = os.path.join(directory, "console.txt")
        self.on_line = lambda line: False
        self.began = time.monotonic()
        self.buffer = b""
        self.said = []  # lines of the command that is running
        self.last_disk = None
        self.frozen = [None] * len(disks)  # requests per disk that freeze() saw
        for disk in disks:
            disk.power_on()
        self.process = subprocess.Popen(
            self.command(kernel, initrd), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, bufsize=0,
            start_new_session=True)  # ^C is for us, not for qemu
        os.set_blocking(self.process.stdout.fileno(), False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)

    def command(self, kernel, initrd):
        """The command line. setpriv makes qemu die with us, however we end."""
        argv = ["setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64",
                "-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", str(self.memory_mib),
                "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
                "-serial", f"file:{self.console_path}",
                "-chardev", "stdio,id=talk,signal=off", "-serial", "chardev:talk",
                "-kernel", kernel, "-initrd", initrd,
                "-append", "console=ttyS0 quiet loglevel=4 panic=-1 hung_task_timeout_secs=240 "
                # A busy host starves a machine; that alone is no complaint.
                "nosoftlockup rcupdate.rcu_cpu_stall_suppress=1"]
        for i, disk in enumerate(self.disks):
            argv += disk.qemu_arguments(i)
        return argv

    def seconds(self):
        return time.monotonic() - self.began

    def requests(self, disks=None):
        """Writes and flushes that the disks (default: all) have carried out since the boot."""
        total = 0
        for disk in disks or self.disks:
            before = len(disk.log.entries)
            now = disk.log.read_new()
            if now > before:
                self.last_disk = disk
            total += now
        return total

    def freeze(self):
        """The power fails now: what the disks carry out from here on does not count, nor
        what the guest says. Reads until nothing is new, so that no disk is ahead of a
        request of another one that came before."""
        counts = None
        while counts != self.frozen:
            counts, self.frozen = self.frozen, [disk.log.read_new() for disk in self.disks]

    def last_was_flush(self):
        return bool(self.last_disk) and self.last_disk.log.entries[-1].is_flush

    def last_request(self):
        """The request that requests() saw last, in words."""
        if not self.last_disk:
            return "none"
        entry = self.last_disk.log.entries[-1]
        if entry.is_flush:
            return f"flush of {self.last_disk.name}"
        return f"write of {entry.bytes} bytes to {self.last_disk.name} at {entry.sector * 512}"

    def lines(self, cut, deadline):
        """Yield the guest's lines; kill the machine as soon as cut() is true."""
        while True:
            while b"\n" in self.buffer:
                line, self.buffer = self.buffer.split(b"\n", 1)
                yield line.decode(errors="replace").rstrip("\r")
            if cut and cut():
                self.kill()
                raise PowerCut
            if not self.selector.select(POLL_S if cut else 0.5):
                if time.monotonic() > deadline:
                    raise MachineError("no answer")
                continue
            data = self.process.stdout.read(65536)
            if not data:
                raise MachineError(f"qemu ended by itself ({self.process.poll()})")
            self.buffer += data

    def wait_ready(self, timeout=300):
        for line in self.lines(None, time.monotonic() + timeout):
            if line == "READY":
                return

    def call(self, command, cut=None, timeout=300):
        """Run a command in the guest. Lines that on_line() takes are not in the result."""
        self.process.stdin.write(command.encode() + b"\n")
        self.said = result = []
        for line in self.lines(cut, time.monotonic() + timeout):
            done = re.fullmatch(r"DONE (\d+)", line)
            if done:
                return Result(int(done[1]), result)
            if not self.on_line(line):
                result.append(line)
        raise AssertionError("not reached")

    def kill(self):
        """SIGKILL; what the guest had said before still counts, unless frozen. May be
        called again."""
        if self.process.stdout.closed:
            return
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.set_blocking(self.process.stdout.fileno(), True)
        self.buffer += self.process.stdout.read()
        *lines, self.buffer = self.buffer.split(b"\n")
        for line in lines if self.frozen[0] is None else []:
            self.on_line(line.decode(errors="replace").rstrip("\r"))
        self.selector.close()
        self.process.stdin.close()
        self.process.stdout.close()

    def complaints(self):
        """Lines of the kernel's console that say that something is wrong."""
        with open(self.console_path, errors="replace") as f:
            return [line.strip() for line in f if COMPLAINT.search(line)]
