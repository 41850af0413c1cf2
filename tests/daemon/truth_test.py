#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The daemon's view equals what every allocator knows, at every quiet moment, in bytes."""

import random

import host

# Four processes that share 8 devices: a mesh of all, two halves, and one that is inside of both.
SCENARIOS = (("multi-thread", "--seed", "11", "--repeat", "2"),
             ("churn", "--devices", "0,1,2,3", "--threads", "2", "--live", "100", "--seconds", "0.2", "--seed", "12"),
             ("transformer-dp4", "--devices", "4,5,6,7"),
             ("churn", "--devices", "2,5", "--threads", "3", "--live", "40", "--seconds", "0.1", "--seed", "13",
              "--repeat", "3"))


class Truth(host.TestCase):
    def test_four_processes_over_eight_devices_equal_their_allocators_at_every_pause(self):
        daemon = self.daemon()
        sims = [self.sim(*scenario) for scenario in SCENARIOS]
        for sim in sims:
            self.assertTrue(sim.next())
        daemon.wait_for(*(sim.pid for sim in sims))
        order = random.Random(4)
        looks = 0
        devices = set()
        while any(not sim.ended for sim in sims):
            view = daemon.view()
            self.assert_truth(view, sims)
            self.assert_truth(daemon.get("/v1/status?scan=false"), sims)
            devices |= {device["asic_id"] for device in view["devices"]}
            looks += 1
            if looks % 5 == 0:
                through_it, directly = host.look(self.directory), host.look(self.directory, "--direct")
                self.assertEqual((through_it["source"], directly["source"]), ("daemon", "direct"))
                self.assert_same(view, through_it)
                self.assert_same(view, directly)
            sim = order.choice([sim for sim in sims if not sim.ended])
            if not sim.next():
                daemon.wait_for_death(sim.pid)
        self.assertEqual(len(devices), 8)
        self.assertGreater(looks, 40)
        self.assertEqual(daemon.get("/v1/self")["defects"], 0)
        for sim in sims:
            sim.end()

    def test_a_list_of_allocations_adds_up_to_the_totals(self):
        daemon = self.daemon()
        sim = self.sim("multi-thread", "--seed", "5")
        while sim.next():
            daemon.wait_for(sim.pid)
            page = daemon.get("/v1/allocations?limit=10000")
            self.assertEqual(page["total"], len(page["allocations"]))
            asic_ids = {device["id"]: device["asic_id"] for device in daemon.view()["devices"]}
            used = {}
            for live in page["allocations"]:
                for device in live["devices"]:
                    key = asic_ids[device], live["kind"]
                    used[key] = used.get(key, 0) + (0 if live["planned"] or live["view"] else live["used"])
            self.assertEqual(used, {(device, kind): figures[0] for device, memory in sim.truth.items()
                                    for kind, figures in memory.items()})
        sim.end()

    def assert_same(self, view: dict, other: dict):
        """But for what only a follower can know, and for the numbers of devices: the daemon never renumbers."""
        def comparable(one: dict) -> dict:
            devices = {device["asic_id"]: {kind: {name: value for name, value in figures.items()
                                                  if not name.startswith("peak")}
                                           for kind, figures in device["memory"].items()}
                       for device in one["devices"]}
            worst = {device["asic_id"]: device["l1_worst_core"] for device in one["devices"]}
            return {"devices": devices, "worst": worst, "processes": host.figures_by_process(one),
                    "exact": one["exact"], "inexact": one["inexact"]}
        here = {process["pid"] for process in other["processes"]}
        self.assertEqual(here, {process["pid"] for process in view["processes"]})
        mine, others = comparable(view), comparable(other)
        # A device whose last holder has gone stays in the daemon's list, with nothing on it.
        for part in ("devices", "worst"):
            mine[part] = {device: value for device, value in mine[part].items() if device in others[part]}
        self.assertEqual(mine, others)


if __name__ == "__main__":
    host.main()
