#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A recording shows at every step of every scenario what the allocators held, and what each command showed then."""

import json
import os
import re
import subprocess
import tempfile

from harness.figures import figures_by_process, figures_of, sum_of
from harness.programs import SIMULATOR, TTMEM
from harness.test_case import TestCase, main
from recorder_process import RecorderProcess, moment

ARGUMENTS = {"churn": ("--rate", "5000", "--seconds", "0.2", "--live", "50")}
WITHOUT_TRUTH = {"case-17": "it reports buffers on single cores, which no simulated allocator holds"}
# Those that are not repeated while events are lost, and why. They lose events within one run.
NOT_REPEATED = {"crash": "it ends by SIGKILL", "churn": "its random choices go on, so that the next run has other steps"}
# What shows one moment, beside the status.
COMMANDS = (("allocations", "--limit", "0"), ("map", "-d", "0"), ("cores", "-d", "0"), ("programs",), ("why",))


def scenarios() -> list[str]:
    done = subprocess.run([TTMEM, "sim", "list"], stdout=subprocess.PIPE, text=True, check=True)
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert {*WITHOUT_TRUTH, *ARGUMENTS, *NOT_REPEATED} <= set(names), names
    return names


def without_times(value):
    """An answer without what differs between two askers of one moment: the time, ages, and the source."""
    if isinstance(value, list):
        return [without_times(one) for one in value]
    if isinstance(value, dict):
        return {key: without_times(one) for key, one in value.items()
                if not key.endswith("age_ns") and key not in ("time_ns", "source", "host")}
    return value


class Replayed(TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-recordings-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def answers(self, *source: str) -> dict:
        """What the commands show of a moment, without its time."""
        found = {}
        for command in COMMANDS:
            done = self.ttmem(*command, *source, "--json")
            self.assertIn(done.returncode, (0, 1), done.stderr)
            found[command[0]] = without_times(json.loads(done.stdout)) if done.returncode == 0 else done.stderr
        return found

    def check(self, scenario: str, path: str, pid: int, steps: list):
        """Each step of the recording equals what the allocators held then, and what each command showed of the living process."""
        for at, step, truth, living in steps:
            with self.subTest(f"{scenario}: {step}"):
                view = self.json_of("status", "--recording", path, "--at", at)
                self.assertEqual(view["source"], "recording")
                if scenario not in WITHOUT_TRUTH:
                    self.assertEqual(figures_by_process(view), {pid: truth})
                    self.assertEqual(figures_of(view["devices"]), sum_of([truth]))
                self.assertTrue(view["exact"], view["inexact"])
                recorded = self.answers("--recording", path, "--at", at) if living else {}
                for command, answer in living.items():
                    self.assertEqual(recorded[command], answer, command)

    def record(self, simulator, path: str, advance, compares=True) -> tuple[list, str]:
        """Records a simulator, and notes what the allocators held at each pause, and what the commands showed. `advance` goes on to
        the next one."""
        self.assertTrue(simulator.next(), simulator.error_text())
        recorder = RecorderProcess(self, path)
        recorder.wait_for(simulator.pid)
        recorder.wait_for_rounds()
        steps = []
        while True:
            at = moment()
            ended = simulator.ended
            steps.append((at, simulator.step, simulator.truth, self.answers("--direct") if compares and not ended else {}))
            recorder.wait_for_rounds()  # what is lost later happened after this moment
            if not advance(recorder):
                break
            recorder.wait_for_rounds()
        code, text = recorder.stop()
        self.assertEqual(code, 0, text)
        simulator.close()
        return steps, text

    def test_every_step_of_every_scenario_equals_the_truth(self):
        for scenario in scenarios():
            with self.subTest(scenario):
                path = os.path.join(self.folder, scenario)
                simulator = self.simulator(scenario, *ARGUMENTS.get(scenario, ()))
                steps, text = self.record(simulator, path, lambda _, simulator=simulator: simulator.next())
                self.assertNotIn("lost", text)
                self.check(scenario, path, simulator.pid, steps)

    def size_of(self, scenario: str) -> tuple[int, int]:
        """How many events a scenario has, and how many steps."""
        done = self.ttmem("record", "-o", os.path.join(self.folder, "size"), "--force", "--from-start", "--", SIMULATOR, scenario)
        simulator, steps = self.simulator(scenario), 0
        while simulator.next():
            steps += 1
        return sum(events_in(done.stderr)), steps

    def test_every_step_equals_the_truth_where_nine_of_ten_events_are_lost(self):
        """The recorder reads nothing while the scenario is repeated and comes to its next step."""
        for scenario in (name for name in scenarios() if name not in NOT_REPEATED):
            with self.subTest(scenario):
                events, steps = self.size_of(scenario)
                simulator = self.simulator(scenario, "--repeat", "1000000", variables={"TTMEM_RING_RECORDS": "16"})
                left = iter(range(steps - 1))

                def advance(recorder, simulator=simulator, left=left, pauses=(2000 // events + 1) * steps) -> bool:
                    if next(left, None) is None:
                        return False
                    recorder.suspend()
                    try:
                        simulator.skip(pauses)
                        return simulator.next()
                    finally:
                        recorder.resume()

                path = os.path.join(self.folder, scenario)
                seen, text = self.record(simulator, path, advance, compares=False)
                self.check(scenario, path, simulator.pid, seen)
                recorded, lost = events_in(text)
                self.assertGreaterEqual(lost, 9 * (recorded + lost) // 10, text)

    def test_every_step_of_a_single_run_equals_the_truth_where_events_are_lost(self):
        """The recorder reads nothing between the steps of the scenarios that are not repeated."""
        for scenario in NOT_REPEATED:
            with self.subTest(scenario):
                simulator = self.simulator(scenario, *ARGUMENTS.get(scenario, ()), variables={"TTMEM_RING_RECORDS": "16"})

                def advance(recorder, simulator=simulator) -> bool:
                    recorder.suspend()
                    try:
                        return simulator.next()
                    finally:
                        recorder.resume()

                path = os.path.join(self.folder, scenario)
                seen, text = self.record(simulator, path, advance)
                self.check(scenario, path, simulator.pid, seen)
                recorded, lost = events_in(text)
                self.assertGreater(lost, 0, text)
                if scenario == "churn":
                    self.assertGreaterEqual(lost, 9 * (recorded + lost) // 10, text)


def events_in(text: str) -> tuple[int, int]:
    """What a recorder says at its end: events recorded and lost."""
    lost = re.search(r"; (\d+) events? (?:was|were) lost", text)
    return int(re.search(r"recorded (\d+) event", text)[1]), int(lost[1]) if lost else 0


if __name__ == "__main__":
    main()
