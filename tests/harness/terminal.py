# SPDX-License-Identifier: Apache-2.0
"""A terminal that a test reads and types into: a tmux server with one shell."""

import os
import re
import shlex
import subprocess
import tempfile
import time

from harness.programs import clean_environment
from harness.waiting import TIMEOUT


class Terminal:
    def __init__(self, columns: int = 80, rows: int = 24, **environment: str):
        self.folder = tempfile.TemporaryDirectory(prefix="ttmem-top-")
        self.socket = os.path.join(self.folder.name, "tmux")
        self.environment = clean_environment("LINES", "TMUX", "LANG", LC_ALL="C.UTF-8", HOME=self.folder.name,
                                             TERM="screen-256color") | environment
        self.tmux("new-session", "-d", "-s", "test", "-x", str(columns), "-y", str(rows), "sh")
        self.wait_for("[#$]")  # its prompt

    def tmux(self, *arguments: str) -> str:
        done = subprocess.run(["tmux", "-u", "-S", self.socket, "-f", "/dev/null", *arguments], capture_output=True, text=True,
                              timeout=TIMEOUT, env=self.environment, check=False)
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True, check=False)
        self.folder.cleanup()

    def text(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", "test")

    def press(self, *keys: str):
        self.tmux("send-keys", "-t", "test", *keys)

    def type(self, text: str):
        self.tmux("send-keys", "-t", "test", "-l", text)

    def click(self, row: int, column: int):
        """Presses and releases the first mouse button, as terminals with one byte per coordinate report it."""
        self.report_mouse(32, row, column)
        self.report_mouse(35, row, column)

    def report_mouse(self, button: int, row: int, column: int):
        report = (27, ord("["), ord("M"), button, 33 + column, 33 + row)
        self.tmux("send-keys", "-t", "test", "-H", *(f"{byte:x}" for byte in report))

    def run(self, *command: str):
        """Types the command; the shell prints its exit code as "code:N" when it has ended."""
        self.type(shlex.join(command) + "; echo code:$?")
        self.press("Enter")

    def resize(self, columns: int, rows: int):
        self.tmux("resize-window", "-t", "test", "-x", str(columns), "-y", str(rows))

    def shell(self) -> int:
        """The pid of the shell."""
        return int(self.tmux("list-panes", "-t", "test", "-F", "#{pane_pid}"))

    def wait_for(self, *patterns: str, absent: str | None = None) -> str:
        """Waits until the screen matches all patterns and not `absent`; returns the screen."""
        end = time.monotonic() + TIMEOUT
        while True:
            text = self.text()
            if all(re.search(pattern, text) for pattern in patterns):
                if absent is None or not re.search(absent, text):
                    return text
            assert time.monotonic() < end, f"no {patterns} without {absent} within {TIMEOUT} s in:\n{text}"
            time.sleep(0.05)
