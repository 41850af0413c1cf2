#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'ttmem observer build' makes places from headers, with which the observer observes the tt-metal that they belong to. The headers
are those of the simulated runtime, which have the names of tt-metal's."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

from harness.observer import SIMULATOR, UNOBSERVED, call
from harness.programs import LIB, ROOT, TTMEM, read_file

HEADERS = os.path.join(ROOT, "sim/include")
RUNTIME = os.path.join(LIB, "libttmem_sim_metal.so")


class Build(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        # The folder of a process is that without symbolic links.
        self.folder = os.path.realpath(folder.name)
        self.tree = os.path.join(self.folder, "a tree")
        os.makedirs(os.path.join(self.tree, "tt_metal"))
        self.environment = {name: value for name, value in UNOBSERVED.items() if name != "CXX"}
        self.environment |= {"XDG_DATA_HOME": os.path.join(self.folder, "data"), "TTMEM_RUNTIME_DIR": "/nonexistent"}
        self.own = os.path.join(self.folder, "data/ttmem/observer")

    def link_headers(self):
        os.symlink(HEADERS, os.path.join(self.tree, "tt_metal/api"))

    def copy_headers(self) -> str:
        return shutil.copytree(HEADERS, os.path.join(self.tree, "tt_metal/api"))

    def build(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        return call([TTMEM, "observer", "build", self.tree, *arguments], self.environment | environment)

    def assert_fails(self, words: str, *arguments: str, **environment: str):
        done = self.build(*arguments, **environment)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(words, done.stderr)
        self.assertFalse(os.path.exists(self.own))

    def places(self) -> str:
        [name] = os.listdir(self.own)
        return os.path.join(self.own, name)

    def finding(self, library: str) -> str:
        done = call([TTMEM, "doctor", "--json", library], self.environment)
        return {finding["about"]: finding["text"] for finding in json.loads(done.stdout)["findings"]}["observer"]

    def test_the_observer_uses_them_for_the_tt_metal_of_the_tree_and_searches_for_another(self):
        self.link_headers()
        done = self.build()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"Made {self.places()}. 'ttmem run' uses it from now on.", done.stdout)
        library = os.path.join(self.tree, "build/lib/libtt_metal.so")
        os.makedirs(os.path.dirname(library))
        shutil.copy(RUNTIME, library)
        shutil.copy(os.path.join(LIB, "libttmem.so.2"), os.path.dirname(library))
        self.assertRegex(self.finding(library), rf"it fits: .*/ttmem-observer/any\.so with {self.places()}")
        self.assertNotIn(".places", self.finding(RUNTIME))
        self.assertIn("any.so", self.finding(RUNTIME))
        # What differs is left out, whatever it is.
        text = read_file(self.places())
        for wrong in (text.replace("\narch ", "\narch 9"), text.replace("buffer_id", "buffer_name"), ""):
            with open(self.places(), "w", encoding="utf-8") as file:
                file.write(wrong)
            self.assertTrue(self.finding(library).split(", without")[0].endswith("any.so"), self.finding(library))

    def test_a_command_runs_with_them(self):
        self.link_headers()
        self.build()
        text = read_file(self.places())
        with open(self.places(), "w", encoding="utf-8") as file:
            file.write(text.replace(self.tree, os.path.dirname(os.path.realpath(RUNTIME))))
        done = call([TTMEM, "run", "--fail-on-leak", "--", SIMULATOR, "lifetimes"],
                    self.environment | {"TTMEM_SIM_REPORTING": "0"})
        self.assertRegex(done.stderr, r"1 process tracked, figures exact")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_installed_tt_metalium_has_its_headers_in_include(self):
        self.tree = os.path.join(self.folder, "prefix")
        os.mkdir(self.tree)
        os.symlink(HEADERS, os.path.join(self.tree, "include"))
        folder = os.path.join(self.folder, "for all")
        done = self.build("-o", folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        [name] = os.listdir(folder)
        self.assertTrue(name.endswith("-prefix.places"))
        self.assertNotIn("from now on", done.stdout)
        self.assertFalse(os.path.exists(self.own))

    def test_headers_of_others_are_found_by_an_option_and_in_the_commands_of_a_build(self):
        headers = self.copy_headers()
        moved = os.path.join(self.folder, "moved")
        os.mkdir(moved)
        os.rename(os.path.join(headers, "tt_stl"), os.path.join(moved, "tt_stl"))
        self.assert_fails("include <tt_stl/")
        self.assertEqual(self.build("-I", moved).returncode, 0)
        os.mkdir(os.path.join(self.tree, "build"))
        command = {"file": self.tree + "/tt_metal/impl/a.cpp", "command": f"c++ -isystem {moved} -c a.cpp"}
        with open(os.path.join(self.tree, "build/compile_commands.json"), "w", encoding="utf-8") as file:
            json.dump([{"file": "b.cpp", "command": "c++"}, command], file)
        self.assertEqual(self.build().returncode, 0)

    def test_headers_that_it_does_not_know_are_named(self):
        path = os.path.join(self.copy_headers(), "tt-metalium/buffer.hpp")
        text = read_file(path).replace("unique_id", "other_id")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = self.build()
        self.assertEqual((done.returncode, os.path.exists(self.own)), (1, False))
        self.assertRegex(done.stderr, "ttmem does not know the headers in .*/a tree; its compiler says: .*unique_id")

    def test_what_is_missing_is_named(self):
        self.assert_fails("no headers of tt-metal in")
        self.link_headers()
        self.assert_fails("can't start the compiler /nonexistent -O2 that CXX names", CXX="/nonexistent -O2")
        self.assert_fails("no C++ compiler found", PATH="/nonexistent")
        self.assert_fails("give the folder for the result with -o", XDG_DATA_HOME="", HOME="")
        self.tree = os.path.join(self.folder, "nowhere")
        self.assert_fails("nowhere: No such file")


if __name__ == "__main__":
    unittest.main(verbosity=2)
