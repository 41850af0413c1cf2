#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two users of one host: each sees own details and all totals, and forged segments of one do not affect the other."""

import re

from harness.figures import figures_by_process, figures_of
from harness.forged_segment import announce_segment, scramble
from harness.programs import NO_RUNTIME_DIRECTORY
from harness.test_case import TestCase, main
from harness.tracked_process import SMALL_SEGMENT, TrackedProcess
from harness.users import OTHER_STRANGER, STRANGER, needs_other_users
from harness.waiting import wait_until

NOT_ITS_OWN = "is not its own"

# Changes that make a segment invalid, and the reason that is reported.
LIES = {
    "random bytes": ("copy = random.Random(1).randbytes(65536)", "magic"),
    "random bytes behind the magic": ("copy = copy[:8] + random.Random(2).randbytes(len(copy) - 8)", "version"),
    "a region table beyond the end": ("struct.pack_into('<Q', copy, 120, 1 << 40)", "region table"),
    "the name of another process": ("struct.pack_into('<I', copy, 24, {victim})", NOT_ITS_OWN),
}


@needs_other_users
class Users(TestCase):
    def holder(self, asic: int, uid: int, **environment: str) -> TrackedProcess:
        return self.tracked_process(f"""
            s = open_set([device({asic:#x})])
            scope("of_{uid}")
            held = allocate(s, DRAM, 1048640, 1000, 12288)
            load_kernel(s, 7, KERNEL_APPLICATION, 4096)
            """, uid=uid, **environment)

    def liar(self, change: str) -> TrackedProcess:
        """A process that announces a changed copy of its segment, and not the segment."""
        return self.tracked_process(announce_segment(change, self.directory.announce), NO_RUNTIME_DIRECTORY,
                                    uid=OTHER_STRANGER, **SMALL_SEGMENT)

    def test_each_user_sees_own_details_and_all_totals(self):
        daemon = self.daemon()
        first, second = self.holder(0xc1, STRANGER), self.holder(0xc2, OTHER_STRANGER)
        daemon.wait_for(first.pid, second.pid)
        everything = daemon.view()
        self.assertEqual(figures_of(everything["devices"]),
                         {f"{asic:#x}": {"dram": (12288, 1000), "kernel": (4096, 4096)} for asic in (0xc1, 0xc2)})
        for me, other in ((first, second), (second, first)):
            status, view = me.http_get(daemon.api, "/v1/status")
            self.assertEqual((status, view["devices"]), (200, everything["devices"]))
            for path, name in (("/v1/allocations", "allocations"), ("/v1/programs", "programs"),
                               ("/v1/failures", "failures"), ("/v1/events", "events")):
                status, answer = me.http_get(daemon.api, path)
                self.assertEqual(status, 200, answer)
                self.assertLessEqual({one["pid"] for one in answer[name]}, {me.pid}, path)
                if name != "failures":
                    self.assertTrue(answer[name], path)
                if name != "events":
                    status, answer = me.http_get(daemon.api, f"{path}?pid={other.pid}")
                    self.assertEqual(status, 403, answer)
                    self.assertEqual(me.http_get(daemon.api, f"{path}?pid={me.pid}")[0], 200)
            status, answer = me.http_get(daemon.api, "/v1/allocations?group=pid")
            self.assertEqual({group["pid"] for group in answer["groups"]}, {me.pid})
        all_allocations = daemon.get("/v1/allocations")["allocations"]
        self.assertEqual({live["pid"] for live in all_allocations}, {first.pid, second.pid})
        first.finish()
        second.finish()

    def test_a_post_mortem_is_readable_by_its_user_and_root_only(self):
        daemon = self.daemon()
        dead, reader = self.holder(0xc1, STRANGER), self.holder(0xc2, OTHER_STRANGER)
        heir = self.holder(0xc3, STRANGER)
        daemon.wait_for(dead.pid, reader.pid, heir.pid)
        dead.kill()
        daemon.wait_for_death(dead.pid)
        self.assertEqual(reader.http_get(daemon.api, "/v1/post-mortems")[1]["post_mortems"], [])
        self.assertIn(reader.http_get(daemon.api, f"/v1/post-mortems?pid={dead.pid}")[0], (403, 404))
        self.assertNotIn(dead.pid, [event["pid"] for event in reader.http_get(daemon.api, "/v1/events")[1]["events"]])
        for entitled in (heir.http_get(daemon.api, "/v1/post-mortems")[1], daemon.get("/v1/post-mortems")):
            self.assertEqual([one["process"]["pid"] for one in entitled["post_mortems"]], [dead.pid])
        self.assertEqual(heir.http_get(daemon.api, f"/v1/post-mortems?pid={dead.pid}")[0], 200)

    def test_a_stream_of_events_has_events_of_its_reader_only(self):
        daemon = self.daemon()
        first, second = self.holder(0xc1, STRANGER), self.holder(0xc2, OTHER_STRANGER)
        daemon.wait_for(first.pid, second.pid)
        first.run(f"stream = EventStream({daemon.api!r}, '/v1/events?stream=true&since=0')")
        for client in (second, first):  # the event of the other user comes first
            client.run("free(held)")
        pids = set()
        while True:
            event = first.run("answer = stream.next()")["data"]
            pids.add(event["pid"])
            if event["what"] == "free":
                break
        self.assertEqual(pids, {first.pid})

    def test_a_hostile_segment_changes_nothing_for_another_user(self):
        daemon = self.daemon()
        victim = self.holder(0xc1, STRANGER)
        daemon.wait_for(victim.pid)

        def what_is_seen() -> tuple:
            view = victim.http_get(daemon.api, "/v1/status")[1]
            lists = victim.http_get(daemon.api, "/v1/allocations")[1]
            for live in lists["allocations"]:
                live.pop("age_ns")
            return (figures_by_process(view)[victim.pid], figures_of(view["devices"]).get("0xc1"),
                    lists["allocations"], lists["total"])
        before = what_is_seen()
        for what, (change, why) in LIES.items():
            with self.subTest(lie=what):
                liar = self.liar(change.format(victim=victim.pid))

                def skipped() -> list:
                    return [one for one in daemon.view()["inexact"] if one["pid"] == liar.pid and one["skipped"]]

                def log_line() -> re.Match | None:
                    return re.search(rf"^! \[PID {liar.pid}\] segment .*{why}.*, skipped$", daemon.log(), re.MULTILINE)
                wait_until(log_line, "the log reports that it is refused")
                if why != NOT_ITS_OWN:  # skipping this one makes no figure incomplete
                    self.assertIn(why, wait_until(skipped, "it is reported as skipped")[0]["reason"])
                self.assertEqual(what_is_seen(), before)
                self.assertEqual(daemon.pids(), [victim.pid])
                liar.kill()
        victim.finish()

    def test_a_valid_header_with_a_scrambled_body_changes_nothing_for_another_user(self):
        daemon = self.daemon("--log-events", "all")
        victim = self.holder(0xc1, STRANGER)
        for seed in range(8):
            with self.subTest(seed=seed):
                liar = self.liar(scramble(seed))
                # It is either counted or reported as skipped.
                wait_until(lambda: liar.pid in daemon.pids() or
                           liar.pid in [one["pid"] for one in daemon.view()["inexact"]], "it is counted or reported")
                for path in ("/v1/status", "/v1/allocations", "/v1/programs", "/v1/failures", "/v1/events", "/v1/self"):
                    daemon.get(path)
                self.assertEqual(figures_by_process(daemon.view())[victim.pid],
                                 {"0xc1": {"dram": (12288, 1000), "kernel": (4096, 4096)}})
                self.assertEqual(victim.http_get(daemon.api, f"/v1/allocations?pid={victim.pid}")[1]["total"], 2)
                liar.kill()
                daemon.wait_for_death(liar.pid)
                for path in ("/v1/post-mortems", "/v1/events", "/v1/history"):
                    daemon.get(path)
        self.assertEqual(figures_of(daemon.view()["devices"]),
                         {"0xc1": {"dram": (12288, 1000), "kernel": (4096, 4096)}})
        victim.finish()


if __name__ == "__main__":
    main()
