#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each view of the page against what the simulated runtime holds, its links, its keys, and a daemon that comes back."""

import csv
import json
import os
import re
import sys
import tempfile
import time
import unittest

from browser import PageCase, human, missing, SKIPPED
from harness.waiting import wait_until

CELLS = "[...document.querySelectorAll('.chip-cell')].map(one => one.innerText)"
HIDE = "(isHidden => (Object.defineProperty(document, 'hidden', {value: isHidden, configurable: true}), " \
       "document.dispatchEvent(new Event('visibilitychange')), true))"
MAP_QUERY = "Object.fromEntries([...new URLSearchParams(location.search)].filter(([name]) => ['from', 'to', 'address', 'map'].includes(name)))"
ROWS = "[...document.querySelectorAll('.rows .row')].map(one => one.innerText.replaceAll('\\n', ' '))"

# Views of a host that works, and what is there when they are.
ADDRESSES = (("/", ".chip-cell"), ("/chip/0", ".column li"), ("/memory", ".scope-canvas canvas"), ("/memory?view=flame", ".scope-canvas canvas"),
             ("/memory?view=list", ".rows .row"), ("/memory?view=map", ".address-map canvas"), ("/processes", "td a"), ("/compare", ".picker"))
# Of the documents: path, what is there when all is, and what differs from run to run.
PICTURES = {
    "host": ("/", ".plain, .quiet", ""), "treemap": ("/memory", ".scope-canvas canvas", ""), "chip": ("/chip/0", ".column li", ".chart, .marks"),
    "list": ("/memory?view=list&sort=used", ".rows .row", ""), "map": ("/memory?view=map&device=0", ".address-map canvas", ""),
    "phone": ("/", ".quiet", ""), "light": ("/", ".plain, .quiet", ""),
}


