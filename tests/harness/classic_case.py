# SPDX-License-Identifier: Apache-2.0
"""Tests of the classic wire: connections to the socket of a daemon, and what the daemon says is held."""

from harness.classic_client import QUERY, Wire
from harness.daemon import Daemon
from harness.test_case import TestCase
from harness.tracked_process import TrackedProcess


class ClassicCase(TestCase):
    def setUp(self):
        super().setUp()
        self.path = self.directory.classic

    def wire(self, generation: int = 144) -> Wire:
        wire = Wire(self.path, generation)
        self.addCleanup(wire.close)
        return wire

    def process_with_wire(self, **options) -> TrackedProcess:
        """Another process, which has a connection."""
        return self.tracked_process(f"from harness.classic_client import *\nwire = Wire({self.path!r})", **options)

    def held(self, device: int = 0) -> dict:
        """What the daemon says is held, asked on a connection of its own; without zeros."""
        wire = Wire(self.path)
        answer = wire.ask(QUERY, device)
        wire.close()
        return {kind: bytes_ for kind, bytes_ in answer.items() if kind in ("dram", "l1", "l1_small", "trace", "cb", "kernel") and
                bytes_}

    def process_of(self, daemon: Daemon, pid: int) -> dict:
        return self.process_in(daemon.view(), pid)
