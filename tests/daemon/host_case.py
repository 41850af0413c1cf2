# SPDX-License-Identifier: Apache-2.0
"""A test on a made-up host: programs that look at a tree of the driver's files, and what their views say of it."""

import os
import subprocess

import host
from driver_tree import DriverTree
from host import wait_until


def device_of(view: dict, number: int) -> dict | None:
    return next((device for device in view["devices"] if device["id"] == number), None)


def process_of(view: dict, pid: int) -> dict | None:
    return next((process for process in view["processes"] if process["pid"] == pid), None)


def reasons_of(view: dict, pid: int) -> set[str]:
    return {one["reason"] for one in view["inexact"] if one["pid"] == pid}


def used_on(view: dict, number: int) -> dict:
    return {kind: figures["used"] for kind, figures in device_of(view, number)["memory"].items()}


def description_of(device: dict) -> dict:
    """All but the memory and the heart."""
    telemetry = {name: value for name, value in device["telemetry"].items() if name != "alive"}
    return {name: device[name] for name in ("id", "arch", "board", "asic_id", "bdf", "remote", "driver")} | \
        {"telemetry": telemetry}


class Case(host.TestCase):
    def tree(self, board: str) -> DriverTree:
        """From here on the programs look at this host."""
        tree = DriverTree(board)
        self.addCleanup(tree.remove)
        os.environ["TTMEM_HOST_ROOT"] = tree.root
        self.addCleanup(os.environ.pop, "TTMEM_HOST_ROOT", None)
        return tree

    def someone(self, **options) -> subprocess.Popen:
        """A process that reports nothing."""
        process = subprocess.Popen(["sleep", "1000"], **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def holding(self, asic_id: int, logical_id: int = 0) -> host.Client:
        return self.client(f"allocate(open_set([device({asic_id}, {logical_id})]), DRAM, 1048640, 1000, 12288)")

    def direct(self) -> dict:
        view = host.look(self.directory, "--direct")
        self.assertEqual(view["source"], "direct")
        return view

    def text(self, *arguments: str) -> str:
        done = subprocess.run([host.TTMEM, *arguments], capture_output=True, text=True, timeout=host.PATIENCE,
                              env=os.environ | {"TTMEM_RUNTIME_DIR": self.directory.path})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def refresh(self, daemon: host.Daemon, tree: DriverTree, device: int = 0) -> dict:
        """Waits for a look that began after this call: one that has seen what is written only now."""
        self.trips = getattr(self, "trips", 100) + 1
        tree.write(tree.attribute(device, "tt_therm_trip_count"), self.trips)

        def is_seen():
            view = daemon.view()
            return view if device_of(view, device)["telemetry"]["thermal_trips"] == self.trips else None
        return wait_until(is_seen, "the daemon looks again")