class Views(PageCase):
    def truth_by_number(self, simulator) -> dict:
        """{number of the device: {kind: used}}"""
        numbers = {device["asic_id"]: device["id"] for device in self.host.view()["devices"]}
        return {numbers[asic]: {kind: used for kind, (used, _) in memory.items()}
                for asic, memory in simulator.truth.items()}

    def test_each_view_shows_what_the_allocators_hold(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        truth = self.truth_by_number(simulator)
        tab = self.tab()
        with self.subTest("host"):
            tab.wait_for(f"document.querySelectorAll('.chip-cell').length === {len(truth)}")
            for number, cell in enumerate(tab.value(CELLS)):
                self.assertIn(f"{human(truth[number]['dram'])} / ", cell)
                self.assertIn(f"ttmem-sim {simulator.pid}", cell)
                fullest = max(self.host.get(f"/v1/cores?device={number}")["cores"], key=lambda core: core["used"])
                self.assertIn(f"{human(fullest['headroom'])} free", cell)
            total = sum(memory["dram"] for memory in truth.values())
            self.assertEqual(tab.value("document.querySelector('.figure-value').innerText"), human(total))
        with self.subTest("chip"):
            tab.click(selector=".chip-cell")
            tab.wait_for("location.pathname === '/chip/0' && document.querySelectorAll('.core').length > 0")
            tab.wait_for("document.querySelectorAll('.column li').length > 1")
            pools = tab.value("[...document.querySelectorAll('.panel table')][0].innerText")
            for kind, used in truth[0].items():
                self.assertRegex(pools, rf"\n{kind}\s+{human(used)}")
            cores = self.host.get("/v1/cores?device=0")["cores"]
            self.assertEqual(tab.value("document.querySelectorAll('.core').length"), len(cores))
            capacity = self.host.get("/v1/cores?device=0")["capacity"]
            heat = "[...document.querySelectorAll('.core')].map(one => one.innerText)"
            self.assertEqual(tab.value(heat), [f"{core['used'] * 100 // capacity}%" for core in cores])
            self.assertEqual(tab.value("[...document.querySelectorAll('.core')].map(one => one.title.split(':')[0])"),
                             [f"core {core['core'][0]},{core['core'][1]}" for core in cores])
            fullest = max(cores, key=lambda core: core["used"])
            self.assertIn(f"headroom {human(fullest['headroom'])}", tab.value("document.querySelector('.title-row').innerText"))
            [l1] = self.host.get("/v1/map?device=0&kind=l1&core=0,0&limit=60")["maps"]
            column = tab.value("[...document.querySelector('.column').querySelectorAll('li')].map(one => one.lastChild.innerText)")
            self.assertEqual(column, [human(block["bytes"]) for block in reversed(l1["blocks"])])
            tab.wait_for(f"document.querySelector('.chart').getAttribute('aria-label').startsWith('dram of chip 0 over time: now dram {human(truth[0]['dram'])}.')")
        with self.subTest("memory by scope"):
            tab.press(key="m")
            tab.wait_for("document.querySelector('.scope-canvas canvas') !== null")
            tab.wait_for_text(f"{human(total)} in ")
            groups = self.host.get("/v1/allocations?group=scope&kind=dram")["groups"]
            table = tab.value("document.querySelector('.table-scroll').innerText")
            for group in groups:
                self.assertRegex(table, rf"{group['key']}/?\s+{human(group['memory']['dram']['used'])}")
            tab.click(selector="button.link")
            tab.wait_for("location.search.includes('path=model')")
            tab.wait_for_text("embedding")
            tab.goto(url=self.address() + "/memory?view=flame&kind=cb")
            tab.wait_for("document.querySelector('.scope-canvas canvas') !== null")
        with self.subTest("list"):
            listed = self.host.get("/v1/allocations?kind=dram&sort=used&limit=1000")["allocations"]
            self.assertEqual(sum(one["used"] * len(one["devices"]) for one in listed), total)
            tab.goto(url=self.address() + "/memory?view=list&kind=dram&sort=used")
            tab.wait_for("document.querySelectorAll('.rows .row').length > 10")
            rows = tab.value("[...document.querySelectorAll('.rows .row')].map(one => [...one.children].map(cell => cell.innerText))")
            for row, one in zip(rows, listed):
                self.assertEqual((row[0], row[2], row[3], row[6]), (one["name"], human(one["used"]), human(one["requested"]), f"0x{one['address']:x}"))
        with self.subTest("address map"):
            maps = self.host.get("/v1/map?device=0&kind=dram&limit=10000")["maps"]
            tab.goto(url=self.address() + "/memory?view=map&device=0")
            tab.wait_for(f"document.querySelectorAll('.address-map canvas').length === {len(maps)}")
            for one in maps:
                tab.wait_for_text(f"largest gap {human(one['largest_free'])}")
            tab.wait_for("(document.querySelectorAll('.address-map canvas')[1].focus(), true)")
            tab.press(key="n")
            first = [block for block in maps[1]["blocks"] if not block["is_free"]][0]
            tab.wait_for_text(f"{first['name']}: 0x{first['address']:x}")
        with self.subTest("processes"):
            tab.press(key="p")
            tab.wait_for("location.pathname === '/processes'")
            tab.click(selector="td a")
            tab.wait_for(f"location.pathname === '/process/{simulator.pid}'")
            tab.wait_for_text("model/embedding")
        self.assert_quiet(tab)

    def test_the_first_picture_needs_the_document_and_one_answer(self):
        """Everything else is asked for when the first picture with data is painted."""
        self.start()
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        tab = self.tab()
        asked = tab.value("performance.getEntriesByType('resource').map(one => new URL(one.name).pathname + new URL(one.name).search)")
        self.assertEqual(asked[0], "/v1/status?scan=false")
        self.assertEqual([one for one in asked if not one.startswith("/v1/")], [])
        self.assertEqual(asked.count("/v1/status?scan=false"), 1, "the answer that the document asked for is used")
        self.assert_quiet(tab)

    def test_a_change_is_shown_at_once(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "weights", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        tab = self.tab()
        before = tab.wait_for("document.querySelector('.figure-value')?.innerText")
        simulator.go_to("kv cache")
        total = sum(memory["dram"][0] for memory in simulator.truth.values())
        self.assertNotEqual(before, human(total))
        tab.wait_for(f"document.querySelector('.figure-value').innerText === '{human(total)}'")
        grown = wait_until(lambda: self.host.get("/v1/growth?limit=6")["growth"], "what grew is known")[0]["name"]
        tab.wait_for("[...document.querySelectorAll('.panel')].some(one => one.innerText.startsWith('What grows')"
                     f" && one.innerText.includes('{grown}') && one.innerText.includes('+'))")

    def test_a_tab_in_the_background_asks_nothing_and_catches_up(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "weights", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        tab = self.tab()
        before = tab.wait_for("document.querySelector('.figure-value')?.innerText")
        tab.value(f"{HIDE}(true)")
        count = "performance.getEntriesByType('resource').filter(one => one.name.includes('/v1/')).length"
        tab.wait_for("document.hidden")
        asked = tab.value(count)
        simulator.go_to("kv cache")
        total = sum(memory["dram"][0] for memory in simulator.truth.values())
        wait_until(lambda: sum(device["memory"]["dram"]["used"] for device in self.host.view()["devices"]) == total, "the daemon knows it")
        self.assertEqual(tab.value("document.querySelector('.figure-value').innerText"), before)
        self.assertLessEqual(tab.value(count) - asked, 3, "answers that were under way")
        tab.value(f"{HIDE}(false)")
        tab.wait_for(f"document.querySelector('.figure-value').innerText === '{human(total)}'")

    def test_failures_and_post_mortems(self):
        self.start()
        failed = self.failing_simulator()
        tab = self.tab("/failures")
        failure = self.host.get("/v1/failures")["failures"][0]
        tab.wait_for_text("Fragmented" if failure["verdict"] == "fragmented" else failure["verdict"].capitalize())
        tab.wait_for_text(human(failure["missing"]))
        fix = failure["card"]["fix"]
        tab.wait_for_text("What would have made it fit")
        shown = tab.value("[...document.querySelectorAll('.proposals li')].map(one => one.innerText)")
        for number, release in enumerate(fix["to_free"]):
            self.assertIn(f"{human(release['bytes'])} per bank in {release['count']} allocation", shown[number])
            self.assertIn(f"at address 0x{release['address']:x}", shown[number])
            for block in release["blocks"]:
                self.assertIn(f"0x{block['address']:x}\t{human(block['bytes'])}", shown[number])
        self.assertIn("would fit if what is live lay without gaps (compaction)" if fix["fits_after_compaction"] else "compaction would not suffice",
                      shown)
        self.assertGreater(len(fix["to_free"]), 0)
        tab.wait_for("document.querySelector('.failure-card .address-map canvas') !== null")
        held = {kind: figures for memory in failed.truth.values() for kind, figures in memory.items() if figures[1] > 0}
        failed.kill()
        self.host.wait_for_death(failed.pid)
        tab.goto(url=self.address() + "/processes")
        tab.wait_for_text("SIGKILL")
        tab.goto(url=f"{self.address()}/post-mortem/{failed.pid}")
        tab.wait_for_text("ended: SIGKILL")
        rows = tab.value("[...[...document.querySelectorAll('.panel')].find(one => one.innerText.startsWith('It held')).querySelectorAll('tr')]"
                         ".map(one => [...one.children].map(cell => cell.innerText))")
        self.assertEqual({row[0]: row[1] for row in rows}, {kind: human(figures[0]) for kind, figures in held.items()})
        self.assert_quiet(tab)

    def test_history_that_is_not_kept_is_said_where_it_is_missed(self):
        state = os.path.join(self.directory.path, "state")
        with open(state, "w", encoding="utf-8") as file:
            file.write("a file in the place of the folder")
        os.environ["TTMEM_STATE_DIR"] = state
        self.addCleanup(os.environ.pop, "TTMEM_STATE_DIR")
        self.start()
        simulator = self.simulator("leak", "--board", "n150")
        self.assertTrue(simulator.next())
        self.host.wait_for(simulator.pid)
        tab = self.tab("/chip/0")
        tab.wait_for_text("history on disk: ")
        tab.wait_for_text("Not a directory")
        tab.goto(url=self.address() + "/processes")
        tab.wait_for_text("history on disk: ")
        self.assert_quiet(tab)

    def failing_simulator(self):
        simulator = self.simulator("fragmentation", "--board", "n150")
        while simulator.next():
            if self.host.get("/v1/failures")["total"] > 0:
                return simulator
        raise AssertionError("the scenario ends without a failure")

    def test_the_time_line_zooms_to_what_is_dragged_over(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        tab = self.tab("/chip/0?span=300")
        tab.wait_for("document.querySelector('.chart .u-over') !== null")
        tab.drag(selector=".chart .u-over", start=0.25, end=0.75)
        tab.wait_for("new URLSearchParams(location.search).has('from')")
        low, high = tab.value("['from', 'to'].map(one => Number(new URLSearchParams(location.search).get(one)))")
        self.assertLess(low, high)
        tab.wait_for("[...document.querySelectorAll('button')].some(one => one.innerText === 'whole')")
        # A link to the part shows the part.
        tab.goto(url=tab.value("location.href"))
        tab.wait_for("[...document.querySelectorAll('button')].some(one => one.innerText === 'whole')")
        tab.value("[...document.querySelectorAll('button')].find(one => one.innerText === 'whole').click()")
        tab.wait_for("!new URLSearchParams(location.search).has('from')")
        # The same by keys.
        tab.wait_for("(document.querySelector('.chart').focus(), true)")
        tab.press(key="+")
        tab.wait_for("new URLSearchParams(location.search).has('from')")
        narrow = tab.value("['from', 'to'].map(one => Number(new URLSearchParams(location.search).get(one)))")
        tab.press(key="-")
        tab.wait_for(f"Number(new URLSearchParams(location.search).get('from')) < {narrow[0]}")
        tab.press(key="0")
        tab.wait_for("!new URLSearchParams(location.search).has('from')")
        self.assert_quiet(tab)

    def test_the_time_line_the_cores_and_a_core_are_saved_as_pictures(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        tab = self.tab("/chip/0?core=1,1")
        tab.wait_for("document.querySelector('.chart canvas') !== null && document.querySelectorAll('.column li').length > 1")
        for part in (".chart + .map-tools", ".columns.cores .panel:first-child .actions", ".columns.cores .panel:last-child .actions"):
            with tempfile.TemporaryDirectory() as folder, self.subTest(part):
                path = os.path.join(folder, "part.png")
                tab.download(selector=f"{part} > button", path=path)
                self.assertGreater(tab.colors(path=path), 3, "it is not empty")
        self.assert_quiet(tab)

    def test_marks_of_a_process_lie_on_the_time_line(self):
        self.start()
        process = self.tracked_process("s = open_set([device(16)])\nheld = allocate(s, DRAM, 1048640, 1000, 4096)\nmark('epoch 7')")
        self.host.wait_for(process.pid)
        tab = self.tab("/chip/0")
        tab.wait_for_text(f"process {process.pid}: mark epoch 7")
        self.assert_quiet(tab)

    def test_print_leaves_out_the_controls_and_pictures_are_saved(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        tab = self.tab("/memory")
        tab.wait_for("document.querySelector('.scope-canvas canvas') !== null")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "memory.png")
            tab.download(selector=".scope-canvas .map-tools button", path=path)
            with open(path, "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")
        shown = "[...document.querySelectorAll('nav, button, .open-button')].filter(one => one.checkVisibility()).map(one => one.innerText)"
        self.assertNotEqual(tab.value(shown), [])
        tab.media(media="print")
        tab.wait_for("matchMedia('print').matches")
        self.assertEqual([one for one in tab.value(shown) if one in ("save", "open", "light", "dark", "?", "picture")], [])
        tab.wait_for_text("scope")
        with self.subTest("paper is light, and has the colours"):
            self.assertEqual(tab.value("getComputedStyle(document.querySelector('.panel')).printColorAdjust"), "exact")
            self.assertEqual(tab.value("document.documentElement.dataset.theme"), "dark")
            themes = tab.value("""(() => {
                dispatchEvent(new Event("beforeprint"));
                const theme = document.documentElement.dataset.theme;
                const bad = getComputedStyle(document.documentElement).getPropertyValue("--bad");
                dispatchEvent(new Event("afterprint"));
                return [theme, bad, document.documentElement.dataset.theme];
            })()""")
            self.assertEqual(themes, ["light", "#b3261e", "dark"])

    def test_two_moments_are_compared(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "weights", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        tab = self.tab("/compare")
        tab.click(selector="button.primary")
        tab.wait_for_text("mark 1")
        before = sum(memory["dram"][0] for memory in simulator.truth.values())
        simulator.go_to("kv cache")
        grown = sum(memory["dram"][0] for memory in simulator.truth.values()) - before
        tab.wait_for_text(f"+{human(grown // 4)}")
        tab.wait_for_text("kv_cache")
        self.assert_quiet(tab)

    def test_a_link_shows_the_same_to_somebody_else(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        path = "/memory?view=list&kind=dram&name=embedding&sort=address"
        for _ in range(2):
            tab = self.tab(path)
            tab.wait_for("document.querySelectorAll('.rows .row').length === 4")
            self.assertEqual(tab.value("document.querySelector('#search').value"), "embedding")
            self.assertEqual({row.split()[0] for row in tab.value(ROWS)}, {"model/embedding"})
        tab.fill(selector="#search", text="kv_cache")
        tab.wait_for("location.search.includes('kv_cache')")
        tab.wait_for("document.querySelector('.rows .row').innerText.includes('kv_cache')")

    def test_a_list_is_saved_as_csv_and_json(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        listed = self.host.get("/v1/allocations?name=embedding&kind=dram")["allocations"]
        self.assertGreater(len(listed), 0)
        tab = self.tab("/memory?view=list&kind=dram&name=embedding")
        tab.wait_for(f"document.querySelectorAll('.rows .row').length === {len(listed)}")
        facts = {(one["name"], one["kind"], one["used"], one["pid"], tuple(one["devices"]), one["address"]) for one in listed}
        with tempfile.TemporaryDirectory() as folder:
            for form in ("CSV", "JSON"):
                path = os.path.join(folder, form)
                tab.download(selector=f"text='{form}'", path=path)
                with open(path, encoding="utf-8", newline="") as file:
                    if form == "CSV":
                        saved = {(row["name"], row["kind"], int(row["used"]), int(row["pid"]), tuple(int(one) for one in row["devices"].split()),
                                  int(row["address"])) for row in csv.DictReader(file)}
                    else:
                        saved = {(one["name"], one["kind"], one["used"], one["pid"], tuple(one["devices"]), one["address"]) for one in json.load(file)}
                self.assertEqual(saved, facts, form)
        self.assert_quiet(tab)

    def test_a_hundred_thousand_allocations_are_one_list(self):
        self.start()
        count = 100_000
        process = self.tracked_process(f"""
            s = open_set([device(16)])
            scope("many")
            held = [allocate(s, DRAM, 1048640 + 64 * i, 32 + i % 7, 64) for i in range({count})]
        """, TTMEM_SLOTS=str(1 << 17))
        self.host.wait_for(process.pid)
        tab = self.tab("/memory?view=list&kind=dram&sort=address")
        tab.wait_for_text("100,000 allocations")
        self.assertLess(tab.value("document.querySelectorAll('.rows .row').length"), 100)
        tab.wait_for("(document.querySelector('.rows').focus(), true)")
        tab.press(key="End")
        last = f"0x{1048640 + 64 * (count - 1):x}"
        tab.wait_for(f"document.querySelector('.rows').innerText.includes('{last}')")
        self.assertLess(tab.value("document.querySelectorAll('.rows .row').length"), 100)
        self.assertEqual(tab.value("document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).dataset.index"), str(count - 1))
        with self.subTest("it is printed in a few sheets"), tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "list.pdf")
            tab.pdf(path=path)
            with open(path, "rb") as file:
                self.assertLess(len(re.findall(rb"/Type /Page\b", file.read())), 6)
        with self.subTest("the address map shows an allocation beyond those of one answer"):
            tab.wait_for("(document.querySelector('.rows').focus(), true)")
            tab.press(key="Enter")
            tab.wait_for_text(f"many: {last} to ")
            self.assertEqual(tab.value(MAP_QUERY)["address"], str(1048640 + 64 * (count - 1)))
            tab.wait_for("(document.querySelector('.address-map canvas').focus(), true)")
            tab.press(key="Shift+N")
            tab.press(key="Shift+N")
            tab.wait_for_text(f"many: 0x{1048640 + 64 * (count - 2):x} to ")
            tab.press(key="g")
            tab.wait_for_text("free: ")
        with self.subTest("all are saved, whatever is loaded"), tempfile.TemporaryDirectory() as folder:
            tab.goto(url=self.address() + "/memory?view=list&kind=dram&sort=address")
            tab.wait_for_text("100,000 allocations")
            path = os.path.join(folder, "all.csv")
            tab.download(selector="text='CSV'", path=path)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(sum(1 for _ in file), count + 1)
        self.assert_quiet(tab)

    def test_a_link_to_a_part_of_the_address_map_shows_the_part(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        block = [one for one in self.host.get("/v1/map?device=0&kind=dram&limit=10000")["maps"][0]["blocks"] if not one["is_free"]][1]
        tab = self.tab("/memory?view=map&device=0")
        tab.wait_for("(document.querySelector('.address-map canvas').focus(), true)")
        whole = tab.value("document.querySelector('.map-line span').innerText")
        tab.press(key="+")
        tab.wait_for(f"document.querySelector('.map-line span').innerText !== {json.dumps(whole)}")
        tab.wait_for("new URLSearchParams(location.search).has('from')")
        for key in ("ArrowRight", "ArrowLeft", "-"):
            tab.press(key=key)
        tab.wait_for(f"document.querySelector('.map-line span').innerText === {json.dumps(whole)}")
        tab.wait_for("!new URLSearchParams(location.search).has('from')")
        for _ in range(10):
            tab.press(key="n")
            if f"0x{block['address']:x} to" in tab.value("document.querySelector('.map-line span').innerText"):
                break
        text = tab.wait_for(f"(text => text.includes('0x{block['address']:x} to') && text.split(',')[0])(document.querySelector('.map-line span').innerText)")
        tab.wait_for(f"new URLSearchParams(location.search).get('address') === '{block['address']}'")
        query = tab.value(MAP_QUERY)
        self.assertLess(int(query["from"]), block["address"])
        self.assertGreater(int(query["to"]), block["address"])
        other = self.tab(tab.value("location.pathname + location.search"))
        other.wait_for_text(text)
        self.assertEqual(other.value(MAP_QUERY), query)
        self.assert_quiet(other)

    def test_the_history_is_asked_for_as_far_as_it_is_shown(self):
        """A day of a large host takes tens of megabytes."""
        self.start()
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        tab = self.tab("/chip/0?span=86400")
        asked = "performance.getEntriesByType('resource').map(one => one.name).filter(one => one.includes('/v1/history')).map(one => " \
                "Object.fromEntries(new URL(one).searchParams))"
        tab.wait_for(f"{asked}.length > 1")
        for query in tab.value(asked):
            self.assertEqual((query["device"], query["kind"], query["step"]), ("0", "dram", "86"))
            self.assertIn("since", query)
        tab.goto(url=self.address() + "/compare")
        tab.wait_for(f"{asked}.length === 1")
        self.assertEqual(set(tab.value(asked)[0]), {"device", "kind", "step"})
        now = time.time_ns() // 1_000_000
        tab.goto(url=f"{self.address()}/compare?a={now - 3_600_000}&b=now")
        used = self.host.view()["devices"][0]["memory"]["dram"]["used"]
        tab.wait_for_text(f"+{human(used)}")
        for query in tab.value(asked):
            self.assertTrue("step" in query or {"since", "until"} <= set(query), query)
        self.assert_quiet(tab)

    def test_failures_and_marks_of_ended_processes_stay_on_the_time_line(self):
        self.start()
        marked = self.tracked_process("s = open_set([device(16)])\nheld = allocate(s, DRAM, 1048640, 1000, 4096)\nmark('epoch 7')")
        self.host.wait_for(marked.pid)
        chip = next(one["id"] for one in self.host.view()["devices"])
        # Without a driver a chip is known as long as a process uses it.
        self.host.wait_for(self.tracked_process("s = open_set([device(16)])").pid)
        wait_until(lambda: self.host.get("/v1/marks")["moments"], "the mark is known")
        wait_until(lambda: [one for one in self.host.get("/v1/history")["moments"] if one["type"] == "mark"], "it is in the history")
        marked.kill()
        self.host.wait_for_death(marked.pid)
        tab = self.tab(f"/chip/{chip}")
        tab.wait_for_text(f"process {marked.pid}: mark epoch 7")
        tab.wait_for_text(f"process {marked.pid} ended")
        failed = self.failing_simulator()
        [failure] = self.host.get("/v1/failures")["failures"]
        wait_until(lambda: self.host.get("/v1/history")["moments"][-1]["type"] == "failure", "it is in the history")
        other = self.simulator("leak", "--board", "n150")
        self.assertTrue(other.next())
        self.host.wait_for(other.pid)
        failed.kill()
        self.host.wait_for_death(failed.pid)
        tab.goto(url=f"{self.address()}/chip/{failure['devices'][0]}")
        tab.wait_for_text(f"process {failed.pid}: {failure['verdict']}")
        self.assert_quiet(tab)

    def test_a_tab_has_one_stream(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        tab = self.tab()
        tab.value("""(() => {
            const plain = window.fetch;
            window.streams = [];
            window.fetch = (address, options) => {
                if (String(address).includes("/v1/stream")) window.streams.push(options.signal);
                return plain(address, options);
            };
            return true;
        })()""")
        for key, path in (("m", "/memory"), ("p", "/processes"), ("f", "/failures"), ("c", "/compare"), ("2", "/chip/2"), ("Escape", "/")):
            tab.press(key=key)
            tab.wait_for(f"location.pathname === '{path}'")
        self.assertEqual(tab.value("window.streams.length"), 0, "views use the stream that is there")
        for times in range(1, 4):
            tab.value(f"{HIDE}(true)")
            self.assertEqual(tab.value("window.streams.filter(one => !one.aborted).length"), 0)
            tab.value(f"{HIDE}(false)")
            tab.wait_for(f"window.streams.length === {times}")
            self.assertEqual(tab.value("window.streams.filter(one => !one.aborted).length"), 1)
        self.assert_quiet(tab)

    def test_the_keyboard_reaches_everything(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        tab = self.tab()
        for key, path in (("m", "/memory"), ("p", "/processes"), ("f", "/failures"), ("c", "/compare"), ("2", "/chip/2"), ("Escape", "/")):
            tab.press(key=key)
            tab.wait_for(f"location.pathname === '{path}'")
        tab.press(key="?")
        tab.wait_for("document.querySelector('dialog')?.open")
        tab.press(key="Escape")
        tab.wait_for("document.querySelector('dialog') === null")
        tab.press(key="t")
        tab.wait_for("document.documentElement.dataset.theme === 'light'")
        tab.press(key="/")
        tab.wait_for("document.activeElement.id === 'search'")
        tab.press(key="Escape")
        tab.press(key="0")
        tab.wait_for("location.pathname === '/chip/0' && document.querySelector('.core') !== null")
        tab.wait_for("(document.querySelector('.core').focus(), true)")
        tab.press(key="ArrowRight")
        tab.press(key="Enter")
        tab.wait_for("location.search.includes('core=1%2C0')")
        tab.wait_for_text("Core 1,0")

    def test_the_page_comes_back_with_the_daemon(self):
        self.start()
        port = self.address().rsplit(":", 1)[1]
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        tab = self.tab()
        tab.wait_for("document.querySelectorAll('.chip-cell').length === 4")
        self.host.stop()
        tab.wait_for_text("reconnecting")
        self.assertEqual(tab.value("document.querySelectorAll('.chip-cell').length"), 4)
        self.host = self.daemon("--listen", f"127.0.0.1:{port}", listen=None)
        tab.wait_for("document.querySelector('.chip.ok .dot') !== null")
        # The token ended with the daemon that gave it.
        tab.wait_for_text("ttmem web")

    def test_silence_of_the_daemon_is_said(self):
        self.start()
        tab = self.tab()
        self.host.suspend()
        try:
            tab.wait_for_text("no word for")
        finally:
            self.host.resume()
        tab.wait_for("document.querySelector('.chip.ok .dot') !== null")

    def test_no_view_is_wider_than_the_screen(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        self.failing_simulator()
        tab = self.tab()
        for path, ready in (*ADDRESSES, (f"/process/{simulator.pid}", "td.name"), ("/failures", ".failure-card canvas")):
            tab.goto(url=self.address() + path)
            for width in (390, 1440, 2560):
                tab.size(width=width, height=900)
                tab.wait_for(f"document.querySelector('{ready}') !== null && innerWidth === {width}")
                self.assertLessEqual(tab.value("document.documentElement.scrollWidth"), width, path)
        self.assert_quiet(tab)

    def test_a_host_without_chips_says_what_to_do(self):
        self.start()
        tab = self.tab()
        tab.wait_for_text("No accelerator is in use on this host")
        for path, text in (("/memory", "No DRAM allocation"), ("/failures", "Nothing has failed"), ("/processes", "No process uses a chip"),
                           ("/chip/7", "There is no chip 7"), ("/nowhere", "There is no such view"), ("/process/99", "does not use a chip")):
            tab.goto(url=self.address() + path)
            tab.wait_for_text(text)
        self.assert_quiet(tab)

    def test_a_saved_page_shows_the_same_without_a_daemon(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        tab = self.tab()
        tab.wait_for("document.querySelectorAll('.chip-cell').length === 4")
        cells = tab.value(CELLS)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "host.html")
            tab.download(selector="button[title^=Save]", path=path)
            self.host.stop()
            saved = self.browser.open(f"file://{path}")
            self.addCleanup(saved.close)
            saved.wait_for("document.querySelectorAll('.chip-cell').length === 4")
            self.assertEqual(saved.value(CELLS), cells)
            for key, text in (("m", "system::command_queue"), ("p", "ttmem-sim"), ("0", "Core 0,0")):
                saved.press(key=key)
                saved.wait_for_text(text)
            saved.value("location.hash = '/memory?view=list&kind=dram&name=embedding&sort=address'")
            saved.wait_for("document.querySelectorAll('.rows .row').length === 4")
            self.assert_quiet(saved)

    def test_a_galaxy_is_its_mesh(self):
        self.start()
        simulator = self.simulator_at("churn", "filled", "--board", "galaxy", "--devices", "32", "--live", "50", "--seconds", "1")
        self.host.wait_for(simulator.pid)
        tab = self.tab()
        tab.wait_for("document.querySelectorAll('.chip-cell').length === 32")
        devices = self.host.view()["devices"]
        for width in (390, 1440):
            tab.size(width=width, height=900)
            for device, cell in zip(devices, tab.value(CELLS), strict=True):
                dram, core = device["memory"]["dram"], device["l1_worst_core"]
                share = dram["used"] * 100 // dram["capacity"]
                self.assertIn("<1%" if share == 0 else f"{share}%", cell)
                self.assertIn("-" if core is None else f"{human(core['headroom'])} free", cell)
                self.assertIn("ttmem-sim", cell)
            self.assertEqual(tab.value("getComputedStyle(document.querySelector('.chips')).gridTemplateColumns.split(' ').length"), 4)
            self.assertLessEqual(tab.value("document.documentElement.scrollWidth"), width)
        self.assert_quiet(tab)

    def test_pictures_are_those_of_the_document(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        # What the views show has settled when the history has begun.
        wait_until(lambda: self.host.get("/v1/history?device=0&kind=dram")["series"], "the history has a sample")
        for scheme, pictures in (("dark", ("host", "treemap", "chip", "list", "map", "phone")), ("light", ("light",))):
            tab = self.tab(scheme=scheme)
            for name in pictures:
                path, ready, changing = PICTURES[name]
                tab.size(width=390 if name == "phone" else 1280, height=1180 if name == "chip" else 780)
                tab.goto(url=self.address() + path)
                self.settle(tab, ready)
                self.check_picture(tab, f"web/{name}.png", simulator.pid, changing)

    def test_the_picture_of_a_failure_is_that_of_the_document(self):
        self.start()
        failed = self.failing_simulator()
        tab = self.tab(width=1280, height=1100)
        tab.goto(url=self.address() + "/failures")
        self.settle(tab, ".failure-card .address-map canvas")
        self.check_picture(tab, "web/failure.png", failed.pid, ".failure-card table, .facts, .title-row, .list")

    def test_the_picture_of_two_moments_is_that_of_the_document(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "weights", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        tab = self.tab("/compare", width=1280, height=900)
        tab.click(selector="button.primary")
        tab.wait_for("new URLSearchParams(location.search).get('a') === 'mark 1'")
        simulator.go_to("kv cache")
        used = sum(memory["dram"][0] for memory in simulator.truth.values())
        wait_until(lambda: sum(one["memory"]["dram"]["used"] for one in self.host.view()["devices"]) == used, "the daemon knows it")
        names = len({one["name"] for one in self.host.get("/v1/allocations?kind=dram&name=kv_cache")["allocations"]})
        tab.wait_for(f"document.body.innerText.includes('{names} names changed.') && document.body.innerText.includes('figures exact')")
        self.check_picture(tab, "web/compare.png", simulator.pid)

    def settle(self, tab, ready: str):
        tab.wait_for(f"document.querySelector('{ready}') !== null && document.querySelectorAll('.skeleton').length === 0"
                     " && document.querySelector('.chip.ok .dot') !== null && document.body.innerText.includes('figures exact')")

    def test_every_view_is_accessible(self):
        self.start()
        simulator = self.simulator_at("transformer-dp4", "decode 1", "--board", "t3000")
        self.host.wait_for(simulator.pid)
        for scheme in ("dark", "light"):
            tab = self.tab(scheme=scheme, is_bare=True)
            for path, ready in (*ADDRESSES, ("/failures", ".empty"), (f"/process/{simulator.pid}", "td.name")):
                tab.goto(url=self.address() + path)
                tab.wait_for(f"document.querySelector('{ready}') !== null")
                self.assertEqual(tab.accessibility(), [], (scheme, path))
        tab.press(key="?")
        tab.wait_for("document.querySelector('dialog')?.open")
        self.assertEqual(tab.accessibility(), [], "the keys")
        phone = self.tab(width=390, height=780, is_bare=True)
        self.assertEqual(phone.accessibility(), [], "a phone")
        bare = self.browser.open(self.address() + "/memory", is_bare=True)
        self.addCleanup(bare.close)
        bare.wait_for_text("ttmem web")
        self.assertEqual(bare.accessibility(), [], "without a token")

    def test_failures_and_post_mortems_are_accessible(self):
        self.start()
        failed = self.failing_simulator()
        tab = self.tab("/failures", is_bare=True)
        tab.wait_for("document.querySelector('.failure-card .address-map canvas') !== null")
        self.assertEqual(tab.accessibility(), [], "the card")
        failed.kill()
        self.host.wait_for_death(failed.pid)
        tab.goto(url=f"{self.address()}/post-mortem/{failed.pid}")
        tab.wait_for_text("ended: SIGKILL")
        self.assertEqual(tab.accessibility(), [], "the post-mortem")


if __name__ == "__main__":
    if why := missing():
        print(f"SKIPPED: {why}")
        sys.exit(SKIPPED)
    unittest.main()
