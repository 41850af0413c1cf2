# SPDX-License-Identifier: Apache-2.0
"""The simulated runtime, paused at its steps."""

import contextlib
import json
import os
import subprocess
import tempfile

from harness.figures import figures_of
from harness.programs import NO_RUNTIME_DIRECTORY, SIMULATOR
from harness.waiting import TIMEOUT, LineReader


class Simulator:
    """A process that runs a scenario, pauses at each step, and writes there what its allocators hold. Or a `program` like it, such as
    a stand-in of a release, which writes no figures."""

    def __init__(self, scenario: str, *arguments: str, runtime_directory: str = NO_RUNTIME_DIRECTORY,
                 pause_at: str = "all", variables: dict[str, str] | None = None, program: str = SIMULATOR):
        self.folder = tempfile.TemporaryDirectory(prefix="ttmem-sim-")
        self.truth_path = os.path.join(self.folder.name, "truth")
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [program, scenario, *arguments, "--pause-at", pause_at, "--truth", self.truth_path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
            env=os.environ | {"TTMEM_RUNTIME_DIR": runtime_directory, "TT_ALLOC_TRACKING_ENABLED": "1"}
            | (variables or {}))
        self.pid, self.lines = self.process.pid, LineReader(self.process.stdout.fileno())
        self.truth, self.step, self.printed = {}, None, []
        self.ended = False

    def proceed(self):
        """Lets a paused scenario go on."""
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def wait_for_pause(self) -> bool:
        """Waits for the next pause; false if the scenario has ended instead."""
        while (line := self.lines.next()) is not None:
            self.printed.append(line)
            if line.startswith("paused: "):
                self.step = line.removeprefix("paused: ")
                last = self.last_truth()
                assert last["step"] == self.step, (last["step"], self.step)
                self.truth = figures_of(last.get("devices", []))
                return True
        self.ended, self.truth = True, {}
        return False

    def next(self) -> bool:
        """Goes on to the next step; false if there is none."""
        if self.step is not None:
            self.proceed()
        return self.wait_for_pause()

    def skip(self, pauses: int):
        """Passes that many pauses, and does not read what the allocators write there."""
        for _ in range(pauses):
            self.proceed()
            line = self.lines.next()
            while not line.startswith("paused: "):
                line = self.lines.next()

    def go_to(self, step: str):
        """Goes on until it pauses at that step."""
        while self.step != step:
            assert self.next(), f"no such step: {step}; {self.error_text()}"

    def last_truth(self) -> dict:
        """The whole document that the allocators wrote at the last pause."""
        with open(self.truth_path, encoding="utf-8") as file:
            return json.loads(file.read().splitlines()[-1])

    def error_text(self) -> str:
        return os.pread(self.errors.fileno(), 65536, 0).decode()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.ended, self.truth = True, {}

    def close(self):
        if not self.errors.closed:
            self.kill()
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            self.process.stdout.close()
            self.errors.close()
            self.folder.cleanup()

    def finish(self):
        """Lets the scenario run to its end. It must end with 0 and without error messages."""
        self.process.stdin.close()  # it pauses no more
        while self.lines.next() is not None:
            pass
        self.ended, self.truth = True, {}
        code = self.process.wait(TIMEOUT)
        assert (code, self.error_text()) == (0, ""), f"the simulator ended with {code}: {self.error_text()}"
