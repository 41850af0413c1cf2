# SPDX-License-Identifier: Apache-2.0
"""Tests on a host that consists of a DriverTree, and parts of the views of it."""

import os
import subprocess
from unittest import mock

from harness.daemon import Daemon
from harness.driver_tree import DriverTree
from harness.test_case import TestCase
from harness.tracked_process import TrackedProcess
from harness.waiting import wait_until


def device_of(view: dict, number: int) -> dict | None:
    return next((device for device in view["devices"] if device["id"] == number), None)


def process_of(view: dict, pid: int) -> dict | None:
    return next((process for process in view["processes"] if process["pid"] == pid), None)


def reasons_of(view: dict, pid: int) -> set[str]:
    return {entry["code"] for entry in view["inexact"] if entry["pid"] == pid}


def details_of(view: dict, code: str) -> set[str]:
    return {entry["detail"] for entry in view["inexact"] if entry["code"] == code}


def used_on(view: dict, number: int) -> dict:
    return {kind: figures["used"] for kind, figures in device_of(view, number)["memory"].items()}


def description_of(device: dict) -> dict:
    """Everything but memory and heartbeat."""
    telemetry = {name: value for name, value in device["telemetry"].items() if name != "alive"}
    return {name: device[name] for name in ("id", "arch", "board", "asic_id", "bdf", "remote", "driver")} | \
        {"telemetry": telemetry}


class HostCase(TestCase):
    def tree(self, board: str) -> DriverTree:
        """Programs that start after this call run on this host."""
        tree = DriverTree(board)
        self.addCleanup(tree.remove)
        host_root = mock.patch.dict(os.environ, TTMEM_HOST_ROOT=tree.root)
        host_root.start()
        self.addCleanup(host_root.stop)
        return tree

    def untracked_process(self, **options) -> subprocess.Popen:
        """A process that reports nothing."""
        process = subprocess.Popen(["sleep", "1000"], **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def process_holding_dram(self, asic_id: int, logical_id: int = 0) -> TrackedProcess:
        return self.tracked_process(
            f"allocate(open_set([device({asic_id}, {logical_id})]), DRAM, 1048640, 1000, 12288)")

    def refresh(self, daemon: Daemon, tree: DriverTree, device: int = 0) -> dict:
        """A view of a scan that began after this call: it has a value that is written only now."""
        self.trips = getattr(self, "trips", 100) + 1
        tree.write(tree.attribute(device, "tt_therm_trip_count"), self.trips)

        def refreshed_view():
            view = daemon.view()
            return view if device_of(view, device)["telemetry"]["thermal_trips"] == self.trips else None
        return wait_until(refreshed_view, "the daemon scans again")
