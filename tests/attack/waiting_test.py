#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Others do not wait: whatever one user's segments, names, connections and questions cost, the daemon answers the next user."""

import subprocess
import time

from harness.attack_case import AttackCase
from harness.programs import NO_RUNTIME_DIRECTORY, TTMEM
from harness.sanitizers import SLOWNESS, scaled
from harness.test_case import main
from harness.users import needs_other_users
from harness.waiting import TIMEOUT, wait_until


@needs_other_users
class Segments(AttackCase):
    def test_segments_full_of_holes_do_not_block_the_daemon(self):
        daemon = self.daemon("--quiet")
        number = scaled(40)
        self.attack("holes", segments=number)
        wait_until(lambda: daemon.get("/v1/self")["process_count"] >= number, "the segments are attached")
        self.assert_serves_others(daemon, rounds=3)
        self.assertFalse(daemon.view()["exact"])
        self.assertLess(self.seconds_of_direct_status(), 5 * SLOWNESS)

    def seconds_of_direct_status(self) -> float:
        start = time.monotonic()
        done = subprocess.run([TTMEM, "status", "--direct"], capture_output=True, timeout=TIMEOUT, env=self.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        return time.monotonic() - start

    def test_made_up_devices_stay_few_and_cheap_also_for_streams(self):
        daemon = self.daemon("--quiet")
        honest = self.holder(0x1)
        daemon.wait_for(honest.pid)
        number = scaled(150)
        self.attack("made-up devices", segments=number)
        wait_until(lambda: daemon.get("/v1/self")["process_count"] >= number + 1, "the segments are attached")
        self.assert_serves_others(daemon, rounds=2)
        view = daemon.view()
        self.assertLessEqual(len(view["devices"]), 300)
        self.assertIn("too_many_devices", {one["code"] for one in view["inexact"]})
        self.assertEqual(self.device_in(view, 0x1)["memory"]["dram"]["used"], 12288)
        newcomer = self.holder(0x2)
        daemon.wait_for(newcomer.pid)
        self.assertLess(self.device_in(daemon.view(), 0x2)["id"], 10_000, "a real device has a number that people can use")

    def test_a_list_leaves_out_what_one_user_has_too_much_of(self):
        daemon = self.daemon("--quiet")
        honest = self.holder(0x1)
        attacker = self.attack("large ledgers", segments=scaled(20))
        daemon.wait_for(honest.pid, attacker.pid)
        for target in ("/v1/allocations", "/v1/allocations?sort=name", "/v1/allocations?group=name", "/v1/programs",
                       "/v1/growth", "/v1/leaks", "/v1/peak", "/v1/fit?device=0&size=4096"):
            answer = self.assert_answers(daemon, target)
            self.assertEqual(self.inexact_codes(answer, attacker.pid) & {"list_limit"}, {"list_limit"}, target)
            self.assertNotIn("list_limit", self.inexact_codes(answer, honest.pid))
        self.assertIn(honest.pid, [one["pid"] for one in daemon.get("/v1/allocations")["allocations"]])


@needs_other_users
class ClassicWire(AttackCase):
    def test_changes_and_questions_in_turn_beside_many_segments_delay_nobody_else(self):
        daemon = self.daemon("--quiet", "--classic-wire", self.directory.classic)
        number = scaled(500)
        self.attack("change and ask", segments=number)
        wait_until(lambda: daemon.get("/v1/self")["process_count"] >= number, "the segments are attached")
        self.assert_serves_others(daemon, rounds=3)

    def test_keys_that_were_made_for_one_hash_cost_no_more_than_others(self):
        daemon = self.daemon("--quiet", "--classic-wire", self.directory.classic)
        keys = scaled(120_000)
        start = time.monotonic()
        attacker = self.attack("one hash", keys=keys)
        self.assertLess(time.monotonic() - start, 10 * SLOWNESS, "with one bucket it takes minutes")
        self.assertEqual(attacker.answer, keys * (keys + 1) // 2)
        self.assert_serves_others(daemon, rounds=3)

    def test_idle_connections_of_one_user_leave_room_for_others(self):
        daemon = self.daemon("--quiet", "--classic-wire", self.directory.classic)
        self.attack("idle connections")
        self.assert_serves_others(daemon, rounds=2)


@needs_other_users
class Arrivals(AttackCase):
    def test_silent_announcements_keep_nobody_out(self):
        daemon = self.daemon("--quiet")
        self.attack("silent announcements")
        self.assert_serves_others(daemon, rounds=5)

    def test_millions_of_descriptors_delay_no_scan_for_others(self):
        daemon = self.daemon("--quiet")
        self.attack("descriptors", processes=scaled(100))
        self.assert_serves_others(daemon, rounds=2)
        start = time.monotonic()
        late = self.holder(0x9, runtime_directory=NO_RUNTIME_DIRECTORY)
        daemon.wait_for(late.pid)
        self.assertLess(time.monotonic() - start, 5 * SLOWNESS, "a process that did not announce itself is attached")


@needs_other_users
class Questions(AttackCase):
    def test_many_expensive_questions_of_one_user_delay_only_that_user(self):
        daemon = self.daemon("--quiet")
        self.attack("expensive names", slots=scaled(200_000))
        wait_until(lambda: daemon.get("/v1/self")["process_count"] >= 1, "the segment is attached")
        self.assert_serves_others(daemon, rounds=3)

    def test_a_user_sees_totals_while_another_floods(self):
        daemon = self.daemon("--quiet")
        self.attack("holes", segments=scaled(10))
        honest = self.holder(0x1)
        daemon.wait_for(honest.pid)
        status, view = honest.http_get(daemon.api, "/v1/status")
        self.assertEqual(status, 200)
        self.assertIn(honest.pid, [one["pid"] for one in view["processes"]])


if __name__ == "__main__":
    main()
