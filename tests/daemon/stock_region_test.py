#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the daemon and the direct reader show of processes of stock tt-metal, from the regions that it writes."""

import os
import select
import subprocess
import sys
import time

from harness.daemon import Daemon
from harness.driver_tree import TELEMETRY
from harness.figures import KINDS
from harness.host_case import HostCase, details_of, device_of, process_of, reasons_of, used_on
from harness.stock_region import BEING_RELEASED, SLOTS, StockRegion
from harness.test_case import main
from harness.waiting import wait_until

REQUESTED_ONLY = "reserved_unknown"
TOTALS_ONLY = "totals_only"

MAPS_A_FILE = """
import mmap, signal, sys
with open(sys.argv[1], "r+b") as file:
    mapped = mmap.mmap(file.fileno(), 0)
print(flush=True)
signal.pause()
"""


class StockRegions(HostCase):
    def setUp(self):
        super().setUp()
        self.host = self.tree("n300")
        self.asic_id = self.host.asic_id(0)

    def region(self, **options) -> StockRegion:
        return StockRegion(self.host.path("dev/shm"), self.asic_id, **options)

    def stock(self) -> subprocess.Popen:
        """A process that only its region reports."""
        process = self.untracked_process()
        self.host.add_processes(process.pid)
        return process

    def both(self, daemon: Daemon) -> tuple[dict, dict]:
        return self.refresh(daemon, self.host), self.direct_view()

    def test_a_process_of_stock_tt_metal_is_shown_with_the_figures_of_its_region(self):
        for version in (3, 4):
            with self.subTest(version=version):
                process = self.stock()
                region = self.region(version=version)
                region.put(process.pid, dram=65536, l1=32768, l1_small=16, trace=0, cb=777)
                region.put(BEING_RELEASED, dram=1 << 30)
                daemon = self.daemon()
                for view in (daemon.view(), self.direct_view()):
                    shown, = view["processes"]
                    self.assertEqual((shown["pid"], shown["source"], shown["state"], shown["comm"]),
                                     (process.pid, "stock", "live", "sleep"))
                    held, = shown["devices"]
                    reported = {"dram": 65536, "l1": 32768, "l1_small": 16, "trace": 0, "cb": None, "kernel": None}
                    self.assertEqual(held["memory"], {kind: {"used": bytes_, "requested": bytes_, "count": None}
                                                      for kind, bytes_ in reported.items()})
                    self.assertEqual(used_on(view, 0), reported)
                    device, = view["devices"]
                    self.assertEqual(device["id"], 0)
                    self.assertEqual(device["memory"]["dram"]["capacity"], self.host.dram)
                    self.assertIsNone(device["memory"]["dram"]["count"])
                    self.assertFalse(device["memory"]["dram"]["peak_exact"])
                    self.assertFalse(view["exact"])
                    self.assertEqual(reasons_of(view, process.pid), {REQUESTED_ONLY, TOTALS_ONLY})
                daemon.stop()
                process.kill()
                process.wait()
                os.unlink(region.path)

    def test_a_killed_process_is_in_no_figure_of_the_next_answer(self):
        first, second = self.stock(), self.stock()
        region = self.region()
        region.put(first.pid, dram=1000)
        region.put(second.pid, dram=20)
        self.host.set_holders(0, first.pid, second.pid)  # the driver reports every process with a region
        daemon = self.daemon()
        self.assertEqual(used_on(daemon.view(), 0)["dram"], 1020)
        handle = os.pidfd_open(first.pid)
        first.kill()
        select.select([handle], [], [])  # it has ended and is a zombie
        os.close(handle)
        for view in (daemon.view(), self.direct_view()):
            self.assertEqual([(one["pid"], one["source"]) for one in view["processes"]], [(second.pid, "stock")])
            self.assertEqual(used_on(view, 0)["dram"], 20)
        second.kill()
        second.wait()
        first.wait()
        for view in (daemon.view(), self.direct_view()):
            self.assertEqual((view["processes"], view["exact"], view["inexact"]), ([], True, []))
            self.assertEqual(used_on(view, 0), dict.fromkeys(KINDS, 0))

    def test_a_process_with_programs_and_no_buffers_is_tracked(self):
        process = self.stock()
        self.region().put(process.pid, cb=777)
        daemon = self.daemon()
        self.assertEqual([(one["pid"], one["source"]) for one in daemon.view()["processes"]], [(process.pid, "stock")])
        for output in (self.output_of("status"), self.output_of("status", "--direct")):
            self.assertNotIn("no tracked process", output)
            self.assertIn(f"{process.pid}", output)
            self.assertIn("region version 3: circular buffers are those of all cached programs, as last written, not shown", output)

    def test_a_slot_that_another_program_clears_is_noted(self):
        region = self.region()
        process = subprocess.Popen([sys.executable, "-c", MAPS_A_FILE, region.path], stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.readline()
        self.host.add_processes(process.pid)
        region.put(process.pid, dram=4096)
        daemon = self.daemon()
        self.assertEqual(details_of(daemon.view(), "stock_region"), set())
        region.put(0, slot=0)
        self.assertEqual(details_of(self.refresh(daemon, self.host), "stock_region"),
                         {f"stock region of ASIC {self.asic_id}: another program cleared the slot of process {process.pid}, "
                          "its figures are too low"})

    def test_figures_follow_the_region(self):
        process = self.stock()
        region = self.region()
        region.put(process.pid, dram=1000)
        daemon = self.daemon()
        region.put(process.pid, dram=5, slot=0)
        for view in self.both(daemon):
            self.assertEqual(used_on(view, 0)["dram"], 5)
        region.put(0, slot=0)
        for view in self.both(daemon):
            self.assertEqual((view["processes"], view["exact"]), ([], True))

    def test_a_reused_pid_does_not_inherit_the_slot_of_the_dead_process(self):
        process = self.stock()
        region = self.region()
        region.put(process.pid, dram=1 << 30, updated_ns=time.time_ns() - 60 * 10**9)
        region.put(4194305, dram=1 << 30)
        for view in (self.daemon().view(), self.direct_view()):
            self.assertEqual((view["processes"], view["exact"], view["inexact"]), ([], True, []))
            self.assertEqual(used_on(view, 0)["dram"], 0)

    def test_an_unknown_version_or_size_is_reported_and_not_read(self):
        process = self.stock()
        for version in (2, 99):
            self.region(version=version).put(process.pid, dram=4096)
            daemon = self.daemon()
            for view in (daemon.view(), self.direct_view()):
                self.assertEqual((view["processes"], view["exact"]), ([], False))
                sentence = f"stock region of ASIC {self.asic_id}: has version {version}, and only 3 and 4 are known"
                self.assertEqual(view["inexact"], [{"pid": 0, "code": "stock_region", "reason": sentence,
                                                    "detail": sentence, "count": 1, "skipped": False}])
            self.assertIn(f"has version {version}", self.output_of("status"))
            daemon.stop()
        region = self.region()
        os.truncate(region.path, 4096)
        for view in (self.daemon().view(), self.direct_view()):
            self.assertEqual(details_of(view, "stock_region"),
                             {f"stock region of ASIC {self.asic_id}: has 4096 bytes, and a region has 8576"})

    def test_totals_of_the_region_are_ignored(self):
        process = self.stock()
        region = self.region()
        region.put(process.pid, dram=100, l1=200)
        region.claim_totals(1 << 33, 1 << 25, 1 << 20, 1 << 20, 1 << 20)
        for view in (self.daemon().view(), self.direct_view()):
            self.assertEqual(used_on(view, 0), {"dram": 100, "l1": 200, "l1_small": 0, "trace": 0, "cb": None,
                                                "kernel": None})

    def test_a_figure_larger_than_any_device_is_unknown(self):
        process = self.stock()
        region = self.region()
        region.put(process.pid, dram=2**64 - 4096, l1=200)
        for view in (self.daemon().view(), self.direct_view()):
            self.assertEqual((used_on(view, 0)["dram"], used_on(view, 0)["l1"]), (None, 200))
            self.assertIn(f"stock region of ASIC {self.asic_id}: 1 figures that can't be true, left out",
                          details_of(view, "stock_region"))

    def test_a_process_with_a_segment_and_a_region_counts_once(self):
        daemon = self.daemon()
        client = self.process_holding_dram(self.asic_id)
        other = self.stock()
        daemon.wait_for(client.pid)
        self.host.add_processes(client.pid)
        region = self.region()
        region.put(client.pid, dram=1000, l1=1000)
        region.put(other.pid, dram=7)
        for view in self.both(daemon):
            self.assertEqual([(one["pid"], one["source"]) for one in view["processes"]],
                             sorted([(client.pid, "segment"), (other.pid, "stock")]))
            self.assertEqual(used_on(view, 0)["dram"], 12288 + 7)
            self.assertEqual(used_on(view, 0)["l1"], 0)
            self.assertEqual(reasons_of(view, client.pid), set())
        client.kill()
        states = []
        wait_until(lambda: states.append(process_of(daemon.view(), client.pid)) or states[-1] is None, "the process is gone")
        self.assertLessEqual({one["source"] for one in states if one}, {"segment"})

    def test_64_slots_are_64_processes(self):
        region = self.region()
        processes = [self.stock() for _ in range(SLOTS)]
        for number, process in enumerate(processes):
            region.put(process.pid, dram=1 << number % 30, l1=number)
        sums = {"dram": sum(1 << number % 30 for number in range(SLOTS)), "l1": sum(range(SLOTS))}
        daemon = self.daemon()
        for view in (daemon.view(), self.direct_view()):
            self.assertEqual(len(view["processes"]), SLOTS)
            self.assertEqual({kind: used_on(view, 0)[kind] for kind in sums}, sums)
        for process in processes[1:]:
            process.kill()
        for process in processes[1:]:
            process.wait()
        for view in (daemon.view(), self.direct_view()):
            self.assertEqual([one["pid"] for one in view["processes"]], [processes[0].pid])
            self.assertEqual({kind: used_on(view, 0)[kind] for kind in sums}, {"dram": 1, "l1": 0})

    def test_a_chip_that_is_not_on_the_bus_is_remote(self):
        process = self.stock()
        StockRegion(self.host.path("dev/shm"), 0xbeef).put(process.pid, dram=9)
        for view in (self.daemon().view(), self.direct_view()):
            remote = device_of(view, 1)
            self.assertEqual((remote["asic_id"], remote["remote"], remote["memory"]["dram"]["used"]), ("0xbeef", True, 9))
            self.assertEqual({remote["memory"][kind]["capacity"] for kind in KINDS}, {None})
            self.assertEqual(remote["telemetry"], dict.fromkeys(TELEMETRY))


if __name__ == "__main__":
    main()
