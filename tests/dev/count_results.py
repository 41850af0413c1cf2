#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the results in a JUnit file of ctest, for ./dev.

    count_results.py <file>

Prints "<passed> <failed> <skipped>", then one line for each skipped test. A test that ctest skipped counts as skipped and not
as passed. A Python script is one test to ctest, so the cases that it skipped are counted besides.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree

GTEST_REASON = re.compile(r"^\S*: Skipped\n(.*)$", re.MULTILINE)
UNITTEST_CASE = re.compile(r"^(?:(test\w*)\b.*|.*) \.\.\. skipped ['\"](.*)['\"]$", re.MULTILINE)
UNITTEST_COUNT = re.compile(r"^OK \((?:.*, )?skipped=(\d+)", re.MULTILINE)


def reason_in(output: str) -> str:
    reason = GTEST_REASON.search(output)
    return reason[1].strip() if reason else (output.strip().splitlines() or ["no reason given"])[-1]


def skipped_cases(name: str, output: str) -> list[str]:
    """The cases that a Python script skipped, by name where its output has the names."""
    cases = [f"{name}: {case[1] or 'a case'}: {case[2]}" for case in UNITTEST_CASE.finditer(output)]
    count = UNITTEST_COUNT.search(output)
    return cases + [f"{name}: a case"] * ((int(count[1]) if count else 0) - len(cases))


def is_skipped(test: ElementTree.Element) -> bool:
    """A program that is missing was not run either, but ctest calls that a failure."""
    note = test.find("skipped")
    return test.get("status") == "disabled" or (note is not None and note.get("message", "").startswith("SKIP_"))


def count(suite: ElementTree.Element) -> tuple[int, int, list[str]]:
    passed, failed, skipped = 0, 0, []
    for test in suite.iter("testcase"):
        name, output = test.get("name", ""), test.findtext("system-out") or ""
        if test.get("status") == "run":
            passed += 1
            skipped += skipped_cases(name, output)
        elif is_skipped(test):
            skipped.append(f"{name}: {reason_in(output)}")
        else:
            failed += 1
    return passed, failed, skipped


def main(arguments: list[str]) -> int:
    try:
        passed, failed, skipped = count(ElementTree.parse(arguments[0]).getroot())
    except (OSError, ElementTree.ParseError) as error:
        print(f"cannot read the results of ctest: {error}", file=sys.stderr)
        return 1
    print(passed, failed, len(skipped))
    for line in skipped:
        print(f"skipped: {line}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
