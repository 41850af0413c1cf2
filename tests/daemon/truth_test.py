#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The view of the daemon equals what every allocator holds, at every pause, to the byte."""

import random

from harness.figures import figures_by_process
from harness.test_case import TestCase, main

# Four processes that share 8 devices: a mesh of all, two halves, and one that overlaps both.
SCENARIOS = (("multi-thread", "--seed", "11", "--repeat", "2"),
             ("churn", "--devices", "0,1,2,3", "--threads", "2", "--live", "100", "--seconds", "0.2", "--seed", "12"),
             ("transformer-dp4", "--devices", "4,5,6,7"),
             ("churn", "--devices", "2,5", "--threads", "3", "--live", "40", "--seconds", "0.1", "--seed", "13",
              "--repeat", "3"))


class Truth(TestCase):
    def test_the_view_of_four_processes_on_eight_devices_equals_their_allocators_at_every_pause(self):
        daemon = self.daemon()
        sims = [self.simulator(*scenario) for scenario in SCENARIOS]
        for sim in sims:
            self.assertTrue(sim.next())
        daemon.wait_for(*(sim.pid for sim in sims))
        order = random.Random(4)
        views = 0
        devices = set()
        while any(not sim.ended for sim in sims):
            view = daemon.view()
            self.assert_truth(view, sims)
            self.assert_truth(daemon.get("/v1/status?scan=false"), sims)
            devices |= {device["asic_id"] for device in view["devices"]}
            views += 1
            if views % 5 == 0:
                from_daemon, direct = self.json_of("status"), self.json_of("status", "--direct")
                self.assertEqual((from_daemon["source"], direct["source"]), ("daemon", "direct"))
                self.assert_same(view, from_daemon)
                self.assert_same(view, direct)
            sim = order.choice([sim for sim in sims if not sim.ended])
            if not sim.next():
                daemon.wait_for_death(sim.pid)
        self.assertEqual(len(devices), 8)
        self.assertGreater(views, 40)
        self.assertEqual(daemon.get("/v1/self")["defects"], 0)
        for sim in sims:
            sim.finish()

    def test_a_list_of_allocations_adds_up_to_the_totals(self):
        daemon = self.daemon()
        sim = self.simulator("multi-thread", "--seed", "5")
        while sim.next():
            daemon.wait_for(sim.pid)
            page = daemon.get("/v1/allocations?limit=10000")
            self.assertEqual(page["total"], len(page["allocations"]))
            asic_ids = {device["id"]: device["asic_id"] for device in daemon.view()["devices"]}
            used = {}
            for live in page["allocations"]:
                for device in live["devices"]:
                    key = asic_ids[device], live["kind"]
                    used[key] = used.get(key, 0) + (0 if live["is_planned"] or live["view"] else live["used"])
            self.assertEqual(used, {(device, kind): figures[0] for device, memory in sim.truth.items()
                                    for kind, figures in memory.items()})
        sim.finish()

    def assert_same(self, view: dict, other: dict):
        """Except for peaks, which only the daemon follows, and the numbers of devices, which the daemon never changes."""
        def comparable(one: dict) -> dict:
            devices = {device["asic_id"]: {kind: {name: value for name, value in figures.items()
                                                  if not name.startswith("peak")}
                                           for kind, figures in device["memory"].items()}
                       for device in one["devices"]}
            worst = {device["asic_id"]: device["l1_worst_core"] for device in one["devices"]}
            return {"devices": devices, "worst": worst, "processes": figures_by_process(one),
                    "exact": one["exact"], "inexact": one["inexact"]}
        here = {process["pid"] for process in other["processes"]}
        self.assertEqual(here, {process["pid"] for process in view["processes"]})
        mine, others = comparable(view), comparable(other)
        # A device without processes stays in the list of the daemon, with nothing in use.
        for part in ("devices", "worst"):
            mine[part] = {device: value for device, value in mine[part].items() if device in others[part]}
        self.assertEqual(mine, others)


if __name__ == "__main__":
    main()
