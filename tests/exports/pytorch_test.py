#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A memory snapshot in PyTorch's own reader (Debian's python3-torch, 1.13), which knows segments and blocks, and no traces."""

import ast
import json
import os
import re
import subprocess
import sys
import tempfile

from harness.test_case import TestCase, main

READ = """
import pickle, sys
from torch.cuda import _memory_viz
before, after = (pickle.load(open(path, "rb"))["segments"] for path in sys.argv[1:])
stats = _memory_viz.stats(after)
print({name: getattr(value, "value", value) for name, value in stats.items()})
print(_memory_viz.memory(after, format_flamegraph=lambda lines: lines))
print(_memory_viz.compare(before, after, format_flamegraph=lambda lines: "compared: " + str(len(lines))))
"""
PYTHON = "/usr/bin/python3"
SKIPPED = 77


class PyTorch(TestCase):
    def test_its_reader_has_the_bytes_of_every_state(self):
        folder = tempfile.TemporaryDirectory(prefix="ttmem-exports-")
        self.addCleanup(folder.cleanup)
        simulator = self.simulator("transformer-dp4")
        simulator.go_to("weights")
        paths = [os.path.join(folder.name, name) for name in ("before.pickle", "after.pickle")]
        for path, step in zip(paths, ("kv cache", "decode 1")):
            simulator.go_to(step)
            done = self.ttmem("export", "--format", "memory-viz", "-o", path)
            self.assertEqual(done.returncode, 0, done.stderr)
        snapshot = os.path.join(folder.name, "after.json")
        self.assertEqual(self.ttmem("export", "--format", "memory-viz", "-o", snapshot).returncode, 0)
        with open(snapshot, encoding="utf-8") as file:
            segments = json.load(file)["segments"]
        done = subprocess.run([PYTHON, "-c", READ, *paths], capture_output=True, text=True, timeout=300,
                              env=self.environment(HOME=folder.name))
        self.assertEqual(done.returncode, 0, done.stderr)
        stats = ast.literal_eval(done.stdout.splitlines()[0])
        self.assertEqual(stats["segments"], len(segments))
        for state in ("active_allocated", "inactive"):
            self.assertEqual(stats[state], sum(block["size"] for segment in segments for block in segment["blocks"]
                                               if block["state"] == state))
        self.assertEqual(stats["total_size"], sum(segment["total_size"] for segment in segments))
        lines = re.findall(r"^stream_\d+;(\w+) (\d+)$", done.stdout, re.MULTILINE)
        self.assertEqual(sum(int(size) for state, size in lines if state == "active_allocated"), stats["active_allocated"])
        self.assertIn("compared: ", done.stdout)


if __name__ == "__main__":
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode != 0:
        print("SKIPPED: python3-torch is not installed")
        sys.exit(SKIPPED)
    main()
