#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The daemon notices the death of the right process and of no other, and keeps what the process held."""

import os
import re
import signal

from harness.daemon import Daemon
from harness.figures import figures_of
from harness.processes import segments_of, state_of
from harness.test_case import TestCase, main
from harness.tracked_process import TrackedProcess
from harness.users import STRANGER, needs_other_users
from harness.waiting import TIMEOUT, wait_until

HOLDER = "allocate(open_set([device({asic:#x})]), DRAM, 1048640, {requested}, {used})"


def kernel_reports_endings() -> bool:
    return tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2]) >= (6, 15)


def threads_of(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/task"))


class DeathCase(TestCase):
    def holder(self, asic: int, used: int = 12288, requested: int = 1000, **options) -> TrackedProcess:
        return self.tracked_process(HOLDER.format(asic=asic, used=used, requested=requested), **options)

    def used(self, daemon: Daemon) -> dict:
        """{ASIC id: bytes of DRAM}, without zeros."""
        return {int(device, 16): memory["dram"][0]
                for device, memory in figures_of(daemon.view()["devices"]).items()}


class Death(DeathCase):
    def test_a_killed_process_leaves_the_totals_and_its_post_mortem_is_what_it_held(self):
        daemon = self.daemon()
        bystander = self.holder(0xa1)
        sim = self.simulator("crash")
        while sim.step != "holding":
            self.assertTrue(sim.next())
        held = sim.truth
        daemon.wait_for(sim.pid, bystander.pid)
        before = daemon.view()
        asic_ids = {device["id"]: device["asic_id"] for device in before["devices"]}
        process = next(one for one in before["processes"] if one["pid"] == sim.pid)
        self.assertEqual(daemon.get("/v1/post-mortems")["post_mortems"], [])
        sim.proceed()
        self.assertEqual(sim.process.wait(TIMEOUT), -signal.SIGKILL)
        daemon.wait_for_death(sim.pid)
        self.assertEqual(self.used(daemon), {0xa1: 12288})

        summaries = daemon.get("/v1/post-mortems")["post_mortems"]
        self.assertEqual([one["process"]["pid"] for one in summaries], [sim.pid])
        summary = summaries[0]
        self.assertEqual((summary["exact"], summary["in_flight_count"], summary["failure_count"]), (True, 0, 0))
        self.assertIn((summary["ending"], summary["signal"]), (("signal", signal.SIGKILL), ("not_known", None)))
        self.assertEqual(summary["process"]["state"], "dead")
        self.assertEqual(summary["process"]["start_time_ns"], process["start_time_ns"])
        self.assertEqual({asic_ids[number]: memory for number, memory
                          in figures_of(summary["process"]["devices"], "id").items()}, held)
        whole = daemon.get(f"/v1/post-mortems?pid={sim.pid}")["post_mortem"]
        self.assertEqual(whole["summary"], summary)
        self.assertEqual(whole["in_flight"], [])
        # Sums are over all devices.
        for group in whole["by_kind"]:
            kind = group["key"]
            self.assertEqual(group["memory"][kind]["used"], sum(memory.get(kind, (0, 0))[0] for memory in held.values()))
            self.assertEqual([other for other, held_there in group["memory"].items() if held_there["count"]], [kind])
        sizes = [live["used"] for live in whole["largest_allocations"]]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertEqual((whole["largest_allocations"][0]["kind"], whole["largest_allocations"][0]["requested"]), ("dram", 33_554_432))
        self.assertIn("decoder.7", whole["by_name"][0]["key"])
        bystander.finish()

    def test_a_post_mortem_keeps_the_failures_of_its_process(self):
        daemon = self.daemon()
        sim = self.simulator("oom-dram")
        while sim.next() and not (sim.pid in daemon.pids() and
                                  daemon.get(f"/v1/failures?pid={sim.pid}")["total"]):
            pass
        self.assertFalse(sim.ended)
        before = daemon.get(f"/v1/failures?pid={sim.pid}")
        sim.kill()
        daemon.wait_for_death(sim.pid)
        whole = daemon.get(f"/v1/post-mortems?pid={sim.pid}")["post_mortem"]
        self.assertEqual(whole["summary"]["failure_count"], before["total"])
        self.assertEqual([failure["requested"] for failure in whole["failures"]],
                         [failure["requested"] for failure in before["failures"]])

    def test_a_process_that_freed_everything_holds_nothing_in_its_post_mortem(self):
        daemon = self.daemon()
        client = self.tracked_process("held = allocate(open_set([device(0xa2)]), DRAM, 1048640, 1000, 12288)")
        daemon.wait_for(client.pid)
        client.run("free(held)")
        client.finish()
        daemon.wait_for_death(client.pid)
        whole = daemon.get(f"/v1/post-mortems?pid={client.pid}")["post_mortem"]
        self.assertEqual((whole["summary"]["allocation_count"], whole["largest_allocations"], whole["summary"]["exact"]),
                         (0, [], True))

    def test_a_post_mortem_says_how_its_process_ended(self):
        daemon = self.daemon()
        endings = {"os._exit(0)": ("exit", 0, None), "os._exit(7)": ("exit", 7, None),
                   "os.kill(os.getpid(), signal.SIGTERM)": ("signal", None, signal.SIGTERM)}
        for code, ending in endings.items():
            client = self.holder(0xa2)
            daemon.wait_for(client.pid)
            client.send(f"import os, signal; {code}")
            client.wait()
            daemon.wait_for_death(client.pid)

            def seen(pid: int = client.pid) -> tuple:
                summary = daemon.get(f"/v1/post-mortems?pid={pid}")["post_mortem"]["summary"]
                return summary["ending"], summary["exit_code"], summary["signal"]
            # Kernels before 6.15 do not report it.
            self.assertIn(seen(), (ending, ("not_known", None, None)))
            if kernel_reports_endings():
                self.assertEqual(seen(), ending)

    def test_a_zombie_counts_as_dead(self):
        daemon = self.daemon()
        client = self.holder(0xa3)
        daemon.wait_for(client.pid)
        self.assertEqual(self.used(daemon), {0xa3: 12288})
        os.kill(client.pid, signal.SIGKILL)
        daemon.wait_for_death(client.pid)
        self.assertEqual(self.used(daemon), {})
        self.assertEqual(state_of(client.pid), "Z")  # the test has not waited for it yet
        # The same holds for a daemon that never saw it alive.
        daemon.stop()
        bystander = self.holder(0xa8)
        late = self.daemon()
        late.wait_for(bystander.pid)  # found in the same scan
        self.assertEqual((late.pids(), self.used(late)), ([bystander.pid], {0xa8: 12288}))
        self.assertEqual(state_of(client.pid), "Z")
        bystander.finish()

    def test_a_process_whose_main_thread_has_exited_is_alive(self):
        daemon = self.daemon()
        client = self.holder(0xa4)
        daemon.wait_for(client.pid)
        # From here on a second thread runs what the test sends.
        client.send("""
            import threading
            threading.Thread(target=serve, args=(globals(),)).start()
            ctypes.CDLL(None).pthread_exit(None)
            """)
        wait_until(lambda: state_of(client.pid) == "Z" and threads_of(client.pid) > 1, "its main thread has exited")
        client.run("more = allocate(open_set([device(0xa4)]), DRAM, 2097152, 1000, 24576)")
        self.assertEqual(self.used(daemon), {0xa4: 12288 + 24576})
        client.run("free(more)")
        self.assertEqual(self.used(daemon), {0xa4: 12288})
        # The same holds for a daemon that starts later.
        daemon.stop()
        late = self.daemon()
        late.wait_for(client.pid)
        self.assertEqual(self.used(late), {0xa4: 12288})
        self.assertEqual(late.get("/v1/post-mortems")["post_mortems"], [])
        client.finish()
        late.wait_for_death(client.pid)

    @needs_other_users
    def test_a_process_of_another_user_is_alive_until_it_dies(self):
        daemon = self.daemon()
        client = self.holder(0xa5, uid=STRANGER)
        daemon.wait_for(client.pid)
        self.assertEqual(daemon.view()["processes"][0]["uid"], STRANGER)
        audits = daemon.get("/v1/self")["audits"]
        wait_until(lambda: daemon.get("/v1/self")["audits"] > audits + 2, "the daemon has scanned some more times")
        self.assertEqual(self.used(daemon), {0xa5: 12288})
        client.kill()
        daemon.wait_for_death(client.pid)
        self.assertEqual(self.used(daemon), {})

    def test_a_reused_pid_is_another_process(self):
        daemon = self.daemon()
        first = self.holder(0xa6)
        daemon.wait_for(first.pid)
        # The daemon learns of the death only after the pid belongs to another process.
        os.kill(daemon.pid, signal.SIGSTOP)
        first.kill()
        with open("/proc/sys/kernel/ns_last_pid", "w", encoding="utf-8") as file:
            file.write(str(first.pid - 1))
        second = self.holder(0xa7, used=24576)
        self.assertEqual(second.pid, first.pid, "the kernel gave another number, so this shows nothing")
        os.kill(daemon.pid, signal.SIGCONT)
        wait_until(lambda: self.used(daemon) == {0xa7: 24576}, "the second process is tracked, and the first is not")
        self.assertEqual(daemon.pids(), [second.pid])
        summaries = daemon.get("/v1/post-mortems")["post_mortems"]
        self.assertEqual([one["process"]["pid"] for one in summaries], [first.pid])
        self.assertEqual([held["memory"]["dram"]["used"] for held in summaries[0]["process"]["devices"]], [12288])
        second.finish()


class Forks(DeathCase):
    FORK = """
        child = os.fork()
        if child == 0:
            signal.pause()
        answer = child
        """

    def test_a_forked_child_that_inherited_the_descriptor_is_not_its_parent(self):
        daemon = self.daemon()
        parent = self.holder(0xb1)
        child = parent.run(self.FORK)
        self.addCleanup(os.kill, child, signal.SIGKILL)
        daemon.wait_for(parent.pid)
        self.assertEqual(daemon.pids(), [parent.pid])
        parent.kill()
        daemon.wait_for_death(parent.pid)
        self.assertEqual(segments_of(child), 1)
        self.assertEqual((daemon.pids(), self.used(daemon)), ([], {}))
        # It keeps nothing alive, also for a daemon that never knew the parent.
        daemon.stop()
        other = self.holder(0xb2)
        late = self.daemon()
        late.wait_for(other.pid)  # found in the same scan
        self.assertEqual((late.pids(), self.used(late)), ([other.pid], {0xb2: 12288}))
        other.finish()

    def test_a_forked_child_that_allocates_is_tracked_as_its_own_process(self):
        daemon = self.daemon()
        parent = self.holder(0xb3)
        child = parent.run("""
            ready, tell = os.pipe()
            child = os.fork()
            if child == 0:
                allocate(open_set([device(0xb4)]), DRAM, 1048640, 500, 6144)
                os.write(tell, b"x")
                signal.pause()
            os.read(ready, 1)
            answer = child
            """)
        daemon.wait_for(parent.pid, child)
        self.assertEqual(self.used(daemon), {0xb3: 12288, 0xb4: 6144})
        parent.kill()
        daemon.wait_for_death(parent.pid)
        self.assertEqual((daemon.pids(), self.used(daemon)), ([child], {0xb4: 6144}))
        os.kill(child, signal.SIGKILL)
        daemon.wait_for_death(child)
        self.assertEqual(self.used(daemon), {})


if __name__ == "__main__":
    main()
