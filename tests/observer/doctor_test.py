#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'ttmem doctor' says what a host has, what is in the way, and the one next command."""

import json
import os
import sys
import tempfile
import unittest

from support import LIB, QUIET, SOURCE, TEST_BIN, TTMEM, call

sys.path.insert(0, os.path.join(SOURCE, "tests/daemon"))
from driver_tree import DriverTree  # noqa: E402

RUNTIME = os.path.join(LIB, "libttmem_sim_metal.so")
OTHER_RUNTIME = os.path.join(TEST_BIN, "libobserver_other_runtime.so")


class Doctor(unittest.TestCase):
    def setUp(self):
        self.bare = tempfile.TemporaryDirectory()
        self.addCleanup(self.bare.cleanup)
        os.mkdir(os.path.join(self.bare.name, "proc"))
        self.environment = {name: value for name, value in QUIET.items()
                            if name not in ("TT_METAL_HOME", "LD_LIBRARY_PATH", "VIRTUAL_ENV")}
        self.environment |= {"TTMEM_HOST_ROOT": self.bare.name, "TTMEM_RUNTIME_DIR": "/nonexistent"}

    def examine(self, *arguments: str, **environment: str) -> dict:
        done = call([TTMEM, "doctor", "--json", *arguments], self.environment | environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        view = json.loads(done.stdout)
        self.assertEqual(view["schema"], 1)
        self.findings = {finding["about"]: (finding["state"], finding["text"]) for finding in view["findings"]}
        return view

    def assert_found(self, about: str, state: str, words: str):
        self.assertEqual(self.findings[about][0], state, self.findings[about])
        self.assertIn(words, self.findings[about][1])

    def with_driver(self, board: str) -> DriverTree:
        tree = DriverTree(board)
        self.addCleanup(tree.remove)
        return tree

    def test_a_host_without_a_driver_is_told_to_try_the_demo(self):
        view = self.examine()
        self.assert_found("driver", "problem", "tt-kmd is not loaded")
        self.assert_found("daemon", "note", "none runs")
        self.assertTrue(view["problem"])
        self.assertEqual(view["next"], "ttmem demo")

    def test_devices_are_named_and_a_device_that_may_not_be_used_is_a_problem(self):
        tree = self.with_driver("t3000")
        for device in range(4):
            tree.write(tree.path("dev/tenstorrent", str(device)), "")
        self.examine(TTMEM_HOST_ROOT=tree.root)
        self.assert_found("driver", "ok", "4 devices on the bus: 0 n300, 1 n300, 2 n300, 3 n300")
        self.assertNotEqual(self.findings["permissions"][0], "problem", self.findings)
        os.remove(tree.path("dev/tenstorrent/2"))
        self.examine(TTMEM_HOST_ROOT=tree.root)
        self.assert_found("permissions", "problem", "/dev/tenstorrent/2")

    def test_without_a_daemon_the_next_command_starts_it(self):
        tree = self.with_driver("n300")
        self.assertEqual(self.examine(TTMEM_HOST_ROOT=tree.root)["next"], "systemctl start ttmemd")

    def test_an_observer_that_fits_is_named(self):
        view = self.examine(RUNTIME)
        self.assert_found("tt-metal", "ok", RUNTIME)
        self.assert_found("observer", "ok", "ttmem-observer/simulated.so")
        self.assertEqual(view["next"], "ttmem run -- python3 model.py")

    def test_why_none_fits_is_told_and_how_to_get_one(self):
        view = self.examine(OTHER_RUNTIME)
        self.assert_found("observer", "problem", "lacks: _ZN2tt8tt_metal")
        self.assertIn("TTMEM_TT_METALIUM", view["next"])

    def test_a_library_that_can_t_be_loaded_or_is_not_there(self):
        self.examine("/bin/ls")
        self.assertEqual(self.findings["observer"][0], "problem")
        self.examine("/nonexistent/libtt_metal.so")
        self.assert_found("tt-metal", "problem", "is not there")

    def test_a_tt_metal_is_found_where_programs_find_it(self):
        with tempfile.TemporaryDirectory() as home:
            os.makedirs(os.path.join(home, "build/lib"))
            library = os.path.join(home, "build/lib/libtt_metal.so")
            os.symlink(RUNTIME, library)
            os.symlink(os.path.join(LIB, "libttmem.so.1"), os.path.join(home, "build/lib/libttmem.so.1"))
            self.examine(TT_METAL_HOME=home)
            self.assert_found("tt-metal", "ok", library)
            self.assert_found("observer", "ok", "simulated.so")
            self.examine(LD_LIBRARY_PATH="/nonexistent:" + os.path.join(home, "build/lib"))
            self.assert_found("tt-metal", "ok", library)

    def test_the_region_is_told_to_be_off_where_it_is(self):
        self.examine(TT_METAL_SHM_TRACKING_DISABLED="1")
        self.assert_found("region", "note", "TT_METAL_SHM_TRACKING_DISABLED=1")
        os.makedirs(os.path.join(self.bare.name, "dev/shm"))
        with open(os.path.join(self.bare.name, "dev/shm/tt_device_7_memory"), "wb"):
            pass
        self.examine()
        self.assert_found("region", "ok", "1 region")

    def test_as_text_it_keeps_to_80_columns_but_for_the_command(self):
        done = call([TTMEM, "doctor", RUNTIME], self.environment)
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 0)
        self.assertLessEqual(max(len(line) for line in lines if " /" not in line), 80)
        self.assertEqual(lines[-1], "  ttmem run -- python3 model.py")


if __name__ == "__main__":
    unittest.main()
