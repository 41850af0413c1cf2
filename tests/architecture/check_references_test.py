#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The check of references must fail where it should: each case is a small made-up tree."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
import check_references  # noqa: E402


class ReferenceCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a b-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run_check(self) -> tuple[int, str]:
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            status = check_references.main([str(self.root)])
        return status, output.getvalue()

    def assert_passes(self, name: str, text: str) -> None:
        self.write(name, text)
        status, output = self.run_check()
        self.assertEqual(status, 0, output)

    def assert_fails(self, name: str, text: str, expected: str) -> None:
        self.write(name, text)
        status, output = self.run_check()
        self.assertEqual(status, 1, output)
        self.assertIn(expected, output)

    def test_a_relative_path_out_of_the_repository_fails(self):
        self.assert_fails("README.md", "see [this](../other/page.md)\n", "README.md:1: '../other/page.md' leads out")

    def test_a_relative_path_from_a_deep_folder_fails_only_if_it_leads_out(self):
        self.assert_passes("src/cli/a.cpp", 'open("../../docs/x"); open("../lib");\n')
        self.assert_fails("src/cli/a.cpp", '\nopen("../../../docs/x");\n', "src/cli/a.cpp:2:")

    def test_a_path_from_the_source_folder_fails(self):
        for text in ('set(x "${CMAKE_SOURCE_DIR}/../data")', 'set(x "${PROJECT_SOURCE_DIR}/tests/../../data")'):
            self.assert_fails("deep/er/CMakeLists.txt", text, "leads out of the repository")

    def test_a_path_after_a_macro_of_the_source_folder_fails(self):
        for text in ('f(TTMEM_SOURCE_DIR "/../data");', 'f(std::string(TTMEM_SOURCE_DIR) + "/../data");'):
            self.assert_fails("tests/deep/a.cpp", text, "'/../data' leads out")

    def test_a_path_from_the_folder_of_a_build_file_counts_from_there(self):
        self.assert_passes("sim/metal/CMakeLists.txt", 'set(x "${CMAKE_CURRENT_SOURCE_DIR}/../include")')
        self.assert_fails("sim/CMakeLists.txt", 'set(x "${CMAKE_CURRENT_SOURCE_DIR}/../../include")', "leads out")

    def test_paths_that_start_elsewhere_pass(self):
        self.assert_passes("a.cmake", 'set(x "$ORIGIN/../lib" "${pcfiledir}/../.." "${CMAKE_BINARY_DIR}/../x")')
        self.assert_passes("a.cpp", 'parse("0::/../docker-1.scope"); f(...); // and so on ...\n')

    def test_a_line_that_makes_a_symbolic_link_passes(self):
        self.assert_passes("a.py", 'os.symlink("../../devices", path)\n')

    def test_a_path_of_one_machine_fails(self):
        for path in ("/home/jo/data", "/work/x/y", "/root/.cache/z"):
            self.assert_fails("docs/a.md", f"Take `{path}`.\n", f"'{path}' is a path of one machine")

    def test_paths_that_only_look_like_it_pass(self):
        self.assert_passes("docs/a.md", "https://example.com/home/x /usr/lib/x build/work/x ${HOME}/work/x /root/package.deb")

    def test_a_link_out_of_the_repository_fails(self):
        for target in ("../beside", "/etc/passwd"):
            (self.root / "docs").mkdir(exist_ok=True)
            os.symlink("../" + target if target.startswith(".") else target, self.root / "docs/link")
            self.assert_fails("README.md", "\n", "docs/link: the link leads to")
            (self.root / "docs/link").unlink()

    def test_a_link_within_the_repository_passes(self):
        self.write("README.md", "\n")
        (self.root / "docs").mkdir()
        os.symlink("../README.md", self.root / "docs/link")
        self.assertEqual(self.run_check()[0], 0)

    def test_a_build_that_downloads_fails(self):
        self.assert_fails("CMakeLists.txt", "FetchContent_Declare(json)\n", "must not download")

    def test_binary_files_and_the_build_folder_are_skipped(self):
        self.write("README.md", "\n")
        self.write("build/x.txt", "../../x /home/jo/x\n")
        (self.root / "corpus").write_bytes(b"\xff\xfe../../x")
        self.assertEqual(self.run_check()[0], 0)

    def test_only_tracked_files_count_in_a_clone(self):
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)
        self.write("notes.txt", "../beside\n")
        tracked = self.write("README.md", "fine\n")
        subprocess.run(["git", "-C", str(self.root), "add", str(tracked)], check=True)
        self.assertEqual(self.run_check()[0], 0)
        subprocess.run(["git", "-C", str(self.root), "add", "notes.txt"], check=True)
        self.assertEqual(self.run_check()[0], 1)

    @unittest.skipIf(os.getuid() != 0, "only root can make a clone of another user")
    def test_a_clone_of_another_user_is_checked_too(self):
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)
        self.write("notes.txt", "../beside\n")
        self.write("README.md", "fine\n")
        subprocess.run(["git", "-C", str(self.root), "add", "README.md"], check=True)
        subprocess.run(["chown", "-R", "1000:1000", str(self.root)], check=True)
        refused = subprocess.run(["git", "-C", str(self.root), "ls-files"], capture_output=True, check=False)
        self.assertNotEqual(refused.returncode, 0, "git refuses it by default")
        self.assertEqual(self.run_check()[0], 0)

    def test_an_empty_tree_fails(self):
        self.assertEqual(self.run_check()[0], 1)


if __name__ == "__main__":
    unittest.main()
