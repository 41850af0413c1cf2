#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The flight recorder, 'ttmemd --record DIR'."""

import json
import os
import stat
import subprocess
import tempfile
import unittest

from harness.figures import figures_by_process
from harness.test_case import TestCase, main
from harness.waiting import wait_until
from recorder_process import moment

MEBIBYTE = 1 << 20


def may_mount() -> bool:
    return os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0


class Flight(TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-flight-")
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "flight")

    def state(self, daemon) -> dict:
        return daemon.get("/v1/self")["flight_recorder"]

    def wait_until_recorded(self, daemon, events: int):
        wait_until(lambda: self.state(daemon)["events"] >= events, f"{events} events are recorded")

    def files(self) -> list[str]:
        return sorted(os.path.join(self.folder, name) for name in os.listdir(self.folder))

    def test_there_is_none_by_default(self):
        daemon = self.daemon()
        self.assertIsNone(self.state(daemon))
        self.assertNotIn("recorder", self.output_of("self"))
        self.assertNotIn("ttmem_flight_recorder_up", self.ttmem_metrics(daemon))

    def ttmem_metrics(self, daemon) -> str:
        done = subprocess.run(["curl", "-s", "--unix-socket", daemon.api, "http://localhost/metrics"], capture_output=True,
                              text=True, check=True)
        return done.stdout

    def test_it_records_every_process_for_the_daemon_alone(self):
        daemon = self.daemon("--record", self.folder)
        simulator = self.simulator("transformer-dp4")
        steps = []
        while simulator.next():
            if not steps:
                wait_until(lambda: self.is_followed(simulator.pid), "the process is recorded")
            daemon.wait_for_rounds("flight")
            steps.append((moment(), simulator.step, simulator.truth))
        daemon.wait_for_death(simulator.pid)
        wait_until(lambda: not self.is_followed(simulator.pid), "its end is recorded")
        self.assertEqual(stat.S_IMODE(os.stat(self.folder).st_mode), 0o700)
        [path] = self.files()
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        daemon.stop()
        for source in (self.folder, path):
            for at, step, truth in steps:
                with self.subTest(f"{source} {step}"):
                    view = self.json_of("status", "--recording", source, "--at", at)
                    self.assertEqual(figures_by_process(view), {simulator.pid: truth})

    def is_followed(self, pid: int) -> bool:
        """The newest recording of the folder has that process."""
        done = self.ttmem("ps", "--recording", self.folder, "--json")
        return done.returncode == 0 and any(one["pid"] == pid for one in json.loads(done.stdout)["processes"])

    def test_every_face_shows_it(self):
        daemon = self.daemon("--record", self.folder)
        process = self.tracked_process("s = open_set([device(0x11)])")
        process.run("for i in range(100): free(allocate(s, DRAM, 4096, 64, 64))")
        self.wait_until_recorded(daemon, 200)
        state = self.state(daemon)
        self.assertEqual((state["folder"], state["is_recording"], state["stop_reason"], state["files"]), (self.folder, True, "", 1))
        self.assertIn("recorder   ", self.output_of("self"))
        metrics = self.ttmem_metrics(daemon)
        self.assertIn("ttmem_flight_recorder_up 1\n", metrics)
        self.assertIn("ttmem_flight_recorder_events_total", metrics)

    def test_what_was_recorded_before_a_restart_stays(self):
        process = self.tracked_process("s = open_set([device(0x11)])")
        first = self.daemon("--record", self.folder)
        wait_until(lambda: self.is_followed(process.pid), "the process is recorded")
        process.run("held = allocate(s, DRAM, 4096, 1000, 12288)")
        self.wait_until_recorded(first, 1)
        before = moment()
        process.run("library.ttmem_mark(b'later')")
        first.wait_for_rounds("flight")
        wait_until(lambda: "later" in self.ttmem("history", "--recording", self.folder).stdout, "the mark is recorded")
        process.run("free(allocate(s, DRAM, 8192, 64, 768))")
        wait_until(lambda: self.ttmem("status", "--recording", self.folder, "--at", before).returncode == 0, "what came later is recorded")
        first.kill()
        [path] = self.files()
        second = self.daemon("--record", self.folder)
        wait_until(lambda: len(self.files()) == 2 and self.is_followed(process.pid), "the process is recorded again")
        process.run("free(held)")
        self.wait_until_recorded(second, 1)
        after = moment()
        second.stop()
        self.assertEqual(len(self.files()), 2)
        done = self.ttmem("status", "--recording", self.folder, "--at", after, "--json")
        self.assertEqual(figures_by_process(json.loads(done.stdout)), {process.pid: {}})
        # The folder has the moment before the restart too, in the recording before.
        done = self.ttmem("status", "--recording", self.folder, "--at", before, "--json")
        self.assertEqual(figures_by_process(json.loads(done.stdout)), {process.pid: {"0x11": {"dram": (12288, 1000)}}}, done.stderr)
        long_ago = self.ttmem("status", "--recording", self.folder, "--at", "2001-01-01 00:00:00")
        self.assertEqual(long_ago.returncode, 1)
        self.assertRegex(long_ago.stderr, r"outside the recording, which goes from .*; before it the folder has \d{4}-\d\d-\d\d .* to ")
        gone = self.json_of("diff", f"{self.folder}@{before}", f"{self.folder}@{after}")
        self.assertEqual([(one["before"], one["after"]) for one in gone["changes"]], [(12288, 0)])
        earlier = self.ttmem("status", "--recording", path, "--json")
        self.assertIn("was not ended", earlier.stderr)
        self.assertEqual(json.loads(earlier.stdout)["source"], "recording")

    def test_its_limits_of_bytes_and_hours_hold(self):
        daemon = self.daemon("--record", self.folder, "--record-bytes", "16MiB", "--record-hours", "1")
        old = os.path.join(self.folder, "flight-20200101T000000.000000Z.ttmem")
        simulator = self.simulator("churn", "--rate", "0", "--seconds", "600", "--live", "20000", pause_at="churned")
        wait_until(lambda: self.state(daemon)["files"] > 4, "parts are full")
        with open(old, "wb"):
            os.utime(old, (0, 0))
        for _ in range(20):
            self.assertLessEqual(sum(os.path.getsize(path) for path in self.files() if os.path.exists(path)), 16 * MEBIBYTE)
            daemon.wait_for_rounds("flight")
        simulator.kill()
        daemon.stop()
        again = self.daemon("--record", self.folder, "--record-bytes", "16MiB", "--record-hours", "1")
        wait_until(lambda: self.state(again)["is_recording"], "it records")
        self.assertFalse(os.path.exists(old))

    def test_a_folder_of_others_is_refused_and_the_daemon_works(self):
        os.mkdir(self.folder)
        os.chmod(self.folder, 0o755)
        daemon = self.daemon("--record", self.folder)
        problem = wait_until(lambda: self.state(daemon)["stop_reason"], "the problem is reported")
        self.assertIn("others may use it (chmod 700", problem)
        self.assertEqual(self.files(), [])
        os.chmod(self.folder, 0o700)
        wait_until(lambda: self.state(daemon)["is_recording"], "it records")

    @unittest.skipUnless(may_mount(), "needs root, to mount a small disk")
    def test_a_full_disk_stops_the_recorder_alone_and_every_face_reports_it(self):
        disk = tempfile.mkdtemp(prefix="ttmem-disk-")
        self.addCleanup(os.rmdir, disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        daemon = self.daemon("--record", disk)
        simulator = self.simulator("churn", "--rate", "0", "--seconds", "60", pause_at="churned")
        daemon.wait_for(simulator.pid)
        problem = wait_until(lambda: self.state(daemon)["stop_reason"], "the problem is reported")
        self.assertIn("No space left on device", problem)
        self.assertIn("stopped: ", self.output_of("self"))
        self.assertIn("its flight recorder has stopped", self.ttmem("doctor").stdout)
        self.assertIn("ttmem_flight_recorder_up 0\n", self.ttmem_metrics(daemon))
        wait_until(lambda: "! the flight recorder has stopped" in daemon.log(), "the log reports it")
        before = daemon.get("/v1/self")["events_followed"]
        wait_until(lambda: daemon.get("/v1/self")["events_followed"] > before, "the daemon goes on")
        self.assertTrue(daemon.view()["processes"])
        names = sorted(os.listdir(disk))
        done = self.ttmem("status", "--recording", os.path.join(disk, names[0]), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        simulator.kill()
        for name in names:
            os.remove(os.path.join(disk, name))
        wait_until(lambda: self.state(daemon)["is_recording"], "it records again")
        wait_until(lambda: "records again into" in daemon.log(), "the log reports it")
        daemon.stop()


if __name__ == "__main__":
    main()
