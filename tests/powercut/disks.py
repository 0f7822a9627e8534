# SPDX-License-Identifier: GPL-3.0-or-later
"""The virtual machine's disks: image files under a write log, with a volatile cache to lose."""

import fcntl
import os
import struct
import subprocess

import writelog

MIB = 1 << 20
BLKDISCARD = 0x1277


def data_ranges(fd, start, end):
    """Yield (from, to) of what is not a hole."""
    at = start
    while at < end:
        try:
            at = os.lseek(fd, at, os.SEEK_DATA)
        except OSError:  # ENXIO: a hole up to the end
            return
        hole = min(end, os.lseek(fd, at, os.SEEK_HOLE))
        if at < hole:
            yield at, hole
        at = hole


def copy_sparse(source, target):
    """Copy a file and its holes."""
    with open(source, "rb") as src, open(target, "wb") as dst:
        end = os.fstat(src.fileno()).st_size
        dst.truncate(end)
        for at, stop in data_ranges(src.fileno(), 0, end):
            dst.seek(at)
            while at < stop:
                at += os.sendfile(dst.fileno(), src.fileno(), at, stop - at)


def fill_device(source, start, length, device):
    """Make a loop device hold a part of a file. All goes through the device: what others
    have of it in the page cache (they may look at any block device) stays right."""
    with open(source, "rb") as src, open(device, "r+b", buffering=0) as dst:
        # The loop driver punches a hole into its file, which reads as zeroes.
        fcntl.ioctl(dst, BLKDISCARD, struct.pack("=QQ", 0, length))
        for at, stop in data_ranges(src.fileno(), start, start + length):
            while at < stop:
                data = os.pread(src.fileno(), min(MIB, stop - at), at)
                at += os.pwrite(dst.fileno(), data, at - start)
        os.fsync(dst.fileno())


def program(*argv):
    """Run a program on an image; its output is in the error when it fails."""
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


class Disk:
    """One disk. power_on() before each boot, power_off() or power_cut() after it."""

    def __init__(self, directory, name, size_bytes):
        self.name = name
        self.image = os.path.join(directory, name + ".img")
        self.log_path = os.path.join(directory, name + ".log")
        self.base = os.path.join(directory, name + ".base")
        self.log = None
        with open(self.image, "wb") as f:
            f.truncate(size_bytes)

    def power_on(self):
        """Remember the content, begin an empty log."""
        copy_sparse(self.image, self.base)
        with open(self.log_path, "wb"):
            pass
        self.log = writelog.WriteLog(self.log_path)

    def qemu_arguments(self, number):
        """The options that make this the machine's disk of that number."""
        i = number
        # No host fsync: the host does not lose its power.
        return ["-blockdev", f"driver=file,filename={self.image},node-name=f{i},"
                             "cache.no-flush=on",
                "-blockdev", f"driver=file,filename={self.log_path},node-name=l{i},"
                             "cache.no-flush=on",
                "-blockdev", f"driver=blklogwrites,file=f{i},log=l{i},node-name=d{i},"
                             "log-sector-size=512",
                # blklogwrites logs a zeroing in two steps, which others can come
                # between, and adds two elements to a vector: merged requests of
                # IOV_MAX elements would fail with EINVAL.
                "-device", f"virtio-blk-pci,drive=d{i},write-cache=on,discard=off,"
                           "write-zeroes=off,request-merging=off"]

    def power_off(self):
        self.log.close()
        self.log = None

    def power_cut(self, rng, cache, settings, count=None):
        """Make the image what the disk holds after a cut that followed the request number
        count (default: the last one).

        cache: "kept" (all that was carried out survives), "lost" (only what was flushed),
        "torn" (of the rest, a random share of the pieces of settings.unit bytes). Disks
        that lie (settings.lying) have never carried out a flush.
        Returns (surviving, all) pieces of what was not flushed.
        """
        log = self.log
        log.read_new()
        log.check_super()
        fd = os.open(self.image, os.O_RDWR | os.O_CLOEXEC)
        try:
            log.find_whole(fd)
        finally:
            os.close(fd)
        log.truncate(count)
        flushed = 0 if settings.lying else log.flushed()
        tail = log.entries[flushed:]
        share = {"kept": 1.0, "lost": 0.0}.get(cache)
        if share is None:
            share = rng.choice((0.1, 0.5, 0.9))
        copy_sparse(self.base, self.image)
        fd = os.open(self.image, os.O_RDWR | os.O_CLOEXEC)
        try:
            for entry in log.entries[:flushed]:
                log.apply(fd, entry)
            return writelog.apply_some(log, fd, tail, rng, share, settings.unit)
        finally:
            os.close(fd)
            self.power_off()

    def mke2fs(self, *options):
        program("mke2fs", "-q", "-F", *options, self.image)
