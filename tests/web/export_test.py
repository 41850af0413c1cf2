#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'ttmem export --format html': one file that shows in the browser what the command line says, without a daemon and without a network."""

import json
import os
import re
import stat
import sys
import tempfile
import unittest

from browser import PageCase, human, missing, SKIPPED, Tab
from harness.programs import SIMULATOR
from harness.waiting import wait_until

CELLS = "[...document.querySelectorAll('.chip-cell')].map(one => one.innerText)"
MARKED = """
from harness.libttmem import DRAM, allocate, device, mark, open_set
s = open_set([device(16)])
for step in range(3):
    allocate(s, DRAM, 1048576 * (step + 1), 4096, 4096)
    mark('warm' if step == 0 else '<b>step')
"""


class ExportedPage(PageCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-html-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def export(self, name: str, *arguments: str) -> str:
        done = self.ttmem("export", "--format", "html", "-o", self.path(name), *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stderr
        return self.path(name)

    def record(self, *command: str) -> str:
        path = self.path("run.ttmem")
        done = self.ttmem("record", "-o", path, "--force", "--from-start", "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def opened(self, path: str, view: str = "/") -> Tab:
        tab = self.browser.open(f"file://{path}#{view}")
        self.addCleanup(tab.close)
        tab.wait_for("document.querySelector('main') !== null")
        return tab

    def data_of(self, path: str) -> dict:
        with open(path, encoding="utf-8") as file:
            found = re.search(r'<script type="application/json" id="ttmem-data">(.*?)</script>', file.read(), re.DOTALL)
        return json.loads(found[1])

    def assert_no_network(self, tab: Tab):
        self.assertEqual(tab.value("performance.getEntriesByType('resource').map(one => one.name)"), [])
        self.assert_quiet(tab)

    def test_the_living_host_is_shown_without_its_daemon(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        live = self.tab()
        live.wait_for("document.querySelectorAll('.chip-cell').length === 4")
        cells = live.value(CELLS)
        wait_until(lambda: self.host.get("/v1/history?device=0")["series"], "the history has a sample")
        path = self.export("host.html")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        view = self.host.view()
        maps = self.host.get("/v1/map?device=3&kind=dram&limit=10000")["maps"]
        self.host.stop()
        tab = self.opened(path)
        tab.wait_for("document.querySelectorAll('.chip-cell').length === 4")
        self.assertEqual(tab.value(CELLS), cells)
        total = sum(device["memory"]["dram"]["used"] for device in view["devices"])
        tab.press(key="m")
        tab.wait_for("document.querySelector('.scope-canvas canvas') !== null")
        tab.wait_for_text(f"{human(total)} in ")
        tab.press(key="0")
        tab.wait_for("document.querySelector('.chart canvas') !== null")
        tab.wait_for_text("Core 0,0")
        tab.value("location.hash = '/memory?view=map&device=3'")
        tab.wait_for(f"document.querySelectorAll('.address-map canvas').length === {len(maps)}")
        tab.wait_for_text(f"largest gap {human(maps[0]['largest_free'])}")
        self.assert_no_network(tab)

    def test_the_command_and_the_button_save_the_same(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        tab = self.tab()
        tab.wait_for("document.querySelectorAll('.chip-cell').length === 4")
        by_button = self.path("button.html")
        tab.download(selector="button[title^=Save]", path=by_button)
        saved, exported = self.data_of(by_button), self.data_of(self.export("host.html"))
        self.assertEqual(set(exported), set(saved))
        for address in ("/v1/status", "/v1/map?device=0&kind=dram&limit=10000"):
            self.assertEqual(set(exported[address]), set(saved[address]))

    def test_without_a_daemon_it_is_read_directly_and_has_no_time_line(self):
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        path = self.export("host.html")
        self.assertIn("no time line", self.said)
        tab = self.opened(path)
        tab.wait_for("document.querySelectorAll('.chip-cell').length === 4")
        tab.wait_for_text(f"ttmem-sim {simulator.pid}")
        self.assert_no_network(tab)

    def test_a_failure_of_a_recording_is_a_card_with_its_map(self):
        recording = self.record(SIMULATOR, "fragmentation", "--board", "n150")
        path = self.export("failure.html", "--recording", recording)
        self.assertIn("the page shows failure:1", self.said)
        [failure] = self.json_of("why", "--recording", recording, "--at", "failure:1")["failures"]
        tab = self.opened(path, "/failures")
        tab.wait_for_text(failure["verdict"].capitalize())
        tab.wait_for_text(human(failure["missing"]))
        tab.wait_for("document.querySelector('.failure-card .address-map canvas') !== null")
        tab.wait_for_text("What would have made it fit")
        tab.size(width=1280, height=780)
        tab.wait_for("document.querySelectorAll('.skeleton').length === 0")
        self.check_picture(tab, "exports/html.png", failure["pid"], ".failure-card table, .facts, .title-row, .list")
        tab.press(key="0")
        tab.wait_for("document.querySelector('.chart canvas') !== null")
        tab.wait_for_text(failure["verdict"])
        self.assert_no_network(tab)

    def test_a_moment_of_a_recording_has_its_figures_and_its_past(self):
        recording = self.record(SIMULATOR, "transformer-dp4", "--board", "t3000")
        path = self.export("peak.html", "--recording", recording, "--at", "peak:dram")
        view = self.json_of("status", "--recording", recording, "--at", "peak:dram")
        device = view["devices"][0]
        data = self.data_of(path)
        [series] = [one for one in data[f"/v1/history?device={device['id']}"]["series"] if one["kind"] == "dram"]
        used = [sample["used"] for sample in series["samples"]]
        self.assertEqual(used[-1], device["memory"]["dram"]["used"])
        self.assertEqual(max(used), device["memory"]["dram"]["used"])
        self.assertGreater(len(set(used)), 3, "the way there")
        self.assertEqual(data["/v1/status"]["devices"], view["devices"])
        tab = self.opened(path)
        total = sum(device["memory"]["dram"]["used"] for device in view["devices"])
        tab.wait_for(f"document.querySelector('.figure-value')?.innerText === '{human(total)}'")
        for key, ready in (("m", ".scope-canvas canvas"), ("0", ".chart canvas"), ("p", "td a")):
            tab.press(key=key)
            tab.wait_for(f"document.querySelector('{ready}') !== null")
        tab.value("location.hash = '/memory?view=map&device=0'")
        tab.wait_for("document.querySelector('.address-map canvas') !== null")
        self.assert_no_network(tab)

    def test_marks_lie_on_the_time_line_and_names_are_text(self):
        recording = self.record(sys.executable, "-c", MARKED)
        path = self.export("marks.html", "--recording", recording, "--at", "mark:<b>step")
        tab = self.opened(path, "/chip/0")
        tab.wait_for_text("mark warm")
        tab.wait_for_text("mark <b>step")
        self.assertEqual(tab.value("document.querySelectorAll('main b').length"), 0)
        self.assert_no_network(tab)

    def test_an_existing_file_stays_and_an_unknown_moment_is_named(self):
        path = self.path("kept.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write("mine")
        done = self.ttmem("export", "--format", "html", "-o", path)
        self.assertEqual((done.returncode, "--force" in done.stderr), (1, True), done.stderr)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")
        recording = self.record(SIMULATOR, "fragmentation", "--board", "n150")
        done = self.ttmem("export", "--format", "html", "-o", self.path("no.html"), "--recording", recording, "--at", "mark:nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nowhere", done.stderr)
        self.assertFalse(os.path.exists(self.path("no.html")))


if __name__ == "__main__":
    if why := missing():
        print(f"SKIPPED: {why}")
        sys.exit(SKIPPED)
    unittest.main()
