#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is no segment, or nobody's own, is skipped with one clear line; everyone else is shown as if it were not there."""

import json
import subprocess
import sys

import support
from support import Actor, run

SEALS = "fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | 0x10 | fcntl.F_SEAL_SEAL"  # 0x10: F_SEAL_FUTURE_WRITE

# A process whose only segment is a copy of its own, changed by `change` (on the bytes), `seals` and `size`.
FORGER = """
import fcntl, os, struct
allocate(open_set([device(0xbad)]), DRAM, 1048640, 1000, 12288)
real = own_segment()
copy = bytearray(os.pread(real, os.fstat(real).st_size, 0))
os.close(real)
{change}
forged = os.memfd_create("ttmem", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
os.write(forged, copy)
if {seals}:
    fcntl.fcntl(forged, fcntl.F_ADD_SEALS, {seals})
"""


def forger(change: str = "", seals: str = SEALS) -> Actor:
    return Actor(FORGER.format(change=change, seals=seals), **support.SMALL_SEGMENT)


class Skipped(support.TestCase):
    def assert_skipped(self, actor: Actor, words: str) -> None:
        with Actor("allocate(open_set([device(0xfee1)]), DRAM, 1048640, 1000, 12288)"):
            done = run("status", "--json")
            self.assertEqual(done.returncode, 0)
            about_it = [line for line in done.stderr.splitlines() if str(actor.pid) in line]
            expected = [f"ttmem: process {actor.pid}'s segment {words}, skipped"] if words else []
            self.assertEqual(about_it, expected)
            view = json.loads(done.stdout)
            self.assertNotIn(actor.pid, [process["pid"] for process in view["processes"]])
            self.assertNotIn("0xbad", [device["asic_id"] for device in view["devices"]])
            self.assertEqual(self.device(view, 0xfee1)["memory"]["dram"]["used"], 12288)

    def test_an_unchanged_copy_counts(self):
        with forger() as actor:
            self.assertEqual(self.notices(actor), [])
            self.process(self.view(), actor)

    def test_wrong_magic(self):
        with forger("copy[0] ^= 1") as actor:
            self.assert_skipped(actor, "does not start with the magic of a segment")
            self.assertFalse(self.view()["exact"])
            self.assertIn("1 process skipped", run("status").stdout)

    def test_wrong_version(self):
        with forger("struct.pack_into('<I', copy, 8, 9)") as actor:
            self.assert_skipped(actor, "has ABI version 9, and this reader knows 1")

    def test_wrong_size(self):
        with forger("answer = len(copy); copy += bytes(4096)") as actor:
            size = int(actor.answer)
            self.assert_skipped(actor, f"says it has {size} bytes, and has {size + 4096}")
        with forger("copy += b'x'") as actor:
            self.assertIn("has a size that no segment has", self.notices(actor)[0])

    def test_region_table_beyond_the_end(self):
        with forger("struct.pack_into('<Q', copy, 120, 1 << 40)") as actor:
            self.assert_skipped(actor, "has a region table that does not fit it")

    def test_missing_seal(self):
        for seal in ("fcntl.F_SEAL_SHRINK", "fcntl.F_SEAL_GROW", "0x10", "fcntl.F_SEAL_SEAL"):
            with self.subTest(seal=seal), forger(seals=f"({SEALS}) & ~({seal})") as actor:
                self.assert_skipped(actor, "lacks a seal")

    def test_wrong_owner(self):
        with forger("struct.pack_into('<I', copy, 24, 1)") as actor:
            self.assert_skipped(actor, "is not its own (it names process 1)")
        with forger("struct.pack_into('<Q', copy, 32, 5)") as actor:  # the right pid, another start
            self.assert_skipped(actor, f"is not its own (it names process {actor.pid})")

    def test_unfinished_ones_are_skipped_in_silence(self):
        for change, seals in [("copy[0:8] = bytes(8)", SEALS), ("", "0"), ("copy = b''", "0")]:
            with self.subTest(change=change, seals=seals), forger(change, seals) as actor:
                self.assert_skipped(actor, "")

    def test_scrambled_ones_never_crash_it(self):
        for seed in range(12):
            change = f"""
import random
random.seed({seed})
used = [at for at in range(376, len(copy), 8) if any(copy[at:at + 8])]  # behind the region table
for at in random.choices(used, k=len(used) // 2) + random.choices(range(376, len(copy), 8), k=400):
    struct.pack_into('<Q', copy, at, random.choice([0, 1, 3, 2**64 - 1, 2**63, 2**40 + 1, random.getrandbits(64)]))
"""
            with self.subTest(seed=seed), forger(change) as actor:
                for command in ("status", "ps", "allocations"):
                    for flags in ([], ["--json"]):
                        done = run(command, *flags)
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertNotEqual(done.stdout, "")
                self.assertLessEqual(len(self.notices(actor)), 1)


class Strangers(support.TestCase):
    """A process that a user may not read is simply not there for him."""

    def works(self, prefix: list[str]) -> bool:
        return subprocess.run([*prefix, "true"], capture_output=True).returncode == 0

    def assert_not_there(self, actor: Actor, prefix: list[str]) -> None:
        look = subprocess.run([*prefix, "readlink", f"/proc/{actor.pid}/fd/0"], capture_output=True)
        self.assertNotEqual(look.returncode, 0, "it may be read after all, so this shows nothing")
        for command in ("status", "ps", "allocations"):
            done = subprocess.run([*prefix, support.TTMEM, command], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertNotIn(str(actor.pid), done.stdout)
            self.assertNotEqual(done.stdout, "")

    def test_another_users_process_or_a_hidden_one_is_simply_not_there(self):
        stranger = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        if self.works(stranger):
            with Actor("allocate(open_set([device(0xfee2)]), DRAM, 1048640, 1000, 12288)") as actor:
                self.process(self.view(), actor)
                self.assert_not_there(actor, stranger)
            return
        # Who can't become another user hides a process of his own, and looks without any privilege of a namespace's root.
        print("not root: looking at a process that is not dumpable instead", file=sys.stderr)
        plain = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
        with Actor("""
                import ctypes
                allocate(open_set([device(0xfee2)]), DRAM, 1048640, 1000, 12288)
                assert ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) == 0  # PR_SET_DUMPABLE
                """) as actor:
            self.assert_not_there(actor, plain if self.works(plain) else [])


if __name__ == "__main__":
    support.main()
