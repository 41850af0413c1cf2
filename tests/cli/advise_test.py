#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'ttmem advise': of the living host, a recording and the report of a run."""

import os
import tempfile

from harness.programs import SIMULATOR
from harness.test_case import TestCase, main


class Advise(TestCase):
    def advice(self, *words: str) -> dict[str, dict]:
        return {item["topic"]: item for item in self.json_of("advise", *words)["advice"]}

    def test_a_refused_request_decides_the_size_of_its_region(self):
        self.simulator_at("case-07", "refused")
        item = self.advice()["l1_small_size"]
        self.assertEqual(item["value"], 37184)  # 33,792 and a tenth, in units of 32
        self.assertIn("l1_small_size 33792 would have sufficed for the request that failed", item["text"])

    def test_a_trace_region_has_both_modes(self):
        self.simulator_at("case-14", "refused")
        item = self.advice()["trace_region_size"]
        self.assertIn("trace_region_size 237404160 would have sufficed", item["text"])
        self.assertIn("or 0: traces are then allocated in DRAM", item["text"])
        self.assertIn("* trace_region_size", self.output_of("advise"))

    def test_fragmentation_and_what_is_held_long_are_named(self):
        self.simulator_at("case-01", "refused")
        advice = self.advice()
        self.assertEqual(advice["fragmentation"]["devices"], [0])
        self.assertIn("largest block has", advice["fragmentation"]["text"])
        self.assertTrue(advice["fragmentation"]["name"])

    def test_where_nothing_is_to_be_changed_it_says_so(self):
        self.tracked_process("s = open_set([device(0xa1)]); allocate(s, DRAM, 1048640, 1000, 1024)")
        self.assertEqual(self.advice(), {})
        self.assertIn("nothing to advise", self.output_of("advise"))

    def test_a_run_gives_the_same_from_its_report_and_its_recording(self):
        with tempfile.TemporaryDirectory() as folder:
            report, recording = os.path.join(folder, "report"), os.path.join(folder, "run.ttmem")
            self.assertEqual(self.ttmem("run", "--report", report, "--", SIMULATOR, "case-14").returncode, 0)
            self.assertIn("237404160", self.advice("--report", report)["trace_region_size"]["text"])
            self.assertEqual(self.ttmem("record", "-o", recording, "--from-start", "--", SIMULATOR, "case-14").returncode, 0)
            self.assertIn("237404160", self.advice("--recording", recording, "--at", "failure:1")["trace_region_size"]["text"])
            refused = self.ttmem("advise", "--report", recording)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("must be a report of 'ttmem run --report'", refused.stderr)

    def test_a_report_advises_on_l1_small_by_its_peak(self):
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report")
            self.assertEqual(self.ttmem("run", "--report", report, "--", SIMULATOR, "case-09").returncode, 0)
            item = self.advice("--report", report)["l1_small_size"]
            self.assertEqual(item["value"], 0)
            self.assertIn("0 B of 3.8 KiB were used on each core", item["text"])


if __name__ == "__main__":
    main()
