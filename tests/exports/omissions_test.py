#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'ttmem export' of the living host names the processes that it leaves out."""

import json

from harness.classic_client import ALLOC
from harness.classic_case import ClassicCase
from harness.host_case import HostCase
from harness.stock_region import StockRegion
from harness.test_case import main


class Omissions(HostCase, ClassicCase):
    def notes(self) -> list[str]:
        """Of the first line of an export. They are on standard error too."""
        done = self.ttmem("export", "--format", "jsonl", "-o", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        notes = json.loads(done.stdout.splitlines()[0])["notes"]
        for note in notes:
            self.assertIn(note, done.stderr)
        return notes

    def test_nothing_is_left_out_of_an_idle_host(self):
        self.tree("n300")
        self.assertEqual(self.notes(), [])

    def test_totals_of_shared_memory_and_silent_processes_are_left_out_with_a_note_each(self):
        host = self.tree("n300")
        stock, silent = self.untracked_process(), self.untracked_process()
        host.set_holders(0, stock.pid, silent.pid)
        StockRegion(host.path("dev/shm"), host.asic_id(0)).put(stock.pid, dram=65536)
        notes = self.notes()
        self.assertIn("1 process of a tt-metal that reports to shared memory is left out: only its totals are known", notes)
        self.assertIn("1 process with an open device is left out: it reports nothing that this user may read", notes)

    def test_clients_of_the_classic_protocol_are_left_out_with_a_note(self):
        self.daemon()
        self.wire().send(ALLOC, 0, 1000, 0x1000)
        self.assertEqual(self.held(), {"dram": 1000})
        self.assertEqual(self.notes(), ["1 client of the classic protocol is left out: only the daemon knows it"])


if __name__ == "__main__":
    main()
