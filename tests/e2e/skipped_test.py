#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An invalid or foreign segment is skipped with one clear message, and changes nothing for other processes."""

import json
import subprocess
import sys

from harness.forged_segment import SEALS, replace_segment, scramble
from harness.programs import TTMEM
from harness.test_case import TestCase, main
from harness.tracked_process import SMALL_SEGMENT, TrackedProcess
from harness.users import STRANGER, as_user


def forger(change: str = "", seals: str = SEALS) -> TrackedProcess:
    return TrackedProcess(replace_segment(change, seals), **SMALL_SEGMENT)


class Skipped(TestCase):
    def notices(self, actor: TrackedProcess) -> list[str]:
        """What ttmem prints on standard error about a process."""
        done = self.ttmem("status")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line for line in done.stderr.splitlines() if str(actor.pid) in line]

    def assert_skipped(self, actor: TrackedProcess, words: str) -> None:
        with TrackedProcess("allocate(open_set([device(0xfee1)]), DRAM, 1048640, 1000, 12288)"):
            done = self.ttmem("status", "--json")
            self.assertEqual(done.returncode, 0)
            about_it = [line for line in done.stderr.splitlines() if str(actor.pid) in line]
            expected = [f"ttmem: process {actor.pid}'s segment {words}, skipped"] if words else []
            self.assertEqual(about_it, expected)
            view = json.loads(done.stdout)
            self.assertNotIn(actor.pid, [process["pid"] for process in view["processes"]])
            self.assertNotIn("0xbad", [device["asic_id"] for device in view["devices"]])
            self.assertEqual(self.device_in(view, 0xfee1)["memory"]["dram"]["used"], 12288)

    def test_an_unchanged_copy_is_counted(self):
        with forger() as actor:
            self.assertEqual(self.notices(actor), [])
            self.process_in(self.direct_view(allow_notices=True), actor.pid)

    def test_a_wrong_magic_is_skipped(self):
        with forger("copy[0] ^= 1") as actor:
            self.assert_skipped(actor, "does not start with the magic of a segment")
            self.assertFalse(self.direct_view(allow_notices=True)["exact"])
            self.assertIn("1 process skipped", self.ttmem("status").stdout)

    def test_a_wrong_version_is_skipped(self):
        with forger("struct.pack_into('<I', copy, 8, 9)") as actor:
            self.assert_skipped(actor, "version 9, this program reads 2: upgrade ttmem")

    def test_a_wrong_size_is_skipped(self):
        with forger("answer = len(copy); copy += bytes(4096)") as actor:
            size = actor.answer
            self.assert_skipped(actor, f"claims {size} bytes, and has {size + 4096}")
        with forger("copy += b'x'") as actor:
            self.assertIn("has a size that no segment has", self.notices(actor)[0])

    def test_a_region_table_beyond_the_end_is_skipped(self):
        with forger("struct.pack_into('<Q', copy, 120, 1 << 40)") as actor:
            self.assert_skipped(actor, "has a region table that does not fit it")

    def test_a_missing_seal_is_skipped(self):
        for seal in ("fcntl.F_SEAL_SHRINK", "fcntl.F_SEAL_GROW", "0x10", "fcntl.F_SEAL_SEAL"):
            with self.subTest(seal=seal), forger(seals=f"({SEALS}) & ~({seal})") as actor:
                self.assert_skipped(actor, "lacks a seal")

    def test_a_segment_of_another_owner_is_skipped(self):
        with forger("struct.pack_into('<I', copy, 24, 1)") as actor:
            self.assert_skipped(actor, "is not its own (it names process 1)")
        with forger("struct.pack_into('<Q', copy, 32, 5)") as actor:  # the right pid with another start time
            self.assert_skipped(actor, f"is not its own (it names process {actor.pid})")

    def test_unfinished_segments_are_skipped_silently(self):
        for change, seals in [("copy[0:8] = bytes(8)", SEALS), ("", "0"), ("copy = b''", "0")]:
            with self.subTest(change=change, seals=seals), forger(change, seals) as actor:
                self.assert_skipped(actor, "")

    def test_scrambled_segments_never_crash_ttmem(self):
        for seed in range(12):
            with self.subTest(seed=seed), forger(scramble(seed, used_share=2, words=400)) as actor:
                for command in ("status", "ps", "allocations"):
                    for flags in ([], ["--json"]):
                        done = self.ttmem(command, *flags)
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertNotEqual(done.stdout, "")
                self.assertLessEqual(len(self.notices(actor)), 1)


class Strangers(TestCase):
    """Users do not see processes that they may not read."""

    def works(self, prefix: list[str]) -> bool:
        return subprocess.run([*prefix, "true"], capture_output=True).returncode == 0

    def assert_not_shown(self, actor: TrackedProcess, prefix: list[str]) -> None:
        read = subprocess.run([*prefix, "readlink", f"/proc/{actor.pid}/fd/0"], capture_output=True)
        self.assertNotEqual(read.returncode, 0, "the process is readable, so the test would prove nothing")
        for command in ("status", "ps", "allocations"):
            done = subprocess.run([*prefix, TTMEM, command], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertNotIn(str(actor.pid), done.stdout)
            self.assertNotEqual(done.stdout, "")

    def test_a_process_that_the_user_may_not_read_is_not_shown(self):
        stranger = as_user(STRANGER)
        if self.works(stranger):
            with TrackedProcess("allocate(open_set([device(0xfee2)]), DRAM, 1048640, 1000, 12288)") as actor:
                self.process_in(self.direct_view(allow_notices=True), actor.pid)
                self.assert_not_shown(actor, stranger)
            return
        # Without other users: a process that is not dumpable, and a reader without the privileges of a namespace's root.
        print("not root: with a process that is not dumpable instead", file=sys.stderr)
        plain = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
        with TrackedProcess("""
                import ctypes
                allocate(open_set([device(0xfee2)]), DRAM, 1048640, 1000, 12288)
                assert ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) == 0  # PR_SET_DUMPABLE
                """) as actor:
            self.assert_not_shown(actor, plain if self.works(plain) else [])


if __name__ == "__main__":
    main()
