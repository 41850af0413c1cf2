# SPDX-License-Identifier: Apache-2.0
"""A running 'ttmem record'."""

import json
import signal
import subprocess
import time

from harness.programs import TTMEM
from harness.test_case import TestCase
from harness.waiting import TIMEOUT, wait_until


class RecorderProcess:
    def __init__(self, test: TestCase, path: str, *arguments: str, stdin: int | None = None):
        self.test, self.path = test, path
        self.process = subprocess.Popen([TTMEM, "record", "-o", path, *arguments], stdin=stdin, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=test.environment())
        test.addCleanup(self.close)

    def wait_for(self, pid: int):
        """Waits until the recording has that process and its first ledger: it can be read while it is written."""
        def has_process() -> bool:
            done = self.test.ttmem("ps", "--recording", self.path, "--json")
            return done.returncode == 0 and any(one["pid"] == pid for one in json.loads(done.stdout)["processes"])
        wait_until(has_process, "the recording has begun", 0.05)
        self.wait_for_rounds()  # what happens while the first ledger is read has no state before it

    def rounds(self) -> int:
        """How often it has waited so far: once after each time that it has read all events."""
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches"))

    def wait_for_rounds(self):
        """Waits until it has read all events until now."""
        before = self.rounds()
        wait_until(lambda: self.rounds() >= before + 2, "the recorder has read all events")

    def suspend(self):
        """It reads nothing until resume()."""
        self.process.send_signal(signal.SIGSTOP)

        def has_stopped() -> bool:
            with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
                return file.read().rpartition(")")[2].split()[0] == "T"
        wait_until(has_stopped, "the recorder has stopped")

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self) -> tuple[int, str]:
        """Ends the recording as Ctrl-C does. Returns the exit code and what it says."""
        self.process.send_signal(signal.SIGINT)
        return self.wait()

    def wait(self) -> tuple[int, str]:
        _, errors = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode, errors

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


def moment(time_ns: int | None = None) -> str:
    """A time since the epoch, now by default, as --at takes it."""
    time_ns = time.time_ns() if time_ns is None else time_ns
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(time_ns // 10**9)) + f".{time_ns % 10**9:09}"
