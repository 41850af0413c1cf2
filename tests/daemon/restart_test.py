#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A daemon that is killed or suspended loses history and nothing else; tracked processes do not notice."""

import os
import re

from harness.figures import figures_of
from harness.test_case import TestCase, main
from harness.waiting import wait_until


class Restart(TestCase):
    def test_a_daemon_that_was_killed_under_load_shows_the_truth_after_its_restart(self):
        churns = [self.simulator("churn", "--devices", devices, "--threads", "2", "--live", "200", "--rate", "20000",
                           "--seconds", "8", "--seed", seed, pause_at="churned")
                  for devices, seed in (("0,1,2,3", "1"), ("2,3,4", "2"), ("7,6", "3"))]
        for _ in range(4):
            daemon = self.daemon()
            daemon.wait_for(*(sim.pid for sim in churns))
            followed = daemon.get("/v1/self")["events_followed"]
            wait_until(lambda: daemon.get("/v1/self")["events_followed"] > followed, "there is load")
            daemon.kill()
        daemon = self.daemon()
        for sim in churns:
            self.assertTrue(sim.wait_for_pause())
        daemon.wait_for(*(sim.pid for sim in churns))
        self.assert_truth(daemon.view(), churns)
        for sim in churns:
            sim.finish()  # with 0 and without error messages
        daemon.wait_for_death(*(sim.pid for sim in churns))
        self.assertEqual(figures_of(daemon.view()["devices"]), {})

    def test_processes_older_than_the_first_daemon_are_found(self):
        sim = self.simulator("mesh-allocation")
        while sim.step != "matmul":
            self.assertTrue(sim.next())
        daemon = self.daemon()
        daemon.wait_for(sim.pid)
        self.assert_truth(daemon.view(), [sim])
        while sim.next():
            self.assert_truth(daemon.view(), [sim])
        sim.finish()


class Suspend(TestCase):
    SECONDS = 5  # long enough for a ring to overflow

    def test_no_process_waits_for_a_suspended_daemon_and_totals_are_exact_afterwards(self):
        daemon = self.daemon()
        sim = self.simulator("churn", "--devices", "0,1", "--threads", "1", "--live", "500", "--rate", "0", "--seconds", "8",
                       pause_at="churned")
        daemon.wait_for(sim.pid)
        wait_until(lambda: daemon.get("/v1/self")["events_followed"] > 10_000, "the load is running")
        worker = wait_until(lambda: [task for task in os.listdir(f"/proc/{sim.pid}/task") if int(task) != sim.pid],
                            "its thread")[0]
        before = self.blocked(sim.pid, worker), self.processor_time(sim.pid, worker)
        daemon.suspend_for(self.SECONDS)
        after = self.blocked(sim.pid, worker), self.processor_time(sim.pid, worker)
        # The thread was always running or ready to run: it (almost) never waited.
        self.assertLessEqual(after[0] - before[0], 2)
        self.assertGreater(after[1], before[1])
        self.assertTrue(sim.wait_for_pause())
        self.assert_truth(daemon.view(), [sim])
        self.assertGreater(daemon.get("/v1/self")["events_lost"], 0)
        sim.finish()

    def test_lost_events_are_counted_exactly_and_shown_as_gaps(self):
        daemon = self.daemon("--log-events", "all")
        sim = self.simulator("churn", "--devices", "0,1", "--threads", "1", "--live", "100", "--rate", "20000",
                       "--seconds", "8", pause_at="churned")
        daemon.wait_for(sim.pid)
        daemon.suspend_for(self.SECONDS)
        wait_until(lambda: daemon.get("/v1/self")["events_lost"] > 0, "the gap is counted")
        gaps, since = [], 0
        while (page := daemon.get(f"/v1/events?limit=10000&since={since}"))["events"]:
            gaps += [event for event in page["events"] if event["what"] == "gap"]
            since = page["next_sequence"]
        self.assertTrue(gaps)
        self.assertEqual({gap["pid"] for gap in gaps}, {sim.pid})
        self.assertTrue(sim.wait_for_pause())
        self.assert_truth(daemon.view(), [sim])
        events = int(re.match(r"(\d+) events", next(line for line in sim.printed if " events in " in line))[1])

        def counted() -> dict | None:
            seen = daemon.view()["processes"][0]["events"]
            # The load follows 100 tensors and three opened sets: the mesh and each of its devices.
            return seen if seen["followed"] + seen["lost"] == events + 100 + 3 else None
        seen = wait_until(counted, "every event is either followed or lost")
        self.assertEqual(daemon.get("/v1/self")["events_lost"], seen["lost"])
        self.assertEqual(sum(gap["count"] for gap in gaps), seen["lost"])
        logged = re.findall(rf"\[PID {sim.pid}\] gap: (\d+) events", daemon.log())
        self.assertEqual(sum(map(int, logged)), seen["lost"])
        sim.finish()

    def blocked(self, pid: int, task: str) -> int:
        """How often this thread has waited."""
        with open(f"/proc/{pid}/task/{task}/status", encoding="utf-8") as file:
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.MULTILINE)[1])

    def processor_time(self, pid: int, task: str) -> int:
        with open(f"/proc/{pid}/task/{task}/stat", encoding="utf-8") as file:
            return int(file.read().rpartition(")")[2].split()[11])


if __name__ == "__main__":
    main()
