# SPDX-License-Identifier: Apache-2.0
"""The test case of all end-to-end tests: it starts what a test needs, and stops it after the test."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from harness import pseudo_terminal
from harness.daemon import Daemon, RuntimeDirectory
from harness.figures import figures_by_process, figures_of, sum_of
from harness.programs import BIN, TTMEM, clean_environment
from harness.simulator import Simulator
from harness.tracked_process import TrackedProcess
from harness.waiting import TIMEOUT

IS_ISOLATED = "TTMEM_TEST_NOT_ISOLATED" not in os.environ


class TestCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = self.runtime_directory()
        state = tempfile.TemporaryDirectory(prefix="ttmem-state-")
        self.addCleanup(state.cleanup)
        self.state_directory = state.name

    def runtime_directory(self) -> RuntimeDirectory:
        """A new one, in which no daemon runs yet."""
        directory = RuntimeDirectory()
        self.addCleanup(directory.remove)
        return directory

    # Processes.

    def daemon(self, *arguments: str, **options) -> Daemon:
        """A daemon that must stop cleanly after the test, unless the test has ended it."""
        daemon = Daemon(self.directory, *arguments, **options)
        self.addCleanup(daemon.close)
        self.addCleanup(lambda: daemon.process.returncode is not None or daemon.stop())
        return daemon

    def tracked_process(self, code: str = "", runtime_directory: str | None = None, **options) -> TrackedProcess:
        process = TrackedProcess(code, runtime_directory or self.directory.path, **options)
        self.addCleanup(process.close)
        return process

    def simulator(self, scenario: str, *arguments: str, **options) -> Simulator:
        simulator = Simulator(scenario, *arguments, runtime_directory=self.directory.path, **options)
        self.addCleanup(simulator.close)
        return simulator

    def simulator_at(self, scenario: str, step: str, *arguments: str) -> Simulator:
        """A simulator that is paused at that step."""
        simulator = self.simulator(scenario, *arguments)
        simulator.go_to(step)
        return simulator

    # Programs.

    def environment(self, **variables: str) -> dict[str, str]:
        """In which programs find this test's daemon, and print times and text in one way."""
        return clean_environment(TTMEM_RUNTIME_DIR=self.directory.path, XDG_STATE_HOME=self.state_directory, TZ="UTC",
                                 LC_ALL="C.UTF-8") | variables

    def ttmem(self, *arguments: str, program: str = TTMEM, **variables: str) -> subprocess.CompletedProcess:
        """Runs ttmem as a script does: its output goes into a pipe."""
        return subprocess.run([os.path.join(BIN, program), *arguments], capture_output=True, text=True, timeout=TIMEOUT,
                              env=self.environment(**variables))

    def output_of(self, *arguments: str, **options) -> str:
        """What ttmem prints. It must succeed, print something, and complain about nothing."""
        done = self.ttmem(*arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        self.assertNotEqual(done.stdout, "", arguments)
        return done.stdout

    def json_of(self, *arguments: str) -> dict:
        """The document that ttmem prints with --json."""
        return json.loads(self.output_of(*arguments, "--json"))

    def terminal_output(self, *arguments: str, rows: int = 24, columns: int = 80, **variables: str) -> str:
        """What ttmem prints on a terminal of that size."""
        return pseudo_terminal.output_of([TTMEM, *arguments], self.environment(TERM="xterm") | variables, rows, columns)

    # Views.

    def direct_view(self, *command: str, allow_notices: bool = False) -> dict:
        """What a command shows that reads the host without a daemon; `ttmem status` if none is given."""
        done = self.ttmem(*(command or ("status",)), "--direct", "--json")
        self.assertEqual((done.returncode, done.stderr if not allow_notices else ""), (0, ""), done.stderr)
        view = json.loads(done.stdout)
        self.assertEqual((view["schema"], view["source"]), (1, "direct"))
        return view

    def process_in(self, view: dict, pid: int) -> dict:
        found = [process for process in view["processes"] if process["pid"] == pid]
        self.assertEqual(len(found), 1, f"process {pid} in {view['processes']}")
        return found[0]

    def device_in(self, view: dict, asic_id: int) -> dict:
        found = [device for device in view["devices"] if device["asic_id"] == hex(asic_id)]
        self.assertEqual(len(found), 1, f"device {asic_id:#x} in {view['devices']}")
        return found[0]

    def assert_truth(self, view: dict, simulators: list[Simulator]):
        """The view equals what the allocators hold, per process and in total, to the byte."""
        living = [simulator for simulator in simulators if not simulator.ended]
        self.assertEqual(figures_by_process(view), {simulator.pid: simulator.truth for simulator in living})
        self.assertEqual(figures_of(view["devices"]), sum_of(simulator.truth for simulator in living))
        self.assertTrue(view["exact"], view["inexact"])


def main(needs_isolation: bool = True):
    """Runs the tests of a script. With `needs_isolation` the tests count every tracked process that they can see."""
    if needs_isolation and not IS_ISOLATED:
        sys.exit("these tests count every tracked process, so they need a pid namespace of their own")
    unittest.main(verbosity=2)
