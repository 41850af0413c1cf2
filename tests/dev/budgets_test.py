#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./dev bench sets what the observer costs against its budgets."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Budgets(unittest.TestCase):
    def rows(self, event: float, named: float, first_call: float, preloaded: float) -> dict[str, tuple[str, bool]]:
        with tempfile.TemporaryDirectory() as folder:
            for way, more in (("alone", (0, 0)), ("observed", (event, named))):
                runs = [{"aggregate_name": "median", "run_name": f"runtime_{way}/{what}", "median_ns": 500 + cost}
                        for what, cost in zip(("buffer", "named_buffer"), more)]
                with open(os.path.join(folder, f"runtime_{way}_bench.json"), "w", encoding="utf-8") as file:
                    json.dump({"benchmarks": runs}, file)
            with open(os.path.join(folder, "observer_start.json"), "w", encoding="utf-8") as file:
                json.dump({"first_call_ms": first_call, "preloaded_without_tt_metal_ms": preloaded}, file)
            output = os.path.join(folder, "bench.json")
            subprocess.run([sys.executable, os.path.join(ROOT, "benchmarks", "report.py"), folder, output], check=True,
                           capture_output=True)
            with open(output, encoding="utf-8") as file:
                return {row["what"]: (row["figure"], row["met"]) for row in json.load(file)["budgets"]}

    def test_the_observers_costs_have_budgets(self):
        self.assertEqual(self.rows(56, 88, 2.7, 0.1),
                         {"observed event": ("56.0 ns", True), "observed event with the name of an op": ("88.0 ns", True),
                          "first call that is observed": ("2.70 ms", True), "start without tt-metal, preloaded": ("0.10 ms", True)})
        self.assertEqual([met for _, met in self.rows(101, 101, 5.1, 0.21).values()], [False] * 4)


if __name__ == "__main__":
    unittest.main(verbosity=2)
