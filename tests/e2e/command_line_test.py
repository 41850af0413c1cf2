#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line: every combination of options answers with something to read and the right exit code."""

import itertools
import os
import subprocess
import sys

import on_terminal
import support
from support import Actor, run

COMMANDS = ("status", "ps", "allocations")


def run_on_a_terminal(*arguments: str, columns: int = 80, **environment: str) -> str:
    """What somebody at a terminal of that width sees."""
    variables = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "TERM")}
    return on_terminal.written_to([support.TTMEM, *arguments], variables | environment, columns=columns)


class Usage(support.TestCase):
    def test_every_command_has_help_with_an_example(self):
        for command in ((), *((command,) for command in COMMANDS)):
            done = run(*command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, "Examples?:\n  ")
            self.assertIn("Usage: " + " ".join(("ttmem", *command)), done.stdout)
            self.assertEqual(run(*command, "-h").stdout, done.stdout)
            for line in done.stdout.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_the_version_is_told(self):
        self.assertRegex(run("--version").stdout, r"^ttmem \d+\.\d+\.\d+\n$")

    def test_what_is_wrong_exits_with_2_and_usage(self):
        for arguments in (["--bogus"], ["bogus"], ["bogus", "--help"], ["status", "--bogus"], ["status", "x"],
                          ["status", "ps"], ["allocations", "--limit"],
                          ["allocations", "--limit", "-1"], ["allocations", "--limit", "x"],
                          ["allocations", "--limit", "1.5"], ["allocations", "--limit", ""],
                          ["allocations", "--limit", "99999999999999999999999"], ["allocations", "--pid", "-1"],
                          ["allocations", "--pid", "99999999999"], ["allocations", "--kind", "tape"],
                          ["allocations", "--kind", ""], ["allocations", "--pid", "1", "--pid", "2"],
                          ["allocations", "--sort", "size"], ["allocations", "--group", ""],
                          ["allocations", "--group", "name", "--sort", "age"], ["allocations", "--depth", "2"]):
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"^ttmem: .+\nusage: ttmem")

    def test_without_a_command_it_is_status(self):
        with Actor("allocate(open_set([device(0xa0)]), DRAM, 1048640, 1000, 12288)"):
            self.assertEqual(run().stdout, run("status").stdout)
            self.assertEqual(run("--bytes").stdout, run("status", "--bytes").stdout)
            self.assertIn('"devices"', run("--json").stdout)

    def test_the_simulated_runtime_is_the_program_beside_it(self):
        done = run("sim", "list", "--help")
        if os.path.exists(os.path.join(support.BIN, "ttmem-sim")):
            self.assertEqual(done.returncode, 0, done.stderr)
        else:
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"^ttmem: can't start the simulated runtime .*/ttmem-sim: No such file")


class Combinations(support.TestCase):
    def sweep(self, pid: str) -> None:
        choices = [[[], ["--json"]], [[], ["--bytes"]], [[], ["--device", "0"], ["--device", "0xa0"], ["--device", "77"]],
                   [[], ["--pid", pid], ["--pid", "0"]], [[], *(["--kind", kind] for kind in ("dram", "cb", "kernel"))],
                   [[], ["--limit", "0"], ["--limit", "1"]]]
        lines = [["allocations", *itertools.chain(*choice)] for choice in itertools.product(*choices)]
        lines += [[command, *flags] for command in ("status", "ps") for flags in
                  ([], ["--json"], ["--bytes"], ["--json", "--bytes"])]
        for line in lines:
            done = run(*line)
            self.assertIn(done.returncode, (0, 1), line)
            self.assertNotEqual(done.stdout if done.returncode == 0 else done.stderr, "", line)
            self.assertEqual(done.stdout == "", done.returncode == 1, line)

    def test_each_answers_on_a_host_with_a_process(self):
        with Actor("""
                s = open_set([device(0xa0)])
                for i in range(5):
                    allocate(s, DRAM, 1048640 + 1024 * i, 1000, 12288)
                load_kernel(s, 1, KERNEL_FABRIC, 100)
                """) as actor:
            self.sweep(str(actor.pid))

    def test_each_answers_on_a_host_with_none(self):
        self.sweep("1")


class EmptyHost(support.TestCase):
    def test_says_what_is_the_case_and_what_to_do_next(self):
        if not support.IS_ALONE and self.view()["processes"]:
            print("NOT SHOWN: other tracked processes are on this host", file=sys.stderr)
            return
        for command in COMMANDS:
            done = run(command)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("no tracked process", done.stdout)
            self.assertIn("TT_ALLOC_TRACKING_ENABLED=1", done.stdout)
        self.assertEqual(self.view()["processes"], [])
        self.assertEqual(self.view("allocations")["allocations"], [])

    def test_a_process_without_tracking_is_not_there(self):
        with Actor("allocate(open_set([device(0xa0)]), DRAM, 1048640, 1000, 12288)", tracked=False) as actor:
            self.assertNotIn(actor.pid, [process["pid"] for process in self.view()["processes"]])

    def test_a_tracked_process_that_has_opened_no_device_is_shown(self):
        with Actor("device(0xa0)") as actor:
            self.assertEqual(self.process(self.view(), actor)["devices"], [])
            self.assertIn("Nothing is allocated.", run("status").stdout)
            self.assertIn(str(actor.pid), run("ps").stdout)


class Output(support.TestCase):
    def setUp(self):
        self.actor = Actor("""
            s = open_set([device(0xa0)])
            scope("a_long_name_" * 9)
            scope("another_long_name_" * 6)
            for i in range(3000):
                allocate(s, DRAM, 1048640 + 1024 * i, 1000, 12288)
            """)
        self.addCleanup(self.actor.__exit__)

    def test_a_reader_that_has_seen_enough_is_no_error(self):
        for command in ("allocations --limit 0 --json", "allocations --limit 0", "status --help"):
            done = subprocess.run(["bash", "-c", f"set -o pipefail; {support.TTMEM} {command} | head -n 1"],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(len(done.stdout.splitlines()), 1)

    def test_output_that_can_not_be_written_is_an_error(self):
        for arguments in ([], ["--json"], ["allocations"], ["--help"], ["--version"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([support.TTMEM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual((done.returncode, done.stderr),
                             (1, "ttmem: can't write the output: No space left on device\n"))
        done = subprocess.run(["bash", "-c", f"{support.TTMEM} >&-"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("can't write the output", done.stderr)

    def test_colour_is_for_terminals_that_want_it(self):
        self.assertIn("\x1b[", run_on_a_terminal("status"))
        self.assertNotIn("\x1b", run_on_a_terminal("status", NO_COLOR="1"))
        self.assertNotIn("\x1b", run_on_a_terminal("status", TERM="dumb"))
        self.assertNotIn("\x1b", run("status").stdout)

    def test_lines_fit_the_terminal_and_are_whole_in_a_pipe(self):
        for columns in (80, 120, 200):
            for command in COMMANDS:
                for line in run_on_a_terminal(command, columns=columns, NO_COLOR="1").splitlines():
                    self.assertLessEqual(len(line), columns, line)
        name = "a_long_name_" * 9 + "/" + "another_long_name_" * 6
        self.assertIn(name, run("allocations").stdout)
        self.assertNotIn(name, run_on_a_terminal("allocations"))
        self.assertNotIn(name, run("allocations", environment={"COLUMNS": "80"}).stdout)
        self.assertIn(name, run_on_a_terminal("allocations", columns=500))


if __name__ == "__main__":
    support.main()
