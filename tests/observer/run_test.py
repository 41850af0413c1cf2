#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'ttmem run': an unmodified command from its start to its end, without a daemon."""

import glob
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from harness import pseudo_terminal
from harness.observer import PYTHON_SCENARIO, RELEASE, SIMULATOR, UNOBSERVED, call, stand_in
from harness.processes import children_of
from harness.programs import LIB, TEST_BIN, TTMEM

UNMODIFIED = UNOBSERVED | {"TTMEM_SIM_REPORTING": "0", "TTMEM_RUNTIME_DIR": "/nonexistent"}


def run(*arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    return call([TTMEM, "run", *arguments], UNMODIFIED | (environment or {}))


def report_of(*arguments: str) -> tuple[subprocess.CompletedProcess, dict]:
    with tempfile.NamedTemporaryFile("r", suffix=".json") as report:
        done = run("--report", report.name, *arguments)
        return done, json.load(report)


class Cards(unittest.TestCase):
    def test_the_card_of_an_observed_failure_has_the_request_and_the_blocks(self):
        _, report = report_of("--", SIMULATOR, "fragmentation")
        card = report["failures"][0]["card"]
        self.assertEqual(card["request"]["banks"], card["bank"]["banks"])
        self.assertIsNotNone(card["request"]["page"])
        self.assertEqual(sum(block["bytes"] for block in card["blocks"] if block["is_free"]), card["bank"]["free"])

    def test_the_card_of_an_observed_clash_has_the_program_and_the_buffer_in_the_way(self):
        _, report = report_of("--", SIMULATOR, "cb-clash")
        failure = report["failures"][0]
        program = failure["card"]["clash"]
        self.assertEqual(max(block["address"] + block["bytes"] for block in program["buffers"]), failure["cb_end"])
        self.assertEqual(program["blocker"]["address"], failure["lowest_buffer"])

    def test_a_sharded_request_that_was_observed_has_its_cores_and_proposals(self):
        for case, cores, field, value in (("case-08", 8, "with_cores", 13), ("case-07", 64, "region_size", 33792)):
            _, report = report_of("--", SIMULATOR, case)
            [failure] = report["failures"]
            self.assertEqual(failure["card"]["request"]["banks"], cores)
            self.assertEqual(failure["card"]["fix"][field], value)

    def test_an_observed_trace_that_is_too_large_names_the_size_of_the_region(self):
        with tempfile.NamedTemporaryFile() as truth:
            _, report = report_of("--", RELEASE, stand_in("7600"), "--truth", truth.name)
        [failure] = [failure for failure in report["failures"] if failure["kind"] == "trace"]
        card = failure["card"]
        self.assertIsNone(card["no_fix"])
        self.assertLess(failure["needed"], card["bank"]["size"] - card["bank"]["used"], "the banks would hold it")
        per_bank = -(-(card["bank"]["used"] + failure["needed"]) // 8192) * 8192
        self.assertEqual(card["fix"]["region_size"], per_bank * card["bank"]["banks"])
        self.assertEqual(card["fix"]["to_free"], [])

    def test_a_process_that_is_killed_right_after_a_failure_leaves_its_card(self):
        script = ('mkfifo "$1"; "$0" case-02 --pause-at refused <"$1" >"$1.out" 2>&1 & exec 3>"$1"; '
                  'until grep -q paused "$1.out"; do sleep 0.02; done; kill -9 $!; wait')
        with tempfile.TemporaryDirectory() as folder:
            _, report = report_of("--", "sh", "-c", script, SIMULATOR, os.path.join(folder, "pipe"))
        [failure] = report["failures"]
        self.assertEqual((failure["verdict"], failure["short_by"]), ("fragmented", 30720))
        self.assertEqual(failure["card"]["fix"]["to_free"][0]["blocks"][0]["name"], "kv_cache.0")


class Assertions(unittest.TestCase):
    def test_with_fail_on_leak_a_leak_exits_with_97_and_names_its_layer(self):
        for command in ([SIMULATOR, "leak"], [*PYTHON_SCENARIO, "leak"]):
            done = run("--fail-on-leak", "--", *command)
            self.assertEqual(done.returncode, 97, done.stderr)
            self.assertRegex(done.stderr, r"1\.3 MiB +5 +dram +decoder\.2/attention_mask")

    def test_without_fail_on_leak_a_leak_is_reported_and_exits_with_0(self):
        done = run("--", SIMULATOR, "leak")
        self.assertEqual(done.returncode, 0)
        self.assertIn("decoder.2/attention_mask", done.stderr)

    def test_freed_memory_is_no_leak(self):
        done = run("--fail-on-leak", "--", SIMULATOR, "matmul-single-core")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Nothing was left allocated at the end.", done.stderr)

    def test_a_peak_above_its_limit_exits_with_97(self):
        self.assertEqual(run("--max-peak", "dram=4MiB", "--", SIMULATOR, "leak").returncode, 0)
        done = run("--max-peak", "l1=1MiB", "--max-peak", "dram=3MiB", "--", SIMULATOR, "leak")
        self.assertEqual(done.returncode, 97)
        self.assertIn("PEAK: dram of device 0 reached 3.3 MiB; the limit is 3.0 MiB", done.stderr)

    def test_a_headroom_below_its_limit_exits_with_97(self):
        done, report = report_of("--min-headroom", "1KiB", "--", SIMULATOR, "matmul-single-core")
        self.assertEqual(done.returncode, 0, done.stderr)
        [least] = report["least_headroom"]
        self.assertEqual(least["headroom"], least["headroom_at_least"])
        self.assertEqual(least["missing"], 0)
        headroom = least["headroom"]
        self.assertEqual(report["gates"], [{"name": "min-headroom 1024", "passed": True,
                                            "text": "no device had less than 1.0 KiB"}])
        self.assertEqual(run("--min-headroom", str(headroom), "--", SIMULATOR, "matmul-single-core").returncode, 0)
        with tempfile.TemporaryDirectory() as directory:
            junit, markdown = os.path.join(directory, "junit.xml"), os.path.join(directory, "report.md")
            done = run("--min-headroom", str(headroom + 1), "--junit", junit, "--markdown", markdown,
                       "--", SIMULATOR, "matmul-single-core")
            self.assertEqual(done.returncode, 97)
            self.assertRegex(done.stderr, r"--min-headroom \d+: device 0 had a headroom of at least ")
            for path in (junit, markdown):
                with open(path, encoding="utf-8") as file:
                    self.assertRegex(file.read(), "(?s)min-headroom.*device 0 had")
        self.assertEqual(len(report_of("--", SIMULATOR, "leak")[1]["least_headroom"]), 1)
        done = run("--min-headroom", "much", "--", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'much': must be a size, such as 64KiB", done.stderr)

    def test_the_report_lists_what_the_runtime_does_not_give(self):
        for release, missing in (("v7000", ["ASIC ids"]), ("v7400", [])):
            with tempfile.NamedTemporaryFile() as truth:
                library = os.path.join(TEST_BIN, f"libobserver_release_{release}_gcc.so")
                done, report = report_of("--", "sh", "-c", 'exec "$@" </dev/null', "sh",
                                         os.path.join(TEST_BIN, "observer_release"), library, "--truth", truth.name)
            self.assertEqual(report["missing_facts"], missing)
            self.assertEqual("This tt-metal does not give: " + ", ".join(missing) in done.stderr, bool(missing), done.stderr)

    def test_a_runtime_that_turns_out_to_differ_leaves_inexact_figures_and_fails_the_checks(self):
        for mutation in ("device_moved", "size_moved", "kind_moved", "other_device", "takes_more", "impl_device"):
            with self.subTest(mutation), tempfile.NamedTemporaryFile() as truth:
                done, report = report_of("--fail-on-leak", "--fail-on-failure", "--", "sh", "-c", 'exec "$@" </dev/null', "sh",
                                         os.path.join(TEST_BIN, "observer_release"),
                                         os.path.join(TEST_BIN, f"libobserver_release_{mutation}.so"), "--truth", truth.name)
                self.assertEqual(done.returncode, 97, done.stderr)
                self.assertNotRegex(done.stderr, "figures exact")
                self.assertEqual([one["code"] for one in report["inexact"]], ["stopped"])
                self.assertFalse(report["exact"])

    def test_a_device_has_the_number_that_the_daemon_gave_it(self):
        with tempfile.TemporaryDirectory() as directory:
            environment = {"TTMEM_RUNTIME_DIR": directory}
            def device_of_run() -> dict:
                path = os.path.join(directory, "report.json")
                self.assertEqual(run("--report", path, "--", SIMULATOR, "leak", environment=environment).returncode, 0)
                with open(path, encoding="utf-8") as report:
                    [device] = json.load(report)["devices"]
                return device
            chip = device_of_run()
            self.assertEqual(chip["id"], 0, "without a table: what the process calls it")
            table = os.path.join(directory, "device-numbers")
            with open(table, "w", encoding="utf-8") as file:
                file.write(f"ttmem device numbers 1\n0 asic 0x7 user 1000\n5 asic {chip['asic_id']} user 1000\n")
            os.chmod(table, 0o644)
            self.assertEqual((device_of_run()["id"], device_of_run()["asic_id"]), (5, chip["asic_id"]))
            done = run("--max-peak", "dram=3MiB", "--", SIMULATOR, "leak", environment=environment)
            self.assertIn("PEAK: dram of device 5 reached", done.stderr)

    def test_a_table_of_numbers_that_cannot_be_used_is_named_and_limits_are_still_decided(self):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "device-numbers"), "w", encoding="utf-8") as file:
                file.write("something else\n")
            os.chmod(file.name, 0o644)
            path = os.path.join(directory, "report.json")
            done = run("--report", path, "--max-peak", "dram=4MiB", "--", SIMULATOR, "leak",
                       environment={"TTMEM_RUNTIME_DIR": directory})
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(path, encoding="utf-8") as report:
                self.assertIn("numbers_may_differ", [one["code"] for one in json.load(report)["inexact"]])

    def test_limits_are_exact_to_the_byte(self):
        _, report = report_of("--", SIMULATOR, "leak")
        peak = report["devices"][0]["memory"]["dram"]["peak"]
        self.assertEqual(run("--max-peak", f"dram={peak}", "--", SIMULATOR, "leak").returncode, 0)
        self.assertEqual(run("--max-peak", f"dram={peak - 1}B", "--", SIMULATOR, "leak").returncode, 97)

    def test_units_are_powers_of_1000_or_of_1024(self):
        _, report = report_of("--", SIMULATOR, "leak")
        peak = report["devices"][0]["memory"]["dram"]["peak"]
        self.assertTrue(3 * 10**6 < peak < 4 * 10**6)
        between = -(-peak // 1024)  # in KB below the peak, in KiB not
        self.assertTrue(between * 1000 < peak <= between * 1024)
        for limit, code in ((f"{between}KB", 97), (f"{between}KiB", 0), (f"{between}K", 0), ("4MB", 0), ("3MB", 97)):
            self.assertEqual(run("--max-peak", f"dram={limit}", "--", SIMULATOR, "leak").returncode, code, limit)

    def test_an_invalid_limit_is_a_usage_error(self):
        for limit in ("dram", "dram=", "dram=x", "dram=8GiBs", "dram=1KiBB", "dram=1b", "dram=1iB", "gold=8GiB", "dram=-1", "system_memory=1"):
            done = run("--max-peak", limit, "--", "true")
            self.assertEqual(done.returncode, 2, limit)
            self.assertIn(limit, done.stderr)

    def test_the_exit_code_of_the_command_has_priority(self):
        done = run("--fail-on-leak", "--", "sh", "-c", f"{shlex.quote(SIMULATOR)} leak >/dev/null; exit 5")
        self.assertEqual(done.returncode, 5)
        self.assertIn("decoder.2/attention_mask", done.stderr)

    def test_processes_one_after_another_are_not_added_up(self):
        _, alone = report_of("--", SIMULATOR, "leak")
        peak = alone["devices"][0]["memory"]["dram"]["peak"]
        script = f"for i in 1 2 3; do {shlex.quote(SIMULATOR)} leak; sleep 0.1; done"
        done, report = report_of("--max-peak", f"dram={peak}", "--", "sh", "-c", script)
        dram = report["devices"][0]["memory"]["dram"]
        self.assertEqual((done.returncode, dram["peak"], dram["peak_exact"]), (0, peak, True), done.stderr)
        self.assertEqual(dram["used"], 0)  # no process is left

    def test_a_limit_between_the_bounds_of_a_peak_is_undecided_and_exits_with_97(self):
        _, alone = report_of("--", SIMULATOR, "leak")
        peak = alone["devices"][0]["memory"]["dram"]["peak"]
        # The first process is there until the second has ended.
        script = ('mkfifo "$1"; "$0" leak --pause-at "step 3" <"$1" >"$1.out" 2>&1 & exec 3>"$1"; '
                  'until grep -q paused "$1.out"; do sleep 0.02; done; "$0" leak; exec 3>&-; wait')
        with tempfile.TemporaryDirectory() as folder:
            def checked(number: int, limit: int) -> tuple[subprocess.CompletedProcess, dict]:
                return report_of("--max-peak", f"dram={limit}", "--", "sh", "-c", script, SIMULATOR,
                                 os.path.join(folder, f"pipe{number}"))
            done, report = checked(1, peak + 1)
            self.assertEqual(done.returncode, 97, done.stderr)
            self.assertRegex(done.stderr, "UNDECIDED: dram of device 0 reached at least .* and at most .*; the limit is ")
            [undecided] = report["undecided"]
            self.assertEqual((undecided["peak"], undecided["peak_at_most"], undecided["limit"]), (peak, 2 * peak, peak + 1))
            self.assertEqual(checked(2, 2 * peak)[0].returncode, 0)
            self.assertEqual(checked(3, peak - 1)[1]["undecided"], [])

    def test_a_check_of_a_command_that_was_not_tracked_exits_with_97(self):
        for check in (["--fail-on-leak"], ["--max-peak", "dram=1GiB"]):
            done = run(*check, "--", "true")
            self.assertEqual(done.returncode, 97)
            self.assertIn("nothing was tracked", done.stderr)
            self.assertEqual(run(*check, "--allow-untracked", "--", "true").returncode, 0)
            self.assertEqual(run(*check, "--", "false").returncode, 1)

    def test_require_tracked_is_a_check_of_its_own_and_contradicts_allow_untracked(self):
        self.assertEqual(run("--require-tracked", "--", "true").returncode, 97)
        self.assertEqual(run("--require-tracked", "--", SIMULATOR, "leak").returncode, 0)
        self.assertEqual(run("--require-tracked", "--allow-untracked", "--", "true").returncode, 2)

    def test_with_fail_on_failure_a_failed_allocation_exits_with_97(self):
        self.assertEqual(run("--fail-on-failure", "--", SIMULATOR, "leak").returncode, 0)
        done = run("--fail-on-failure", "--", SIMULATOR, "oom-dram")
        self.assertEqual(done.returncode, 97, done.stderr)
        self.assertIn("--fail-on-failure: ", done.stderr)

    def test_leaks_and_failures_of_an_inexact_ledger_are_undecided_and_exit_with_97(self):
        command = ("--", SIMULATOR, "churn", "--threads", "1", "--live", "200", "--seconds", "0.1")
        for gate in ("--fail-on-leak", "--fail-on-failure"):
            self.assertEqual(run(gate, *command).returncode, 0)
            done = run(gate, *command, environment={"TTMEM_SLOTS": "32"})
            self.assertEqual(done.returncode, 97, done.stderr)
            self.assertRegex(done.stderr, f"{gate}: undecided in process")

    def test_a_regression_is_named_by_layer_in_every_report(self):
        with tempfile.TemporaryDirectory() as folder:
            good, bad, junit, markdown = (os.path.join(folder, name) for name in ("good.json", "bad.json", "j.xml", "m.md"))
            self.assertEqual(run("--report", good, "--", SIMULATOR, "leak").returncode, 0)
            again = run("--baseline", good, "--tolerance", "2%", "--", SIMULATOR, "leak")
            self.assertEqual(again.returncode, 0, again.stderr)
            with open(good) as file:
                report = json.load(file)
            for device in report["devices"]:
                device["memory"]["dram"]["peak"] -= 1_000_000
            for layer in report["peak_by_name"]:
                if layer["name"] == "decoder.2/attention_mask":
                    layer["requested"] -= 500_000
            with open(bad, "w") as file:
                json.dump(report, file)
            [least] = report["least_headroom"]
            self.assertEqual(least["headroom"], least["headroom_at_least"])
            least["headroom"] += 1 << 20
            least["headroom_at_least"] += 1 << 20
            with open(bad, "w") as file:
                json.dump(report, file)
            done = run("--baseline", bad, "--tolerance", "2%", "--fail-on-failure", "--junit", junit, "--markdown", markdown,
                       "--", SIMULATOR, "leak")
            self.assertEqual(done.returncode, 97, done.stderr)
            self.assertRegex(done.stderr, r"dram of device 0: .* to .* \(decoder\.2/attention_mask \+")
            self.assertRegex(done.stderr, r"headroom of the fullest core of device 0: .* to ")
            suite = xml.etree.ElementTree.parse(junit).getroot()
            self.assertEqual((suite.tag, suite.get("tests"), suite.get("failures")), ("testsuite", "2", "1"))
            [failure] = suite.iter("failure")
            self.assertIn("decoder.2/attention_mask", failure.get("message"))
            with open(markdown) as file:
                self.assertRegex(file.read(), r"\| baseline \| \*\*failed\*\* \| dram of device 0")

    def test_a_baseline_that_is_not_a_report_is_refused_before_the_command_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            marker = os.path.join(folder, "ran")
            for text in ("", "{}", "[1]"):
                path = os.path.join(folder, "baseline.json")
                with open(path, "w") as file:
                    file.write(text)
                done = run("--baseline", path, "--", "touch", marker)
                self.assertEqual(done.returncode, 1, text)
                self.assertIn("can't read the baseline", done.stderr)
            self.assertFalse(os.path.exists(marker))
            self.assertEqual(run("--baseline", path, "--tolerance", "much", "--", "true").returncode, 2)

    def test_failures_name_what_is_in_the_way(self):
        done = run("--", SIMULATOR, "cb-clash")
        self.assertIn("1 circular buffer clash", done.stderr)
        self.assertIn("decoder.0/activation", done.stderr)
        done = run("--", SIMULATOR, "oom-dram")
        self.assertIn("1 out-of-memory failure", done.stderr)


class Report(unittest.TestCase):
    def test_the_report_has_the_figures_of_a_view(self):
        done, report = report_of("--", SIMULATOR, "leak")
        self.assertEqual(done.returncode, 0)
        self.assertEqual((report["schema"], report["exact"], report["leak"], report["exit_code"], report["signal"]),
                         (1, True, True, 0, None))
        self.assertEqual(report["command"], [SIMULATOR, "leak"])
        self.assertEqual(report["left"], [{"kind": "dram", "name": "decoder.2/attention_mask", "used": 5 * 270336,
                                           "requested": 5 * 262144, "count": 5}])
        self.assertEqual([process["state"] for process in report["processes"]], ["dead"])

    def test_the_command_does_not_start_if_the_report_cannot_be_written(self):
        done = run("--report", "/nonexistent/report", "--", "echo", "started")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("/nonexistent/report", done.stderr)

    def test_each_chip_of_a_mesh_has_its_peak(self):
        _, report = report_of("--", SIMULATOR, "mesh-allocation")
        self.assertEqual(len(report["devices"]), 8)
        self.assertEqual(len({device["memory"]["dram"]["peak"] for device in report["devices"]}), 1)


class Transparent(unittest.TestCase):
    """The caller of the command sees what it would have seen without ttmem."""

    def test_input_output_and_exit_code_are_passed_through(self):
        done = call([TTMEM, "run", "--", "sh", "-c", "read x; echo got $x; echo bad >&2; exit 42"], UNMODIFIED,
                    input="word\n")
        self.assertEqual((done.returncode, done.stdout), (42, "got word\n"))
        self.assertIn("bad\n", done.stderr)

    def test_options_after_the_command_belong_to_the_command(self):
        for words in (["--", "echo", "--help", "--bytes"], ["echo", "--help", "--bytes"], ["echo", "--", "-x"]):
            done = run(*words)
            self.assertEqual(done.stdout, " ".join(words[words.index("echo") + 1:]) + "\n")

    def test_names_of_caches_and_traces_are_requested_from_the_runtime(self):
        show = ["--", "sh", "-c", "echo $TT_METAL_TRACE_ALLOC_TRACKING"]
        self.assertEqual([run("--names", *show).stdout, run(*show).stdout], ["1\n", "\n"])

    def test_a_missing_command_exits_with_127_and_one_that_cannot_run_with_126(self):
        readable = {"PATH": "/usr/bin:/bin"}  # a folder that this user may not search gives 126
        self.assertEqual(run("--", "no-such-command-here", environment=readable).returncode, 127)
        self.assertEqual(run("--", "/nonexistent/command").returncode, 127)
        self.assertEqual(run("--", "/etc/passwd").returncode, 126)
        self.assertEqual(run("--", "/").returncode, 126)
        self.assertEqual(run().returncode, 2)

    def test_a_command_without_tt_metal_is_reported_as_untracked(self):
        done = run("--", "true")
        self.assertEqual(done.returncode, 0)
        self.assertIn("no process was tracked", done.stderr)

    def test_a_crash_is_reported_with_its_signal_and_what_was_held(self):
        done = run("--", SIMULATOR, "crash")
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertIn("was ended by signal 9 (SIGKILL)", done.stderr)
        self.assertRegex(done.stderr, r"dram +decoder\.7/ttnn::add")

    def test_ttmem_ends_by_the_signal_that_ended_the_command(self):
        for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM):
            done = run("--", "sh", "-c", f"kill -{number} $$")
            self.assertEqual(done.returncode, -number)

    def paused(self, **options) -> subprocess.Popen:
        process = subprocess.Popen([TTMEM, "run", "--", SIMULATOR, "leak", "--pause-at", "step 3"], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   **{"env": UNMODIFIED} | options)
        for line in process.stdout:
            if line.startswith("paused: "):
                return process
        raise AssertionError(process.stderr.read())

    @staticmethod
    def errors_of(process: subprocess.Popen) -> str:
        """Its error output up to its end. Its input stays open: at the end of input a paused scenario continues."""
        errors = process.stderr.read()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()
        return errors

    def test_a_signal_is_passed_to_the_command_which_may_handle_it(self):
        body = ("import signal, sys\n"
                "signal.signal(signal.SIGTERM, lambda *_: (print('caught', flush=True), sys.exit(9)))\n"
                "print('ready', flush=True)\nsignal.pause()\n")
        for to_send in (signal.SIGTERM,):
            process = subprocess.Popen([TTMEM, "run", "--", sys.executable, "-c", body], env=UNMODIFIED, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(to_send)
            out, _ = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (9, "caught\n"))

    def test_a_signal_that_ends_the_command_leaves_a_report(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
            process = self.paused()
            process.send_signal(number)
            self.assertRegex(self.errors_of(process), r"dram +decoder\.2/attention_mask")
            self.assertEqual(process.returncode, -number)

    def test_a_killed_command_leaves_a_report(self):
        process = self.paused()
        os.kill(children_of(process.pid)[0], signal.SIGKILL)
        self.assertRegex(self.errors_of(process), r"792\.0 KiB +3 +dram +decoder\.2/attention_mask")
        self.assertEqual(process.returncode, -signal.SIGKILL)

    def test_the_command_continues_when_ttmem_is_killed(self):
        with tempfile.TemporaryDirectory() as folder:  # ttmem cannot clean up when it is killed
            process = self.paused(env=UNMODIFIED | {"XDG_RUNTIME_DIR": folder})
            process.kill()
            process.wait()
            process.stdin.write("\n")
            process.stdin.flush()
            self.assertIn("step 5", process.stdout.read())  # up to the end of the command
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()

    def test_control_c_reaches_the_command_once(self):
        # A second SIGINT would arrive before the SIGUSR1 that the command requests, and would be counted.
        body = ("import os, signal, sys\ncount = 0\n"
                "def caught(*_):\n    global count\n    count += 1\n    os.kill(os.getppid(), signal.SIGUSR1)\n"
                "signal.signal(signal.SIGINT, caught)\n"
                "signal.signal(signal.SIGUSR1, lambda *_: sys.exit(10 + count))\n"
                "print('ready', flush=True)\nwhile True: signal.pause()\n")
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(TTMEM, [TTMEM, "run", "--", sys.executable, "-c", body], UNMODIFIED)
        seen = b""
        while b"ready" not in seen:
            seen += os.read(terminal, 1024)
        os.write(terminal, b"\x03")
        pseudo_terminal.read_to_end(terminal)
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(status), 11)


class Processes(unittest.TestCase):
    def test_a_chain_of_programs_is_one_process(self):
        _, report = report_of("--", "sh", "-c", "exec env bash -c 'exec \"$0\" leak' " + shlex.quote(SIMULATOR))
        self.assertEqual(len(report["processes"]), 1)
        self.assertTrue(report["leak"])

    def test_processes_that_ended_early_are_in_the_report(self):
        _, report = report_of("--", "sh", "-c", f"for i in 1 2 3; do {shlex.quote(SIMULATOR)} leak; done; true")
        self.assertEqual(len(report["processes"]), 3)
        self.assertEqual(report["left"][0]["count"], 15)

    def test_a_run_inside_a_run_is_reported_by_both(self):
        done, report = report_of("--", TTMEM, "run", "--", SIMULATOR, "leak")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(re.findall("attention_mask", done.stderr)), 2)
        self.assertEqual(report["left"][0]["count"], 5)

    def test_many_short_processes_at_once_are_all_in_the_report(self):
        _, report = report_of("--", "sh", "-c", f"for i in $(seq 24); do {shlex.quote(SIMULATOR)} leak >/dev/null & done; wait")
        self.assertEqual(len(report["processes"]), 24)
        self.assertEqual(report["left"][0]["count"], 24 * 5)

    def test_a_process_that_outlives_the_command_is_reported_as_live(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            held_open = os.open(pipe, os.O_RDWR)
            script = '"$0" leak --pause-at end < "$1" > "$2" 2>&1 & until grep -q paused "$2"; do sleep 0.02; done'
            _, report = report_of("--", "sh", "-c", script, SIMULATOR, pipe, os.path.join(folder, "output"))
            os.write(held_open, b"\n")
            os.close(held_open)
            self.assertEqual([process["state"] for process in report["processes"]], ["live"])
            self.assertTrue(report["leak"])

    def test_python_processes_that_fork_and_spawn_are_all_in_the_report(self):
        body = ("import ctypes, multiprocessing as mp, os, sys\n"
                "def leak():\n"
                "    library = ctypes.CDLL(os.environ['LIB'] + '/libttmem_sim_scenarios.so', mode=os.RTLD_LOCAL | os.RTLD_NOW)\n"
                "    library.ttmem_sim_main(2, (ctypes.c_char_p * 3)(b'ttmem-sim', b'leak', None))\n"
                "if __name__ == '__main__':\n"
                "    leak()\n"
                "    for way in ('fork', 'spawn'):\n"
                "        p = mp.get_context(way).Process(target=leak); p.start(); p.join(); assert p.exitcode == 0\n")
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script.py")
            with open(script, "w", encoding="utf-8") as out:
                out.write(body)
            with tempfile.NamedTemporaryFile("r") as report_file:
                done = run("--report", report_file.name, "--", sys.executable, script, environment={"LIB": LIB})
                report = json.load(report_file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(report["processes"]), 3)
        self.assertEqual(report["left"][0]["count"], 15)
        self.assertTrue(report["exact"], report["inexact"])

    def test_all_threads_are_counted(self):
        done, report = report_of("--", SIMULATOR, "churn", "--threads", "4", "--live", "200", "--seconds", "0.2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(report["exact"], report["inexact"])

    def test_no_file_is_left_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            run("--", SIMULATOR, "leak", environment={"XDG_RUNTIME_DIR": folder})
            run("--", "no-such-command-here", environment={"XDG_RUNTIME_DIR": folder})
            self.assertEqual(glob.glob(folder + "/*"), [])

    def test_a_process_that_reports_already_is_reported_once(self):
        done = run("--fail-on-leak", "--", SIMULATOR, "leak", environment={"TTMEM_SIM_REPORTING": "1"})
        self.assertEqual(done.returncode, 97)
        self.assertEqual(len(re.findall("^(?!.*fail-on-leak).*attention_mask", done.stderr, re.MULTILINE)), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
