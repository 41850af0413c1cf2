#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""History that stays: through restarts, kills, damage and a full disk, with every user's share and secrets."""

import os
import sqlite3
import subprocess
import threading
import time

from harness.http_client import http_get, http_get_text
from harness.test_case import TestCase, main
from harness.users import OTHER_STRANGER, STRANGER, needs_other_users
from harness.waiting import wait_until

HOLDER = """
s = open_set([device({asic:#x})], "my chip")
scope("decoder.3")
held = [allocate(s, DRAM, 1048640 + i * 8192, 1000, 12288, i) for i in range(5)]
def fail():
    allocation_failed(s, DRAM, 4096, 4096, 64, 32)
"""
USED = 5 * 12288


def without_ages(value):
    """Ages are converted from the clock of the process at each reading."""
    if isinstance(value, list):
        return [without_ages(each) for each in value]
    if isinstance(value, dict):
        return {key: without_ages(each) for key, each in value.items() if key not in ("age_ns", "oldest_age_ns")}
    return value


class HistoryCase(TestCase):
    def setUp(self):
        super().setUp()
        self.state = os.path.join(self.directory.path, "state")
        self.file = os.path.join(self.state, "history", "history.db")

    def holder(self, asic: int = 0xd1, **options):
        return self.tracked_process(HOLDER.format(asic=asic), **options)

    def keeping_daemon(self, *arguments: str, **options):
        daemon = self.daemon(*arguments, **options)
        wait_until(lambda: self.file_state(daemon) == "kept", "history is kept")
        return daemon

    def file_state(self, daemon) -> str:
        return daemon.get("/v1/self")["history"]["state"]

    def wait_for_a_sample(self, daemon):
        wait_until(lambda: any(one["samples"] for one in daemon.get("/v1/history")["series"]), "there is a sample")

    def moments(self, daemon) -> list[tuple]:
        return [(one["type"], one["pid"], one["name"]) for one in daemon.get("/v1/history")["moments"]]

    def stop_and_wait(self, daemon):
        """So long that the time without a daemon is one that is shown."""
        daemon.stop()
        stopped = time.time()
        wait_until(lambda: time.time() > stopped + 1.5, "some time has passed")


