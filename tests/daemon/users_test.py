#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two users of one host: each sees its own details and everybody's totals, and nobody suffers from what one forges."""

import re

import host
from host import wait_until

SEALS = "fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | 0x10 | fcntl.F_SEAL_SEAL"  # 0x10: F_SEAL_FUTURE_WRITE
# The real one is small, and nobody is told of it.
SMALL = {"TTMEM_RUNTIME_DIR": "/nonexistent", "TTMEM_NAMES": "16", "TTMEM_WRITERS": "2", "TTMEM_RING_RECORDS": "16",
         "TTMEM_SLOTS": "64"}

# Puts a changed copy in the place of its own segment, and hands it to the daemon.
FORGE = """
import array, fcntl, random, struct
allocate(open_set([device(0xbad)]), DRAM, 1048640, 1000, 12288)
real = own_segment()
copy = bytearray(os.pread(real, os.fstat(real).st_size, 0))
os.close(real)
{change}
forged = os.memfd_create("ttmem", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
os.write(forged, copy)
fcntl.fcntl(forged, fcntl.F_ADD_SEALS, {seals})
connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
connection.connect({announce!r})
connection.sendmsg([b"\\x01"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [forged]))])
"""

NOT_ITS_OWN = "is not its own"

# What leaves no sound segment, and why it is skipped.
LIES = {
    "random bytes": ("copy = random.Random(1).randbytes(65536)", "magic"),
    "random bytes behind the magic": ("copy = copy[:8] + random.Random(2).randbytes(len(copy) - 8)", "version"),
    "a region table beyond the end": ("struct.pack_into('<Q', copy, 120, 1 << 40)", "region table"),
    "the name of another process": ("struct.pack_into('<I', copy, 24, {victim})", NOT_ITS_OWN),
}


