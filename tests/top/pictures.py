#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of docs/TOP.md anew, with the real program in a real terminal.

usage: TTMEM_BIN_DIR=... tests/e2e/alone tests/top/pictures.py
"""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "daemon")]

from driver_tree import DriverTree  # noqa: E402
from terminal import Terminal, wait_until  # noqa: E402

BIN = os.environ["TTMEM_BIN_DIR"]
PAGE = os.path.join(ROOT, "docs", "TOP.md")


class Host:
    """A daemon, and programs that stand still or come to grief."""

    def __init__(self, terminal: Terminal, root: str):
        self.runtime = os.path.join(terminal.folder.name, "run")
        os.mkdir(self.runtime, 0o700)
        self.environment = os.environ | {"TTMEM_RUNTIME_DIR": self.runtime, "TT_ALLOC_TRACKING_ENABLED": "1",
                                         "TTMEM_HOST_ROOT": root}
        self.processes = [subprocess.Popen([os.path.join(BIN, "ttmemd"), "--quiet", "--listen", "none", "--classic-wire", "none"],
                                           env=self.environment)]
        wait_until(lambda: os.path.exists(os.path.join(self.runtime, "api.sock")), "the daemon's socket")

    def start(self, *words: str):
        process = subprocess.Popen([os.path.join(BIN, "ttmem-sim"), *words], env=self.environment, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        while "paused" not in process.stdout.readline():
            pass
        return process

    def close(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()


def step(process) -> str:
    process.stdin.write("\n")
    process.stdin.flush()
    while "paused: " not in (line := process.stdout.readline()):
        pass
    return line.split("paused: ")[1].strip()


def pictures(root: str, shots: dict) -> dict:
    terminal = Terminal(100, 30)
    host = Host(terminal, root)
    result = {}
    try:
        worker = host.start("transformer-dp4", "--board", "t3000", "--pause-at", "all", "--repeat", "100")
        terminal.run("env", f"TTMEM_RUNTIME_DIR={host.runtime}", os.path.join(BIN, "ttmem"), "top")
        terminal.wait_for("daemon", "ttmem-sim")
        failing = host.start("fragmentation", "--pause-at", "all")
        # Steps with time between them, so that a chart has something to show.
        for _ in range(24):
            step(worker)
            before = terminal.text()
            wait_until(lambda: terminal.text() != before, "the next picture")
        while step(worker) != "decode 1":
            pass
        while "1 failure" not in subprocess.run([os.path.join(BIN, "ttmem"), "why"], env=host.environment, capture_output=True,
                                                text=True, check=True).stdout:
            step(failing)
        for name, (keys, patterns) in shots.items():
            terminal.press(*keys)
            result[name] = terminal.wait_for(*patterns)
        terminal.press("q")
    finally:
        host.close()
        terminal.close()
    return result


# Keys to press, and what must be seen then.
ON_A_SIMULATED_HOST = {
    "overview": (["0"], ["DEV +BOARD", r"1\.2 GiB / 12\.0 GiB"]),
    "breakdown": (["1"], ["L1 of each core", "Device 0"]),
    "charts": (["a", "2"], ["process started", "now"]),
    "allocations": (["a", "4"], ["groups by name", "kv_cache"]),
    "map": (["5", "z", "z"], ["zoom 4x", "IN BANK"]),
    "events": (["6"], [r"(allocation|free) +\w"]),
    "failures": (["7"], ["1 failure", "Who holds"]),
}
WITH_A_DRIVER = {"telemetry": (["0", "3"], ["TEMPERATURE", "alive|stuck"])}


def main():
    tree = DriverTree("t3000")
    try:
        shots = pictures("/no/boards/here", ON_A_SIMULATED_HOST) | pictures(tree.root, WITH_A_DRIVER)
    finally:
        tree.remove()
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    for name, text in shots.items():
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in text.splitlines())).rstrip()
        marker = f"<!-- picture: {name} -->\n"
        page = re.sub(re.escape(marker) + r"(\n```\n.*?\n```\n)?", lambda _: f"{marker}\n```\n{text}\n```\n", page, flags=re.DOTALL)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page)


if __name__ == "__main__":
    main()
