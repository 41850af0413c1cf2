#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'ttmem record' through the daemon: what it shows the user who asks, and nothing else."""

import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile

from harness.figures import figures_by_process, figures_of, sum_of
from harness.programs import TTMEM
from harness.test_case import TestCase, main
from harness.users import OTHER_STRANGER, STRANGER, as_user, needs_other_users
from harness.waiting import TIMEOUT, wait_until
from recorder_process import RecorderProcess, moment


class ThroughTheDaemon(TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-recordings-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "run.ttmem")

    def recordings_of(self, daemon) -> int:
        """How many the daemon makes for clients."""
        [budget] = [one for one in daemon.get("/v1/self")["budgets"] if one["name"] == "recordings"]
        return budget["used"]

    def test_every_step_equals_the_truth(self):
        daemon = self.daemon()
        simulator = self.simulator("transformer-dp4")
        self.assertTrue(simulator.next())
        daemon.wait_for(simulator.pid)
        recorder = RecorderProcess(self, self.path)
        recorder.wait_for(simulator.pid)
        self.assertEqual(self.recordings_of(daemon), 1)
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o600)
        steps = []
        while simulator.next():
            daemon.wait_for_rounds("record")
            steps.append((moment(), simulator.step, simulator.truth))
        code, text = recorder.stop()
        self.assertEqual(code, 0, text)
        self.assertIn("of 1 process into", text)
        for at, step, truth in steps:
            with self.subTest(step):
                view = self.json_of("status", "--recording", self.path, "--at", at)
                self.assertEqual(figures_by_process(view), {simulator.pid: truth})
                self.assertEqual(figures_of(view["devices"]), sum_of([truth]))
        wait_until(lambda: self.recordings_of(daemon) == 0, "the daemon has ended the recording")

    def test_direct_bypasses_it(self):
        daemon = self.daemon()
        process = self.tracked_process("open_set([device(0x11)])")
        daemon.wait_for(process.pid)
        recorder = RecorderProcess(self, self.path, "--direct")
        recorder.wait_for(process.pid)
        self.assertEqual(self.recordings_of(daemon), 0)
        self.assertEqual(recorder.stop()[0], 0)

    def test_a_process_that_comes_and_goes_is_recorded_from_its_start_to_its_end(self):
        daemon = self.daemon()
        first = self.tracked_process("open_set([device(0x11)])")
        daemon.wait_for(first.pid)
        recorder = RecorderProcess(self, self.path)
        recorder.wait_for(first.pid)
        second = self.tracked_process("held = allocate(open_set([device(0x12)]), DRAM, 4096, 1000, 12288)")
        recorder.wait_for(second.pid)
        second.run("allocate(open_set([device(0x12)]), DRAM, 65536, 500, 2048)")
        daemon.wait_for_rounds("record")
        there = moment()
        second.close()
        daemon.wait_for_death(second.pid)
        code, text = recorder.stop()
        self.assertEqual((code, "of 2 processes" in text), (0, True), text)
        figures = figures_by_process(self.json_of("status", "--recording", self.path, "--at", there))
        self.assertEqual(figures[second.pid], {"0x12": {"dram": (14336, 1500)}})
        at_the_end = self.json_of("ps", "--recording", self.path)["processes"]
        self.assertEqual([one["pid"] for one in at_the_end], [first.pid])

    def test_only_one_process_is_recorded_until_its_end(self):
        daemon = self.daemon()
        first, second = (self.tracked_process(f"open_set([device({asic})])") for asic in (0x11, 0x12))
        daemon.wait_for(first.pid, second.pid)
        recorder = RecorderProcess(self, self.path, "--pid", str(second.pid))
        recorder.wait_for(second.pid)
        second.close()
        code, text = recorder.wait()
        self.assertEqual((code, "of 1 process " in text), (0, True), text)
        missing = self.ttmem("record", "-o", self.path + "2", "--pid", str(second.pid))
        self.assertEqual(missing.returncode, 4)
        self.assertIn("is not tracked", missing.stderr)
        self.assertFalse(os.path.exists(self.path + "2"))

    def test_only_the_processes_of_a_device_are_recorded_also_if_they_open_it_later(self):
        daemon = self.daemon()
        first = self.tracked_process("open_set([device(0x11)])")
        second = self.tracked_process("open_set([device(0x12)])")
        daemon.wait_for(first.pid, second.pid)
        for name, arguments in (("daemon", ()), ("direct", ("--direct",))):
            with self.subTest(name):
                path = self.path + name
                recorder = RecorderProcess(self, path, "--device", "0x11", *arguments)
                recorder.wait_for(first.pid)
                third = self.tracked_process("open_set([device(0x13)])")
                third.run("open_set([device(0x11)])")
                recorder.wait_for(third.pid)
                self.assertEqual(recorder.stop()[0], 0)
                pids = {one["pid"] for one in self.json_of("ps", "--recording", path)["processes"]}
                self.assertEqual(pids, {first.pid, third.pid})
                third.close()

    def test_a_limit_keeps_the_last_part_in_two_files(self):
        daemon = self.daemon()
        simulator = self.simulator("churn", "--rate", "0", "--seconds", "60", pause_at="churned")
        daemon.wait_for(simulator.pid)
        for name, arguments in (("daemon", ()), ("direct", ("--direct",))):
            with self.subTest(name):
                path = self.path + name
                recorder = RecorderProcess(self, path, "--max-bytes", "1MiB", *arguments)
                wait_until(lambda path=path: os.path.exists(path + ".1"), "the second file has begun")
                code, text = recorder.stop()
                self.assertEqual(code, 0, text)
                parts = [os.stat(part) for part in (path, path + ".1")]
                self.assertEqual({stat.S_IMODE(part.st_mode) for part in parts}, {0o600})
                self.assertLess(sum(part.st_size for part in parts), 3 << 19)
                for part in (path, path + ".1"):
                    done = self.ttmem("ps", "--recording", part, "--json")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual([one["pid"] for one in json.loads(done.stdout)["processes"]], [simulator.pid])
        simulator.kill()

    def test_seconds_end_it(self):
        self.daemon()
        done = self.ttmem("record", "-o", self.path, "--seconds", "0.2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.ttmem("status", "--recording", self.path).stderr, "")
        again = self.ttmem("record", "-o", self.path, "--seconds", "0.2")
        self.assertEqual((again.returncode, "--force" in again.stderr), (1, True))
        forced = self.ttmem("record", "-o", self.path, "--seconds", "0.2", "--force")
        self.assertEqual(forced.returncode, 0, forced.stderr)

    def test_a_daemon_that_is_killed_is_reported_and_leaves_what_it_sent(self):
        daemon = self.daemon()
        simulator = self.simulator("matmul-single-core")
        self.assertTrue(simulator.next())
        daemon.wait_for(simulator.pid)
        recorder = RecorderProcess(self, self.path)
        recorder.wait_for(simulator.pid)
        daemon.kill()
        code, text = recorder.wait()
        self.assertEqual(code, 1)
        self.assertIn("closed the connection early", text)
        done = self.ttmem("status", "--recording", self.path, "--json")
        self.assertEqual(figures_by_process(json.loads(done.stdout)), {simulator.pid: simulator.truth})
        self.assertIn("was not ended", done.stderr)

    def test_a_user_has_two_at_a_time(self):
        daemon = self.daemon()
        process = self.tracked_process("open_set([device(0x11)])")
        daemon.wait_for(process.pid)
        recorders = [RecorderProcess(self, self.path + str(number)) for number in range(2)]
        for recorder in recorders:
            recorder.wait_for(process.pid)
        third = self.ttmem("record", "-o", self.path, "--seconds", "0.1")
        self.assertEqual(third.returncode, 1)
        self.assertIn("at most 2 recordings", third.stderr)
        for recorder in recorders:
            self.assertEqual(recorder.stop()[0], 0)

    def test_a_client_that_does_not_read_holds_up_nobody(self):
        daemon = self.daemon()
        simulator = self.simulator("churn", "--rate", "0", "--seconds", "60", pause_at="churned")
        daemon.wait_for(simulator.pid)
        recorder = RecorderProcess(self, self.path)
        recorder.wait_for(simulator.pid)
        recorder.suspend()
        followed = daemon.get("/v1/self")["events_followed"]
        wait_until(lambda: daemon.get("/v1/self")["events_followed"] > followed + 300_000, "much has happened")
        recorder.resume()
        simulator.kill()
        daemon.wait_for_death(simulator.pid)
        code, text = recorder.stop()
        self.assertEqual(code, 0, text)
        self.ttmem("status", "--recording", self.path)

    @needs_other_users
    def test_a_user_records_own_details_and_totals_of_others(self):
        daemon = self.daemon()
        holders = {uid: self.tracked_process(f"""
            s = open_set([device({asic:#x})], "secret_{uid}")
            scope("secret_{uid}")
            held = allocate(s, DRAM, 1048640, 1000, 12288)
            """, uid=uid) for uid, asic in ((STRANGER, 0xc1), (OTHER_STRANGER, 0xc2))}
        daemon.wait_for(*(holder.pid for holder in holders.values()))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o777)
        program, path = shutil.copy(TTMEM, folder.name), os.path.join(folder.name, "own.ttmem")
        recorder = subprocess.Popen(as_user(STRANGER, program, "record", "-o", path), stderr=subprocess.PIPE, text=True,
                                    env=self.environment())
        self.addCleanup(recorder.kill)
        wait_until(lambda: os.path.exists(path) and
                   len(json.loads(self.ttmem("ps", "--recording", path, "--json").stdout or '{"processes": []}')["processes"])
                   == 2, "both processes are recorded")
        before = moment()
        holders[OTHER_STRANGER].run("allocate(s, DRAM, 2097280, 1000, 12288)")
        wait_until(lambda: self.used_by(path, holders[OTHER_STRANGER].pid) == 24576, "the new totals are recorded")
        recorder.send_signal(signal.SIGINT)
        _, errors = recorder.communicate(timeout=TIMEOUT)
        self.assertEqual(recorder.returncode, 0, errors)
        with open(path, "rb") as file:
            self.assertNotIn(f"secret_{OTHER_STRANGER}".encode(), file.read())

        view = self.json_of("status", "--recording", path, "--at", before)
        self.assertEqual(figures_of(view["devices"]), {asic: {"dram": (12288, 1000)} for asic in ("0xc1", "0xc2")})
        for device in view["devices"]:
            is_own = device["asic_id"] == "0xc1"
            self.assertEqual(device["memory"]["dram"]["largest_free"] is not None, is_own)
        self.assertEqual(figures_of(self.json_of("status", "--recording", path)["devices"]),
                         {"0xc1": {"dram": (12288, 1000)}, "0xc2": {"dram": (24576, 2000)}})
        listed = self.json_of("allocations", "--recording", path)
        self.assertEqual({one["pid"] for one in listed["allocations"]}, {holders[STRANGER].pid})
        self.assertEqual(listed["hidden"]["process_count"], 1)
        other = self.ttmem("allocations", "--recording", path, "--pid", str(holders[OTHER_STRANGER].pid))
        self.assertEqual((other.returncode, "only that user, root and members of group ttmem" in other.stderr), (1, True), other.stderr)

    def used_by(self, path: str, pid: int) -> int:
        [process] = [one for one in json.loads(self.ttmem("ps", "--recording", path, "--json").stdout)["processes"]
                     if one["pid"] == pid]
        return process["devices"][0]["memory"]["dram"]["used"]


if __name__ == "__main__":
    main()
