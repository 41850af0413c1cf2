#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A recording shows at every step of every scenario what the allocators held."""

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
# Those that are not repeated while events are lost, and why.
NOT_REPEATED = {"crash": "it ends by SIGKILL", "churn": "its random choices go on, so that the next run has other steps"}


def scenarios() -> list[str]:
    done = subprocess.run([TTMEM, "sim", "list"], stdout=subprocess.PIPE, text=True, check=True)
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert {*WITHOUT_TRUTH, *ARGUMENTS, *NOT_REPEATED} <= set(names), names
    return [name for name in names if name not in WITHOUT_TRUTH]


class Replayed(TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-recordings-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def check(self, path: str, pid: int, steps: list):
        """Each step of the recording equals what the allocators held then."""
        for at, step, truth in steps:
            with self.subTest(step):
                view = self.json_of("status", "--recording", path, "--at", at)
                self.assertEqual(view["source"], "recording")
                self.assertEqual(figures_by_process(view), {pid: truth})
                self.assertEqual(figures_of(view["devices"]), sum_of([truth]))
                self.assertTrue(view["exact"], view["inexact"])

    def record(self, simulator, path: str, advance) -> tuple[list, str]:
        """Records a simulator, and notes what the allocators held at each pause. `advance` goes on to the next one."""
        self.assertTrue(simulator.next(), simulator.error_text())
        recorder = RecorderProcess(self, path)
        recorder.wait_for(simulator.pid)
        recorder.wait_for_rounds()
        steps = [(moment(), simulator.step, simulator.truth)]
        recorder.wait_for_rounds()
        while advance(recorder):
            recorder.wait_for_rounds()
            steps.append((moment(), simulator.step, simulator.truth))
            recorder.wait_for_rounds()  # what is lost later happened after this moment
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
                self.check(path, simulator.pid, steps)

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
                seen, text = self.record(simulator, path, advance)
                self.check(path, simulator.pid, seen)
                recorded, lost = events_in(text)
                self.assertGreaterEqual(lost, 9 * (recorded + lost) // 10, text)


def events_in(text: str) -> tuple[int, int]:
    """What a recorder says at its end: events recorded and lost."""
    lost = re.search(r"; (\d+) events? (?:was|were) lost", text)
    return int(re.search(r"recorded (\d+) event", text)[1]), int(lost[1]) if lost else 0


if __name__ == "__main__":
    main()
