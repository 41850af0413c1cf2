#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages do not contradict each other or themselves, as far as a program can see."""

import glob
import os
import re
import unittest

from harness.programs import ROOT, read_file
from harness.tracked_files import is_clone, tracked_files


def pages() -> list[str]:
    return [os.path.relpath(path, ROOT) for pattern in ("*.md", "docs/*.md", "integrations/*/*.md", "sim/README.md", "src/README.md")
            for path in sorted(glob.glob(os.path.join(ROOT, pattern)))]


def prose_of(page: str) -> str:
    """Without blocks of code."""
    return re.sub(r"^```.*?^```$", "", read_file(page), flags=re.DOTALL | re.MULTILINE)


class Pages(unittest.TestCase):
    def test_no_page_has_two_sections_of_one_title(self):
        for page in pages():
            titles = re.findall(r"^## .*$", prose_of(page), re.MULTILINE)
            self.assertEqual(sorted(titles), sorted(set(titles)), page)

    def test_every_relative_link_leads_to_a_file(self):
        for page in pages():
            for link in re.findall(r"\]\(([^)#\s]+)", prose_of(page)):
                if not re.match(r"[a-z]+:", link):
                    self.assertTrue(os.path.exists(os.path.join(ROOT, os.path.dirname(page), link)), f"{page}: {link}")

    def test_every_path_of_the_tree_is_there(self):
        folders = {name for name in os.listdir(ROOT) if os.path.isdir(os.path.join(ROOT, name))} - {"build"}
        checked = 0
        for page in pages():
            # These two pages name files from src/ on.
            starts = ["", os.path.dirname(page), *(["src"] if page in ("docs/ARCHITECTURE.md", "src/README.md") else [])]
            known = folders | {name for start in starts[1:] if start for name in os.listdir(os.path.join(ROOT, start))}
            for path in re.findall(r"`([\w.+-]+(?:/[\w.+*-]+)+/?)`", prose_of(page)):
                if path.split("/")[0] in known:
                    checked += 1
                    self.assertTrue(any(glob.glob(os.path.join(ROOT, start, path)) for start in starts), f"{page}: {path}")
        self.assertGreater(checked, 50)

    def test_the_readme_names_every_folder(self):
        if not is_clone(ROOT):
            self.skipTest("needs a git clone, for the list of files")
        tree = read_file("README.md").split("## The tree")[1].split("## ")[0]
        named = {name.split("/")[0] for row in re.findall(r"^\| (`[^|]+) \|", tree, re.MULTILINE) for name in re.findall(r"`([^`]+)`", row)}
        folders = {path.split("/")[0] for path in tracked_files(ROOT) if "/" in path and not path.startswith(".")}
        self.assertEqual(folders - named - {"docs"}, set())

    def test_the_cost_of_an_event_is_the_same_on_every_page(self):
        [measured] = re.findall(r"counts ([0-9.]+) instructions per event", read_file("docs", "PERFORMANCE.md"))
        [stated] = re.findall(r"An event costs ([0-9.]+)\s+instructions", read_file("CHANGELOG.md"))
        self.assertEqual(stated, measured)

    def test_the_oldest_release_is_the_same_on_every_page(self):
        [table] = re.findall(r"for all releases from (v[0-9.]+) on", read_file("docs", "OBSERVER.md"))
        [integration] = re.findall(r"any build, (v[0-9.]+) and later", read_file("integrations", "tt-metal", "README.md"))
        [changes] = re.findall(r"for its releases from (v[0-9.]+) on", read_file("CHANGELOG.md"))
        self.assertEqual({table, integration, changes}, {table})

    def test_every_library_whose_terms_the_package_has_is_named(self):
        names = {"libboost1.81-dev": "Boost", "libcli11-dev": "CLI11", "libexpected-dev": "expected", "libfmt-dev": "fmt",
                 "libncurses-dev": "ncurses", "libprotozero-dev": "protozero", "libsqlite3-dev": "SQLite", "libstdc++-12-dev": "C++ runtime",
                 "libtomlplusplus-dev": "toml++", "libzstd-dev": "zstd", "nlohmann-json3-dev": "nlohmann-json", "zlib1g-dev": "zlib"}
        listed = re.search(r"foreach\(library IN ITEMS ([^)]+)\)", read_file("cmake", "TtmemPackage.cmake"))[1].split()
        inside = read_file("docs", "DEPLOY.md").split("### What is inside")[1].split("\n## ")[0]
        self.assertEqual(set(listed), set(names))
        self.assertEqual([name for name in names.values() if name not in inside], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
