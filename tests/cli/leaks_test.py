#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'ttmem leaks': marks of a living process, with and without a daemon."""

import os
import tempfile

from harness.test_case import TestCase, main

# One name grows at each step, one fills at the first two and stays.
STEPS = """
for step in range(4):
    scope("decoder")
    allocate(s, DRAM, 4096 * step, 1000, 1024)
    library.ttmem_scope_pop()
    if step < 2:
        scope("cache")
        allocate(s, DRAM, 1048576 + 4096 * step, 100, 128)
        library.ttmem_scope_pop()
    assert mark("step") == 1
"""


class Leaks(TestCase):
    def leaks(self, *words: str) -> list[tuple]:
        return [(leak["name"], leak["verdict"], leak["marks"], leak["per_mark"]) for leak in self.json_of("leaks", *words)["leaks"]]

    def expect_answers(self):
        found = [("decoder", "growing", 4, 1024), ("cache", "plateau", 2, 128)]
        self.assertEqual(self.leaks(), found)
        self.assertEqual(self.leaks("--mark", "step", "--marks", "4"), found)
        self.assertEqual(self.leaks("--mark", "other"), [])
        self.assertEqual(self.leaks("--kind", "l1"), [])
        self.assertIn("1 name grows from mark to mark", self.output_of("leaks"))
        self.assertEqual(self.ttmem("leaks", "--fail").returncode, 3)
        self.assertEqual(self.ttmem("leaks", "--fail", "--name", "cache").returncode, 0)
        for few in ("0", "2"):
            refused = self.ttmem("leaks", "--marks", few)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(f"'{few}': must be 3 or greater", refused.stderr)

    def test_names_that_grow_are_told_apart_from_caches(self):
        self.tracked_process("s = open_set([device(0xa1)])" + STEPS)
        self.expect_answers()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "suppressions")
            with open(path, "w") as file:
                file.write("# known\n  dec*  # all decoders\n\n")
            self.assertEqual(self.leaks("--suppressions", path), [("cache", "plateau", 2, 128)])
            self.assertEqual(self.ttmem("leaks", "--fail", "--suppressions", path).returncode, 0)
            with open(path, "w") as file:
                file.write("/(/\n")
            done = self.ttmem("leaks", "--suppressions", path)
            self.assertEqual(done.returncode, 1)
            self.assertIn("line 1", done.stderr)
            self.assertEqual(self.ttmem("leaks", "--suppressions", os.path.join(folder, "none")).returncode, 1)

    def test_the_daemon_gives_the_same_answer(self):
        daemon = self.daemon("--quiet")
        client = self.tracked_process("s = open_set([device(0xa1)])" + STEPS)
        daemon.wait_for(client.pid)
        self.expect_answers()


if __name__ == "__main__":
    main()
