#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Snapshots of this process in PyTorch's own reader (Debian's python3-torch, 1.13), which knows segments and blocks, and no traces."""

import ast
import os
import pickle
import re
import subprocess
import sys
import tempfile

from harness.programs import clean_environment
from harness.python_package import run_script
from harness.test_case import TestCase, main

PYTHON = "/usr/bin/python3"
SKIPPED = 77
READ = """
import pickle, sys
from torch.cuda import _memory_viz
before, after = (pickle.load(open(path, "rb"))["segments"] for path in sys.argv[1:])
print({name: getattr(value, "value", value) for name, value in _memory_viz.stats(after).items()})
print(_memory_viz.memory(after, format_flamegraph=lambda lines: lines))
print(_memory_viz.segments(after, format_flamegraph=lambda lines: lines))
print(_memory_viz.compare(before, after, format_flamegraph=lambda lines: "compared: " + str(len(lines))))
"""


class PyTorch(TestCase):
    def test_its_reader_has_the_bytes_of_every_state(self):
        self.daemon()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-snapshots-")
        self.addCleanup(folder.cleanup)
        paths = [os.path.join(folder.name, name) for name in ("before.pickle", "after.pickle")]
        used = run_script(f"""
            import ttmem
            from simulated_runtime import DRAM, L1, TRACE, Device
            device = Device(trace_region_size=16 << 20)
            with ttmem.scope("weights"):
                kept = [device.allocate(size << 20, kind) for kind in (DRAM, L1) for size in (1, 5, 3, 2)]
            ttmem._dump_snapshot({paths[0]!r})
            kept.pop(5).free()
            kept.pop(1).free()
            kept.append(device.allocate(64 << 10, TRACE))
            device.run("conv2d", [4096, 8192], cores=(2, 2))
            ttmem._dump_snapshot({paths[1]!r}, include_traces=True)
            answer({{each.kind: each.used for each in ttmem.map(0).maps if each.kind != "cb"}})
        """, self.directory.path, observed=True)
        done = subprocess.run([PYTHON, "-c", READ, *paths], capture_output=True, text=True, timeout=300, env=clean_environment(HOME=folder.name))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(paths[1], "rb") as file:
            segments = pickle.load(file)["segments"]
        stats = ast.literal_eval(done.stdout.splitlines()[0])
        self.assertEqual(stats, {"segments": len(segments), "total_size": sum(each["total_size"] for each in segments),
                                 "active_allocated": sum(used.values()),
                                 "inactive": sum(each["total_size"] for each in segments) - sum(used.values())})
        lines = re.findall(r"^stream_0;(\w+) (\d+)$", done.stdout, re.MULTILINE)
        self.assertEqual(sum(int(size) for state, size in lines if state == "active_allocated"), sum(used.values()))
        for segment in segments:
            self.assertIn(f"stream_0;seg_{segment['address']};", done.stdout)
        self.assertIn("compared: ", done.stdout)


if __name__ == "__main__":
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode != 0:
        print("SKIPPED: python3-torch is not installed")
        sys.exit(SKIPPED)
    main()
