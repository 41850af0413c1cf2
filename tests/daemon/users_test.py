#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two users of one host: each sees own details and all totals, and forged segments of one do not affect the other."""

import json
import os
import re
import shutil
import subprocess
import tempfile

from harness.driver_tree import DriverTree
from harness.figures import figures_by_process, figures_of
from harness.forged_segment import announce_segment, scramble
from harness.programs import NO_RUNTIME_DIRECTORY, TTMEM
from harness.test_case import TestCase, main
from harness.tracked_process import SMALL_SEGMENT, TrackedProcess
from harness.users import OTHER_STRANGER, STRANGER, as_user, needs_other_users
from harness.waiting import TIMEOUT, wait_until

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

    def ttmem_as(self, uid: int, *arguments: str, **variables: str) -> str:
        """What ttmem prints for that user, who may not be able to enter the folder of the build."""
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            program = shutil.copy(TTMEM, folder)
            done = subprocess.run(as_user(uid, program, *arguments), capture_output=True, text=True, timeout=TIMEOUT,
                                  env=self.environment(**variables), check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

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

    def test_every_list_says_what_it_hides(self):
        daemon = self.daemon()
        mine, other = self.holder(0xc1, STRANGER), self.holder(0xc2, OTHER_STRANGER)
        daemon.wait_for(mine.pid, other.pid)
        ids = {device["asic_id"]: device["id"] for device in daemon.view()["devices"]}

        def answer_of(path: str) -> dict:
            status, answer = mine.http_get(daemon.api, "/v1/" + path)
            self.assertEqual(status, 200, answer)
            return answer
        for path in ("allocations", "allocations?group=name", "programs", "failures", f"failures?device={ids['0xc2']}",
                     f"map?device={ids['0xc2']}", f"cores?device={ids['0xc2']}", f"fit?device={ids['0xc2']}&size=4096"):
            answer = answer_of(path)
            self.assertEqual((answer["exact"], answer["hidden"]["process_count"], answer["hidden"]["memory"]["dram"]["used"]),
                             (False, 1, 12288), path)
            self.assertIn((other.pid, "not_listed"), [(one["pid"], one["code"]) for one in answer["inexact"]])
        for path in (f"allocations?pid={mine.pid}", f"map?device={ids['0xc1']}"):
            answer = answer_of(path)
            self.assertEqual((answer["exact"], answer["hidden"]["process_count"]), (True, 0), path)
        wait_until(lambda: answer_of("events")["hidden_events"], "the events of the other user are counted")
        self.assertIn("events_hidden", [one["code"] for one in answer_of("events")["inexact"]])
        self.assertEqual(daemon.get("/v1/events")["hidden_events"], 0)
        mine.finish()
        other.finish()

    def test_the_screens_say_what_they_hide(self):
        daemon = self.daemon()
        other = self.holder(0xc2, OTHER_STRANGER)
        daemon.wait_for(other.pid)
        device = str(daemon.view()["devices"][0]["id"])
        for arguments in (["allocations"], ["allocations", "--group-by", "name"], ["programs"], ["map", "-d", device], ["why"]):
            text = self.ttmem_as(STRANGER, *arguments)
            self.assertIn("Not listed: 1 process of other users, with 12.0 KiB of dram, 4.0 KiB of kernel", text, arguments)
            self.assertIn("root (sudo ttmem ...) and members of the group ttmem see them", text, arguments)
        self.assertRegex(self.ttmem_as(STRANGER, "events"), r"Not listed: \d+ events? of other users' processes\.")
        other.kill()
        daemon.wait_for_death(other.pid)
        self.assertIn("Not listed: 1 post-mortem of other users' processes.", self.ttmem_as(STRANGER, "post-mortem"))

    def test_without_a_daemon_processes_that_can_not_be_read_are_counted(self):
        other = self.holder(0xc2, OTHER_STRANGER)

        def view(**variables: str) -> dict:
            return json.loads(self.ttmem_as(STRANGER, "status", "--direct", "--json", **variables))
        [reason] = [one for one in view()["inexact"] if one["code"] == "processes_unreadable"]
        self.assertGreater(reason["count"], 0)
        self.assertEqual(reason["reason"].split()[0], str(reason["count"]))
        # The driver lists who has a device open: nobody else, or this process.
        tree = DriverTree("n300")
        self.addCleanup(tree.remove)
        tree.add_processes(other.pid)
        seen = view(TTMEM_HOST_ROOT=tree.root)
        self.assertEqual((seen["exact"], seen["inexact"]), (True, []))
        tree.write(tree.pids_file(0), other.pid)
        seen = view(TTMEM_HOST_ROOT=tree.root)
        self.assertEqual([(one["pid"], one["code"]) for one in seen["inexact"]], [(other.pid, "unreadable")])
        other.finish()

    def test_a_post_mortem_is_readable_by_its_user_and_root_only(self):
        daemon = self.daemon()
        dead, reader = self.holder(0xc1, STRANGER), self.holder(0xc2, OTHER_STRANGER)
        heir = self.holder(0xc3, STRANGER)
        daemon.wait_for(dead.pid, reader.pid, heir.pid)
        dead.kill()
        daemon.wait_for_death(dead.pid)
        self.assertEqual(reader.http_get(daemon.api, "/v1/post-mortems")[1]["post_mortems"], [])
        self.assertEqual(reader.http_get(daemon.api, "/v1/post-mortems")[1]["hidden_post_mortems"], 1)
        self.assertEqual(reader.http_get(daemon.api, f"/v1/post-mortems?pid={dead.pid}")[0], 403)
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
            message = first.run("answer = stream.next()")
            if message["event"] == "hidden":
                self.assertGreater(message["data"], 0)  # events of the other user
                continue
            event = message["data"]
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
