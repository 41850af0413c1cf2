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
from harness.waiting import wait_until
from flight_test import may_mount
from recorder_process import RecorderProcess, moment

KILLS = int(os.environ.get("TTMEM_KILLS", "20"))


class Fault(TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-recordings-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "run.ttmem")

    def right_steps(self, pid: int, steps: list, what: str, path: str = "") -> int:
        """How many steps of a recording that was not ended are exact, and so right. The others say that they are not. A step is settled
        if the recorder had read everything before and after its moment: where the recording has it, it must be exact."""
        exact = 0
        for at, truth, is_settled in steps:
            done = self.ttmem("status", "--recording", path or self.path, "--at", at, "--json")
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
                self.assertFalse(is_settled, (what, view["inexact"]))
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
            steps = [(moment(), simulator.truth, True)]
            recorder.wait_for_rounds()
            for _ in range(chance.randrange(4)):
                self.assertTrue(simulator.next())
                is_settled = chance.random() < 0.5
                if is_settled:
                    recorder.wait_for_rounds()
                steps.append((moment(), simulator.truth, is_settled))
                if is_settled:
                    recorder.wait_for_rounds()
            if chance.random() < 0.5:
                simulator.proceed()
                recorder.process.kill()
                self.assertTrue(simulator.wait_for_pause())
            else:
                recorder.process.kill()
            recorder.wait()
            read += self.right_steps(simulator.pid, steps, f"recorder {number}")
            recorder.close()
        # Three of four recorders see a step, and write before it what was before.
        self.assertGreaterEqual(read, KILLS // 2)

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
                steps.append((moment(), simulator.truth, False))
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
        self.assertGreaterEqual(read, max(KILLS // 20, 1))

    def small_disk(self) -> str:
        disk = tempfile.mkdtemp(prefix="ttmem-disk-")
        self.addCleanup(os.rmdir, disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        return disk

    @unittest.skipUnless(may_mount(), "needs root, to mount a small disk")
    def test_a_full_disk_ends_the_recording_with_an_error_and_keeps_what_was_before(self):
        for name, arguments in (("directly", ("--direct",)), ("through the daemon", ())):
            with self.subTest(name):
                path = os.path.join(self.small_disk(), "run.ttmem")
                daemon = None if arguments else self.daemon()
                # Small rings make the recorder write a ledger in each step.
                simulator = self.simulator("transformer-dp4", "--repeat", "10000", variables={"TTMEM_RING_RECORDS": "16"})
                self.assertTrue(simulator.next())
                recorder = RecorderProcess(self, path, "--force", *arguments)
                recorder.wait_for(simulator.pid)
                steps = []
                if daemon:
                    daemon.wait_for_rounds("record")
                    steps.append((moment(), simulator.truth, True))
                    daemon.wait_for_rounds("record")

                def progress(recorder=recorder, arguments=arguments, path=path) -> int:
                    """The client of a daemon waits for what arrives: it has read what was lost when the file has grown."""
                    return recorder.rounds() if arguments else os.path.getsize(path)

                def has_read(before, recorder=recorder, progress=progress):
                    wait_until(lambda: recorder.process.poll() is not None or progress() >= before + 2, "it has read, or ended")

                while recorder.process.poll() is None:
                    steps.append((moment(), simulator.truth, bool(arguments)))
                    if arguments:
                        has_read(progress())
                    if recorder.process.poll() is not None:
                        break
                    before = progress()
                    simulator.skip(20)
                    self.assertTrue(simulator.next())
                    has_read(progress() if arguments else before)
                code, text = recorder.wait()
                self.assertEqual(code, 1)
                self.assertIn("No space left on device", text)
                right = self.right_steps(simulator.pid, steps, name, path)
                self.assertGreater(right, len(steps) // 2 if arguments else 0)
                simulator.kill()
                recorder.close()

    @unittest.skipUnless(may_mount(), "needs root, to mount a small disk")
    def test_a_full_disk_leaves_nothing_of_an_export(self):
        disk = self.small_disk()
        self.tracked_process('mesh = open_set([device(0x11)], "mesh")\n'
                             "many = [library.ttmem_allocate(mesh, DRAM, 64 * i, 64, 768, i) for i in range(8000)]")
        for form in ("csv", "jsonl", "ttnn-visualizer", "html"):
            done = self.ttmem("export", "--format", form, "-o", os.path.join(disk, "out"))
            self.assertEqual((done.returncode, done.stdout), (1, ""), form)
            self.assertRegex(done.stderr, "No space left on device|disk is full", form)
            self.assertEqual(os.listdir(disk), [], form)


if __name__ == "__main__":
    main()
