#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recorders that are killed, and disks that fill: what was written before can be read and is right."""

import json
import os
import random
import subprocess
import tempfile
import unittest

from harness.figures import figures_by_process
from harness.test_case import TestCase, main
from flight_test import may_mount
from recorder_process import RecorderProcess, moment

KILLS = int(os.environ.get("TTMEM_KILLS", "20"))


class Fault(TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-recordings-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "run.ttmem")

    def right_steps(self, pid: int, steps: list, what: str) -> int:
        """How many steps of a recording that was not ended are exact, and so right. The others say that they are not."""
        exact = 0
        for at, truth in steps:
            done = self.ttmem("status", "--recording", self.path, "--at", at, "--json")
            if done.returncode != 0:
                # Its last second was not written.
                self.assertIn("outside the recording", done.stderr)
                continue
            self.assertIn("was not ended", done.stderr)
            view = json.loads(done.stdout)
            if view["exact"]:
                self.assertEqual(figures_by_process(view), {pid: truth}, what)
                exact += 1
            else:
                self.assertLessEqual({one["code"] for one in view["inexact"]}, {"events_lost", "reserved_unknown", "settling"})
        return exact

    def test_killed_recorders_leave_what_they_wrote(self):
        """SIGKILL after some steps of a process, or in the midst of one. Small rings make the recorder write a ledger in each."""
        simulator = self.simulator("transformer-dp4", "--repeat", "10000", variables={"TTMEM_RING_RECORDS": "16"})
        self.assertTrue(simulator.next())
        chance = random.Random(1)
        read = 0
        for number in range(KILLS):
            recorder = RecorderProcess(self, self.path, "--force", "--direct")
            recorder.wait_for(simulator.pid)
            recorder.wait_for_rounds()
            steps = [(moment(), simulator.truth)]
            for _ in range(chance.randrange(4)):
                self.assertTrue(simulator.next())
                if chance.random() < 0.5:
                    recorder.wait_for_rounds()
                steps.append((moment(), simulator.truth))
            if chance.random() < 0.5:
                simulator.proceed()
                recorder.process.kill()
                self.assertTrue(simulator.wait_for_pause())
            else:
                recorder.process.kill()
            recorder.wait()
            read += self.right_steps(simulator.pid, steps, f"recorder {number}")
            recorder.close()
        self.assertGreater(read, 0)

    def test_killed_daemons_leave_what_they_recorded_for_a_client(self):
        """As above; the daemon is killed, and the client ends with what it has."""
        simulator = self.simulator("transformer-dp4", "--repeat", "10000", variables={"TTMEM_RING_RECORDS": "16"})
        self.assertTrue(simulator.next())
        chance = random.Random(2)
        read = 0
        for number in range(max(KILLS // 5, 1)):
            daemon = self.daemon()
            daemon.wait_for(simulator.pid)
            recorder = RecorderProcess(self, self.path, "--force")
            recorder.wait_for(simulator.pid)
            steps = []
            for _ in range(1 + chance.randrange(3)):
                steps.append((moment(), simulator.truth))
                self.assertTrue(simulator.next())
                if chance.random() < 0.7:
                    daemon.wait_for_rounds("record")
            if chance.random() < 0.5:
                simulator.proceed()
                daemon.kill()
                self.assertTrue(simulator.wait_for_pause())
            else:
                daemon.kill()
            code, text = recorder.wait()
            self.assertEqual(code, 1, text)
            self.assertIn("daemon", text)
            read += self.right_steps(simulator.pid, steps, f"daemon {number}")
            recorder.close()
            daemon.close()
        self.assertGreater(read, 0)

    @unittest.skipUnless(may_mount(), "needs root, to mount a small disk")
    def test_a_full_disk_ends_the_recording_with_an_error_and_keeps_what_was_before(self):
        disk = tempfile.mkdtemp(prefix="ttmem-disk-")
        self.addCleanup(os.rmdir, disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        path = os.path.join(disk, "run.ttmem")
        for name, arguments in (("directly", ("--direct",)), ("through the daemon", ())):
            with self.subTest(name):
                if not arguments:
                    self.daemon()
                simulator = self.simulator("churn", "--rate", "0", "--seconds", "60", pause_at="churned")
                recorder = RecorderProcess(self, path, "--force", *arguments)
                code, text = recorder.wait()
                self.assertEqual(code, 1)
                self.assertIn("No space left on device", text)
                simulator.kill()
                done = self.ttmem("status", "--recording", path, "--json")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("was not ended", done.stderr)
                self.assertEqual([one["pid"] for one in json.loads(done.stdout)["processes"]], [simulator.pid])
                recorder.close()


if __name__ == "__main__":
    main()