class Restart(HistoryCase):
    def test_history_deaths_failures_and_marks_reach_back_over_a_restart(self):
        daemon = self.keeping_daemon()
        dead, living = self.holder(0xd1), self.holder(0xd2)
        daemon.wait_for(dead.pid, living.pid)
        dead.run("fail(); library.ttmem_mark(b'step 1')")
        self.wait_for_a_sample(daemon)
        dead.kill()
        daemon.wait_for_death(dead.pid)
        before = daemon.get(f"/v1/post-mortems?pid={dead.pid}")["post_mortem"]
        self.stop_and_wait(daemon)
        started_ns = time.time_ns()
        late = self.keeping_daemon()

        history = late.get("/v1/history")
        old = [sample for one in history["series"] for sample in one["samples"] if sample["time_ns"] < started_ns]
        self.assertEqual({sample["used"] for sample in old}, {USED})
        self.assertEqual([one["type"] for one in history["moments"]], ["failure", "mark", "death"])
        failure, mark, death = history["moments"]
        self.assertEqual((failure["pid"], failure["failure_type"], failure["kind"], failure["requested"], failure["name"],
                          failure["card_number"], failure["comm"] != ""),
                         (dead.pid, "out_of_memory", "dram", 4096, "decoder.3", 1, True))
        self.assertEqual((mark["pid"], mark["name"]), (dead.pid, "step 1"))
        self.assertEqual(death["pid"], dead.pid)
        self.assertEqual(len(history["downtimes"]), 1)
        downtime = history["downtimes"][0]
        self.assertTrue(1e9 <= downtime["to_ns"] - downtime["from_ns"] < 60e9)
        self.assertLess(old[-1]["time_ns"], downtime["from_ns"] + 1e9)

        listed = late.get("/v1/post-mortems")
        self.assertEqual([one["process"]["pid"] for one in listed["post_mortems"]], [dead.pid])
        self.assertEqual((listed["total"], listed["dropped"]), (1, 0))
        after = late.get(f"/v1/post-mortems?pid={dead.pid}")["post_mortem"]
        for part in ("by_kind", "by_name", "largest_allocations", "failures_since_start"):
            self.assertEqual(without_ages(after[part]), without_ages(before[part]))
        self.assertEqual(after["summary"]["process"], before["summary"]["process"])
        number = next(device["id"] for device in late.view()["devices"] if device["asic_id"] == "0xd2")
        self.assertEqual(late.get(f"/v1/post-mortems?device={number}")["post_mortems"], [])

        text = self.output_of("history")
        for part in ("No daemon ran from", "failure", "out_of_memory, 4.0 KiB of dram, decoder.3 (card)", "step 1", "death"):
            self.assertIn(part, text)
        self.assertIn(str(dead.pid), self.output_of("post-mortem"))
        self.assertIn("decoder.3", self.output_of("post-mortem", str(dead.pid)))
        self.assertIn("Processes that have ended", self.output_of("why"))
        self.assertIn("highest 60.0 KiB", self.output_of("history", "--pid", str(dead.pid), "--last", "1h"))
        # What the first daemon has read is not read again from the process that lives on.
        self.assertEqual(len(late.get("/v1/history")["moments"]), 3)

    def test_failures_and_marks_of_a_living_process_are_there_once_after_each_restart(self):
        daemon = self.keeping_daemon()
        process = self.holder()
        for i in range(4):
            daemon.wait_for(process.pid)
            process.run(f"fail(); library.ttmem_mark(b'step {i}')")
            wait_until(lambda i=i: ("mark", process.pid, f"step {i}") in self.moments(daemon), "the mark is kept")
            daemon.kill() if i % 2 else daemon.stop()
            if i == 2:
                process.run("fail()")  # while no daemon runs
            daemon = self.keeping_daemon()
        daemon.wait_for(process.pid)
        wait_until(lambda: len(self.moments(daemon)) == 9, "all are there, once")
        self.assertEqual([name for type, _, name in self.moments(daemon) if type == "mark"],
                         [f"step {i}" for i in range(4)])

    def test_a_daemon_that_is_killed_again_and_again_loses_nothing_that_it_has_shown(self):
        shown = []
        daemon = self.keeping_daemon()
        for i in range(int(os.environ.get("TTMEM_KILLS", "20"))):
            process = self.holder(0xd1 + i % 4)
            daemon.wait_for(process.pid)
            process.run(f"library.ttmem_mark(b'step {i}')")
            if i % 2:
                wait_until(lambda i=i: ("mark", process.pid, f"step {i}") in self.moments(daemon), "the mark is kept")
                shown.append(("mark", process.pid, f"step {i}"))
            process.kill()
            if i % 4 == 3:
                daemon.wait_for_death(process.pid)
                wait_until(lambda pid=process.pid: ("death", pid, None) in self.moments(daemon), "the death is kept")
                shown.append(("death", process.pid, None))
            daemon.kill()
            daemon = self.keeping_daemon()
            self.assertIsNone(daemon.get("/v1/self")["history"]["set_aside"])
            self.assertLessEqual(set(shown), set(self.moments(daemon)))
        self.assertEqual(len(self.moments(daemon)), len(set(self.moments(daemon))), "nothing is there twice")
        daemon.stop()
        with sqlite3.connect(self.file) as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])

    def test_more_deaths_than_memory_keeps_are_on_disk(self):
        with open(os.path.join(self.directory.path, "few.toml"), "w", encoding="utf-8") as file:
            file.write("[post_mortems]\nnumber = 2\n")
        daemon = self.keeping_daemon("--config", file.name)
        pids = []
        for i in range(5):
            process = self.holder()
            daemon.wait_for(process.pid)
            process.kill()
            pids.insert(0, process.pid)
            wait_until(lambda pid=process.pid: ("death", pid, None) in self.moments(daemon), "the death is kept")
        view = daemon.get("/v1/post-mortems")
        self.assertEqual([one["process"]["pid"] for one in view["post_mortems"]], pids)
        self.assertEqual((view["total"], view["dropped"]), (5, 0))
        self.assertEqual(len(daemon.get("/v1/post-mortems?limit=3")["post_mortems"]), 3)


