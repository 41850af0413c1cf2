#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'ttmem mark NAME', 'ttmem diff' and 'ttmem leaks --host-marks': moments of a living process, reports and recordings."""

import json
import os
import subprocess
import tempfile

from harness.programs import SIMULATOR, TTMEM
from harness.test_case import TestCase, main
from harness.waiting import wait_until

STEPS = """
s = open_set([device(0xa1)])
scope("decoder")
first = allocate(s, DRAM, 0, 1000, 1024)
library.ttmem_scope_pop()
"""


class Diff(TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def succeed(self, *words: str):
        done = self.ttmem(*words)
        self.assertEqual(done.returncode, 0, done.stderr)

    def changes(self, *words: str) -> list[tuple]:
        return [(one["name"], one["verdict"], one["before"], one["after"]) for one in self.json_of("diff", *words)["changes"]]

    def expect_growth(self):
        client = self.tracked_process(STEPS)
        self.assertIn("Marked as start: 1 name of 1 process.", self.output_of("mark", "start"))
        self.assertEqual(self.changes("mark:start", "now"), [])
        self.assertEqual(self.ttmem("diff", "--fail", "mark:start", "now").returncode, 0)
        client.run('scope("cache"); allocate(s, DRAM, 4096, 100, 128); library.ttmem_scope_pop()')
        self.assertEqual(self.changes("mark:start", "now"), [("cache", "came", 0, 128)])
        self.assertEqual(self.changes("now", "mark:start"), [("cache", "gone", 128, 0)])
        self.assertEqual(self.changes("--kind", "l1", "mark:start", "now"), [])
        self.assertEqual(self.changes("--name", "dec*", "mark:start", "now"), [])
        self.assertEqual(self.ttmem("diff", "--fail", "mark:start", "now").returncode, 3)
        self.assertEqual(self.ttmem("diff", "--fail", "now", "mark:start").returncode, 0)
        self.assertIn("1 name changed", self.output_of("diff", "mark:start", "now"))
        self.assertIn(f"| +128 B | 0 B | 128 B | dram | 0 | {client.pid} | cache |", self.output_of("diff", "--markdown", "mark:start", "now"))
        for step in range(2):
            self.output_of("mark", "step")
            client.run(f'scope("decoder"); allocate(s, DRAM, {8192 + 4096 * step}, 1000, 1024); library.ttmem_scope_pop()')
        few = self.ttmem("leaks", "--host-marks", "--mark", "step")
        self.assertEqual(few.returncode, 1)
        self.assertIn("there are 2 marks of the host and 3 are needed", few.stderr)
        self.output_of("mark", "step")
        [leak] = self.json_of("leaks", "--host-marks", "--mark", "step")["leaks"]
        self.assertEqual((leak["name"], leak["verdict"], leak["marks"], leak["per_mark"]), ("decoder", "growing", 3, 1024))
        capacity = self.json_of("status")["devices"][0]["memory"]["dram"]["capacity"]
        self.assertEqual(leak["full_after_marks"], (capacity - 3 * 1024 - 128) // 1024)
        self.assertIsNotNone(leak["full_in_ns"])
        on_it = self.json_of("leaks", "--host-marks", "--mark", "step", "--device", "0")
        self.assertEqual(on_it["leaks"][0]["name"], "decoder")
        elsewhere = self.ttmem("leaks", "--host-marks", "--mark", "step", "--device", "7")
        self.assertEqual(elsewhere.returncode, 4)
        self.assertIn("the last mark of the host has no device 7", elsewhere.stderr)
        plain = self.ttmem("leaks", "--mark", "step", "--json")
        self.assertIn("these are marks of the host", plain.stderr)
        self.assertEqual([one["name"] for one in json.loads(plain.stdout)["leaks"]], ["decoder"])
        self.assertEqual(self.ttmem("leaks", "--host-marks", "--mark", "step", "--fail").returncode, 3)
        self.assertEqual(self.output_of("mark", "--list"), "start\nstep\n")

    def test_marks_are_compared_without_a_daemon(self):
        self.expect_growth()

    def test_marks_are_compared_with_a_daemon(self):
        self.daemon("--quiet")
        self.expect_growth()

    def expect_marks_of_processes(self):
        client = self.tracked_process(STEPS + "library.ttmem_mark(b'step1')\n")
        self.assertEqual(self.changes("mark:step1", "now"), [])
        client.run('scope("cache"); allocate(s, DRAM, 4096, 100, 128); library.ttmem_scope_pop()')
        self.assertEqual(self.changes("mark:step1", "now"), [("cache", "came", 0, 128)])
        client.run("library.ttmem_mark(b'step1')")
        self.assertEqual(self.changes("mark:step1", "now"), [], "the last mark with this name")
        client.run('scope("late"); allocate(s, DRAM, 8192, 100, 128); library.ttmem_scope_pop()')
        self.output_of("mark", "step1")
        self.assertEqual(self.changes("mark:step1", "now"), [], "a mark of the host comes first")
        self.assertIn("there is no mark 'step2'", self.ttmem("diff", "mark:step2", "now").stderr)

    def test_marks_of_processes_are_compared_without_a_daemon(self):
        self.expect_marks_of_processes()

    def test_marks_of_processes_are_compared_with_a_daemon(self):
        self.daemon("--quiet")
        self.expect_marks_of_processes()

    def test_an_unknown_mark_and_a_wrong_name_are_named(self):
        missing = self.ttmem("diff", "mark:x", "now")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("there is no mark 'x' (set one with 'ttmem mark x')", missing.stderr)
        self.output_of("mark", "y")
        self.assertIn("there is no mark 'x' (there are: y)", self.ttmem("diff", "mark:x", "now").stderr)
        for name in ("a/b", "", "x" * 65):
            refused = self.ttmem("mark", name)
            self.assertEqual(refused.returncode, 2, name)
            self.assertIn("must be 1 to 64 letters", refused.stderr)

    def test_the_oldest_marks_make_room_and_an_unreadable_one_is_named(self):
        folder = os.path.join(self.state_directory, "ttmem", "marks")
        os.makedirs(folder)
        for i in range(256):
            with open(os.path.join(folder, f"{i:020}.old{i}"), "w") as file:
                file.write("{")
        self.output_of("mark", "new")
        self.assertEqual(len(os.listdir(folder)), 256)
        self.assertNotIn("old0", self.output_of("mark", "--list").split())
        self.assertIn("can't read the mark old1", self.ttmem("diff", "mark:old1", "now").stderr)

    def test_reports_of_runs_are_compared_by_their_peaks(self):
        paths = [os.path.join(self.folder, f"{which}.json") for which in ("a", "b")]
        for path, scenario in zip(paths, ("leak", "matmul-single-core")):
            self.succeed("run", "--report", path, "--", SIMULATOR, scenario)
        view = self.json_of("diff", *paths)
        self.assertTrue(view["of_peaks"] and view["growing"])
        self.assertEqual(self.changes(paths[0], paths[0]), [])
        with open(paths[0]) as file:
            names = {(layer["kind"], layer["name"]): layer["requested"] for layer in json.load(file)["peak_by_name"]}
        for one in self.json_of("diff", "--limit", "0", *paths)["changes"]:
            self.assertEqual(one["before"], names.get((one["kind"], one["name"]), 0))
        mixed = self.ttmem("diff", paths[0], "now")
        self.assertEqual(mixed.returncode, 1)
        self.assertIn("can be compared with those of another report only", mixed.stderr)
        self.assertIn("only a recording has moments", self.ttmem("diff", paths[0] + "@+1s", "now").stderr)

    def test_moments_of_a_recording_are_compared(self):
        path = os.path.join(self.folder, "run.ttmem")
        self.succeed("record", "-o", path, "--from-start", "--", SIMULATOR, "leak")
        sides = (path + "@+0s", path + "@peak:dram")
        changes = self.json_of("diff", *sides)["changes"]
        self.assertTrue(any(one["verdict"] == "came" and one["kind"] == "dram" for one in changes), changes)
        [process] = self.json_of("ps", "--recording", path, "--at", "peak:dram")["processes"]
        self.assertEqual({one["pid"] for one in changes}, {process["pid"]})
        # The bytes are those of the allocations at that moment, by name, kind and device.
        sums: dict[tuple, int] = {}
        for one in self.json_of("allocations", "--limit", "0", "--recording", path, "--at", "peak:dram")["allocations"]:
            key = (one["name"] or "", one["kind"], *one["devices"])
            sums[key] = sums.get(key, 0) + (one["used"] or 0)
        self.assertEqual({(one["name"] or "", one["kind"], *one["devices"]): one["after"] for one in
                          self.json_of("diff", "--limit", "0", *sides)["changes"]}, {key: used for key, used in sums.items() if used})
        self.assertIn(" changed", self.output_of("diff", *sides))
        self.assertIn(f" | {process['pid']} | ", self.output_of("diff", "--markdown", *sides))
        self.assertEqual(self.ttmem("diff", "--fail", *sides).returncode, 3)
        self.assertEqual(self.ttmem("diff", "--fail", *reversed(sides)).returncode, 0)
        self.assertEqual({verdict for _, verdict, _, _ in self.changes(*reversed(sides))}, {"gone"})
        self.assertEqual(self.changes(path, path), [])
        outside = self.ttmem("diff", path + "@+1000s", path)
        self.assertEqual(outside.returncode, 1)
        self.assertIn("'+1000s': outside the recording, which goes from", outside.stderr)
        self.assertIn("the recording has no marks", self.ttmem("diff", path + "@mark:x", path).stderr)

    def test_the_name_of_a_mark_of_a_recording_may_have_an_at_sign(self):
        path = os.path.join(self.folder, "a@b.ttmem")
        process = self.tracked_process('mesh = open_set([device(0x11)], "mesh")')
        recorder = subprocess.Popen([TTMEM, "record", "-o", path, "--direct"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    env=self.environment())
        self.addCleanup(recorder.communicate)
        self.addCleanup(recorder.terminate)
        wait_until(lambda: str(process.pid) in self.ttmem("ps", "--recording", path).stdout, "it is recorded")
        process.run("library.ttmem_mark(b'x@y')\nlibrary.ttmem_allocate(mesh, DRAM, 4096, 64, 768, 1)")
        wait_until(lambda: "allocation" in self.ttmem("events", "--recording", path).stdout, "the allocation is recorded")
        changes = self.json_of("diff", path + "@mark:x@y", path)["changes"]
        self.assertEqual([(one["before"], one["after"]) for one in changes], [(0, 768)])

    def test_two_recordings_are_compared_by_name(self):
        paths = [os.path.join(self.folder, f"{which}.ttmem") for which in ("a", "b")]
        for path, scenario in zip(paths, ("matmul-single-core", "leak")):
            self.succeed("record", "-o", path, "--from-start", "--", SIMULATOR, scenario)
        sides = [path + "@peak:dram" for path in paths]
        view = self.json_of("diff", *sides)
        self.assertEqual({one["pid"] for one in view["changes"]}, {None})
        self.assertTrue(view["growing"])
        used = [self.json_of("status", "--recording", path, "--at", "peak:dram")["devices"][0]["memory"]["dram"]["used"] for path in paths]
        dram = self.json_of("diff", "--kind", "dram", *sides)
        self.assertEqual([dram["a"]["used"], dram["b"]["used"]], used)

    def test_what_is_neither_is_refused(self):
        path = os.path.join(self.folder, "text")
        for text in ("{}", "nothing", ""):
            with open(path, "w") as file:
                file.write(text)
            refused = self.ttmem("diff", path, "now")
            self.assertEqual(refused.returncode, 1, text)
            self.assertIn(path, refused.stderr)
            self.assertIn("recording", refused.stderr)
        missing = self.ttmem("diff", "yesterday", "now")
        self.assertIn("must be now, mark:NAME", missing.stderr)


if __name__ == "__main__":
    main()
