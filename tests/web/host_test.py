#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the driver knows of a chip, in the page."""

import sys
import unittest

from browser import PageCase, missing, SKIPPED
from harness.host_case import HostCase

CELLS = "[...document.querySelectorAll('.chip-cell')].map(one => one.innerText)"


class Host(PageCase, HostCase):
    def test_a_chip_shows_its_temperature_and_who_holds_it(self):
        tree = self.tree("t3000")
        silent = self.untracked_process()
        tree.set_holders(2, silent.pid)
        self.start()
        holder = self.process_holding_dram(tree.asic_id(1))
        self.host.wait_for(holder.pid)
        tab = self.tab()
        tab.wait_for(f"document.querySelectorAll('.chip-cell').length === {tree.count}")
        tab.wait_for(f"{CELLS}[2].includes('{silent.pid}') && {CELLS}[1].includes('{holder.pid}')")
        for number, cell in enumerate(tab.value(CELLS)):
            self.assertIn(f"{48 + number} °C", cell)
        tab.goto(url=self.address() + "/chip/1")
        expected = tree.expected_view(1)
        for text in (expected["driver"]["serial"], expected["bdf"], "18.0 W", "49.3 °C", "1001 MHz", "18.10.0.0"):
            tab.wait_for_text(text)
        self.assert_quiet(tab)


if __name__ == "__main__":
    if why := missing():
        print(f"SKIPPED: {why}")
        sys.exit(SKIPPED)
    unittest.main()
