#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'ttmem run': a command that is unmodified, from its start to its end, without a daemon."""

import glob
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import unittest

from support import LIB, PYTHON_SCENARIO, QUIET, SIM, TTMEM, call

UNMODIFIED = QUIET | {"TTMEM_SIM_REPORTING": "0", "TTMEM_RUNTIME_DIR": "/nonexistent"}


def run(*arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    return call([TTMEM, "run", *arguments], UNMODIFIED | (environment or {}))


def report_of(*arguments: str) -> tuple[subprocess.CompletedProcess, dict]:
    with tempfile.NamedTemporaryFile("r", suffix=".json") as report:
        done = run("--report", report.name, *arguments)
        return done, json.load(report)


class Assertions(unittest.TestCase):
    def test_a_leak_is_97_and_named_by_its_layer(self):
        for command in ([SIM, "leak"], [*PYTHON_SCENARIO, "leak"]):
            done = run("--fail-on-leak", "--", *command)
            self.assertEqual(done.returncode, 97, done.stderr)
            self.assertRegex(done.stderr, r"1\.3 MiB +5 +dram +decoder\.2/attention_mask")

    def test_a_leak_is_told_and_no_failure_where_nobody_asked(self):
        done = run("--", SIM, "leak")
        self.assertEqual(done.returncode, 0)
        self.assertIn("decoder.2/attention_mask", done.stderr)

    def test_what_is_freed_is_no_leak(self):
        done = run("--fail-on-leak", "--", SIM, "matmul-single-core")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Nothing was left allocated at the end.", done.stderr)

    def test_a_peak_above_its_limit_is_97(self):
        self.assertEqual(run("--max-peak", "dram=4MiB", "--", SIM, "leak").returncode, 0)
        done = run("--max-peak", "l1=1MiB", "--max-peak", "dram=3MiB", "--", SIM, "leak")
        self.assertEqual(done.returncode, 97)
        self.assertIn("PEAK: dram of device 0 reached 3.3 MiB, and 3.0 MiB is the limit", done.stderr)

    def test_limits_are_exact_to_the_byte(self):
        _, report = report_of("--", SIM, "leak")
        peak = report["devices"][0]["memory"]["dram"]["peak"]
        self.assertEqual(run("--max-peak", f"dram={peak}", "--", SIM, "leak").returncode, 0)
        self.assertEqual(run("--max-peak", f"dram={peak - 1}B", "--", SIM, "leak").returncode, 97)

    def test_a_limit_that_is_none_is_a_usage_error(self):
        for limit in ("dram", "dram=", "dram=x", "dram=8GiBs", "gold=8GiB", "dram=-1", "system_memory=1"):
            done = run("--max-peak", limit, "--", "true")
            self.assertEqual(done.returncode, 2, limit)
            self.assertIn(limit, done.stderr)

    def test_the_command_s_own_exit_code_counts_first(self):
        done = run("--fail-on-leak", "--", "sh", "-c", f"{SIM} leak >/dev/null; exit 5")
        self.assertEqual(done.returncode, 5)
        self.assertIn("decoder.2/attention_mask", done.stderr)

    def test_failures_tell_who_is_in_the_way(self):
        done = run("--", SIM, "cb-clash")
        self.assertIn("1 clash of circular buffers", done.stderr)
        self.assertIn("decoder.0/activation", done.stderr)
        done = run("--", SIM, "oom-dram")
        self.assertIn("1 allocation that found no room", done.stderr)


class Report(unittest.TestCase):
    def test_it_is_a_view_with_the_same_figures(self):
        done, report = report_of("--", SIM, "leak")
        self.assertEqual(done.returncode, 0)
        self.assertEqual((report["schema"], report["exact"], report["leak"], report["exit_code"], report["signal"]),
                         (1, True, True, 0, None))
        self.assertEqual(report["command"], [SIM, "leak"])
        self.assertEqual(report["left"], [{"kind": "dram", "name": "decoder.2/attention_mask", "used": 5 * 270336,
                                           "requested": 5 * 262144, "count": 5}])
        self.assertEqual([process["state"] for process in report["processes"]], ["dead"])

    def test_it_can_be_written_or_the_command_is_not_started(self):
        done = run("--report", "/nonexistent/report", "--", "echo", "started")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("/nonexistent/report", done.stderr)

    def test_every_chip_of_a_mesh_has_its_peak(self):
        _, report = report_of("--", SIM, "mesh-allocation")
        self.assertEqual(len(report["devices"]), 8)
        self.assertEqual(len({device["memory"]["dram"]["peak"] for device in report["devices"]}), 1)


class Transparent(unittest.TestCase):
    """Whoever waits for the command sees what he would have seen without ttmem."""

    def test_output_input_and_exit_code_pass(self):
        done = call([TTMEM, "run", "--", "sh", "-c", "read x; echo got $x; echo bad >&2; exit 42"], UNMODIFIED,
                    input="word\n")
        self.assertEqual((done.returncode, done.stdout), (42, "got word\n"))
        self.assertIn("bad\n", done.stderr)

    def test_options_behind_the_command_are_the_command_s(self):
        for words in (["--", "echo", "--help", "--bytes"], ["echo", "--help", "--bytes"], ["echo", "--", "-x"]):
            done = run(*words)
            self.assertEqual(done.stdout, " ".join(words[words.index("echo") + 1:]) + "\n")

    def test_a_command_that_is_not_there_is_127_and_one_that_can_t_be_run_126(self):
        self.assertEqual(run("--", "no-such-command-here").returncode, 127)
        self.assertEqual(run("--", "/nonexistent/command").returncode, 127)
        self.assertEqual(run("--", "/etc/passwd").returncode, 126)
        self.assertEqual(run("--", "/").returncode, 126)
        self.assertEqual(run().returncode, 2)

    def test_a_command_that_never_uses_tt_metal(self):
        done = run("--fail-on-leak", "--", "true")
        self.assertEqual(done.returncode, 0)
        self.assertIn("no process of it was tracked", done.stderr)

    def test_a_crash_is_told_with_its_signal_and_what_was_held(self):
        done = run("--", SIM, "crash")
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertIn("was ended by signal 9 (SIGKILL)", done.stderr)
        self.assertRegex(done.stderr, r"dram +decoder\.7/ttnn::add")

    def test_the_signal_of_the_command_is_the_signal_of_ttmem(self):
        for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM):
            done = run("--", "sh", "-c", f"kill -{number} $$")
            self.assertEqual(done.returncode, -number)

    def paused(self, **options) -> subprocess.Popen:
        process = subprocess.Popen([TTMEM, "run", "--", SIM, "leak", "--pause-at", "step 3"], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   **{"env": UNMODIFIED} | options)
        for line in process.stdout:
            if line.startswith("paused: "):
                return process
        raise AssertionError(process.stderr.read())

    @staticmethod
    def errors_of(process: subprocess.Popen) -> str:
        """Until it has ended. Its input stays open, at whose end it would go on."""
        errors = process.stderr.read()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()
        return errors

    @staticmethod
    def child_of(process: subprocess.Popen) -> int:
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as children:
            return int(children.read().split()[0])

    def test_a_signal_goes_to_the_command_which_may_survive_it(self):
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

    def test_a_command_that_is_killed_leaves_a_report(self):
        process = self.paused()
        os.kill(self.child_of(process), signal.SIGKILL)
        self.assertRegex(self.errors_of(process), r"792\.0 KiB +3 +dram +decoder\.2/attention_mask")
        self.assertEqual(process.returncode, -signal.SIGKILL)

    def test_the_command_lives_on_where_ttmem_is_killed(self):
        with tempfile.TemporaryDirectory() as folder:  # in which it can't clean up any more
            process = self.paused(env=UNMODIFIED | {"XDG_RUNTIME_DIR": folder})
            process.kill()
            process.wait()
            process.stdin.write("\n")
            process.stdin.flush()
            self.assertIn("step 5", process.stdout.read())  # until the command has ended
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()

    def test_control_c_reaches_the_command_once(self):
        # A second one would be passed on before the signal that the command then asks for, which comes last.
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
        try:
            while os.read(terminal, 1024):
                pass
        except OSError:
            pass  # the other end is closed
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(status), 11)


