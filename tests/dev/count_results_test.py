#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The counts that ./dev prints, from results as ctest writes them."""

import sys
import unittest
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
import count_results  # noqa: E402


def count(*cases: str) -> tuple[int, int, list[str]]:
    return count_results.count(ElementTree.fromstring(f"<testsuite>{''.join(cases)}</testsuite>"))


def case(status: str, output: str = "", note: str = "") -> str:
    return f'<testcase name="t" status="{status}">{note}<system-out>{output}</system-out></testcase>'


class Counts(unittest.TestCase):
    def test_passed_and_failed_tests_are_counted(self):
        self.assertEqual(count(case("run"), case("run"), case("fail", note='<failure message=""/>')), (2, 1, []))

    def test_a_missing_program_is_a_failure(self):
        self.assertEqual(count(case("notrun", note='<skipped message="Unable to find executable"/>')), (0, 1, []))

    def test_a_skipped_googletest_has_its_reason(self):
        output = "[ RUN      ] A.B\na_test.cpp:5: Skipped\nonly root can\n\n[  SKIPPED ] A.B (0 ms)\n"
        self.assertEqual(count(case("notrun", output, '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>')),
                         (0, 0, ["t: only root can"]))

    def test_a_script_that_skips_itself_says_why_in_its_last_line(self):
        self.assertEqual(count(case("notrun", "a\nneeds root\n", '<skipped message="SKIP_RETURN_CODE=77"/>')),
                         (0, 0, ["t: needs root"]))

    def test_a_disabled_test_is_skipped(self):
        self.assertEqual(count(case("disabled", "Disabled")), (0, 0, ["t: Disabled"]))

    def test_skipped_cases_of_a_python_script_are_named(self):
        output = "test_a (m.C.test_a) ... skipped 'not root'\ntest_b (m.C.test_b) ... ok\n\nOK (skipped=1)\n"
        self.assertEqual(count(case("run", output)), (1, 0, ["t: test_a: not root"]))

    def test_skipped_cases_without_a_name_are_counted(self):
        self.assertEqual(count(case("run", "OK (skipped=2)\n")), (1, 0, ["t: a case", "t: a case"]))

    def test_an_unreadable_file_is_an_error(self):
        self.assertEqual(count_results.main(["/nonexistent"]), 1)


if __name__ == "__main__":
    unittest.main()
