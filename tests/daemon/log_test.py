#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The event log: the lines that scripts for the earlier server search for, and readers that stop reading."""

import os
import re
import shlex
import subprocess

from harness.test_case import TestCase, main
from harness.waiting import wait_until


class Log(TestCase):
    def log_of(self, scenario: str) -> tuple[int, str]:
        """Pid and log of a scenario, from its start to its end."""
        daemon = self.daemon("--log-events", "all")
        sim = self.simulator(scenario)
        self.assertTrue(sim.next())
        daemon.wait_for(sim.pid)  # the whole scenario may be shorter than a scan
        sim.finish()
        wait_until(lambda: f"- [PID {sim.pid}] " in daemon.log(), "its end is in the log")
        self.assertEqual((daemon.get("/v1/self")["events_lost"], daemon.get("/v1/self")["log_lines_lost"]), (0, 0))
        daemon.stop()
        return sim.pid, daemon.log()

    def test_a_mesh_buffer_is_logged_with_one_address_on_all_8_devices(self):
        pid, log = self.log_of("mesh-allocation")
        taken = re.findall(rf"^✓ \[PID {pid}\] Allocated 4194304 bytes of DRAM on device (\d+) \(buffer_id=(\d+)\)$",
                           log, re.MULTILINE)
        given = re.findall(rf"^✗ \[PID {pid}\] Freed buffer (\d+) on device (\d+) \(4194304 bytes\)$",
                           log, re.MULTILINE)
        addresses = {address for _, address in taken}
        self.assertGreaterEqual(len(addresses), 3)  # two tensors and their sum; the runtime has more of its own
        for address in addresses:
            self.assertEqual([int(device) for device, at in taken if at == address], list(range(8)))
            self.assertEqual([int(device) for at, device in given if at == address], list(range(8)))
        for size in (524288, 1048576):
            self.assertEqual(len(re.findall(rf"Allocated {size} bytes of DRAM on device 7 ", log)),
                             len(re.findall(rf"Freed buffer \d+ on device 7 \({size} bytes\)", log)))

    def test_circular_buffers_and_kernels_are_logged_equally_often_on_each_of_4_devices(self):
        _, log = self.log_of("transformer-dp4")
        path = os.path.join(self.directory.path, "out.log")
        with open(path, "w", encoding="utf-8") as file:
            file.write(log)
        for word, end in (("CB_ALLOC", "CB_FREE"), ("KERNEL_LOAD", "KERNEL_UNLOAD")):
            pipeline = f"grep -E '{word}.*Device [0-3]' {shlex.quote(path)} | cut -d' ' -f3,4 | sort | uniq -c"
            lines = subprocess.run(["bash", "-c", pipeline], capture_output=True, text=True, check=True).stdout
            counts = re.findall(r"^ *(\d+) Device (\d):$", lines, re.MULTILINE)
            self.assertEqual([device for _, device in counts], ["0", "1", "2", "3"], lines)
            self.assertEqual(len({count for count, _ in counts}), 1, lines)
            self.assertGreater(int(counts[0][0]), 1)
            first = subprocess.run(["bash", "-c", f"grep {word} {shlex.quote(path)} | head -10"], capture_output=True, text=True,
                                   check=True).stdout.splitlines()
            self.assertEqual(len(first), 10)
            for line in first:
                self.assertRegex(line, rf"^✓ \[{word}\] Device \d: \+\d[\d.]* MB \(Total: \d[\d.]* MB\)$")
            # Everything is freed: the last total of each device is 0.
            last = dict(re.findall(rf"\[(?:{word}|{end})\] Device (\d): [+-][\d.]+ MB \(Total: ([\d.]+) MB\)", log))
            self.assertEqual(last, {"0": "0", "1": "0", "2": "0", "3": "0"})

    def test_a_log_reader_that_stops_reading_loses_log_lines_and_nothing_else(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        with os.fdopen(writer) as stdout:
            daemon = self.daemon("--log-events", "all", stdout=stdout)
        sim = self.simulator("churn", "--devices", "0,1,2,3", "--threads", "2", "--live", "100", "--rate", "20000",
                       "--seconds", "5", pause_at="churned")
        wait_until(lambda: daemon.get("/v1/self")["log_lines_lost"] > 0, "log lines are lost")
        daemon.wait_for(sim.pid)
        followed = daemon.get("/v1/self")["events_followed"]
        wait_until(lambda: daemon.get("/v1/self")["events_followed"] > followed, "the daemon still follows events")
        self.assertTrue(sim.wait_for_pause())
        self.assert_truth(daemon.view(), [sim])
        sim.finish()
        daemon.wait_for_death(sim.pid)
        self.assertEqual(daemon.get("/v1/self")["events_lost"], 0)
        daemon.stop()

    def test_each_log_level_prints_its_own_kinds_of_lines_only(self):
        for arguments, words in ((["--quiet"], set()), (["--log-events", "off"], {"ttmemd"}),
                                 (["--log-events", "summary"], {"ttmemd", "+", "-"})):
            with self.subTest(arguments=arguments):
                daemon = self.daemon(*arguments)
                client = self.tracked_process("allocate(open_set([device(0xd1)]), DRAM, 1048640, 1000, 12288)")
                daemon.wait_for(client.pid)
                client.finish()
                daemon.wait_for_death(client.pid)
                daemon.stop()
                self.assertEqual({line.split()[0] for line in daemon.log().splitlines()}, words)


if __name__ == "__main__":
    main()
