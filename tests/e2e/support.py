# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: the program under test, and processes for it to look at."""

import json
import os
import subprocess
import sys
import textwrap
import unittest

BIN = os.environ["TTMEM_BIN_DIR"]
TTMEM = os.path.join(BIN, "ttmem")
HERE = os.path.dirname(os.path.abspath(__file__))
IS_ALONE = "TTMEM_TEST_NOT_ALONE" not in os.environ

# A process so small that a segment can be copied and changed by hand.
SMALL_SEGMENT = {"TTMEM_NAMES": "16", "TTMEM_WRITERS": "2", "TTMEM_RING_RECORDS": "16", "TTMEM_SLOTS": "64"}


class Actor:
    """A process that runs `body` with the calls of libttmem.py at hand, and then lives until the `with` block ends.

    What the body assigns to `answer` comes back, as text.
    """

    def __init__(self, body: str = "", tracked: bool = True, **environment: str):
        program = "from libttmem import *\nanswer = ''\n" + textwrap.dedent(body)
        program += "\nprint(answer, flush=True)\nimport sys\nsys.stdin.readline()\n"
        environment = os.environ | {"PYTHONPATH": HERE, "PYTHONDONTWRITEBYTECODE": "1",
                                    "TTMEM_RUNTIME_DIR": "/nonexistent",
                                    "TT_ALLOC_TRACKING_ENABLED": "1" if tracked else "0"} | environment
        self.process = subprocess.Popen([sys.executable, "-c", program], env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        self.answer = self.process.stdout.readline().strip()
        if self.process.poll() is not None:
            raise AssertionError("the process ended before it was ready")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def run(*arguments: str, **options) -> subprocess.CompletedProcess:
    """Runs ttmem in a pipe, as a script does."""
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    return subprocess.run([TTMEM, *arguments], capture_output=True, text=True, timeout=60,
                          env=environment | options.pop("environment", {}), **options)


class TestCase(unittest.TestCase):
    maxDiff = None

    def view(self, *arguments: str) -> dict:
        done = run(*(arguments or ("status",)), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        view = json.loads(done.stdout)
        self.assertEqual((view["schema"], view["source"]), (1, "direct"))
        return view

    def process(self, view: dict, actor: Actor) -> dict:
        found = [process for process in view["processes"] if process["pid"] == actor.pid]
        self.assertEqual(len(found), 1, f"process {actor.pid} in {view['processes']}")
        return found[0]

    def device(self, view: dict, asic_id: int) -> dict:
        found = [device for device in view["devices"] if device["asic_id"] == hex(asic_id)]
        self.assertEqual(len(found), 1, f"device {asic_id:#x} in {view['devices']}")
        return found[0]

    def notices(self, actor: Actor) -> list[str]:
        """What ttmem has to say on standard error about a process."""
        done = run("status")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line for line in done.stderr.splitlines() if str(actor.pid) in line]


def main() -> None:
    unittest.main(verbosity=2)
