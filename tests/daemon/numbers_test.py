#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A chip has one number: over restarts of the daemon, in direct reading, in the log and on the classic wire."""

import os

from harness.classic_case import ClassicCase
from harness.classic_client import ALLOC, QUERY
from harness.test_case import main
from harness.tracked_process import TrackedProcess
from harness.waiting import wait_until


class Numbers(ClassicCase):
    def setUp(self):
        super().setUp()
        self.table = os.path.join(self.directory.path, "device-numbers")

    def holder(self, *chips: tuple[int, int]) -> TrackedProcess:
        """A process that has these chips, each an ASIC id and its own number of it, and holds DRAM on the first."""
        devices = ", ".join(f"device({asic_id}, {number})" for asic_id, number in chips)
        return self.tracked_process(f"""
            chips = [{devices}]
            s = open_set(chips[:1])
            allocate(s, DRAM, 1048640, 12288, 12288)
            """)

    def numbers(self, view: dict) -> dict:
        return {device["asic_id"]: device["id"] for device in view["devices"]}

    def test_a_chip_keeps_its_number_over_restarts_and_in_direct_reading(self):
        daemon = self.daemon()
        first = self.holder((0x20, 0), (0x10, 1))
        daemon.wait_for(first.pid)
        second = self.holder((0x30, 0))  # another chip has this number
        daemon.wait_for(second.pid)
        self.assertEqual(self.numbers(daemon.view()), {"0x20": 0, "0x10": 1, "0x30": 2})
        self.assertEqual(self.numbers(self.direct_view()), {"0x20": 0, "0x10": 1, "0x30": 2})
        first.finish()
        daemon.wait_for_death(first.pid)
        daemon.kill()
        self.assertEqual(os.stat(self.table).st_mode & 0o777, 0o644)
        self.assertEqual(self.numbers(self.direct_view()), {"0x30": 2})
        os.rename(self.table, self.table + ".kept")
        self.assertEqual(self.numbers(self.direct_view()), {"0x30": 0}, "without a table: what its process calls it")
        os.rename(self.table + ".kept", self.table)

        daemon = self.daemon("--log-events", "all")
        daemon.wait_for(second.pid)
        self.assertEqual(self.numbers(daemon.view()), {"0x30": 2})
        second.run("allocate(s, DRAM, 2097152, 1000, 12288)")
        wait_until(lambda: f"✓ [PID {second.pid}] Allocated 1000 bytes of DRAM on device 2 (buffer_id=2097152, its device 0)\n"
                   in daemon.log(), "the log has both numbers")
        self.assertEqual(self.held(2), {"dram": 13288})
        self.assertEqual(self.held(0), {})
        self.assertIn(" 2 (0) ", self.output_of("ps"))
        self.assertIn("DEV in brackets: what the process itself calls its devices.", self.output_of("ps", "--direct"))

    def test_a_part_of_the_host_has_the_numbers_of_the_whole(self):
        self.holder((0x20, 0))
        second = self.holder((0x10, 0))
        for arguments in (("--pid", str(second.pid)), ()):
            listed = [one for one in self.direct_view("allocations", *arguments)["allocations"] if one["pid"] == second.pid]
            self.assertEqual([one["devices"] for one in listed], [[1]], arguments)

    def test_device_0_of_an_old_client_is_logical_0_of_a_native_one(self):
        daemon = self.daemon()
        native = self.holder((0x20, 0), (0x10, 1))
        daemon.wait_for(native.pid)
        wire = self.wire()
        wire.send(ALLOC, 0, 4096, 0x1000)
        self.assertEqual(wire.ask(QUERY, 0)["dram"], 12288 + 4096)
        self.assertEqual(wire.ask(QUERY, 1)["dram"], 0)
        view = daemon.view()
        self.assertEqual(self.device_in(view, 0x20)["memory"]["dram"]["used"], 12288 + 4096)
        self.assertEqual(self.device_in(view, 0x10)["memory"]["dram"]["used"], 0)
        self.assertNotIn("ambiguous_number", [reason["code"] for reason in view["inexact"]])
        other = self.holder((0x30, 0))
        daemon.wait_for(other.pid)
        wait_until(lambda: (os.getpid(), "ambiguous_number") in
                   [(reason["pid"], reason["code"]) for reason in daemon.view()["inexact"]],
                   "it is not certain any more which device 0 it means")

    def test_a_table_that_can_not_be_used_is_reported(self):
        process = self.holder((0x20, 5))
        with open(self.table, "w", encoding="utf-8") as file:
            file.write("ttmem device numbers 1\n7 asic 0x20\n")
        view = self.direct_view()
        self.assertEqual(self.numbers(view), {"0x20": 5})
        self.assertEqual([reason["reason"] for reason in view["inexact"]],
                         [f"device numbers may differ from those of others: {self.table}: line 2 is not valid"])
        daemon = self.daemon()
        daemon.wait_for(process.pid)
        self.assertEqual(self.numbers(daemon.view()), {"0x20": 5})
        self.assertEqual(daemon.error_text(), f"ttmemd: devices get new numbers: {self.table}: line 2 is not valid\n")
        daemon.kill()
        self.assertEqual((self.numbers(self.direct_view()), self.direct_view()["exact"]), ({"0x20": 5}, True))


if __name__ == "__main__":
    main()
