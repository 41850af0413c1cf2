#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A recording shows at every step of every scenario what the allocators held."""

import os
import tempfile

from harness.figures import figures_by_process, figures_of, sum_of
from harness.test_case import TestCase, main
from recorder_process import RecorderProcess, moment

SCENARIOS = ["mesh-allocation", "tracking", "matmul-single-core", "matmul-multicore-reuse", "transformer-dp4", "programs",
             "lifetimes", "hooked-capture", "leak", "fragmentation", "oom-dram", "cb-clash", "trace-live-allocation",
             "multi-thread"]


class Replayed(TestCase):
    def test_every_step_of_every_scenario_equals_the_truth(self):
        folder = tempfile.TemporaryDirectory(prefix="ttmem-recordings-")
        self.addCleanup(folder.cleanup)
        for scenario in SCENARIOS:
            with self.subTest(scenario):
                self.check(scenario, os.path.join(folder.name, scenario))

    def check(self, scenario: str, path: str):
        simulator = self.simulator(scenario)
        self.assertTrue(simulator.next(), simulator.error_text())
        recorder = RecorderProcess(self, path)
        recorder.wait_for(simulator.pid)
        recorder.wait_for_rounds()
        steps = [(moment(), simulator.step, simulator.truth)]
        while simulator.next():
            recorder.wait_for_rounds()
            steps.append((moment(), simulator.step, simulator.truth))
        code, text = recorder.stop()
        self.assertEqual(code, 0, text)
        self.assertNotIn("lost", text)
        for at, step, truth in steps:
            with self.subTest(step):
                view = self.json_of("status", "--recording", path, "--at", at)
                self.assertEqual(view["source"], "recording")
                self.assertEqual(figures_by_process(view), {simulator.pid: truth})
                self.assertEqual(figures_of(view["devices"]), sum_of([truth]))
                self.assertTrue(view["exact"], view["inexact"])
        simulator.close()


if __name__ == "__main__":
    main()
