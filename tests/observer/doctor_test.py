#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'ttmem doctor' reports what a host has, what is missing, and the next command."""

import json
import os
import tempfile
import unittest

from harness.driver_tree import DriverTree
from harness.observer import UNOBSERVED, call
from harness.programs import LIB, TEST_BIN, TTMEM

RUNTIME = os.path.join(LIB, "libttmem_sim_metal.so")
OTHER_RUNTIME = os.path.join(TEST_BIN, "libobserver_other_runtime.so")


class Doctor(unittest.TestCase):
    def setUp(self):
        self.bare = tempfile.TemporaryDirectory()
        self.addCleanup(self.bare.cleanup)
        os.mkdir(os.path.join(self.bare.name, "proc"))
        self.environment = {name: value for name, value in UNOBSERVED.items()
                            if name not in ("TT_METAL_HOME", "LD_LIBRARY_PATH", "VIRTUAL_ENV")}
        self.environment |= {"TTMEM_HOST_ROOT": self.bare.name, "TTMEM_RUNTIME_DIR": "/nonexistent"}

    def examine(self, *arguments: str, **environment: str) -> dict:
        done = call([TTMEM, "doctor", "--json", *arguments], self.environment | environment)
        view = json.loads(done.stdout)
        self.assertEqual((done.returncode, done.stderr), (1 if view["problem"] else 0, ""))
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

    def test_without_a_driver_the_next_command_is_the_demo(self):
        view = self.examine()
        self.assert_found("driver", "problem", "tt-kmd is not loaded")
        self.assert_found("daemon", "note", "not running")
        self.assertTrue(view["problem"])
        self.assertEqual(view["next"], "ttmem demo")

    def test_a_problem_exits_with_1(self):
        self.assertEqual(call([TTMEM, "doctor"], self.environment).returncode, 1)  # no driver
        tree = self.with_driver("n300")
        tree.write(tree.path("dev/tenstorrent", "0"), "")
        done = call([TTMEM, "doctor", RUNTIME], self.environment | {"TTMEM_HOST_ROOT": tree.root})
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_devices_are_listed_and_an_unusable_one_is_a_problem(self):
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
        self.assertEqual(self.examine(TTMEM_HOST_ROOT=tree.root)["next"], "ttmemd &")
        tree.write(tree.path("usr/lib/systemd/system", "ttmemd.service"), "")
        self.assertEqual(self.examine(TTMEM_HOST_ROOT=tree.root)["next"], "systemctl start ttmemd")

    def test_an_observer_that_fits_is_named(self):
        view = self.examine(RUNTIME)
        self.assert_found("tt-metal", "ok", RUNTIME)
        self.assert_found("observer", "ok", "ttmem-observer/any.so")
        self.assertEqual(view["next"], "ttmem run -- python3 model.py")

    def test_facts_that_a_release_does_not_give_are_named(self):
        for release, words in (("v6900", "without kernels unless a device is open; ASIC ids; circular buffers on buffers; op names: "),
                               ("v7000", "any.so, without ASIC ids"), ("kernels_gone", "any.so, without kernels"),
                               ("dataflow_inlined", "any.so, without sizes of dataflow buffers (marked inexact); "),
                               ("arguments_gone", "which programs have scratchpads (all marked inexact)"),
                               ("banks_gone", "bytes on sub-devices (marked inexact)"),
                               ("per_core_gone", "bytes of per-core buffers (marked inexact)"),
                               ("v6000", "any.so, without kernels"), ("v7800", "unless TT_METAL_TRACE_ALLOC_TRACKING=1")):
            name = release + "_gcc" if release.startswith("v") else release
            self.examine(os.path.join(TEST_BIN, f"libobserver_release_{name}.so"))
            self.assert_found("observer", "ok", words)
        self.examine(os.path.join(TEST_BIN, "libobserver_release_v7700_gcc.so"))
        self.assertTrue(self.findings["observer"][1].endswith("any.so, without scratchpads if the runtime is optimised (marked inexact)"),
                        self.findings["observer"])

    def test_with_the_runtimes_own_names_switched_on_nothing_is_said_about_them(self):
        self.examine(os.path.join(TEST_BIN, "libobserver_release_v7800_gcc.so"), TT_METAL_TRACE_ALLOC_TRACKING="1")
        self.assertTrue(self.findings["observer"][1].endswith("any.so, without scratchpads if the runtime is optimised (marked inexact)"),
                        self.findings["observer"])

    def test_a_symbol_that_is_missing_and_never_called_is_no_problem(self):
        self.examine(os.path.join(TEST_BIN, "libobserver_release_unresolved.so"))
        self.assert_found("observer", "ok", "any.so")

    def test_without_a_fitting_observer_it_reports_why_and_how_to_build_one(self):
        view = self.examine(OTHER_RUNTIME)
        self.assert_found("observer", "problem", "lacks: _ZN2tt8tt_metal")
        self.assertIn("ttmem observer build", view["next"])

    def test_a_library_that_is_missing_or_cannot_be_loaded_is_a_problem(self):
        self.examine("/bin/ls")
        self.assertEqual(self.findings["observer"][0], "problem")
        self.examine("/nonexistent/libtt_metal.so")
        self.assert_found("tt-metal", "problem", "does not exist")

    def test_a_tt_metal_is_found_where_programs_find_it(self):
        with tempfile.TemporaryDirectory() as home:
            os.makedirs(os.path.join(home, "build/lib"))
            library = os.path.join(home, "build/lib/libtt_metal.so")
            os.symlink(RUNTIME, library)
            os.symlink(os.path.join(LIB, "libttmem.so.2"), os.path.join(home, "build/lib/libttmem.so.2"))
            self.examine(TT_METAL_HOME=home)
            self.assert_found("tt-metal", "ok", library)
            self.assert_found("observer", "ok", "any.so")
            self.examine(LD_LIBRARY_PATH="/nonexistent:" + os.path.join(home, "build/lib"))
            self.assert_found("tt-metal", "ok", library)

    def test_a_disabled_region_is_reported(self):
        self.examine(TT_METAL_SHM_TRACKING_DISABLED="1")
        self.assert_found("region", "note", "TT_METAL_SHM_TRACKING_DISABLED=1")
        os.makedirs(os.path.join(self.bare.name, "dev/shm"))
        with open(os.path.join(self.bare.name, "dev/shm/tt_device_7_memory"), "wb"):
            pass
        self.examine()
        self.assert_found("region", "ok", "1 region")

    def test_its_text_fits_80_columns_except_for_paths(self):
        done = call([TTMEM, "doctor", RUNTIME], self.environment)
        lines = done.stdout.splitlines()
        self.assertLessEqual(max(len(line) for line in lines if " /" not in line), 80)
        self.assertEqual(lines[-1], "  ttmem run -- python3 model.py")


if __name__ == "__main__":
    unittest.main(verbosity=2)
