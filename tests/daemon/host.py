# SPDX-License-Identifier: Apache-2.0
"""What the tests of ttmemd share: one import for all of it, and the test case that cleans up behind them."""

import json
import os
import subprocess
import sys
import unittest

from actors import TTMEM, TTMEMD, Client, Daemon, RuntimeDirectory, Sim  # noqa: F401
from asking import PATIENCE, Stream, ask, wait_until  # noqa: F401
from figures import figures_by_process, figures_of, sum_of

STRANGER, OTHER_STRANGER = 65534, 65533  # users without an account


def look(directory: RuntimeDirectory, *arguments: str) -> dict:
    """What `ttmem status` shows."""
    done = subprocess.run([TTMEM, "status", "--json", *arguments], capture_output=True, text=True, timeout=PATIENCE,
                          env=os.environ | {"TTMEM_RUNTIME_DIR": directory.path})
    assert (done.returncode, done.stderr) == (0, ""), (done.returncode, done.stderr)
    return json.loads(done.stdout)


class TestCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = RuntimeDirectory()
        self.addCleanup(self.directory.remove)

    def daemon(self, *arguments: str, **options) -> Daemon:
        """A daemon that must end in peace when the test does."""
        daemon = Daemon(self.directory, *arguments, **options)
        self.addCleanup(daemon.close)
        self.addCleanup(lambda: daemon.process.returncode is not None or daemon.stop())
        return daemon

    def client(self, body: str = "", **options) -> Client:
        client = Client(self.directory, body, **options)
        self.addCleanup(client.close)
        return client

    def sim(self, scenario: str, *arguments: str, **options) -> Sim:
        sim = Sim(self.directory, scenario, *arguments, **options)
        self.addCleanup(sim.close)
        return sim

    def assert_truth(self, view: dict, sims: list[Sim]):
        """Per process and in total, byte for byte."""
        living = [sim for sim in sims if not sim.ended]
        self.assertEqual(figures_by_process(view), {sim.pid: sim.truth for sim in living})
        self.assertEqual(figures_of(view["devices"]), sum_of(sim.truth for sim in living))
        self.assertTrue(view["exact"], view["inexact"])

    def needs_users(self) -> bool:
        """True, with a word, where this process may not become another user."""
        with open("/proc/self/uid_map", encoding="utf-8") as file:
            if os.geteuid() == 0 and "4294967295" in file.read():
                return False
        print("NOT SHOWN: only root can become another user", file=sys.stderr)
        return True


def main():
    if "TTMEM_TEST_NOT_ALONE" in os.environ:
        sys.exit("these tests count every tracked process, so they need a pid namespace of their own")
    unittest.main(verbosity=2)
