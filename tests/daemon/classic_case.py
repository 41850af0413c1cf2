# SPDX-License-Identifier: Apache-2.0
"""A test of the classic wire: a daemon's socket of its own, who speaks there, and what is said to be held."""

import os

import host
from classic import QUERY, Wire


class Case(host.TestCase):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.directory.path, "classic.sock")

    def wire(self, generation: int = 144) -> Wire:
        wire = Wire(self.path, generation)
        self.addCleanup(wire.close)
        return wire

    def speaker(self, **options) -> host.Client:
        """Another process that has a connection."""
        return self.client(f"import classic, os; from classic import *; wire = Wire({self.path!r})", **options)

    def held(self, device: int = 0) -> dict:
        """What the daemon says is held, asked on a connection of its own."""
        wire = Wire(self.path)
        answer = wire.ask(QUERY, device)
        wire.close()
        return {kind: bytes_ for kind, bytes_ in answer.items() if kind in ("dram", "l1", "l1_small", "trace", "cb", "kernel") and
                bytes_}

    def process_of(self, daemon: host.Daemon, pid: int) -> dict:
        return next(one for one in daemon.view()["processes"] if one["pid"] == pid)
