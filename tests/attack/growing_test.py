#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The daemon stays small and alive: whatever one user asks for, leaves behind or sends, its budgets hold."""

import os
import resource
import unittest

from harness.attack_case import AttackCase
from harness.daemon import Daemon
from harness.sanitizers import SANITIZER, scaled
from harness.test_case import main
from harness.users import needs_other_users
from harness.waiting import wait_until

MEBIBYTE = 1 << 20
UNREAD = 40_000  # events of the attack "unread answers"


@needs_other_users
class Answers(AttackCase):
    def wait_for_events(self, daemon: Daemon, number: int):
        def seen() -> int:
            answer = daemon.get("/v1/self")
            return answer["events_followed"] + answer["events_lost"]
        wait_until(lambda: seen() >= number, "the events are there")

    def test_answers_that_nobody_reads_take_little_memory(self):
        daemon = self.daemon("--quiet")
        before = self.memory(daemon)
        attacker = self.attack("unread answers", connections=1)
        self.wait_for_events(daemon, UNREAD)
        attacker.run('more = [ask(target) for target in ("/v1/events", "/v1/status") for _ in range(30)]')
        self.assert_serves_others(daemon, rounds=3)
        self.assert_small(daemon)
        self.assert_small(daemon, before + 150 * MEBIBYTE)

    def test_a_name_that_is_its_own_parent_stands_once(self):
        daemon = self.daemon("--quiet")
        self.attack("own parent", slots=scaled(100_000))
        wait_until(lambda: len(daemon.get("/v1/allocations?limit=10")["allocations"]) == 10, "the segment is attached")
        names = {one["name"] for one in daemon.get("/v1/allocations?limit=10")["allocations"]}
        self.assertEqual({len(name) for name in names if name}, {120})
        self.assert_small(daemon)

    @unittest.skipIf(SANITIZER, "a sanitizer needs address space")
    def test_running_out_of_memory_fails_an_answer_and_not_the_daemon(self):
        daemon = self.daemon("--quiet")
        attacker = self.attack("unread answers", connections=1)
        self.wait_for_events(daemon, UNREAD)
        with open(f"/proc/{daemon.pid}/statm", encoding="utf-8") as file:
            limit = int(file.read().split()[0]) * 4096 + 4 * MEBIBYTE
        resource.prlimit(daemon.pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        attacker.run('more = [ask("/v1/events") for _ in range(40)]')
        for _ in range(20):
            self.assert_answers(daemon, "/v1/health")
        attacker.kill()
        resource.prlimit(daemon.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        self.assertIsNone(daemon.process.poll())
        daemon.view()


@needs_other_users
class Ledgers(AttackCase):
    def test_a_million_allocations_of_a_classic_client_are_inexact_with_the_reason(self):
        daemon = self.daemon("--quiet", "--classic-wire", self.directory.classic)
        number = scaled(1_050_000)
        attacker = self.attack("classic allocations", allocations=number)
        view = daemon.view()
        codes = self.inexact_codes(view, attacker.pid)
        self.assertIn("reserved_unknown", codes)
        if SANITIZER:
            self.assertEqual((attacker.answer, "ledger_full" in codes), (64 * number, False), "all are within the budget")
        else:
            self.assertIn("ledger_full", codes)
            refused = next(one["count"] for one in view["inexact"] if one["code"] == "ledger_full")
            self.assertEqual(attacker.answer, 64 * (number - refused), "to the byte, and what is missing is counted")
        self.assert_small(daemon)
        self.assert_serves_others(daemon, rounds=1)

    def test_a_user_with_more_processes_than_its_share_takes_nobody_elses(self):
        daemon = self.daemon("--quiet")
        self.attack("processes", processes=scaled(1100))
        if SANITIZER:
            wait_until(lambda: daemon.get("/v1/self")["process_count"] == scaled(1100), "they are attached")
        else:
            wait_until(lambda: self.refusals(daemon, "processes") > 0, "some are refused")
            wait_until(lambda: daemon.get("/v1/self")["process_count"] == 1024, "the others are attached")
            wait_until(lambda: "segment_skipped" in {one["code"] for one in daemon.view()["inexact"]}, "a scan names the others")
        self.assert_serves_others(daemon, rounds=2)
        self.assert_small(daemon)

    def refusals(self, daemon: Daemon, budget: str) -> float:
        return self.metric(daemon, f'ttmem_budget_refusals_total{{budget="{budget}"}}')


@needs_other_users
class Dead(AttackCase):
    def test_the_deaths_of_one_user_leave_the_post_mortems_of_others(self):
        daemon = self.daemon("--quiet")
        honest = self.holder(0x1)
        daemon.wait_for(honest.pid)
        honest.kill()
        daemon.wait_for_death(honest.pid)
        self.attacker("""
            for _ in range(100):
                if os.fork() == 0:
                    allocate(open_set([device(0x5407)]), DRAM, 1048640, 1000, 12288)
                    os._exit(0)
                os.wait()
            """)
        wait_until(lambda: self.metric(daemon, "ttmem_process_deaths_total") >= 100, "the deaths are counted")
        kept = daemon.get("/v1/post-mortems")["post_mortems"]
        self.assertIn(honest.pid, [one["process"]["pid"] for one in kept])

    def test_a_dead_process_whose_segment_still_grows_is_dropped(self):
        daemon = self.daemon("--quiet", "--history-bytes", "0")  # the disk keeps what it held
        process = self.attacker("""
            allocate(open_set([device(0x66)]), DRAM, 1048640, 1000, 12288)
            child = os.fork()
            if child == 0:
                os.setsid()
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                signal.pause()
            answer = child
            """)
        child = process.answer
        self.addCleanup(os.kill, child, 9)
        daemon.wait_for(process.pid)
        process.kill()
        daemon.wait_for_death(process.pid)
        self.assertEqual(len(daemon.get("/v1/post-mortems")["post_mortems"]), 1)
        fill(child)
        wait_until(lambda: not daemon.get("/v1/post-mortems")["post_mortems"], "the post-mortem is dropped")


def fill(pid: int):
    """Writes to every page of the segment that the process holds. The seals allow that to a map that was there before."""
    for number in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{number}"
        if os.readlink(path) == "/memfd:ttmem (deleted)":
            file = os.open(path, os.O_RDWR)
            try:
                os.posix_fallocate(file, 0, os.fstat(file).st_size)
            finally:
                os.close(file)
            return
    raise AssertionError("the child has no segment")


@needs_other_users
class Log(AttackCase):
    def test_refused_announcements_write_few_lines(self):
        daemon = self.daemon()
        self.attack("refused announcements")
        wait_until(lambda: self.metric(daemon, "ttmem_processes_missed_total") >= 2000, "many are refused")
        seconds = daemon.get("/v1/self")["uptime_ns"] / 1e9
        self.assertLess(len(daemon.log().splitlines()), 50 + 15 * seconds, "10 per second, and what the daemon says itself")
        self.assertGreater(self.metric(daemon, 'ttmem_budget_refusals_total{budget="refusals"}'), 0, "most are closed unread")
        self.assert_serves_others(daemon, rounds=2)


if __name__ == "__main__":
    main()
