#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the daemon and the direct reader show of processes of stock tt-metal, by the regions that it writes."""

import os
import select
import subprocess
import time

import host
from driver_tree import TELEMETRY
from figures import KINDS
from host import wait_until
from host_case import Case, device_of, process_of, reasons_of, used_on
from stock_region import BEING_RELEASED, SLOTS, StockRegion

REQUESTED_ONLY = "reserved size unknown: used counts the requested bytes"
TOTALS_ONLY = "totals only: what else it holds, and how many allocations, is not known"


class StockRegions(Case):
    def setUp(self):
        super().setUp()
        self.host = self.tree("n300")
        self.asic_id = self.host.asic_id(0)

    def region(self, **options) -> StockRegion:
        return StockRegion(self.host.path("dev/shm"), self.asic_id, **options)

    def stock(self) -> subprocess.Popen:
        """A process that is seen by its region alone."""
        process = self.someone()
        self.host.see(process.pid)
        return process

    def both(self, daemon: host.Daemon) -> tuple[dict, dict]:
        return self.refresh(daemon, self.host), self.direct()

    def test_a_process_of_stock_tt_metal_shows_with_what_its_region_tells(self):
        for version in (3, 4):
            with self.subTest(version=version):
                process = self.stock()
                region = self.region(version=version)
                region.put(process.pid, dram=65536, l1=32768, l1_small=16, trace=0, cb=777)
                region.put(BEING_RELEASED, dram=1 << 30)
                daemon = self.daemon()
                for view in (daemon.view(), self.direct()):
                    shown, = view["processes"]
                    self.assertEqual((shown["pid"], shown["source"], shown["state"], shown["comm"]),
                                     (process.pid, "stock", "live", "sleep"))
                    held, = shown["devices"]
                    told = {"dram": 65536, "l1": 32768, "l1_small": 16, "trace": 0, "cb": None, "kernel": None}
                    self.assertEqual(held["memory"], {kind: {"used": bytes_, "requested": bytes_, "count": None}
                                                      for kind, bytes_ in told.items()})
                    self.assertEqual(used_on(view, 0), told)
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

    def test_one_that_is_killed_is_in_no_figure_at_the_next_question(self):
        first, second = self.stock(), self.stock()
        region = self.region()
        region.put(first.pid, dram=1000)
        region.put(second.pid, dram=20)
        self.host.hold(0, first.pid, second.pid)  # as the driver says of who has a region
        daemon = self.daemon()
        self.assertEqual(used_on(daemon.view(), 0)["dram"], 1020)
        handle = os.pidfd_open(first.pid)
        first.kill()
        select.select([handle], [], [])  # it has ended, and nobody has asked how: a zombie
        os.close(handle)
        for view in (daemon.view(), self.direct()):
            self.assertEqual([(one["pid"], one["source"]) for one in view["processes"]], [(second.pid, "stock")])
            self.assertEqual(used_on(view, 0)["dram"], 20)
        second.kill()
        second.wait()
        first.wait()
        for view in (daemon.view(), self.direct()):
            self.assertEqual((view["processes"], view["exact"], view["inexact"]), ([], True, []))
            self.assertEqual(used_on(view, 0), dict.fromkeys(KINDS, 0))

    def test_what_it_holds_follows_the_region(self):
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

    def test_a_pid_that_was_given_away_since_is_not_taken_for_the_dead(self):
        process = self.stock()
        region = self.region()
        region.put(process.pid, dram=1 << 30, updated_ns=time.time_ns() - 60 * 10**9)
        region.put(4194305, dram=1 << 30)
        for view in (self.daemon().view(), self.direct()):
            self.assertEqual((view["processes"], view["exact"], view["inexact"]), ([], True, []))
            self.assertEqual(used_on(view, 0)["dram"], 0)

    def test_an_unknown_version_or_size_is_said_and_not_read(self):
        process = self.stock()
        for version in (2, 99):
            self.region(version=version).put(process.pid, dram=4096)
            daemon = self.daemon()
            for view in (daemon.view(), self.direct()):
                self.assertEqual((view["processes"], view["exact"]), ([], False))
                self.assertEqual(view["inexact"], [
                    {"pid": 0, "reason": f"stock region of ASIC {self.asic_id}: has version {version}, and only 3 and 4 "
                                         "are known", "count": 1, "skipped": False}])
            self.assertIn(f"has version {version}", self.text("status"))
            daemon.stop()
        region = self.region()
        os.truncate(region.path, 4096)
        for view in (self.daemon().view(), self.direct()):
            self.assertEqual(reasons_of(view, 0), {f"stock region of ASIC {self.asic_id}: has 4096 bytes, and a region has "
                                                   "8576"})

    def test_totals_of_the_region_are_ignored(self):
        process = self.stock()
        region = self.region()
        region.put(process.pid, dram=100, l1=200)
        region.claim_totals(1 << 33, 1 << 25, 1 << 20, 1 << 20, 1 << 20)
        for view in (self.daemon().view(), self.direct()):
            self.assertEqual(used_on(view, 0), {"dram": 100, "l1": 200, "l1_small": 0, "trace": 0, "cb": None,
                                                "kernel": None})

    def test_a_figure_that_no_device_can_hold_is_not_known(self):
        process = self.stock()
        region = self.region()
        region.put(process.pid, dram=2**64 - 4096, l1=200)
        for view in (self.daemon().view(), self.direct()):
            self.assertEqual((used_on(view, 0)["dram"], used_on(view, 0)["l1"]), (None, 200))
            self.assertIn(f"stock region of ASIC {self.asic_id}: 1 figures that can't be true, left out",
                          reasons_of(view, 0))

    def test_one_with_a_segment_too_counts_once(self):
        daemon = self.daemon()
        client = self.holding(self.asic_id)
        other = self.stock()
        daemon.wait_for(client.pid)
        self.host.see(client.pid)
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
        wait_until(lambda: states.append(process_of(daemon.view(), client.pid)) or states[-1] is None, "it is gone")
        self.assertLessEqual({one["source"] for one in states if one}, {"segment"})

    def test_64_slots_are_64_processes(self):
        region = self.region()
        processes = [self.stock() for _ in range(SLOTS)]
        for number, process in enumerate(processes):
            region.put(process.pid, dram=1 << number % 30, l1=number)
        sums = {"dram": sum(1 << number % 30 for number in range(SLOTS)), "l1": sum(range(SLOTS))}
        daemon = self.daemon()
        for view in (daemon.view(), self.direct()):
            self.assertEqual(len(view["processes"]), SLOTS)
            self.assertEqual({kind: used_on(view, 0)[kind] for kind in sums}, sums)
        for process in processes[1:]:
            process.kill()
        for process in processes[1:]:
            process.wait()
        for view in (daemon.view(), self.direct()):
            self.assertEqual([one["pid"] for one in view["processes"]], [processes[0].pid])
            self.assertEqual({kind: used_on(view, 0)[kind] for kind in sums}, {"dram": 1, "l1": 0})

    def test_a_chip_that_is_not_on_the_bus_shows_as_remote(self):
        process = self.stock()
        StockRegion(self.host.path("dev/shm"), 0xbeef).put(process.pid, dram=9)
        for view in (self.daemon().view(), self.direct()):
            remote = device_of(view, 1)
            self.assertEqual((remote["asic_id"], remote["remote"], remote["memory"]["dram"]["used"]), ("0xbeef", True, 9))
            self.assertEqual({remote["memory"][kind]["capacity"] for kind in KINDS}, {None})
            self.assertEqual(remote["telemetry"], dict.fromkeys(TELEMETRY))


if __name__ == "__main__":
    host.main()
