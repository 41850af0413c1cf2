#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line: every combination of options prints something and exits with the right code."""

import itertools
import os
import shlex
import subprocess

from harness.programs import SIMULATOR, TTMEM
from harness.test_case import IS_ISOLATED, TestCase, main
from harness.tracked_process import TrackedProcess

COMMANDS = ("status", "ps", "allocations")


class Usage(TestCase):
    def test_every_command_has_help_with_an_example(self):
        for command in ((), *((command,) for command in COMMANDS)):
            done = self.ttmem(*command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, "Examples?:\n  ")
            self.assertIn("Usage: " + " ".join(("ttmem", *command)), done.stdout)
            self.assertEqual(self.ttmem(*command, "-h").stdout, done.stdout)
            for line in done.stdout.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_the_version_is_printed(self):
        self.assertRegex(self.ttmem("--version").stdout, r"^ttmem \d+\.\d+\.\d+\n$")

    def test_an_unknown_command_exits_with_5_and_usage(self):
        for arguments in (["bogus"], ["bogus", "--help"]):
            done = self.ttmem(*arguments)
            self.assertEqual((done.returncode, done.stdout), (5, ""))
            self.assertRegex(done.stderr, r"^ttmem: .+\nusage: ttmem")

    def test_wrong_arguments_exit_with_2_and_usage(self):
        for arguments in (["--bogus"], ["status", "--bogus"], ["status", "x"],
                          ["status", "ps"], ["allocations", "--limit"],
                          ["allocations", "--limit", "-1"], ["allocations", "--limit", "x"],
                          ["allocations", "--limit", "1.5"], ["allocations", "--limit", ""],
                          ["allocations", "--limit", "99999999999999999999999"], ["allocations", "--pid", "-1"],
                          ["allocations", "--pid", "99999999999"], ["allocations", "--kind", "tape"],
                          ["allocations", "--kind", ""], ["allocations", "--pid", "1", "--pid", "2"],
                          ["allocations", "--sort", "size"], ["allocations", "--group", ""],
                          ["allocations", "--group", "name", "--sort", "age"], ["allocations", "--depth", "2"]):
            with self.subTest(arguments=arguments):
                done = self.ttmem(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"^ttmem: .+\nusage: ttmem")

    def test_status_is_the_default_command(self):
        with TrackedProcess("allocate(open_set([device(0xa0)]), DRAM, 1048640, 1000, 12288)"):
            self.assertEqual(self.ttmem().stdout, self.ttmem("status").stdout)
            self.assertEqual(self.ttmem("--bytes").stdout, self.ttmem("status", "--bytes").stdout)
            self.assertIn('"devices"', self.ttmem("--json").stdout)

    def test_sim_runs_the_simulator_in_the_same_folder(self):
        done = self.ttmem("sim", "list", "--help")
        if os.path.exists(SIMULATOR):
            self.assertEqual(done.returncode, 0, done.stderr)
        else:
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"^ttmem: can't start the simulated runtime .*/ttmem-sim: No such file")


class Combinations(TestCase):
    def sweep(self, pid: str) -> None:
        choices = [[[], ["--json"]], [[], ["--bytes"]], [[], ["--device", "0"], ["--device", "0xa0"], ["--device", "77"]],
                   [[], ["--pid", pid], ["--pid", "0"]], [[], *(["--kind", kind] for kind in ("dram", "cb", "kernel"))],
                   [[], ["--limit", "0"], ["--limit", "1"]]]
        lines = [["allocations", *itertools.chain(*choice)] for choice in itertools.product(*choices)]
        lines += [[command, *flags] for command in ("status", "ps") for flags in
                  ([], ["--json"], ["--bytes"], ["--json", "--bytes"])]
        for line in lines:
            done = self.ttmem(*line)
            self.assertIn(done.returncode, (0, 1, 4), line)
            self.assertNotEqual(done.stdout if done.returncode == 0 else done.stderr, "", line)
            self.assertEqual(done.stdout == "", done.returncode != 0, line)

    def test_each_combination_of_options_answers_on_a_host_with_a_process(self):
        with TrackedProcess("""
                s = open_set([device(0xa0)])
                for i in range(5):
                    allocate(s, DRAM, 1048640 + 1024 * i, 1000, 12288)
                load_kernel(s, 1, KERNEL_FABRIC, 100)
                """) as actor:
            self.sweep(str(actor.pid))

    def test_each_combination_of_options_answers_on_an_empty_host(self):
        self.sweep("1")


