#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every output in docs/FAILURES.md is what the programs print for that failure, but for ages, pids and the host's name.
TTMEM_UPDATE_GOLDEN=1 writes the outputs into the document."""

import os
import re

from harness.observer import OBSERVED, RELEASE, stand_in
from harness.programs import ROOT, read_file
from harness.simulator import Simulator
from harness.test_case import TestCase, main
from harness.waiting import wait_until

FIX = ("why", "--fix")

# The simulated runtime has no dataflow buffers, and this release has them.
WITH_DATAFLOW_BUFFERS = stand_in("7800")

# Section, scenario, step, command: in the order of the document.
SHOWN = [
    ("Too big", "case-08", "refused", FIX),
    ("Too big", "case-07", "refused", FIX),
    ("Not enough", "case-06", "refused", FIX),
    ("Fragmented", "case-02", "refused", ("why",)),
    ("Addresses per core", "case-17", "refused", FIX),
    ("Clash", "case-09", "refused", FIX),
    ("Clash", WITH_DATAFLOW_BUFFERS, "a clash of dataflow buffers", (*FIX, "--limit", "1")),
    ("Beyond L1", "case-13", "refused", FIX),
    ("Trace region too small", "case-14", "refused", FIX),
    ("Program too large for the kernel ring", "kernel-ring", "too large", ("programs", "--device", "0")),
    ("Allocation under a live trace", "trace-live-allocation", "unsafe allocation", ("allocations", "--sort", "age", "--kind", "dram")),
]
UNKNOWN_FREE = """
report_allocation(0, 4096, DRAM, 0x100040)
library.ttmem_report_deallocation(0, 0x3ffff400)
"""


class Outputs(TestCase):
    def release_at(self, step: str) -> Simulator:
        release = self.simulator(WITH_DATAFLOW_BUFFERS, program=RELEASE, variables=OBSERVED)
        release.go_to("dataflow buffers again")
        wait_until(self.is_next_card_due, "the age of all failures is more than a second")
        release.go_to(step)
        return release

    def is_next_card_due(self) -> bool:
        """A process writes at most one card per second, and this one has clashed before."""
        return all(failure["age_ns"] > 1_000_000_000 for failure in self.json_of("why", "--direct")["failures"])

    def printed(self) -> list[tuple[str, str]]:
        """Section and output."""
        found = []
        for section, scenario, step, command in SHOWN:
            sim = self.release_at(step) if scenario == WITH_DATAFLOW_BUFFERS else self.simulator_at(scenario, step)
            found.append((section, self.output_of(*command, "--direct")))
            sim.close()
        self.tracked_process(UNKNOWN_FREE)
        return [*found, ("Unknown free", self.output_of("why", "--direct"))]

    def test_every_output_is_printed_by_the_programs(self):
        document = read_file("docs", "FAILURES.md")
        blocks = list(re.finditer(r"(?<=^```text\n)host: .*?(?=^```$)", document, re.DOTALL | re.MULTILINE))
        printed = [(section, re.sub(r"^.*?: ", "host: ", text)) for section, text in self.printed()]
        sections = [re.findall(r"^##+ (.*)$", document[: block.start()], re.MULTILINE)[-1] for block in blocks]
        self.assertEqual(sections, [section for section, _ in printed])
        if "TTMEM_UPDATE_GOLDEN" in os.environ:
            for block, (_, text) in reversed(list(zip(blocks, printed))):
                document = document[: block.start()] + text + document[block.end() :]
            with open(os.path.join(ROOT, "docs", "FAILURES.md"), "w", encoding="utf-8") as file:
                file.write(document)
            return
        for block, (section, text) in zip(blocks, printed):
            self.assertEqual(steady(block[0]), steady(text), section)


def steady(text: str) -> list[str]:
    """Lines without ages, pids and threads, and with single spaces."""
    text = re.sub(r"<1ms|\b\d+m?s\b", "AGE", text)
    text = re.sub(r"(?<=process )\d+", "PID", text)
    lines = []
    for line in text.splitlines():
        cells = line.split()
        if any(cell in ("0", "-") for cell in cells) and "AGE" in cells:  # a row of a table
            cells = [cell for cell in cells if not cell.isdigit() or cell == "0"]
        lines += [" ".join(cells)] if cells else []
    return lines


if __name__ == "__main__":
    main()
