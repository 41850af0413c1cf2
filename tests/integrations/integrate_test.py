#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""integrate.py on the stand-in tree: what it inserts, that it removes exactly that, and what it refuses."""

import ast
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from stand_in import HERE, INTEGRATION, REPORTER, StandIn

TRACKER = "tt_metal/impl/graph/graph_tracking.cpp"
ALLOCATOR = "tt_metal/impl/allocator/allocator.cpp"
DEVICE = "tt_metal/impl/device/device.cpp"
BUILD = "tt_metal/CMakeLists.txt"
HEADER = "tt_metal/api/tt-metalium/graph_tracking.hpp"


class IntegrateCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.tree = StandIn()
        self.addCleanup(self.tree.close)

    def succeed(self, *arguments: str) -> str:
        done = self.tree.integrate(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def refuse(self, *arguments: str) -> str:
        """It says why and changes nothing."""
        before = self.tree.contents()
        done = self.tree.integrate(*arguments)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertEqual(self.tree.contents(), before)
        self.assertNotIn("Traceback", done.stderr)
        return done.stderr


class Insertion(IntegrateCase):
    def test_every_call_is_in_its_function(self):
        self.succeed("insert")
        code = {name: text.decode() for name, text in self.tree.contents().items()}
        self.assertIn('(const Buffer* /* the buffer */ one) {\n    ttmem_reporter::allocated(one);', code[TRACKER])
        self.assertIn("const IDevice* device)\n{\n    ttmem_reporter::circular_buffer(core_range_set, addr, size, "
                      "is_globally_allocated, device);", code[TRACKER])
        self.assertIn("DeviceAddr AllocatorImpl::allocate_buffer(Buffer* buffer)\n{\n"
                      "    const ttmem_reporter::AllocationGuard ttmem_guard(this, buffer);", code[ALLOCATOR])
        self.assertEqual(code[HEADER].count("ttmem_reporter::leave_scope();"), 2)
        self.assertEqual(code[TRACKER].count("ttmem_reporter::freed("), 1)

    def test_the_include_is_outside_of_conditions(self):
        self.succeed("insert")
        self.assertIn('#endif\n#include <algorithm>\n#include "impl/ttmem/ttmem_reporter.hpp"',
                      self.tree.path(ALLOCATOR).read_text())

    def test_line_ends_stay_as_they_are(self):
        self.succeed("insert")
        lines = self.tree.path(DEVICE).read_bytes().split(b"\n")
        self.assertEqual([line for line in lines[:-1] if not line.endswith(b"\r")], [])

    def test_modes_stay_and_other_names_of_a_file_are_not_written(self):
        self.tree.path(TRACKER).chmod(0o640)
        other = Path(self.tree.folder.name, "other name")
        os.link(self.tree.path(TRACKER), other)
        before = other.read_bytes()
        self.succeed("insert")
        self.assertEqual(self.tree.path(TRACKER).stat().st_mode & 0o777, 0o640)
        self.assertEqual(other.read_bytes(), before)

    def test_a_function_may_be_in_any_file(self):
        moved = "tt_metal/distributed/elsewhere.cpp"
        self.tree.path(TRACKER).rename(self.tree.path(moved))
        self.succeed("insert")
        self.assertIn("ttmem_reporter::allocated(one);", self.tree.path(moved).read_text())

    def test_what_older_releases_lack_is_left_out_and_named(self):
        self.tree.change("tt_metal/impl/program/program.cpp",
                         lambda text: text.replace("::allocate_scratchpads(", "::allocate_something("))
        self.assertIn("does not have it: tt::tt_metal::detail::ProgramImpl::allocate_scratchpads", self.succeed("show"))
        self.succeed("insert")

    def test_a_second_insertion_does_nothing(self):
        self.succeed("insert")
        before = self.tree.contents()
        self.assertIn("already inserted", self.succeed("insert"))
        self.assertEqual(self.tree.contents(), before)

    def test_show_and_dry_runs_change_nothing(self):
        before = self.tree.contents()
        shown = self.succeed("show")
        self.assertIn(f"{TRACKER}:11  tt::tt_metal::GraphTracker::track_allocate\n    ttmem_reporter::allocated(one);", shown)
        self.assertIn("lines would be inserted", self.succeed("insert", "--dry-run"))
        self.assertEqual(self.tree.contents(), before)
        self.succeed("insert")
        inserted = self.tree.contents()
        self.assertIn("would be removed", self.succeed("remove", "--dry-run"))
        self.assertEqual(self.tree.contents(), inserted)

    def test_show_is_the_same_when_inserted(self):
        before = self.succeed("show")
        self.succeed("insert")
        self.assertEqual(self.succeed("show"), before)


class Removal(IntegrateCase):
    def test_the_tree_is_as_before(self):
        before = self.tree.contents()
        self.succeed("insert")
        self.assertNotEqual(self.tree.contents(), before)
        self.succeed("remove")
        self.assertEqual(self.tree.contents(), before)
        self.assertFalse(self.tree.path(REPORTER).parent.exists())
        self.assertIn("not inserted", self.succeed("remove"))

    def test_bytes_that_are_no_utf8_stay(self):
        path = self.tree.path(TRACKER)
        path.write_bytes(path.read_bytes() + b"// \xff\xfe \x80")
        before = self.tree.contents()
        self.succeed("insert")
        self.succeed("remove")
        self.assertEqual(self.tree.contents(), before)

    def test_changes_of_the_user_around_the_calls_stay(self):
        self.succeed("insert")
        self.tree.change(ALLOCATOR, lambda text: text.replace("DeviceAddr gap", "DeviceAddr  gap"))
        self.succeed("remove")
        expected = (HERE / "tree" / ALLOCATOR).read_text().replace("DeviceAddr gap", "DeviceAddr  gap")
        self.assertEqual(self.tree.path(ALLOCATOR).read_text(), expected)

    def test_changed_copies_of_the_reporter_are_kept_until_forced(self):
        before = self.tree.contents()
        self.succeed("insert")
        self.tree.change(REPORTER, lambda text: text + "// mine\n")
        self.assertIn(REPORTER, self.refuse("remove"))
        self.succeed("remove", "--force")
        self.assertEqual(self.tree.contents(), before)


class Status(IntegrateCase):
    def test_it_says_whether_it_is_inserted(self):
        self.assertIn(": not inserted\n", self.succeed("status"))
        self.succeed("insert")
        self.assertRegex(self.succeed("status"), r": inserted \(\d+ lines, \d+ files\)\n")

    def test_half_an_insertion_is_recognised_and_removed(self):
        before = self.tree.contents()
        for name in (TRACKER, BUILD, HEADER, REPORTER):
            with self.subTest(name=name):
                self.succeed("insert")
                if name == REPORTER:
                    self.tree.path(name).unlink()
                else:
                    self.tree.path(name).write_bytes(before[name])
                status = self.tree.integrate("status")
                self.assertEqual(status.returncode, 1)
                self.assertIn("partly inserted", status.stdout)
                self.assertIn(f"    {name}\n", status.stdout)
                self.assertIn("partly inserted", self.refuse("insert"))
                self.succeed("remove")
                self.assertEqual(self.tree.contents(), before)

    def test_one_missing_call_is_recognised(self):
        self.succeed("insert")
        self.tree.change(TRACKER, lambda text: re.sub(r"\n[^\n]*freed[^\n]*", "", text))
        status = self.tree.integrate("status")
        self.assertEqual(status.returncode, 1)
        self.assertIn(f"    {TRACKER}\n", status.stdout)


class Refusal(IntegrateCase):
    def test_another_folder(self):
        for path in ("/", "/nonexistent"):
            done = subprocess.run([sys.executable, str(INTEGRATION / "integrate.py"), "insert", path], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("not a source tree of tt-metal", done.stderr)

    def test_a_missing_function(self):
        self.tree.change(ALLOCATOR, lambda text: text.replace("::deallocate_buffers()", "::free_buffers()"))
        self.assertIn("tt::tt_metal::AllocatorImpl::deallocate_buffers: is defined nowhere", self.refuse("insert"))
        self.refuse("show")

    def test_all_reasons_at_once(self):
        self.tree.change(ALLOCATOR, lambda text: text.replace("::deallocate_buffers()", "::free_buffers()"))
        self.tree.change(TRACKER, lambda text: text.replace("GraphTracker::track_deallocate(Buffer* buffer) {\n",
                                                            "GraphTracker::track_free(Buffer* buffer) {\n"))
        reasons = self.refuse("insert")
        self.assertIn("deallocate_buffers", reasons)
        self.assertIn("track_deallocate", reasons)

    def test_a_function_of_another_namespace_is_not_it(self):
        self.tree.change("tt_metal/impl/host_api/tt_metal.cpp", lambda text: text.replace("namespace detail {", "namespace {"))
        self.assertIn("tt::tt_metal::detail::ConfigureDeviceWithProgram: is defined nowhere", self.refuse("insert"))

    def test_other_parameters(self):
        self.tree.change(TRACKER, lambda text: text.replace("bool is_globally_allocated,", "int is_globally_allocated,"))
        self.assertIn("parameter 4 is 'int is_globally_allocated'", self.refuse("insert"))

    def test_a_parameter_without_a_name(self):
        self.tree.change("tt_metal/impl/dataflow_buffer/dataflow_buffer.cpp", lambda text: text.replace(
            "validate_dataflow_buffer_region(const IDevice* device) { (void)device; }",
            "validate_dataflow_buffer_region(const IDevice* /*device*/) {}"))
        self.assertIn("parameter 1 is", self.refuse("insert"))

    def test_two_definitions(self):
        text = self.tree.path(DEVICE).read_bytes()
        self.tree.path("tt_metal/impl/device/device_again.cpp").write_bytes(text)
        reasons = self.refuse("insert")
        self.assertIn("tt::tt_metal::Device::close: is defined more than once", reasons)
        self.assertIn(f"{DEVICE}:21", reasons)

    def test_unbalanced_braces(self):
        self.tree.change(TRACKER, lambda text: text + "}{")
        self.assertIn("GraphTracker::track_allocate: is defined nowhere", self.refuse("insert"))

    def test_no_library_in_the_build_file(self):
        self.tree.change(BUILD, lambda text: text.replace("    tt_metal #", "    tt_metal_other #"))
        self.assertIn("add_library(tt_metal) is there 0 times", self.refuse("insert"))

    def test_a_folder_that_cannot_be_written(self):
        if os.geteuid() == 0:
            self.skipTest("root writes everywhere")
        self.tree.path("tt_metal/impl").chmod(0o555)
        self.addCleanup(self.tree.path("tt_metal/impl").chmod, 0o755)
        self.assertIn("Permission denied", self.refuse("insert"))


class Script(unittest.TestCase):
    def test_it_needs_the_standard_library_alone(self):
        imported = set()
        for node in ast.walk(ast.parse((INTEGRATION / "integrate.py").read_text())):
            if isinstance(node, ast.Import):
                imported |= {name.name.split(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module.split(".")[0])
        self.assertLessEqual(imported, set(sys.stdlib_module_names))

    def test_every_call_that_it_inserts_is_declared_and_described(self):
        script, header = (INTEGRATION / "integrate.py").read_text(), (INTEGRATION / "ttmem_reporter.hpp").read_text()
        page = (INTEGRATION / "README.md").read_text()
        calls = set(re.findall(r'"ttmem_reporter::(\w+)\(', script)) | set(re.findall(r'guard\("(\w+)"', script))
        self.assertGreaterEqual(len(calls), 14)
        for call in calls:
            self.assertRegex(header, rf"\b{call}\(", call)
        for function in re.findall(r'Point\(f?"(?:\{TRACKER_CLASS\}|tt::tt_metal)::([\w:~]+)"', script):
            self.assertIn(f"`{'GraphTracker::' if function.startswith('track_') else ''}{function}`", page)


if __name__ == "__main__":
    unittest.main()
