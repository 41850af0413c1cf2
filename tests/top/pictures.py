#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replaces the pictures in docs/TOP.md by what the real program shows in a real terminal.

usage: PYTHONPATH=tests tests/harness/isolate tests/top/pictures.py
"""

import os
import re
import subprocess
import threading
from unittest import mock

from harness.daemon import Daemon, RuntimeDirectory
from harness.driver_tree import DriverTree
from harness.programs import ROOT, TTMEM
from harness.simulator import Simulator
from harness.terminal import Terminal
from harness.waiting import wait_until

PAGE = os.path.join(ROOT, "docs", "TOP.md")

# Keys to press, and what the screen must show then.
ON_A_SIMULATED_HOST = {
    "overview": (["0"], ["DEV +BOARD", r"1\.2 GiB / 12\.0 GiB"]),
    "breakdown": (["1"], ["L1 per core", "Device 0"]),
    "charts": (["2", "a"], ["process started", "now"]),
    "allocations": (["4", "a"], ["groups by name", "kv_cache"]),
    "map": (["5", "z", "z"], ["zoom 4x", "IN BANK"]),
    "events": (["6"], [r"(allocation|free) +\w"]),
    "failures": (["7"], ["1 failure", "Card of failure 1"]),
}
WITH_A_DRIVER = {"telemetry": (["0", "3"], ["TEMPERATURE", "alive"])}


class Firmware:
    """Counts the heartbeats of all devices of a driver tree, as working firmware does, and lets temperature and power vary."""

    def __init__(self, tree: DriverTree):
        self.tree, self.stopped = tree, threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        beat = 0
        while not self.stopped.wait(0.1):
            beat += 1
            for device in range(self.tree.count):
                files = self.tree.files(device)
                load = abs((beat // 5 + 3 * device) % 16 - 8)
                self.tree.write(self.tree.attribute(device, "tt_heartbeat"), 1000 + beat)
                for name, step in (("temp1_input", 400), ("power1_input", 1500000)):
                    sensor = self.tree.sensor(device, name)
                    self.tree.write(sensor, files[sensor] + step * load)

    def close(self):
        self.stopped.set()
        self.thread.join()


class Host:
    """A terminal, a daemon, and simulators that use its runtime directory."""

    def __init__(self):
        self.terminal, self.directory = Terminal(100, 30), RuntimeDirectory()
        self.parts = [self.terminal, Daemon(self.directory, "--quiet", "--classic-wire", "none")]

    def simulator(self, *arguments: str) -> Simulator:
        simulator = Simulator(*arguments, runtime_directory=self.directory.path)
        self.parts.append(simulator)
        assert simulator.next()
        return simulator

    def ttmem(self, *arguments: str) -> str:
        return subprocess.run([TTMEM, *arguments], env=os.environ | {"TTMEM_RUNTIME_DIR": self.directory.path},
                              capture_output=True, text=True, check=True).stdout

    def close(self):
        for part in reversed(self.parts):
            part.close()
        self.directory.remove()


def pictures(root: str, shots: dict, devices: str, fails: bool) -> dict:
    """The screen of each shot, on a host with that root directory and a model on those chips of a T3000.

    If `fails` is set, an allocation of a second process fails, on a device of its own.
    """
    result = {}
    with mock.patch.dict(os.environ, TTMEM_HOST_ROOT=root):
        host = Host()
        terminal = host.terminal
        try:
            worker = host.simulator("transformer-dp4", "--board", "t3000", "--devices", devices, "--repeat", "100")
            terminal.run("env", f"TTMEM_RUNTIME_DIR={host.directory.path}", TTMEM, "top")
            terminal.wait_for("daemon", "ttmem-sim")
            failing = host.simulator("fragmentation") if fails else None
            # The screen changes between two steps, so that a chart has something to show.
            for _ in range(24):
                before = terminal.text()
                worker.next()
                wait_until(lambda before=before: terminal.text() != before, "the next picture")
            worker.next()
            worker.go_to("decode 1")
            while failing and "1 failure" not in host.ttmem("why"):
                failing.next()
            for name, (keys, patterns) in shots.items():
                terminal.press(*keys)
                result[name] = terminal.wait_for(*patterns)
            terminal.press("q")
        finally:
            host.close()
    return result


def main():
    tree = DriverTree("t3000")
    firmware = Firmware(tree)
    try:
        shots = pictures("/nonexistent", ON_A_SIMULATED_HOST, devices="8", fails=True)
        # The driver reports the four chips with a bus address, the model uses the four others.
        shots |= pictures(tree.root, WITH_A_DRIVER, devices="4,5,6,7", fails=False)
    finally:
        firmware.close()
        tree.remove()
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    for name, text in shots.items():
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in text.splitlines())).rstrip()
        marker = f"<!-- picture: {name} -->\n"
        page = re.sub(re.escape(marker) + r"(\n```text\n.*?\n```\n)?",
                      lambda _, text=text, marker=marker: f"{marker}\n```text\n{text}\n```\n", page, flags=re.DOTALL)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page)


if __name__ == "__main__":
    main()