class Disk(HistoryCase):
    def test_a_damaged_file_is_put_aside_and_every_face_says_so(self):
        daemon = self.keeping_daemon()
        process = self.holder()
        daemon.wait_for(process.pid)
        self.wait_for_a_sample(daemon)
        daemon.stop()
        with open(self.file, "r+b") as file:
            file.write(b"\0" * 4096)
        daemon = self.keeping_daemon()
        aside = daemon.get("/v1/self")["history"]["set_aside"]
        self.assertEqual(aside, self.file + ".damaged")
        self.assertTrue(os.path.exists(aside))
        self.assertIn("was damaged", daemon.log())
        self.assertIn(".damaged", self.output_of("self"))
        self.assertIn(".damaged", "".join(self.ttmem("doctor").stdout.split()))
        self.assertEqual(daemon.get("/v1/history")["downtimes"], [])

    def test_a_newer_file_is_not_touched_and_history_goes_on_in_memory(self):
        self.keeping_daemon().stop()
        with sqlite3.connect(self.file) as database:
            database.execute("PRAGMA user_version = 99")
        before = os.stat(self.file).st_mtime_ns
        daemon = self.daemon()
        wait_until(lambda: self.file_state(daemon) == "stopped", "it says so")
        process = self.holder()
        daemon.wait_for(process.pid)
        self.wait_for_a_sample(daemon)
        view = daemon.get("/v1/history")
        self.assertEqual([one["code"] for one in view["inexact"]], ["history_not_kept"])
        self.assertIn("a newer ttmemd wrote it (version 99", view["inexact"][0]["detail"])
        for command in ("history", "post-mortem", "self"):
            self.assertIn("a newer ttmemd", " ".join(self.output_of(command).split()), command)
        self.assertEqual(daemon.log().count("history is not kept"), 1)
        self.assertEqual(os.stat(self.file).st_mtime_ns, before)

    def test_without_a_folder_history_is_not_kept_and_all_else_works(self):
        with open(self.state, "w", encoding="utf-8") as file:
            file.write("a file in the place of the folder")
        daemon = self.daemon()
        wait_until(lambda: self.file_state(daemon) == "stopped", "it says so")
        self.assertIn("Not a directory", daemon.get("/v1/self")["history"]["why_stopped"])
        process = self.holder()
        daemon.wait_for(process.pid)
        self.wait_for_a_sample(daemon)
        process.kill()
        daemon.wait_for_death(process.pid)
        self.assertEqual(len(daemon.get("/v1/post-mortems")["post_mortems"]), 1)

    def test_a_full_disk_stops_history_alone_and_it_goes_on_when_there_is_room(self):
        os.mkdir(self.state)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", self.state], check=False).returncode:
            self.skipTest("may not mount")
        self.addCleanup(lambda: subprocess.run(["umount", "-l", self.state], check=False))
        daemon = self.keeping_daemon()
        early = self.holder()
        daemon.wait_for(early.pid)
        early.run("library.ttmem_mark(b'early')")
        wait_until(lambda: ("mark", early.pid, "early") in self.moments(daemon), "the mark is kept")
        filler = os.path.join(self.state, "filler")
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        # Marks are written until the room that the file has is used up.
        for i in range(3000):
            early.run(f"for i in range(8): library.ttmem_mark(b'm{i}' + b'x' * 100)")
            if self.file_state(daemon) == "stopped":
                break
            wait_until(lambda i=i: self.file_state(daemon) == "stopped" or any(
                name.startswith(f"m{i}x") for _, _, name in self.moments(daemon) if name), "they are read")
        self.assertIn("the disk is full", daemon.get("/v1/self")["history"]["why_stopped"])
        self.assertIn("the disk is full", daemon.log())
        for command in ("history", "post-mortem", "self"):
            self.assertIn("the disk is full", " ".join(self.output_of(command).split()), command)
        self.assertIn("the disk is full", " ".join(self.ttmem("doctor").stdout.split()))
        self.assertIn("ttmem_history_kept 0", http_get_text(daemon.api, "/metrics")[2])
        self.assertIn(("mark", early.pid, "early"), self.moments(daemon), "what is there can be read")
        process = self.holder()
        daemon.wait_for(process.pid)
        process.kill()
        daemon.wait_for_death(process.pid)
        self.assertEqual(len(daemon.get("/v1/post-mortems")["post_mortems"]), 1)
        os.remove(filler)
        wait_until(lambda: self.file_state(daemon) == "kept", "history is kept again")
        wait_until(lambda: ("death", process.pid, None) in self.moments(daemon), "the death was not forgotten")
        self.assertIn("history is kept again", daemon.log())

    def test_history_can_be_switched_off_and_bounded(self):
        daemon = self.daemon("--history-bytes", "0")
        self.assertEqual(self.file_state(daemon), "off")
        process = self.holder()
        daemon.wait_for(process.pid)
        self.wait_for_a_sample(daemon)
        view = daemon.get("/v1/history")
        self.assertEqual((view["exact"], view["moments"], view["downtimes"]), (True, [], []))
        self.assertIn("not kept on disk, by the configuration", self.output_of("self"))
        daemon.stop()
        self.assertFalse(os.path.exists(self.file))
        for wrong in (["--history-bytes", "1000"], ["--history-bytes", "-1"], ["--history-days", "0"]):
            with self.assertRaisesRegex(AssertionError, "of the history must be"):
                self.daemon(*wrong)

    def test_two_daemons_with_one_state_folder_dont_write_one_file(self):
        os.environ["TTMEM_STATE_DIR"] = self.state
        self.addCleanup(os.environ.pop, "TTMEM_STATE_DIR")
        first = self.keeping_daemon()
        second_directory = type(self.directory)()
        self.addCleanup(second_directory.remove)
        second = type(first)(second_directory)
        self.addCleanup(second.close)
        wait_until(lambda: self.file_state(second) == "stopped", "it says so")
        self.assertIn("another ttmemd writes it", second.get("/v1/self")["history"]["why_stopped"])

    def test_questions_are_answered_while_it_is_written(self):
        daemon = self.keeping_daemon()
        process = self.holder()
        daemon.wait_for(process.pid)
        problems, done = [], threading.Event()

        def ask():
            while not done.is_set():
                for path in ("/v1/history?since=0", "/v1/post-mortems", f"/v1/history?pid={process.pid}"):
                    status, answer = http_get(daemon.api, path)
                    if status != 200 or not answer["exact"]:
                        problems.append((path, status, answer))
        askers = [threading.Thread(target=ask) for _ in range(3)]
        for asker in askers:
            asker.start()
        for i in range(20):
            process.run(f"library.ttmem_mark(b'step {i}')")
            wait_until(lambda i=i: ("mark", process.pid, f"step {i}") in self.moments(daemon), "the mark is kept")
        done.set()
        for asker in askers:
            asker.join()
        self.assertEqual(problems, [])


