#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports in viewers that run on Debian 12: speedscope, and the pages of Go's pprof, both in Chromium. docs/exports has their pictures."""

import os
import re
import socket
import subprocess
import sys
import tempfile

from harness.test_case import TestCase, main

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("recording", "web"):
    sys.path.insert(0, os.path.join(HERE, "..", folder))
from browser import SKIPPED, Browser, missing  # noqa: E402
from recorder_process import RecorderProcess  # noqa: E402

PPROF = "/usr/lib/go-1.19/pkg/tool/linux_amd64/pprof"
SPEEDSCOPE = os.path.join(HERE, "viewers", "node_modules", "speedscope", "dist", "release", "index.html")
PICTURES = os.path.join(HERE, "..", "..", "docs", "exports")


class Viewers(TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-exports-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def export(self) -> str:
        """The profile of a model at its second token."""
        simulator = self.simulator("transformer-dp4")
        simulator.go_to("kv cache")
        recording, path = os.path.join(self.folder, "run.ttmem"), os.path.join(self.folder, "model.pb.gz")
        recorder = RecorderProcess(self, recording, "--force")
        recorder.wait_for(simulator.pid)
        simulator.go_to("decode 2")
        recorder.wait_for_rounds()
        self.assertEqual(recorder.stop()[0], 0)
        done = self.ttmem("export", "--force", "--format", "pprof", "--recording", recording, "-o", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.allocations = self.json_of("allocations", "--limit", "0", "--recording", recording)["allocations"]
        return path

    def tab(self, url: str):
        tab = self.browser.open(url, width=1100, height=300, scheme="light")
        self.addCleanup(tab.close)
        return tab

    def check_picture(self, tab, name: str, most: float):
        """The picture in the documents is this one, but for numbers of processes."""
        stored = os.path.join(PICTURES, f"{name}.png")
        if os.environ.get("TTMEM_UPDATE_GOLDEN") == "1":
            os.makedirs(PICTURES, exist_ok=True)
            tab.picture(path=stored, whole=False)
        else:
            now = os.path.join(self.folder, "now.png")
            tab.picture(path=now, whole=False)
            # One tile: numbers may be anywhere.
            found = self.browser.run("difference", one=stored, other=now, tile=10_000, share=most, leftOut=[])
            self.assertEqual(found, [], name)

    def test_speedscope_shows_the_scopes_with_their_bytes(self):
        path = self.export()
        tab = self.tab(f"file://{os.path.realpath(SPEEDSCOPE)}")
        tab.wait_for("document.querySelector('input[type=file]') !== null")
        tab.files(selector="input[type=file]", paths=[path])
        tab.wait_for("document.querySelector('canvas') !== null && document.title.includes('model.pb.gz')")
        tab.press(key="2")  # left heavy: equal stacks are one
        tab.sleep(seconds=1)  # its zoom is animated, and nothing says when it is over
        self.check_picture(tab, "speedscope", 0.05)
        tab.size(width=1100, height=900)
        tab.press(key="3")  # a table of all names, as far as the window shows them
        tab.wait_for("document.querySelectorAll('table tr').length > 20")
        rows = tab.value("[...document.querySelectorAll('table tr')].map((row) => row.innerText.replace(/\\s+/g, ' '))")
        self.assertTrue(any(re.search(r"\b(kv_cache)", row) for row in rows), rows)
        [model] = [row for row in rows if re.search(r"(^| )model( |$)", row)]
        total = float(re.match(r"([\d.]+) GB \(\d+%\) 0 B ", model)[1])
        held = sum(one["used"] * len(one["devices"]) for one in self.allocations if (one["name"] or "").startswith("model/"))
        self.assertAlmostEqual(total, held / 1024**3, delta=0.01)

    def test_the_flame_graph_of_pprof_has_every_scope(self):
        path = self.export()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen([PPROF, f"-http=127.0.0.1:{port}", "-no_browser", path], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env=self.environment(HOME=self.folder, PPROF_TMPDIR=self.folder))
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        url = next(match[0] for line in server.stderr for match in [re.search(r"http://\S+", line)] if match)
        tab = self.tab(url + "/ui/flamegraph")
        tab.wait_for("[...document.querySelectorAll('svg g')].some((one) => one.textContent.includes('model'))")
        tab.sleep(seconds=1)
        self.check_picture(tab, "pprof", 0.05)
        scopes = tab.value("[...document.querySelectorAll('svg g')].map((one) => one.textContent)")
        # Each layer, with its share of the parts of one name.
        for name in ("model", "embedding", *(f"decoder.{layer}" for layer in range(8))):
            self.assertTrue(any(re.search(rf"\b{re.escape(name)}\b", scope) for scope in scopes), (name, scopes[:20]))


if __name__ == "__main__":
    lacking = missing() or ("" if os.path.exists(SPEEDSCOPE) else "npm could not be reached during the build")
    if lacking:
        print(f"SKIPPED: {lacking}")
        sys.exit(SKIPPED)
    main()