class Processes(unittest.TestCase):
    def test_a_chain_of_programs_is_one_process(self):
        _, report = report_of("--", "sh", "-c", f"exec env bash -c 'exec {SIM} leak'")
        self.assertEqual(len(report["processes"]), 1)
        self.assertTrue(report["leak"])

    def test_processes_that_have_ended_long_before_are_told(self):
        _, report = report_of("--", "sh", "-c", f"for i in 1 2 3; do {SIM} leak; done; true")
        self.assertEqual(len(report["processes"]), 3)
        self.assertEqual(report["left"][0]["count"], 15)

    def test_a_run_inside_a_run_is_told_by_both(self):
        done, report = report_of("--", TTMEM, "run", "--", SIM, "leak")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(re.findall("attention_mask", done.stderr)), 2)
        self.assertEqual(report["left"][0]["count"], 5)

    def test_many_short_ones_at_once_are_all_told(self):
        _, report = report_of("--", "sh", "-c", f"for i in $(seq 24); do {SIM} leak >/dev/null & done; wait")
        self.assertEqual(len(report["processes"]), 24)
        self.assertEqual(report["left"][0]["count"], 24 * 5)

    def test_one_that_lives_on_is_told_as_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            held_open = os.open(pipe, os.O_RDWR)
            _, report = report_of("--", "sh", "-c", f"{SIM} leak --pause-at end < {pipe} > {folder}/out 2>&1 & "
                                                   f"until grep -q paused {folder}/out; do sleep 0.02; done")
            os.write(held_open, b"\n")
            os.close(held_open)
            self.assertEqual([process["state"] for process in report["processes"]], ["live"])
            self.assertTrue(report["leak"])

    def test_python_that_forks_and_spawns(self):
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

    def test_threads_are_all_seen(self):
        done, report = report_of("--", SIM, "churn", "--threads", "4", "--live", "200", "--seconds", "0.2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(report["exact"], report["inexact"])

    def test_nothing_stays_behind_in_the_file_system(self):
        with tempfile.TemporaryDirectory() as folder:
            run("--", SIM, "leak", environment={"XDG_RUNTIME_DIR": folder})
            run("--", "no-such-command-here", environment={"XDG_RUNTIME_DIR": folder})
            self.assertEqual(glob.glob(folder + "/*"), [])

    def test_a_process_that_reports_by_itself_is_told_too(self):
        done = run("--fail-on-leak", "--", SIM, "leak", environment={"TTMEM_SIM_REPORTING": "1"})
        self.assertEqual(done.returncode, 97)
        self.assertEqual(len(re.findall("attention_mask", done.stderr)), 1)


if __name__ == "__main__":
    unittest.main()