class Users(host.TestCase):
    def setUp(self):
        super().setUp()
        if self.needs_users():
            self.skipTest("not root")

    def holder(self, asic: int, uid: int, **environment: str) -> host.Client:
        return self.client(f"""
            s = open_set([device({asic:#x})])
            scope("of_{uid}")
            held = allocate(s, DRAM, 1048640, 1000, 12288)
            load_kernel(s, 7, KERNEL_APPLICATION, 4096)
            """, uid=uid, **environment)

    def test_neither_sees_the_others_details_and_both_see_totals(self):
        daemon = self.daemon()
        first, second = self.holder(0xc1, host.STRANGER), self.holder(0xc2, host.OTHER_STRANGER)
        daemon.wait_for(first.pid, second.pid)
        everything = daemon.view()
        self.assertEqual(host.figures_of(everything["devices"]),
                         {f"{asic:#x}": {"dram": (12288, 1000), "kernel": (4096, 4096)} for asic in (0xc1, 0xc2)})
        for me, other in ((first, second), (second, first)):
            status, view = me.ask(daemon.api, "/v1/status")
            self.assertEqual((status, view["devices"]), (200, everything["devices"]))
            for path, name in (("/v1/allocations", "allocations"), ("/v1/programs", "programs"),
                               ("/v1/failures", "failures"), ("/v1/events", "events")):
                status, answer = me.ask(daemon.api, path)
                self.assertEqual(status, 200, answer)
                self.assertLessEqual({one["pid"] for one in answer[name]}, {me.pid}, path)
                if name != "failures":
                    self.assertTrue(answer[name], path)
                if name != "events":
                    status, answer = me.ask(daemon.api, f"{path}?pid={other.pid}")
                    self.assertEqual(status, 403, answer)
                    self.assertEqual(me.ask(daemon.api, f"{path}?pid={me.pid}")[0], 200)
            status, answer = me.ask(daemon.api, "/v1/allocations?group=pid")
            self.assertEqual({group["pid"] for group in answer["groups"]}, {me.pid})
        everybodys = daemon.get("/v1/allocations")["allocations"]
        self.assertEqual({live["pid"] for live in everybodys}, {first.pid, second.pid})
        first.end()
        second.end()

    def test_no_post_mortem_is_anothers_to_read(self):
        daemon = self.daemon()
        dead, reader = self.holder(0xc1, host.STRANGER), self.holder(0xc2, host.OTHER_STRANGER)
        heir = self.holder(0xc3, host.STRANGER)
        daemon.wait_for(dead.pid, reader.pid, heir.pid)
        dead.kill()
        daemon.wait_for_death(dead.pid)
        self.assertEqual(reader.ask(daemon.api, "/v1/post-mortems")[1]["post_mortems"], [])
        self.assertIn(reader.ask(daemon.api, f"/v1/post-mortems?pid={dead.pid}")[0], (403, 404))
        self.assertNotIn(dead.pid, [event["pid"] for event in reader.ask(daemon.api, "/v1/events")[1]["events"]])
        for entitled in (heir.ask(daemon.api, "/v1/post-mortems")[1], daemon.get("/v1/post-mortems")):
            self.assertEqual([one["process"]["pid"] for one in entitled["post_mortems"]], [dead.pid])
        self.assertEqual(heir.ask(daemon.api, f"/v1/post-mortems?pid={dead.pid}")[0], 200)

    def test_a_stream_of_events_has_only_ones_own(self):
        daemon = self.daemon()
        first, second = self.holder(0xc1, host.STRANGER), self.holder(0xc2, host.OTHER_STRANGER)
        daemon.wait_for(first.pid, second.pid)
        first.do(f"stream = Stream({daemon.api!r}, '/v1/events?stream=true&since=0')")
        for client in (second, first):  # the other's comes before the own
            client.do("free(held)")
        pids = set()
        while True:
            event = first.do("answer = stream.next()")["data"]
            pids.add(event["pid"])
            if event["what"] == "free":
                break
        self.assertEqual(pids, {first.pid})

    def test_a_hostile_segment_of_one_changes_nothing_for_the_other(self):
        daemon = self.daemon()
        victim = self.holder(0xc1, host.STRANGER)
        daemon.wait_for(victim.pid)

        def what_is_seen() -> tuple:
            view = victim.ask(daemon.api, "/v1/status")[1]
            lists = victim.ask(daemon.api, "/v1/allocations")[1]
            for live in lists["allocations"]:
                live.pop("age_ns")
            return (host.figures_by_process(view)[victim.pid], host.figures_of(view["devices"]).get("0xc1"),
                    lists["allocations"], lists["total"])
        before = what_is_seen()
        for what, (change, why) in LIES.items():
            with self.subTest(lie=what):
                liar = self.client(FORGE.format(change=change.format(victim=victim.pid), seals=SEALS,
                                                announce=self.directory.announce), uid=host.OTHER_STRANGER, **SMALL)

                def skipped() -> list:
                    return [one for one in daemon.view()["inexact"] if one["pid"] == liar.pid and one["skipped"]]

                def told() -> re.Match | None:
                    return re.search(rf"^! \[PID {liar.pid}\] segment .*{why}.*, skipped$", daemon.log(), re.MULTILINE)
                wait_until(told, "it is refused, and the log says so")
                if why != NOT_ITS_OWN:  # nothing is missing in the figures if that one is left out
                    self.assertIn(why, wait_until(skipped, "it is reported as skipped")[0]["reason"])
                self.assertEqual(what_is_seen(), before)
                self.assertEqual(daemon.pids(), [victim.pid])
                liar.kill()
        victim.end()

    def test_a_sound_header_over_a_scrambled_body_harms_nobody_else(self):
        daemon = self.daemon("--log-events", "all")
        victim = self.holder(0xc1, host.STRANGER)
        for seed in range(8):
            with self.subTest(seed=seed):
                change = f"""
random.seed({seed})
for at in random.choices(range(376, len(copy), 8), k=2000):
    struct.pack_into('<Q', copy, at, random.choice([0, 1, 3, 2**64 - 1, 2**63, 2**40 + 1, random.getrandbits(64)]))
"""
                liar = self.client(FORGE.format(change=change, seals=SEALS, announce=self.directory.announce),
                                   uid=host.OTHER_STRANGER, **SMALL)
                # It counts or it is skipped; either is known of it.
                wait_until(lambda: liar.pid in daemon.pids() or
                           liar.pid in [one["pid"] for one in daemon.view()["inexact"]], "it is known")
                for path in ("/v1/status", "/v1/allocations", "/v1/programs", "/v1/failures", "/v1/events", "/v1/self"):
                    daemon.get(path)
                self.assertEqual(host.figures_by_process(daemon.view())[victim.pid],
                                 {"0xc1": {"dram": (12288, 1000), "kernel": (4096, 4096)}})
                self.assertEqual(victim.ask(daemon.api, f"/v1/allocations?pid={victim.pid}")[1]["total"], 2)
                liar.kill()
                daemon.wait_for_death(liar.pid)
                for path in ("/v1/post-mortems", "/v1/events", "/v1/history"):
                    daemon.get(path)
        self.assertEqual(host.figures_of(daemon.view()["devices"]),
                         {"0xc1": {"dram": (12288, 1000), "kernel": (4096, 4096)}})
        victim.end()


if __name__ == "__main__":
    host.main()
