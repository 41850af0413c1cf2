# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command line share: the program as it is typed, in a pipe and on a terminal."""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "daemon"))

import host  # noqa: E402  (which also makes the folder of the next one known)
import on_terminal  # noqa: E402
from host import PATIENCE, Sim, main, wait_until  # noqa: E402, F401

BIN = os.environ["TTMEM_BIN_DIR"]


class TestCase(host.TestCase):
    def setUp(self):
        super().setUp()
        state = tempfile.TemporaryDirectory()
        self.addCleanup(state.cleanup)
        self.environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")} | {
            "TTMEM_RUNTIME_DIR": self.directory.path, "XDG_STATE_HOME": state.name, "TZ": "UTC", "LC_ALL": "C.UTF-8"}

    def type(self, *words: str, name: str = "ttmem", **environment: str) -> subprocess.CompletedProcess:
        """What a script gets."""
        return subprocess.run([os.path.join(BIN, name), *words], capture_output=True, text=True, timeout=PATIENCE,
                              env=self.environment | environment)

    def screen(self, *words: str, **options) -> str:
        """What is read in a pipe, where it must work without a word of complaint."""
        done = self.type(*words, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        self.assertNotEqual(done.stdout, "", words)
        return done.stdout

    def on_a_terminal(self, *words: str, rows: int = 24, columns: int = 80, **environment: str) -> str:
        """All that is written to somebody at a terminal of that size."""
        return on_terminal.written_to([os.path.join(BIN, "ttmem"), *words], self.environment | {"TERM": "xterm"} | environment,
                                      rows, columns)

    def sim_at(self, scenario: str, step: str, *arguments: str) -> Sim:
        """A simulated process that stands still at that step."""
        sim = self.sim(scenario, *arguments)
        while sim.next():
            if sim.step == step:
                return sim
        raise AssertionError(f"{scenario} has no step {step}")
