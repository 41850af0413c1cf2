#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./dev bench sets what the observer, the integration, the client, the Python package and recordings cost against their budgets."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Budgets(unittest.TestCase):
    def report(self, write) -> dict[str, tuple[str, bool]]:
        """The rows by what they are about, of the results that `write` puts into a folder."""
        with tempfile.TemporaryDirectory() as folder:
            write(folder)
            output = os.path.join(folder, "bench.json")
            subprocess.run([sys.executable, os.path.join(ROOT, "benchmarks", "report.py"), folder, output], check=True,
                           capture_output=True)
            with open(output, encoding="utf-8") as file:
                return {row["what"]: (row["figure"], row["met"]) for row in json.load(file)["budgets"]}

    def rows_of(self, **results: dict) -> dict[str, tuple[str, bool]]:
        def write(folder: str):
            for name, result in results.items():
                with open(os.path.join(folder, f"{name}.json"), "w", encoding="utf-8") as file:
                    json.dump(result, file)

        return self.report(write)

    def rows(self, event: float, named: float, first_call: float, preloaded: float) -> dict[str, tuple[str, bool]]:
        def write(folder: str):
            for way, more in (("alone", (0, 0)), ("observed", (event, named))):
                runs = [{"aggregate_name": "median", "run_name": f"runtime_{way}/{what}", "median_ns": 500 + cost}
                        for what, cost in zip(("buffer", "named_buffer"), more)]
                with open(os.path.join(folder, f"runtime_{way}_bench.json"), "w", encoding="utf-8") as file:
                    json.dump({"benchmarks": runs}, file)
            with open(os.path.join(folder, "observer_start.json"), "w", encoding="utf-8") as file:
                json.dump({"first_call_ms": first_call, "preloaded_without_tt_metal_ms": preloaded}, file)

        return self.report(write)

    def test_the_observers_costs_have_budgets(self):
        self.assertEqual(self.rows(56, 88, 2.7, 0.1),
                         {"observed event": ("56.0 ns", True), "observed event with the name of an op": ("88.0 ns", True),
                          "first call that is observed": ("2.70 ms", True), "start without tt-metal, preloaded": ("0.10 ms", True)})
        self.assertEqual([met for _, met in self.rows(101, 101, 5.1, 0.21).values()], [False] * 4)

    def test_the_python_package_has_budgets(self):
        way = {"scope_us": 0.61, "memory_allocated_us": 1.5}
        self.assertEqual(self.rows_of(python={"reporting": way, "observed": way | {"memory_allocated_us": None}, "import_ms": 9.5}),
                         {"Python, a known scope, reporting": ("0.61 us", True), "Python, own bytes, reporting": ("1.50 us", True),
                          "Python, a known scope, observed": ("0.61 us", True), "Python, import": ("9.5 ms", True)})
        way = {"scope_us": 3.1, "memory_allocated_us": 5.1}
        rows = self.rows_of(python={"reporting": way, "observed": way, "import_ms": 20.1})
        self.assertEqual([met for _, met in rows.values()], [False] * 5)

    def test_the_integration_has_a_budget(self):
        for on, is_met in ((24, True), (26, False)):
            self.assertEqual(self.rows_of(integration={"on_ns": on}), {"integration, event": (f"{on}.0 ns", is_met)})

    def test_instructions_of_an_event_have_budgets(self):
        names = ("native event, instructions", "address-keyed event, instructions")
        for native, keyed, are_met in ((158.0, 353.5, True), (158.5, 354.0, False)):
            rows = self.rows_of(instructions={"native": native, "mesh": native, "keyed": keyed})
            self.assertEqual([rows[name] for name in names], [(str(native), are_met), (str(keyed), are_met)])

    def test_recordings_have_budgets(self):
        whole = {"goals": {"transformer": 6, "churn": 12, "core_percent": 30}, "transformer 500 times": {"bytes_per_event": 5.9},
                 "churn": {"bytes_per_event": 12.1}, "cost, direct": {"core_percent_at_a_million": 30.0},
                 "cost, flight recorder": {"core_percent_at_a_million": 30.1}}
        runs = [{"name": "show_moment/random:0/processes:16", "worst_ms": 199.9},
                {"name": "show_moment/random:1/processes:2", "worst_ms": 200.1}, {"name": "show_peak/random:0/processes:1"}]
        self.assertEqual(self.rows_of(recording_whole=whole, recording={"benchmarks": runs}),
                         {"recording of transformer 500 times, per event": ("5.90 B", True),
                          "recording of churn, per event": ("12.10 B", False),
                          "recording a million events/s, direct": ("30.0 %", True),
                          "recording a million events/s, flight recorder": ("30.1 %", False),
                          "longest seek, 16 regular": ("199.9 ms", True), "longest seek, 2 random": ("200.1 ms", False)})


if __name__ == "__main__":
    unittest.main(verbosity=2)
