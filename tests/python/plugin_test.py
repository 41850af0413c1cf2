#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The plugin of pytest, on tests of the simulated runtime as 'ttmem run -- pytest' runs them."""

import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap

from harness.programs import NO_RUNTIME_DIRECTORY
from harness.python_package import script_environment
from harness.test_case import TestCase, main
from harness.waiting import TIMEOUT

BEGIN = """
import pytest, ttmem
from simulated_runtime import L1, Device, OutOfMemory
kept = []

@pytest.fixture
def device():
    with Device() as device:
        yield device
    kept.clear()
"""


class PluginCase(TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-pytest-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.daemon()

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def pytest(self, tests: str, *options: str, **environment: str) -> tuple[int, str]:
        with open(self.path("test_model.py"), "w", encoding="utf-8") as file:
            file.write(BEGIN + textwrap.dedent(tests))
        # As an installed package registers it, and nothing else that this machine has.
        command = [sys.executable, "-m", "pytest", "-p", "ttmem.pytest_plugin", *options, "test_model.py"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT,
                              env=script_environment(self.directory.path, **{"observed": True, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | environment))
        return done.returncode, done.stdout + done.stderr

    def assert_outcome(self, output: str, **counts: int):
        last = output.strip().splitlines()[-1]
        for outcome, count in counts.items():
            self.assertIn(f"{count} {outcome}", last, output)


class Leaks(PluginCase):
    TESTS = """
        @pytest.mark.limit_device_leaks()
        def test_leaks(device):
            with ttmem.scope("kv_cache"):
                kept.append(device.allocate(1 << 20))

        @pytest.mark.limit_device_leaks(bytes="2 MiB")
        def test_may_leave_a_little(device):
            kept.append(device.allocate(1 << 20))

        @pytest.mark.limit_device_leaks()
        def test_frees(device):
            device.allocate(1 << 20).free()

        def test_has_no_marker(device):
            kept.append(device.allocate(1 << 20))
    """

    def test_a_marker_finds_what_the_body_left_before_the_device_closes(self):
        code, output = self.pytest(self.TESTS)
        self.assertEqual(code, 1, output)
        self.assert_outcome(output, failed=1, passed=3)
        self.assertRegex(output, r"device memory: 1\.0 MiB \(\d+ B\) of dram stayed on device 0, above the limit of 0")
        self.assertIn("kv_cache", output)

    def test_an_option_asks_for_it_everywhere(self):
        code, output = self.pytest(self.TESTS, "--ttmem-fail-on-leak", "-k", "marker or frees")
        self.assertEqual(code, 1)
        self.assert_outcome(output, failed=1, passed=1)

    def test_without_a_daemon_too(self):
        code, output = self.pytest(self.TESTS, "-k", "test_leaks", TTMEM_RUNTIME_DIR=NO_RUNTIME_DIRECTORY)
        self.assert_outcome(output, failed=1)
        self.assertIn("kv_cache", output)

    def test_with_several_processes(self):
        code, output = self.pytest(self.TESTS, "--ttmem", "-p", "xdist", "-n", "2", "--ttmem-report", "report.json")
        self.assert_outcome(output, failed=1, passed=3)
        self.assertIn("PEAK DRAM", output)
        with open(self.path("report.json"), encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(len(report["tests"]), 4)
        left = {each["test"].split("::")[1]: each["leaked"] for each in report["tests"]}
        self.assertEqual([row["name"] for row in left["test_leaks"]], ["kv_cache"])
        self.assertEqual(left["test_frees"], [])

    def test_an_increase_is_found_with_several_processes(self):
        tests = "def test_a(device): device.allocate({} << 20).free()\ndef test_b(device): pass"
        for size, code in ((2, 0), (4, 1), (2, 0)):
            found, output = self.pytest(tests.format(size), "--ttmem-fail-on-increase", "-p", "xdist", "-n", "2")
            self.assertEqual(found, code, output)

    def test_a_test_that_fails_by_itself_keeps_its_own_reason(self):
        code, output = self.pytest("""
            @pytest.mark.limit_device_leaks()
            def test_broken(device):
                kept.append(device.allocate(1 << 20))
                assert 1 == 2
        """)
        self.assertIn("assert 1 == 2", output)
        self.assertNotIn("stayed on", output)


    def test_reruns_on_several_processes_keep_the_figures_of_the_last_run(self):
        code, output = self.pytest("""
            runs = []

            @pytest.mark.limit_device_leaks()
            @pytest.mark.parametrize("size", [1, 2, 3, 4])
            def test_flaky(device, size):
                runs.append(size)
                buffer = device.allocate(size << 20)
                if runs.count(size) < size:
                    kept.append(buffer)
                    kept.append(device.allocate(16 << 20))
                else:
                    buffer.free()
        """, "--ttmem", "-p", "xdist", "-n", "2", "-p", "pytest_rerunfailures", "--reruns", "2", "--ttmem-report", "report.json",
             "--ttmem-html", "page.html")
        self.assert_outcome(output, failed=1, passed=3, rerun=5)  # the last one would pass with its fourth run
        with open(self.path("report.json"), encoding="utf-8") as file:
            rows = json.load(file)["tests"]
        found = [(each["test"].partition("[")[2], each["outcome"], each["peak"]["dram"] >> 20, each["left"] >> 20) for each in rows]
        self.assertEqual(found, [("4]", "failed", 20, 20), ("3]", "passed", 3, 0), ("2]", "passed", 2, 0), ("1]", "passed", 1, 0)])
        with open(self.path("page.html"), encoding="utf-8") as file:
            cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", file.read())[1:]]
        self.assertEqual([(name.partition("[")[2], outcome, peak) for name, outcome, peak, *_ in cells],
                         [("4]", "failed", "20.0 MiB"), ("3]", "passed", "3.0 MiB"), ("2]", "passed", "2.0 MiB"), ("1]", "passed", "1.0 MiB")])

    def test_each_rerun_is_measured_anew(self):
        code, output = self.pytest("""
            runs = []

            @pytest.mark.limit_device_leaks()
            def test_flaky(device):
                runs.append(1)
                if len(runs) == 1:
                    kept.append(device.allocate(1 << 20))
        """, "-p", "xdist", "-p", "pytest_rerunfailures", "--reruns", "2", "--ttmem-report", "report.json")
        self.assertEqual(code, 0, output)
        self.assert_outcome(output, passed=1, rerun=1)
        with open(self.path("report.json"), encoding="utf-8") as file:
            self.assertEqual([(each["outcome"], each["leaked"]) for each in json.load(file)["tests"]], [("passed", [])])


class Table(PluginCase):
    def test_the_hungriest_come_first_and_ties_are_broken_by_l1(self):
        code, output = self.pytest("""
            @pytest.mark.parametrize("dram, l1", [(0, 0), (2, 1), (9, 0), (2, 3)] + [(1, number) for number in range(8)])
            def test_use(device, dram, l1):
                for size, kind in ((dram, 0), (l1, L1)):
                    if size: device.allocate(size << 20, kind).free()

            def test_leaves(device):
                kept.append(device.allocate(5 << 20))
                try: device.allocate(1 << 40)
                except OutOfMemory: pass
        """, "--ttmem")
        self.assertEqual(code, 0, output)
        table = output[output.index("PEAK DRAM") :].splitlines()
        self.assertEqual(table[0].split(), ["PEAK", "DRAM", "PEAK", "L1", "LEFT", "FAILED", "TEST"])
        rows = [re.sub(r"test_model.py::test_", "", re.sub(r"\.0 MiB", "", line)).split() for line in table[1:11]]
        self.assertEqual([" ".join(each) for each in rows[:4]],
                         ["9 0 B 0 B 0 use[9-0]", "5 0 B 5 1 leaves", "2 3 0 B 0 use[2-3]", "2 1 0 B 0 use[2-1]"])
        self.assertEqual([row[-1] for row in rows[4:]], [f"use[1-{number}]" for number in range(7, 1, -1)])
        self.assertEqual(table[11], "... and 3 more tests (--ttmem-report FILE has all)")


class Untracked(PluginCase):
    def test_a_limit_that_cannot_be_checked_fails(self):
        code, output = self.pytest("""
            @pytest.mark.limit_device_leaks()
            def test_on_the_host(): pass

            def test_without_a_marker(): pass

            import unittest
            class Old(unittest.TestCase):
                @pytest.mark.limit_device_leaks()
                def test_old(self): pass
        """, "--ttmem", TT_ALLOC_TRACKING_ENABLED="0")
        self.assert_outcome(output, failed=2, passed=1)
        self.assertIn("can't be checked: only test functions are measured", output)
        self.assertIn("can't be checked: nothing in this process reports to ttmem", output)
        self.assertIn("nothing was tracked: run 'ttmem run -- pytest ...'", output)

    def test_an_option_that_checks_says_that_nothing_was_tracked(self):
        for option in ("--ttmem-fail-on-leak", "--ttmem-fail-on-increase", "--ttmem-report=report.json"):
            code, output = self.pytest("def test_a(): pass", option, TT_ALLOC_TRACKING_ENABLED="0")
            self.assertEqual(code, 0, output)
            self.assertIn("nothing was tracked: run 'ttmem run -- pytest ...'", output)
        code, output = self.pytest("def test_a(device): pass", "--ttmem-fail-on-leak")
        self.assertNotIn("nothing was tracked", output)

    def test_a_report_that_can_not_be_written_is_refused_before_the_tests(self):
        for option in ("--ttmem-report", "--ttmem-html"):
            for path in ("missing/report", "."):
                code, output = self.pytest("def test_a(): pass", option, path)
                self.assertEqual(code, 4, output)
                self.assertIn(f"{option} {path}: must be a file in a folder that can be written", output)
                self.assertNotIn("INTERNALERROR", output)

    def test_without_options_and_markers_nothing_is_measured(self):
        code, output = self.pytest("def test_a(): pass", TTMEM_PROGRAM="/nonexistent", TTMEM_RUNTIME_DIR=NO_RUNTIME_DIRECTORY)
        self.assertEqual(code, 0, output)


class Markers(PluginCase):
    WRONG = {
        'limit_device_memory(dram="2 MBB")': "limit_device_memory: '2 MBB': the unit must be B, KB",
        'limit_device_memory(l1="1.5 GiB")': "limit_device_memory: '1.5 GiB': must be a size such as",
        'limit_device_memory(ram="1 GiB")': "limit_device_memory takes the limits of dram, l1",
        'limit_device_memory(dram=0, device="0")': "limit_device_memory: '0': a device must be its number",
        'limit_device_memory(device=0)': "limit_device_memory takes the limits of dram, l1",
        'limit_device_leaks(bytes="1 XB")': "limit_device_leaks: '1 XB': must be a size such as",
        'limit_device_leaks(dram=0)': "limit_device_leaks takes one size",
        'device_headroom()': "device_headroom takes one size, such as '64 KiB'",
        'device_headroom(size="64 KiB")': "device_headroom takes one size, such as '64 KiB'",
        'device_headroom("64")': None,
        'device_headroom(bytes="64 KiB")': None,
        'limit_device_memory(dram="1 GiB", l1=None)': None,
    }

    def test_a_wrong_marker_fails_its_test_only(self):
        tests = "\n".join(f"@pytest.mark.{marker}\ndef test_{number}(device): pass\n" for number, marker in enumerate(self.WRONG))
        for tracking in ("1", "0"):
            code, output = self.pytest(tests, "-rA", TT_ALLOC_TRACKING_ENABLED=tracking)
            self.assertNotIn("INTERNALERROR", output)
            self.assertEqual(code, 1)
            for number, (marker, text) in enumerate(self.WRONG.items()):
                if text is not None:
                    self.assertIn(f"FAILED test_model.py::test_{number}\n", output, marker)
                    self.assertIn(f"_ test_{number} ____________________________________\n"
                                  f"device memory: the limits of this test can't be checked: {text}", output)
                elif tracking == "1":
                    self.assertIn(f"PASSED test_model.py::test_{number}\n", output, marker)

    def test_a_headroom_that_is_not_known_fails(self):
        code, output = self.pytest("""
            @pytest.mark.device_headroom("64 KiB")
            def test_not_known(device, monkeypatch):
                view = ttmem.status().to_dict()
                view["devices"][0]["l1_worst_core"] = None
                monkeypatch.setattr(ttmem, "status", lambda: ttmem.View(view))

            @pytest.mark.device_headroom("64 KiB")
            def test_closed(device):
                device.close()
        """)
        self.assert_outcome(output, failed=2)
        self.assertIn("the headroom of L1 on device 0 is not known", output)
        self.assertIn("the headroom of L1 can't be checked: this process has no device open", output)


class Failures(PluginCase):
    def test_a_failure_shows_its_card(self):
        code, output = self.pytest("""
            def test_too_big(device):
                with ttmem.scope("weights"):
                    device.allocate(1 << 40)
        """, "--ttmem")
        self.assertEqual(code, 1)
        self.assertRegex(output, r"what failed:\s+AGE +PID +TYPE +VERDICT")
        self.assertIn("weights", output)
        self.assertRegex(output, r"Card of failure 1: dram of device 0 at that moment, process \d+\n  request  1\.0 TiB in pages of .* in each bank")
        self.assertRegex(output, r"\n  bank     one of 12, 1\.0 GiB: .* free, .* in one block\n  verdict  too big: short by ")
        self.assertRegex(output, r"\n  Map around the largest free block\n +ADDRESS .*\n")
        self.assertRegex(output, r"\n  What would have made it fit\n  compaction would not suffice\n")

    def test_a_clash_shows_its_circular_buffers_once(self):
        code, output = self.pytest("""
            @pytest.mark.limit_device_leaks()
            def test_clash(device):
                with ttmem.scope("activation"):
                    kept.append(device.allocate(40 << 20, L1))
                try:
                    with ttmem.scope("conv2d"): device.run("conv2d", [1 << 18, 1 << 19], cores=(2, 2))
                except OutOfMemory: pass
        """)
        self.assert_outcome(output, failed=1)
        self.assertRegex(output, r"\n  program  program \d+ \(conv2d\): circular buffers end at 0x\w+, .* beyond 0x\w+\n")
        self.assertRegex(output, r"\n  Circular buffers on core 0,0\n +ADDRESS .*\n.* 256\.0 KiB +\S+ +circular buffer conv2d\n.* 512\.0 KiB +\S+ +circular buffer conv2d\n")
        self.assertRegex(output, r"\n  Largest holders then\n.*\n +40\.0 MiB +1  activation\n")
        self.assertRegex(output, r"\n  Map around the buffer in the way\n(.*\n)+.* 640\.0 KiB +\S+ +activation\n")
        self.assertEqual(output.count("Card of failure 1"), 1, output)

    def test_headroom_is_checked_at_the_end_of_the_body(self):
        code, output = self.pytest("""
            @pytest.mark.device_headroom("64 KiB")
            def test_narrow(device):
                device.run("conv2d", [1 << 20], cores=(2, 2))
                kept.append(device.allocate(20 << 20, L1))

            @pytest.mark.device_headroom("64 KiB")
            def test_wide(device):
                device.run("conv2d", [1 << 16], cores=(2, 2))
        """)
        self.assert_outcome(output, failed=1, passed=1)
        self.assertRegex(output, r"the headroom of L1 on device 0 is .* below 64.0 KiB")


if __name__ == "__main__":
    main()