class EmptyHost(TestCase):
    def test_an_empty_host_is_reported_with_the_next_step(self):
        if not IS_ISOLATED and self.direct_view()["processes"]:
            self.skipTest("other tracked processes are on this host")
        for command in COMMANDS:
            done = self.ttmem(command)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("no tracked process", done.stdout)
            self.assertIn("TT_ALLOC_TRACKING_ENABLED=1", done.stdout)
        self.assertEqual(self.direct_view()["processes"], [])
        self.assertEqual(self.direct_view("allocations")["allocations"], [])

    def test_a_process_without_tracking_is_not_shown(self):
        with TrackedProcess("allocate(open_set([device(0xa0)]), DRAM, 1048640, 1000, 12288)", tracked=False) as actor:
            self.assertNotIn(actor.pid, [process["pid"] for process in self.direct_view()["processes"]])

    def test_a_tracked_process_that_has_opened_no_device_is_shown(self):
        with TrackedProcess("device(0xa0)") as actor:
            self.assertEqual(self.process_in(self.direct_view(), actor.pid)["devices"], [])
            self.assertIn("Nothing is allocated.", self.ttmem("status").stdout)
            self.assertIn(str(actor.pid), self.ttmem("ps").stdout)


class Output(TestCase):
    def setUp(self):
        super().setUp()
        self.actor = self.tracked_process("""
            s = open_set([device(0xa0)])
            scope("a_long_name_" * 9)
            scope("another_long_name_" * 6)
            for i in range(3000):
                allocate(s, DRAM, 1048640 + 1024 * i, 1000, 12288)
            """)

    def test_a_reader_that_closes_early_is_not_an_error(self):
        for command in ("allocations --limit 0 --json", "allocations --limit 0", "status --help"):
            done = subprocess.run(["bash", "-c", f"set -o pipefail; {shlex.quote(TTMEM)} {command} | head -n 1"],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(len(done.stdout.splitlines()), 1)

    def test_output_that_cannot_be_written_is_an_error(self):
        for arguments in ([], ["--json"], ["allocations"], ["--help"], ["--version"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([TTMEM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual((done.returncode, done.stderr),
                             (1, "ttmem: can't write the output: No space left on device\n"))
        done = subprocess.run(["bash", "-c", f"{shlex.quote(TTMEM)} >&-"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("can't write the output", done.stderr)

    def test_colour_is_used_on_capable_terminals_only(self):
        self.assertIn("\x1b[", self.terminal_output("status"))
        self.assertNotIn("\x1b", self.terminal_output("status", NO_COLOR="1"))
        self.assertNotIn("\x1b", self.terminal_output("status", TERM="dumb"))
        self.assertNotIn("\x1b", self.ttmem("status").stdout)

    def test_lines_are_cut_on_a_terminal_and_complete_in_a_pipe(self):
        for columns in (80, 120, 200):
            for command in COMMANDS:
                for line in self.terminal_output(command, columns=columns, NO_COLOR="1").splitlines():
                    self.assertLessEqual(len(line), columns, line)
        name = "a_long_name_" * 9 + "/" + "another_long_name_" * 6
        self.assertIn(name, self.ttmem("allocations").stdout)
        self.assertNotIn(name, self.terminal_output("allocations"))
        self.assertNotIn(name, self.ttmem("allocations", COLUMNS="80").stdout)
        self.assertIn(name, self.terminal_output("allocations", columns=500))


if __name__ == "__main__":
    main()
