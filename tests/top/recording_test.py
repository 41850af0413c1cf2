#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dashboard plays a recording: from beginning to end, step by step, and to peaks, marks and failures."""

import os
import re
import sys
import tempfile

from harness.terminal import Terminal
from harness.test_case import TestCase, main
from harness.programs import SIMULATOR, TTMEM

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "recording"))
from recorder_process import RecorderProcess  # noqa: E402

BEFORE = """
first = device(0x11)
mesh = open_set([first], "mesh")
library.ttmem_scope_push(b"model")
kept = library.ttmem_allocate(mesh, DRAM, 1048640, 12000, 12 * 1024, 7)
"""
# The peak is 24 KiB, between the marks.
DURING = """
library.ttmem_mark(b"warm")
more = library.ttmem_allocate(mesh, DRAM, 2097216, 12000, 12 * 1024, 8)
"""
AFTER = """
library.ttmem_free(more)
library.ttmem_mark(b"cold")
"""


class PlayedRecording(TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-recordings-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "run.ttmem")

    def play(self, *arguments: str, columns: int = 100, rows: int = 30) -> Terminal:
        terminal = Terminal(columns, rows)
        self.addCleanup(terminal.close)
        terminal.run(TTMEM, "top", *arguments)
        terminal.wait_for("ttmem top  ", "DRAM of all processes")
        return terminal

    def record(self):
        """A process with two marks, recorded to its end."""
        process = self.tracked_process(BEFORE)
        recorder = RecorderProcess(self, self.path)
        recorder.wait_for(process.pid)
        for step in (DURING, AFTER):
            process.run(step)
            recorder.wait_for_rounds()
        self.assertEqual(recorder.stop()[0], 0)

    def test_it_plays_to_the_end_and_again_from_the_beginning(self):
        self.record()
        terminal = self.play(self.path, "-r", "100")
        terminal.wait_for(r"end 1x \+([\d.]+)s of \1s", "recording", "▲.*◆")
        terminal.press("p")
        terminal.wait_for("playing 1x", absent="end 1x")
        terminal.press("p")
        terminal.wait_for("paused 1x")
        terminal.press("[")
        terminal.wait_for("paused 1/2x")

    def test_jumps_show_what_was_held(self):
        self.record()
        terminal = self.play("--recording", self.path, "--at", "+0s", "--screen", "4")
        terminal.wait_for("paused 1x", "0 live allocations", "▲.*◆.*◆", "█")
        terminal.press("P")
        terminal.wait_for("Peak of dram 24.0 KiB", "2 live allocations", "24.0 KiB .* model")
        terminal.press("B")
        terminal.wait_for("Mark 1 of 2: warm", "1 live allocation in", "12.0 KiB .* model")
        terminal.press("b")
        terminal.wait_for("Mark 2 of 2: cold", "1 live allocation in")
        terminal.press("f")
        terminal.wait_for("There is no failure")
        # Back by events: the free, then the allocation.
        terminal.press(",")
        terminal.wait_for("paused 1x", "1 live allocation in", absent="Mark|There is")
        terminal.press(",")
        terminal.wait_for("2 live allocations in")
        terminal.press(".")
        terminal.wait_for("1 live allocation in")

    def test_the_moment_of_the_screen_is_that_of_the_commands(self):
        self.record()
        terminal = self.play(self.path, "--at", "peak:dram", "-s", "1")
        text = terminal.wait_for(r"DRAM: +\[.*24.0 KiB /", "recording")
        at = re.search(r"paused 1x (\+[\d.]+s) of", text)
        self.assertIsNotNone(at, text)
        view = self.json_of("status", "--recording", self.path, "--at", "peak:dram")
        self.assertEqual(view["devices"][0]["memory"]["dram"]["used"], 24 * 1024)

    def test_a_click_on_the_timeline_goes_there(self):
        self.record()
        terminal = self.play(self.path, "--at", "+0s")
        terminal.wait_for(r"paused 1x \+0.0")
        terminal.click(28, 99)
        text = terminal.wait_for("paused 1x", absent=r"paused 1x \+0\.0+s")
        now, length = (float(one) for one in re.search(r"paused 1x \+([\d.]+)s of ([\d.]+)s", text).groups())
        self.assertGreater(now, 0.9 * length)

    def test_a_failure_is_found_and_explained(self):
        done = self.ttmem("record", "-o", self.path, "--from-start", "--", SIMULATOR, "oom-dram")
        self.assertEqual(done.returncode, 0, done.stderr)
        terminal = self.play(self.path, "--at", "+0s", "-s", "7")
        terminal.wait_for("no recorded process at this moment", "!", "█")
        terminal.press("f")
        terminal.wait_for("Failure 1 of 1: dram", "1 failure", "not enough")
        terminal.press("F9")
        terminal.wait_for("F9 works on the host, not in a recording")
        terminal.press("6")
        terminal.wait_for("failure +dram", absent="needs a running daemon")
        terminal.press("q")
        terminal.wait_for("code:0")

    def test_every_screen_can_be_played(self):
        done = self.ttmem("record", "-o", self.path, "--from-start", "--", SIMULATOR, "transformer-dp4")
        self.assertEqual(done.returncode, 0, done.stderr)
        terminal = self.play(self.path, "--at", "peak:cb", columns=120, rows=40)
        terminal.wait_for("n300", "1 tracked process", "1.2 GiB / 12.0 GiB")
        for key, patterns in (("1", ("Memory Breakdown", "CBs:", "L1 per core")), ("2", ("beginning", "[⣿⣀⣤]")),
                              ("3", ("No telemetry",)), ("4", ("groups by name", "model/decoder.0/kv_cache")),
                              ("5", ("12 identical banks", "IN BANK")), ("6", (r"\d\d:\d\d:\d\d\.\d{3} +\d+ +(allocation|free)",)),
                              ("7", ("0 failures",)), ("?", ("In a recording", "go to the next, previous mark"))):
            terminal.press(key)
            if key == "?":
                terminal.press("End")
            terminal.wait_for("DRAM of all processes", *patterns)

    def test_errors_come_before_the_dashboard(self):
        self.record()
        for arguments, code, text in (((__file__,), 1, "is not a recording"),
                                      ((self.path, "--at", "+99s"), 1, "outside the recording"),
                                      ((self.path, "--at", "mark:hot"), 1, "it has warm, cold"),
                                      (("--at", "+1s"), 2, "--at needs a recording")):
            done = self.ttmem("top", *arguments)
            self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    main()
