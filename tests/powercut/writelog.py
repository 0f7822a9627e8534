# SPDX-License-Identifier: GPL-3.0-or-later
"""The log that qemu's blklogwrites driver keeps of a disk, and what a power cut makes of it.

The format is that of the kernel's dm-log-writes: a super block in sector 0, then one
entry after the other, each a sector of header followed by its data. An entry is logged
when the disk has carried it out: what follows the last FLUSH was in the disk's volatile
cache when the power failed, and any part of it may be missing, in any order.

qemu brings the entry count of the super block up to date with each flush, so a killed
qemu leaves more entries than it says. Fewer would mean that the log has a hole.

One leniency: a write that was carried out while a flush was under way may be logged
before that flush, though the flush need not cover it. A mover that waits for its flush
has no such writes; jbd2 with several writers can have them.
"""

import os
import struct

MAGIC = 0x6A736677736872
SECTOR = 512
FLUSH = 1
FUA = 2
DISCARD = 4
HEADER = struct.Struct("<QQQQ")
SUPER = struct.Struct("<QQQI")


class Entry:
    """One request: sectors [sector, sector + count) of the disk, data at data_at of the log."""

    __slots__ = ("sector", "count", "flags", "data_at", "whole")

    def __init__(self, sector, count, flags, data_at):
        self.sector, self.count, self.flags, self.data_at = sector, count, flags, data_at
        self.whole = True

    @property
    def is_flush(self):
        return bool(self.flags & (FLUSH | FUA))

    @property
    def bytes(self):
        return 0 if self.flags & DISCARD else self.count * SECTOR


class WriteLog:
    """Reads a log from its beginning; can be asked again while qemu appends to it."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.entries = []
        self.next_at = SECTOR

    def close(self):
        os.close(self.fd)

    def read_new(self):
        """Read the entries added since the last call and return how many there are in all."""
        while True:
            raw = os.pread(self.fd, HEADER.size, self.next_at)
            if len(raw) < HEADER.size:
                break
            sector, count, flags, _ = HEADER.unpack(raw)
            if not count and not flags:
                break
            entry = Entry(sector, count, flags, self.next_at + SECTOR)
            self.entries.append(entry)
            self.next_at += SECTOR + entry.bytes
        return len(self.entries)

    def check_super(self):
        """Raise ValueError when this is no whole log. Call read_new() first."""
        raw = os.pread(self.fd, SUPER.size, 0)
        if len(raw) < SUPER.size or not any(raw):
            return  # killed before the first flush
        magic, version, count, sector_bytes = SUPER.unpack(raw)
        if (magic, version, sector_bytes) != (MAGIC, 1, SECTOR):
            raise ValueError("not a write log with 512-byte sectors")
        if count > len(self.entries):
            raise ValueError(f"the write log has a hole: {len(self.entries)} of {count}")

    def data(self, entry):
        return os.pread(self.fd, entry.bytes, entry.data_at)

    def flushed(self):
        """How many of the entries the last flush made durable."""
        for i in range(len(self.entries), 0, -1):
            if self.entries[i - 1].is_flush:
                return i
        return 0

    def apply(self, image_fd, entry):
        if entry.bytes:
            os.pwrite(image_fd, self.data(entry), entry.sector * SECTOR)

    def find_whole(self, image_fd):
        """Clear `whole` of the unflushed entries that were cut short in the log itself.

        qemu writes the disk first and the log after it, so an entry that is whole agrees
        with the killed machine's image wherever no later entry wrote.
        """
        newer = set()
        for entry in reversed(self.entries[self.flushed() :]):
            data = self.data(entry)
            sectors = range(entry.sector, entry.sector + entry.bytes // SECTOR)
            image = os.pread(image_fd, entry.bytes, entry.sector * SECTOR)
            entry.whole = len(data) == entry.bytes and all(
                s in newer
                or data[i * SECTOR : (i + 1) * SECTOR] == image[i * SECTOR : (i + 1) * SECTOR]
                for i, s in enumerate(sectors)
            )
            newer.update(sectors)

    def truncate(self, count):
        """Forget what came after the first count entries, and entries that are not whole."""
        self.entries = [entry for entry in self.entries[:count] if entry.whole]


def pieces(entry, unit):
    """Cut an entry at multiples of unit bytes, the atom of the disk: (offset, bytes)."""
    at, end = entry.sector * SECTOR, entry.sector * SECTOR + entry.bytes
    while at < end:
        stop = min(end, (at // unit + 1) * unit)
        yield at, stop - at
        at = stop


def apply_some(log, image_fd, entries, rng, share, unit):
    """Write a random share of the pieces of entries, in order. Returns (kept, all) pieces."""
    kept = total = 0
    for entry in entries:
        data = log.data(entry) if entry.bytes else b""
        for at, length in pieces(entry, unit):
            total += 1
            if rng.random() < share:
                start = at - entry.sector * SECTOR
                os.pwrite(image_fd, data[start : start + length], at)
                kept += 1
    return kept, total
