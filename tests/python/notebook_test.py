#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The notebook runs, and its output shows tables, bars and maps in a real browser, without a script and without the network."""

import json
import os
import re
import sys
import tempfile
import textwrap
import unittest

from harness.programs import ROOT
from harness.python_package import EXAMPLES, run_script
from harness.test_case import TestCase, main

import ttmem

sys.path.insert(0, os.path.join(ROOT, "tests", "web"))
from browser import Browser, missing


class NotebookCase(TestCase):
    pages: dict[str, list[str]] = {}

    def execute(self, name: str) -> list[str]:
        """The output of its cells. A notebook runs once."""
        if name not in self.pages:
            self.pages[name] = self.run_cells(name)
        return self.pages[name]

    def run_cells(self, name: str) -> list[str]:
        with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
            cells = ["".join(cell["source"]) for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
        return run_script(textwrap.dedent(f"""
            from IPython.core.interactiveshell import InteractiveShell
            from IPython.utils.capture import capture_output
            shell, pages = InteractiveShell.instance(history_length=0), []
            for cell in {cells!r}:
                with capture_output() as shown:
                    result = shell.run_cell(cell)
                result.raise_error()
                pages += [each.data["text/html"] for each in shown.outputs if "text/html" in each.data]
                if result.result is not None:
                    pages.append(result.result._repr_html_())
            answer(pages)
        """), self.directory.path, observed=True, HOME=self.state_directory, IPYTHONDIR=self.state_directory)


class Output(NotebookCase):
    def test_every_cell_runs_and_shows_a_table(self):
        pages = self.execute("peak_per_layer.ipynb")
        text = "\n".join(pages)
        self.assertNotIn("not exact", text)
        for wanted in ("decoder.3", "PEAK_L1", "16.0 MiB", "GROWTH", "512.0 MiB", "<table", "device 0 dram of process"):
            self.assertIn(wanted, text)
        self.assertNotIn("<script", text)
        self.assertNotIn("src=", text)

    def test_the_extension_is_loaded_and_unloaded(self):
        found = run_script("""
            from IPython.core.interactiveshell import InteractiveShell
            import ttmem
            shell = InteractiveShell.instance(history_length=0)
            ttmem.load_ipython_extension(shell)
            has = [shell.find_line_magic("ttmem") is not None, shell.find_cell_magic("ttmem") is not None]
            ttmem.unload_ipython_extension(shell)
            answer([*has, shell.find_line_magic("ttmem"), shell.find_cell_magic("ttmem")])
        """, self.directory.path, HOME=self.state_directory, IPYTHONDIR=self.state_directory)
        self.assertEqual(found, [True, True, None, None])


# In pixels: where each element lies.
BOXES = "[...document.querySelectorAll({selector!r})].map(one => one.getBoundingClientRect()).map(box => [box.left, box.top, box.width, box.height])"


@unittest.skipIf(missing(), missing())
class Browsing(NotebookCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-notebook-")
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "notebook.html")
        with open(path, "w", encoding="utf-8") as file:
            cells = "".join(f"<section>{page}</section>" for page in self.execute("peak_per_layer.ipynb"))
            file.write(f'<!doctype html><html lang="en"><meta charset="utf-8"><title>notebook</title><body>{cells}</body></html>')
        browser = Browser()
        self.addCleanup(browser.close)
        self.tab = browser.open(f"file://{path}")

    def boxes(self, selector: str) -> list[list[float]]:
        return self.tab.value(BOXES.format(selector=selector))

    def test_the_output_is_shown(self):
        self.check_tables()
        self.check_bars()
        self.check_map()
        self.check_nothing_is_active()

    def check_tables(self):
        tables = self.boxes("section table")
        self.assertGreaterEqual(len(tables), 6)
        self.assertTrue(all(width > 50 and height > 15 for _, _, width, height in tables), tables)
        self.assertEqual(self.tab.value("[...document.querySelectorAll('section:nth-child(1) tr')].map(row => [...row.children].map(one => one.innerText))"),
                         [["LAYER", "PEAK_L1", "PEAK_DRAM", "GROWTH_DRAM"]]
                         + [[f"decoder.{layer}", f"{4 * layer + 4}.0 MiB", f"{64 * layer + 64}.0 MiB", "64.0 MiB"] for layer in range(4)])
        # Numbers are aligned to the right, and exact in a tooltip.
        groups = self.tab.value("[...document.querySelectorAll('section:nth-child(2) tbody tr:first-child td')]"
                                ".map(one => [getComputedStyle(one).textAlign, one.innerText, one.title])")
        self.assertEqual({side for side, text, _ in groups if re.match(r"\d", text)}, {"right"})
        sizes = [(text, ttmem.format_size(int(exact.removesuffix(" B")))) for _, text, exact in groups if exact]
        self.assertIn("64.0 MiB", [text for text, _ in sizes])
        self.assertEqual([text for text, _ in sizes], [exact for _, exact in sizes])
        self.assertIn("512.0 MiB", self.tab.value("document.querySelector('section:nth-child(3)').innerText"))

    def check_bars(self):
        """The filled part of each bar is as long as its text says."""
        bars = self.tab.value("[...document.querySelectorAll('section:nth-child(4) td > span')].map(one => [one.getBoundingClientRect().width,"
                              "one.firstElementChild.getBoundingClientRect().width, one.parentElement.innerText,"
                              "getComputedStyle(one.firstElementChild).backgroundColor, getComputedStyle(one).backgroundColor])")
        self.assertGreater(len(bars), 0)
        for frame, filled, text, colour, background in bars:
            percent = float(re.search(r"\((.*?)%\)", text)[1])
            self.assertEqual(round(frame), 160)
            self.assertAlmostEqual(filled, frame * percent / 100, delta=0.2, msg=text)
            self.assertNotEqual(colour, background)

    def check_map(self):
        """Blocks lie in one line, by address and as long as their bytes, and free ones have another colour."""
        blocks = self.tab.value("[...document.querySelectorAll('section:nth-child(5) div > span')].map(one => [one.title,"
                                "getComputedStyle(one).backgroundColor, ...Object.values(one.getBoundingClientRect().toJSON()).slice(0, 4)])")
        titles = [re.fullmatch(r"0x(\w+) (.*?B) (.*)", title) for title, *_ in blocks]
        self.assertEqual([title[3] for title in titles if title[3].startswith("decoder")], [f"decoder.{layer}" for layer in range(4)])
        self.assertEqual(titles[-1][3], "free")
        colours = {title[3] == "free": set() for title in titles}
        for title, (_, colour, *_) in zip(titles, blocks):
            colours[title[3] == "free"].add(colour)
        self.assertEqual([len(each) for each in colours.values()], [1, 1])
        self.assertEqual(set.intersection(*colours.values()), set())
        _, _, width, _ = self.boxes("section:nth-child(5) div:has(> span)")[0]
        lefts, addresses = [left for _, _, left, *_ in blocks], [int(title[1], 16) for title in titles]
        self.assertEqual(len({top for _, _, _, top, *_ in blocks}), 1)
        self.assertEqual(lefts, sorted(lefts))
        scale = (lefts[-1] - lefts[0]) / (addresses[-1] - addresses[0])
        for left, address in zip(lefts, addresses):
            self.assertAlmostEqual(left - lefts[0], (address - addresses[0]) * scale, delta=2)
        self.assertAlmostEqual(sum(one[4] for one in blocks), width, delta=4)

    def check_nothing_is_active(self):
        self.assertEqual(self.tab.value("document.querySelectorAll('script, iframe, object, embed, link, img, [src], [href], form').length"), 0)
        self.assertEqual(self.tab.value("[...document.querySelectorAll('*')].flatMap(one => one.getAttributeNames()).filter(name => name.startsWith('on'))"),
                         [])
        self.assertEqual(self.tab.value("performance.getEntriesByType('resource').map(one => one.name)"), [])
        self.assertEqual(self.tab.messages(), [])


if __name__ == "__main__":
    main()
