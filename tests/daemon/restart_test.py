#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A daemon that is killed, or stopped for a while, costs history and nothing else; clients don't notice."""

import os
import re
import signal
import time

import host
from host import wait_until


class Restart(host.TestCase):
    def test_killed_under_load_and_started_anew_it_has_the_truth_again(self):
        churns = [self.sim("churn", "--devices", devices, "--threads", "2", "--live", "200", "--rate", "20000",
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
            self.assertTrue(sim.pause())
        daemon.wait_for(*(sim.pid for sim in churns))
        self.assert_truth(daemon.view(), churns)
        for sim in churns:
            sim.end()  # unharmed and unaware: with 0, and without a word
        daemon.wait_for_death(*(sim.pid for sim in churns))
        self.assertEqual(host.figures_of(daemon.view()["devices"]), {})

    def test_clients_of_no_daemon_at_all_are_found_by_the_first_one(self):
        sim = self.sim("mesh-allocation")
        while sim.step != "matmul":
            self.assertTrue(sim.next())
        daemon = self.daemon()
        daemon.wait_for(sim.pid)
        self.assert_truth(daemon.view(), [sim])
        while sim.next():
            self.assert_truth(daemon.view(), [sim])
        sim.end()


class Stop(host.TestCase):
    SECONDS = 5

    def stop_for_a_while(self, daemon: host.Daemon):
        os.kill(daemon.pid, signal.SIGSTOP)
        time.sleep(self.SECONDS)  # the length of the stop is what is tried here; nothing waits for anything
        os.kill(daemon.pid, signal.SIGCONT)

    def test_no_client_waits_for_a_stopped_daemon_and_totals_are_right_afterwards(self):
        daemon = self.daemon()
        sim = self.sim("churn", "--devices", "0,1", "--threads", "1", "--live", "500", "--rate", "0", "--seconds", "8",
                       pause_at="churned")
        daemon.wait_for(sim.pid)
        wait_until(lambda: daemon.get("/v1/self")["events_followed"] > 10_000, "it is at work")
        worker = wait_until(lambda: [task for task in os.listdir(f"/proc/{sim.pid}/task") if int(task) != sim.pid],
                            "its thread")[0]
        before = self.blocked(sim.pid, worker), self.processor_time(sim.pid, worker)
        self.stop_for_a_while(daemon)
        after = self.blocked(sim.pid, worker), self.processor_time(sim.pid, worker)
        # It was always running or ready to run: it has given the processor away of its own will never, or as good as.
        self.assertLessEqual(after[0] - before[0], 2)
        self.assertGreater(after[1], before[1])
        self.assertTrue(sim.pause())
        self.assert_truth(daemon.view(), [sim])
        self.assertGreater(daemon.get("/v1/self")["events_lost"], 0)
        sim.end()

    def test_a_gap_is_counted_exactly_and_shown(self):
        daemon = self.daemon("--log-events", "all")
        sim = self.sim("churn", "--devices", "0,1", "--threads", "1", "--live", "100", "--rate", "20000",
                       "--seconds", "8", pause_at="churned")
        daemon.wait_for(sim.pid)
        self.stop_for_a_while(daemon)
        wait_until(lambda: daemon.get("/v1/self")["events_lost"] > 0, "the gap is counted")
        gaps = [event for event in daemon.get("/v1/events?limit=100000")["events"] if event["what"] == "gap"]
        self.assertTrue(gaps)
        self.assertEqual({gap["pid"] for gap in gaps}, {sim.pid})
        self.assertTrue(sim.pause())
        self.assert_truth(daemon.view(), [sim])
        events = int(re.match(r"(\d+) events", next(line for line in sim.printed if " events in " in line))[1])

        def counted() -> dict | None:
            seen = daemon.view()["processes"][0]["events"]
            # Before the load came 100 tensors, and the sets that were opened: of the mesh and of each of its devices.
            return seen if seen["followed"] + seen["lost"] == events + 100 + 3 else None
        seen = wait_until(counted, "every event is either followed or lost")
        self.assertEqual(daemon.get("/v1/self")["events_lost"], seen["lost"])
        self.assertEqual(sum(gap["count"] for gap in gaps), seen["lost"])
        told = re.findall(rf"\[PID {sim.pid}\] gap: (\d+) events", daemon.log())
        self.assertEqual(sum(map(int, told)), seen["lost"])
        sim.end()

    def blocked(self, pid: int, task: str) -> int:
        """How often this thread has waited for anything."""
        with open(f"/proc/{pid}/task/{task}/status", encoding="utf-8") as file:
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.MULTILINE)[1])

    def processor_time(self, pid: int, task: str) -> int:
        with open(f"/proc/{pid}/task/{task}/stat", encoding="utf-8") as file:
            return int(file.read().rpartition(")")[2].split()[11])


if __name__ == "__main__":
    host.main()
