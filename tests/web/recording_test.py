#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings that are opened in the page: the figures of the command line at any moment, whole and cut files."""

import base64
import json
import os
import sys
import tempfile
import unittest

from browser import PageCase, human, missing, SKIPPED, Tab
from harness.programs import SIMULATOR
from harness.waiting import wait_until

KINDS = ("dram", "l1", "l1_small", "trace", "cb", "kernel")
ROWS = "[...document.querySelectorAll('main tbody tr')].map(row => [...row.cells].map(cell => cell.innerText.trim()))"


def held(process: dict, kind: str) -> str:
    """As the page shows it: unknown before the process has opened a device."""
    return human(sum(one["memory"][kind]["used"] for one in process["devices"])) if process["devices"] else "-"


class Recordings(PageCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-recordings-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "run.ttmem")

    def record(self, *command: str) -> str:
        done = self.ttmem("record", "-o", self.path, "--force", "--from-start", "--", SIMULATOR, *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path

    def open(self, path: str) -> Tab:
        tab = self.tab()
        tab.files(selector=".open-button input", paths=[path])
        return tab

    def move(self, tab: Tab, share: float) -> str:
        """Moves the slider. Returns the moment as --at takes it."""
        ms = tab.value("(share => { const slider = document.querySelector('.recording input'); slider.value = Math.floor(slider.max * share);"
                       " const ms = Number(slider.value);"
                       f" slider.dispatchEvent(new Event('input', {{bubbles: true}})); return ms; }})({share})")
        at = f"+{ms / 1000:.3f}s"
        tab.wait_for(f"document.querySelector('.recording output').innerText.startsWith('{at} ')")
        return at

    def assert_same(self, tab: Tab, path: str, at: str):
        view = json.loads(self.ttmem("status", "--recording", path, "--at", at, "--json").stdout)
        expected = sorted([str(process["pid"])] + [held(process, kind) for kind in KINDS] for process in view["processes"])
        tab.wait_for("location.hash === '#/processes'")
        # The slider and the rows are drawn one after the other.
        wait_until(lambda: sorted([row[0]] + row[4:10] for row in tab.value(ROWS) if len(row) > 10) == expected, f"{expected} at {at}")

    def test_the_figures_are_those_of_the_command_line_at_every_moment(self):
        self.start()
        for command in (("transformer-dp4", "--board", "t3000"), ("fragmentation", "--board", "n150"), ("churn", "--board", "n300", "--live", "500", "--seconds", "0.3")):
            path = self.record(*command)
            with self.subTest(command):
                tab = self.open(path)
                tab.wait_for("document.querySelector('.recording output') !== null")
                tab.press(key="p")
                seen = set()
                for share in (0, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95):
                    at = self.move(tab, share)
                    self.assert_same(tab, path, at)
                    seen.add(json.dumps(tab.value(ROWS)))
                self.assertGreater(len(seen), 1, "nothing changed")
                self.assert_quiet(tab)

    def test_every_view_shows_the_moment(self):
        self.start()
        path = self.record("transformer-dp4", "--board", "t3000")
        tab = self.open(path)
        tab.wait_for("document.querySelector('.recording-moments button') !== null")
        tab.click(selector=".recording-moments button")
        at = tab.wait_for("document.querySelector('.recording output').innerText.split(' ')[0]")
        view = self.json_of("status", "--recording", path, "--at", "peak:dram")
        dram = sum(device["memory"]["dram"]["used"] for device in view["devices"])
        tab.wait_for(f"document.querySelector('.figure-value')?.innerText === '{human(dram)}'")
        self.assertNotEqual(at, "")
        tab.press(key="m")
        tab.wait_for_text(f"{human(dram)} in ")
        tab.wait_for_text("Bytes over all devices of each allocation.")
        groups = self.json_of("allocations", "--recording", path, "--at", "peak:dram", "--group-by", "name", "--kind", "dram", "--name", "embedding")["groups"]
        some = sum(group["memory"]["dram"]["used"] for group in groups)
        self.assertTrue(0 < some < dram)
        tab.value("location.hash = '/memory?kind=dram&name=embedding'")
        tab.wait_for_text(f"{human(some)} in ")
        live = self.json_of("allocations", "--recording", path, "--at", "peak:dram", "--kind", "kernel", "--limit", "10000")["allocations"]
        types = {one["kernel_type"] for one in live}
        self.assertGreater(len(types), 0)
        tab.value("location.hash = '/memory?view=list&kind=kernel'")
        for kernel_type in types:
            tab.wait_for(f"[...document.querySelectorAll('.rows .row')].some(one => one.innerText.includes('({kernel_type})'))")
        tab.press(key="h")
        tab.press(key="/")
        tab.wait_for("document.querySelectorAll('.rows .row').length > 10")
        tab.press(key="Escape")
        tab.press(key="0")
        tab.wait_for("document.querySelector('.chart canvas') !== null")
        tab.wait_for_text("does not show this of a recording")
        self.assert_quiet(tab)

    def test_address_maps_are_those_of_the_command_line(self):
        self.start()
        for command, moments in ((("fragmentation", "--board", "n150"), ("failure 1", "peak dram")),
                                 (("transformer-dp4", "--board", "t3000"), ("peak dram", "peak trace"))):
            path = self.record(*command)
            # Numbers go on from recording to recording.
            device = str(self.json_of("status", "--recording", path, "--at", "peak:dram")["devices"][0]["id"])
            tab = self.open(path)
            for moment in moments:
                tab.wait_for(f"[...document.querySelectorAll('.recording-moments button')].some(one => one.innerText === '{moment}')")
                tab.value(f"[...document.querySelectorAll('.recording-moments button')].find(one => one.innerText === '{moment}').click()")
                for kind in ("dram", "trace"):
                    at = moment.replace(" ", ":")
                    maps = self.json_of("map", "--recording", path, "--at", at, "--device", device, "--kind", kind)["maps"]
                    tab.value(f"location.hash = '/memory?view=map&device={device}&kind={kind}'")
                    tab.wait_for(f"document.querySelectorAll('.address-map canvas').length === {len(maps)}")
                    for one in maps:
                        bank = one["bank"]
                        tab.wait_for_text(f"One of {bank['banks']} banks of {human(bank['size'])}: {human(one['used'])} used, {human(one['free'])} free, "
                                          f"largest block {human(one['largest_free'])}.")
            # The keyboard reaches each block.
            tab.value(f"location.hash = '/memory?view=map&device={device}&kind=dram'")
            maps = self.json_of("map", "--recording", path, "--at", moments[-1].replace(" ", ":"), "--device", device, "--kind", "dram")["maps"]
            tab.wait_for(f"document.querySelectorAll('.address-map canvas').length === {len(maps)}")
            tab.wait_for("(document.querySelectorAll('.address-map canvas')[0].focus(), true)")
            for block in maps[0]["blocks"][:4]:
                tab.press(key="n")
                tab.wait_for_text(f"{'free' if block['is_free'] else block['name']}: 0x{block['address']:x}")
            self.assert_quiet(tab)

    def test_a_failure_is_a_moment(self):
        self.start()
        path = self.record("oom-dram")
        tab = self.open(path)
        tab.wait_for("[...document.querySelectorAll('.recording-moments button')].some(one => one.innerText === 'failure 1')")
        tab.value("[...document.querySelectorAll('.recording-moments button')].find(one => one.innerText === 'failure 1').click()")
        tab.press(key="f")
        [failure] = self.json_of("why", "--recording", path, "--at", "failure:1")["failures"]
        tab.wait_for_text("Not enough")
        tab.wait_for_text(human(failure["missing"]))
        tab.wait_for_text(human(failure["needed"]))
        self.assert_quiet(tab)

    def test_each_failure_is_the_moment_of_the_command_line(self):
        """Also those of a process that has ended since, and more than one."""
        self.start()
        path = self.record("fragmentation", "--board", "n150")
        tab = self.open(path)
        wanted = [one for one in self.json_of("events", "--recording", path)["events"] if one["what"] == "failure"]
        self.assertGreater(len(wanted), 0)
        titles = tab.wait_for("document.querySelector('.recording-moments') && [...document.querySelectorAll('.recording-moments button')].map(one => one.innerText)")
        self.assertEqual([one for one in titles if one.startswith("failure")], [f"failure {i + 1}" for i in range(min(len(wanted), 20))])
        tab.press(key="f")
        for number in range(1, min(len(wanted), 3) + 1):
            tab.value(f"[...document.querySelectorAll('.recording-moments button')].find(one => one.innerText === 'failure {number}').click()")
            failures = self.json_of("why", "--recording", path, "--at", f"failure:{number}")["failures"]
            tab.wait_for(f"document.querySelectorAll('.failure-card').length === {len(failures)}")
            tab.wait_for_text(human(failures[0]["needed"]))
        self.assert_quiet(tab)

    def test_marks_are_moments_and_lie_on_the_time_line(self):
        self.start()
        code = ("from harness.libttmem import DRAM, allocate, device, mark, open_set\n"
                "s = open_set([device(16)])\n"
                "for step in range(3):\n"
                "    allocate(s, DRAM, 1048576 * (step + 1), 4096, 4096)\n"
                "    mark('warm' if step == 0 else 'step')\n")
        done = self.ttmem("record", "-o", self.path, "--from-start", "--", sys.executable, "-c", code)
        self.assertEqual(done.returncode, 0, done.stderr)
        tab = self.open(self.path)
        titles = tab.wait_for("document.querySelector('.recording-moments') && [...document.querySelectorAll('.recording-moments button')].map(one => one.innerText)")
        self.assertEqual([one for one in titles if one.startswith("mark")], ["mark warm", "mark step"])
        tab.value("[...document.querySelectorAll('.recording-moments button')].find(one => one.innerText === 'mark step').click()")
        at = self.json_of("status", "--recording", self.path, "--at", "mark:step")
        self.assertEqual(at["devices"][0]["memory"]["dram"]["used"], 8192)
        tab.wait_for("document.querySelector('.figure-value')?.innerText === '8.0 KiB'")
        tab.press(key="0")
        tab.wait_for_text("mark warm")
        tab.wait_for_text("mark step")

    def test_a_cut_recording_shows_what_is_whole_and_says_so(self):
        self.start()
        path = self.record("transformer-dp4", "--board", "t3000")
        with open(path, "rb") as file:
            whole = file.read()
        cut = path + ".cut"
        for share in (0.9, 0.6):
            with open(cut, "wb") as file:
                file.write(whole[:int(len(whole) * share)])
            tab = self.open(cut)
            said = self.ttmem("status", "--recording", cut).stderr
            for problem in tab.wait_for("[...document.querySelectorAll('.recording .notice')].map(one => one.innerText)"):
                self.assertIn(problem, said)
            self.assertIn("the recording was cut", tab.text())
            tab.press(key="p")
            for moment in (0.5, 0.9):
                self.assert_same(tab, cut, self.move(tab, moment))

    def test_a_foreign_file_gives_the_message_of_the_command_line(self):
        self.start()
        tab = self.tab()
        for content in (b"", b"PNG and so on", b"TTMEMREC\1\0\0\0", b"TTMEMREC\7" + bytes(100)):
            with open(self.path, "wb") as file:
                file.write(content)
            said = self.ttmem("status", "--recording", self.path).stderr.replace(self.path, "run.ttmem").replace("this program", "this page")
            tab.files(selector=".open-button input", paths=[self.path])
            shown = tab.wait_for("document.querySelector('.banner[role=alert]')?.innerText.replace(/ close$/, '').replace(/\\n/g, ' ').trim()")
            self.assertIn(shown.removesuffix("close").strip(), said)
            tab.click(selector=".banner button")
        tab.wait_for("document.querySelector('.chip.ok .dot') !== null")

    def test_a_dropped_file_is_opened_and_nothing_is_sent(self):
        self.start()
        path = self.record("transformer-dp4", "--board", "t3000")
        tab = self.tab()
        count = "performance.getEntriesByType('resource').length"
        with open(path, "rb") as file:
            content = base64.b64encode(file.read()).decode()
        tab.value(f"""(() => {{
            const bytes = Uint8Array.from(atob("{content}"), one => one.charCodeAt(0));
            const data = new DataTransfer();
            data.items.add(new File([bytes], "dropped.ttmem"));
            document.body.dispatchEvent(new DragEvent("drop", {{dataTransfer: data, bubbles: true, cancelable: true}}));
        }})()""")
        tab.wait_for_text("dropped.ttmem")
        tab.wait_for("document.querySelectorAll('.chip-cell').length === 4 || document.querySelector('.empty') !== null")
        before = tab.value(count)
        tab.press(key="m")
        self.move(tab, 0.5)
        tab.press(key="p")
        tab.wait_for("location.hash === '#/processes'")
        self.assertEqual(tab.value(count), before)
        tab.value("[...document.querySelectorAll('.recording-line button')].find(one => one.innerText === 'back to live').click()")
        tab.wait_for("document.querySelector('.chip.ok .dot') !== null && document.querySelector('.recording') === null")
        self.assert_quiet(tab)


if __name__ == "__main__":
    if why := missing():
        print(f"SKIPPED: {why}")
        sys.exit(SKIPPED)
    unittest.main()
