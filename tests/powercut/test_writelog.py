#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The disk model of the power-cut tests: what a cut keeps, and logs that cannot be trusted."""

import os
import random
import struct
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True

import disks
import writelog

FLUSH = (0, b"", writelog.FLUSH)


def sector(text):
    return text.encode().ljust(writelog.SECTOR, b".")


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.disk = disks.Disk(self.directory.name, "disk", 1 << 16)
        self.disk.power_on()
        self.settings = types.SimpleNamespace(unit=512, lying=False)

    def run_disk(self, *requests, count=None, unlogged_sectors=0):
        """Do to the image and to the log what qemu does; each request is (sector number,
        data, flags). Of the last one, so many sectors do not get into the log."""
        log = b""
        with open(self.disk.image, "r+b") as image:
            for number, data, flags in requests:
                image.seek(number * writelog.SECTOR)
                image.write(data)
                sectors = len(data) // writelog.SECTOR
                header = writelog.HEADER.pack(number, sectors, flags, 0)
                log += header.ljust(writelog.SECTOR, b"\0") + data
        log = log[: len(log) - unlogged_sectors * writelog.SECTOR]
        count = len(requests) if count is None else count
        head = writelog.SUPER.pack(writelog.MAGIC, 1, count, writelog.SECTOR)
        with open(self.disk.log_path, "wb") as f:
            f.write(head.ljust(writelog.SECTOR, b"\0") + log)

    def cut(self, cache, count=None):
        """Cut the power; returns the first sectors up to the first empty one, as text."""
        self.disk.power_cut(random.Random(1), cache, self.settings, count)
        with open(self.disk.image, "rb") as f:
            sectors = iter(lambda: f.read(writelog.SECTOR), b"")
            return [s.rstrip(b".\0").decode() for s in sectors][:4]

    def test_what_was_flushed_survives_and_the_rest_is_lost(self):
        self.run_disk((0, sector("a"), 0), FLUSH, (1, sector("b"), 0))
        self.assertEqual(self.cut("lost"), ["a", "", "", ""])

    def test_a_kept_cache_keeps_all(self):
        self.run_disk((0, sector("a"), 0), FLUSH, (1, sector("b"), 0))
        self.assertEqual(self.cut("kept"), ["a", "b", "", ""])

    def test_a_torn_cache_keeps_a_part_of_what_was_not_flushed(self):
        data = b"".join(sector(str(i)) for i in range(100))
        self.run_disk((0, sector("a"), 0), FLUSH, (1, data, 0))
        self.cut("torn")
        with open(self.disk.image, "rb") as f:
            image = f.read(101 * writelog.SECTOR)
        kept = sum(image[i * 512 :][:1] != b"\0" for i in range(1, 101))
        self.assertEqual(image[:1], b"a")
        self.assertTrue(0 < kept < 100, kept)

    def test_a_disk_that_lies_loses_what_it_was_told_to_flush(self):
        self.settings.lying = True
        self.run_disk((0, sector("a"), 0), FLUSH)
        self.assertEqual(self.cut("lost"), ["", "", "", ""])

    def test_what_came_after_the_moment_of_the_cut_did_not_happen(self):
        self.run_disk((0, sector("a"), 0), FLUSH, (0, sector("z"), 0), FLUSH)
        self.assertEqual(self.cut("kept", count=2), ["a", "", "", ""])

    def test_the_old_content_returns_where_an_overwrite_is_lost(self):
        self.run_disk((0, sector("a"), 0), FLUSH, (0, sector("b"), 0))
        self.assertEqual(self.cut("lost")[0], "a")

    def test_an_entry_that_the_kill_left_half_logged_is_ignored(self):
        self.run_disk((0, sector("a"), 0), FLUSH, (1, sector("b") + sector("c"), 0), count=2,
                      unlogged_sectors=1)
        self.assertEqual(self.cut("kept"), ["a", "", "", ""])

    def test_entries_beyond_the_count_of_the_super_block_are_read(self):
        self.run_disk((0, sector("a"), 0), FLUSH, (1, sector("b"), 0), count=2)
        self.assertEqual(self.cut("kept"), ["a", "b", "", ""])

    def test_a_log_with_a_hole_is_refused(self):
        # qemu 7.2 leaves one when a merged request has IOV_MAX elements.
        self.run_disk((0, sector("a"), 0), (0, b"", 0), (1, sector("b"), 0), FLUSH)
        with self.assertRaisesRegex(ValueError, "hole"):
            self.cut("kept")

    def test_a_log_of_another_format_is_refused(self):
        self.run_disk(FLUSH)
        with open(self.disk.log_path, "r+b") as f:
            f.write(struct.pack("<Q", 1))
        with self.assertRaises(ValueError):
            self.cut("kept")

    def test_pieces_end_at_multiples_of_the_unit(self):
        entry = writelog.Entry(7, 10, 0, 0)
        self.assertEqual(list(writelog.pieces(entry, 4096)), [(3584, 512), (4096, 4096),
                                                              (8192, 512)])

    def test_holes_stay_holes_in_a_copy(self):
        target = os.path.join(self.directory.name, "copy")
        with open(self.disk.image, "r+b") as f:
            f.seek(40960)
            f.write(b"x" * 100)
        disks.copy_sparse(self.disk.image, target)
        with open(self.disk.image, "rb") as a, open(target, "rb") as b:
            self.assertEqual(a.read(), b.read())
        self.assertLess(os.stat(target).st_blocks * 512, 1 << 16)


if __name__ == "__main__":
    unittest.main()
