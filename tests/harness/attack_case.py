# SPDX-License-Identifier: Apache-2.0
"""Tests with a hostile user (STRANGER), an honest one (OTHER_STRANGER) and the daemon of root."""

import contextlib
import os
import re
import time

from harness.attacks import launch
from harness.classic_client import QUERY, Wire
from harness.daemon import Daemon
from harness.http_client import http_get_text
from harness.sanitizers import SANITIZER, SLOWNESS
from harness.test_case import TestCase
from harness.tracked_process import TrackedProcess
from harness.users import OTHER_STRANGER, STRANGER
from harness.waiting import wait_until

ANSWERED_WITHIN = 2.0 * SLOWNESS  # seconds; the benchmark has the figures, tests have slack for a busy machine
MOST_MEMORY = 256 << 20  # bytes of the daemon, whatever goes on

HOLD = "held = allocate(open_set([device({asic:#x})]), DRAM, 1048640, 1000, {bytes})"


def start_time_of(pid: int) -> int:
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return int(file.read().rpartition(")")[2].split()[19])


class AttackCase(TestCase):
    def attack(self, name: str, **numbers: int) -> TrackedProcess:
        """An attack of harness/attacks.py, which is prepared and goes on until the end of the test."""
        process = launch(name, self.directory, **numbers)
        self.addCleanup(process.close)
        return process

    def attacker(self, code: str = "", uid: int = STRANGER, **options) -> TrackedProcess:
        return self.tracked_process(code, uid=uid, **options)

    def holder(self, asic: int, uid: int | None = OTHER_STRANGER, size: int = 12288, **options) -> TrackedProcess:
        """An honest process."""
        return self.tracked_process(HOLD.format(asic=asic, bytes=size), uid=uid, **options)

    def metric(self, daemon: Daemon, name: str) -> float:
        status, _, text = http_get_text(daemon.api, "/metrics")
        self.assertEqual(status, 200)
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
        self.assertIsNotNone(found, f"{name} is not in {text}")
        return float(found[1])

    def inexact_codes(self, view: dict, pid: int) -> set[str]:
        return {entry["code"] for entry in view["inexact"] if entry["pid"] == pid}

    def used_bytes(self, view: dict) -> int:
        return sum(figures["used"] or 0 for device in view["devices"] for figures in device["memory"].values())

    def assert_answers(self, daemon: Daemon, path: str = "/v1/status"):
        """The daemon answers root at once, whatever goes on."""
        start = time.monotonic()
        answer = daemon.get(path)
        self.assertLess(time.monotonic() - start, ANSWERED_WITHIN, path)
        return answer

    def assert_answers_query(self) -> dict:
        """The same for a question of the classic wire."""
        start = time.monotonic()
        with contextlib.closing(Wire(self.directory.classic)) as wire:
            answer = wire.ask(QUERY)
        self.assertLess(time.monotonic() - start, ANSWERED_WITHIN, "QUERY")
        return answer

    def memory(self, daemon: Daemon) -> int:
        with open(f"/proc/{daemon.pid}/status", encoding="utf-8") as file:
            values = dict(line.split(":", 1) for line in file)
        return (int(values["RssAnon"].split()[0]) + int(values["RssShmem"].split()[0])) << 10

    def assert_small(self, daemon: Daemon, most: int = MOST_MEMORY):
        """Sanitizers need memory themselves."""
        if not SANITIZER:
            self.assertLess(self.memory(daemon), most)

    def assert_serves_others(self, daemon: Daemon, rounds: int = 5):
        """Others are served while an attack goes on: health, totals, and a process that comes now is attached."""
        for number in range(rounds):
            self.assert_answers(daemon, "/v1/health")
            self.assert_answers(daemon)
            if os.path.exists(self.directory.classic):
                self.assert_answers_query()
            start = time.monotonic()
            newcomer = self.holder(0xA000 + number)
            wait_until(lambda: newcomer.pid in daemon.pids(), "an honest process is attached")
            self.assertLess(time.monotonic() - start, ANSWERED_WITHIN, "an honest process is attached")
            newcomer.kill()

    def wait_for_program(self, pid: int, program: str):
        """Until the process executes that program."""
        wait_until(lambda: os.readlink(f"/proc/{pid}/exe") == program, f"{pid} executes {program}")