@needs_other_users
class Users(HistoryCase):
    def test_what_is_kept_of_another_user_stays_theirs_after_a_restart(self):
        daemon = self.keeping_daemon()
        dead = self.holder(0xd1, uid=STRANGER)
        daemon.wait_for(dead.pid)
        dead.run("fail(); library.ttmem_mark(b'secret')")
        self.wait_for_a_sample(daemon)
        dead.kill()
        daemon.wait_for_death(dead.pid)
        daemon.stop()
        daemon = self.keeping_daemon()
        owner, other = self.tracked_process(uid=STRANGER), self.tracked_process(uid=OTHER_STRANGER)

        status, view = other.http_get(daemon.api, "/v1/post-mortems")
        self.assertEqual((status, view["post_mortems"], view["hidden_post_mortems"], view["exact"]), (200, [], 1, False))
        status, answer = other.http_get(daemon.api, f"/v1/post-mortems?pid={dead.pid}")
        self.assertEqual(status, 403)
        history = other.http_get(daemon.api, "/v1/history")[1]
        self.assertEqual((history["moments"], history["hidden_moments"]), ([], 3))
        self.assertNotIn("secret", str(history) + str(answer) + str(view))
        self.assertGreater(len(history["series"]), 0, "totals are for everybody")

        self.assertEqual(len(owner.http_get(daemon.api, "/v1/post-mortems")[1]["post_mortems"]), 1)
        self.assertEqual(owner.http_get(daemon.api, f"/v1/post-mortems?pid={dead.pid}")[0], 200)
        self.assertEqual([one["name"] for one in owner.http_get(daemon.api, "/v1/history")[1]["moments"]],
                         ["decoder.3", "secret", None])
        for folder, _, files in os.walk(os.path.dirname(self.file)):
            self.assertEqual(os.stat(folder).st_mode & 0o777, 0o700)
            for name in files:
                self.assertEqual(os.stat(os.path.join(folder, name)).st_mode & 0o777, 0o600)


if __name__ == "__main__":
    main()
