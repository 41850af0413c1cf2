# SPDX-License-Identifier: Apache-2.0
"""A terminal that a test looks at and types into: a tmux server of its own, with one shell."""

import os
import re
import shlex
import subprocess
import tempfile
import time

PATIENCE = 60  # seconds; a test waits for what it wants to see, and never for time to pass


class Terminal:
    def __init__(self, columns: int = 80, rows: int = 24, **environment: str):
        self.folder = tempfile.TemporaryDirectory(prefix="ttmem-top-")
        self.socket = os.path.join(self.folder.name, "tmux")
        variables = {name: value for name, value in os.environ.items()
                     if name not in ("NO_COLOR", "COLUMNS", "LINES", "TMUX", "LC_ALL", "LANG")}
        self.environment = variables | {"LC_ALL": "C.UTF-8", "HOME": self.folder.name, "TERM": "screen-256color"} | environment
        self.tmux("new-session", "-d", "-s", "test", "-x", str(columns), "-y", str(rows), "sh")
        self.wait_for("[#$]")  # its prompt

    def tmux(self, *arguments: str) -> str:
        done = subprocess.run(["tmux", "-u", "-S", self.socket, "-f", "/dev/null", *arguments], capture_output=True, text=True,
                              timeout=PATIENCE, env=self.environment, check=False)
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

    def run(self, *command: str):
        self.type(shlex.join(command) + "; echo code:$?")
        self.press("Enter")

    def resize(self, columns: int, rows: int):
        self.tmux("resize-window", "-t", "test", "-x", str(columns), "-y", str(rows))

    def shell(self) -> int:
        return int(self.tmux("list-panes", "-t", "test", "-F", "#{pane_pid}"))

    def wait_for(self, *patterns: str, absent: str | None = None) -> str:
        """Waits until the screen has all of them, and not that one; returns the screen."""
        end = time.monotonic() + PATIENCE
        while True:
            text = self.text()
            if all(re.search(pattern, text) for pattern in patterns):
                if absent is None or not re.search(absent, text):
                    return text
            assert time.monotonic() < end, f"waited in vain for {patterns} without {absent} in:\n{text}"
            time.sleep(0.05)


def wait_until(condition, what: str):
    end = time.monotonic() + PATIENCE
    while not (result := condition()):
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.02)
    return result


def children_of(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(word) for word in file.read().split()]


def name_of(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""


def child(pid: int, name: str) -> int:
    """The child of that name, once it is there."""
    return wait_until(lambda: next((one for one in children_of(pid) if name_of(one) == name), None), f"{name} below {pid}")
