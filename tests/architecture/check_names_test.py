#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The check of names must fail where it should: each case is a small made-up tree."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
import check_names  # noqa: E402


class NameCheck(unittest.TestCase):
    def run_on(self, files: dict[str, str]) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            output = io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                status = check_names.main([folder])
            return status, output.getvalue()

    def assert_passes(self, first: str, second: str, name: str = "src/b/b.hpp") -> None:
        status, output = self.run_on({"src/a/a.hpp": first, name: second})
        self.assertEqual(status, 0, output)

    def assert_fails(self, first: str, second: str, name: str = "src/b/b.hpp") -> None:
        status, output = self.run_on({"src/a/a.hpp": first, name: second})
        self.assertEqual(status, 1, output)
        self.assertIn("Slot is defined in 2 files", output)

    def test_different_names_pass(self):
        self.assert_passes("struct Slot {};\n", "struct SlotFigures {};\n")

    def test_a_name_in_two_files_fails_with_both_places(self):
        status, output = self.run_on({"src/a.hpp": "\nstruct Slot {};\n", "src/b.cpp": "class Slot : Base {\n"})
        self.assertEqual(status, 1)
        self.assertIn("src/a.hpp:2, src/b.cpp:1", output)

    def test_every_form_of_a_definition_counts(self):
        for text in ("class Slot {", "class Slot final : public Base<int> {", "class Table::Slot {", "union Slot {",
                     "struct alignas(64) Slot {", "struct [[nodiscard]] Slot\n{",
                     "enum Slot {", "enum class Slot : uint8_t {", "using Slot = std::map<int,\n int>;"):
            with self.subTest(text):
                self.assert_fails("struct Slot {};\n", text)

    def test_a_nested_type_counts(self):
        self.assert_fails("struct Slot {};\n", "namespace {\nclass Table {\n    struct Slot {\n")

    def test_a_declaration_or_a_use_is_no_definition(self):
        for text in ("struct Slot;", "enum class Slot : int;", "friend class Slot;", "using a::Slot;",
                     "template <class Slot>\nvoid f() {}", "struct Slot* next() {}", "struct Slot f(struct Slot s) {"):
            with self.subTest(text):
                self.assert_passes("struct Slot {};\n", text + "\nstruct Other {};\n")

    def test_an_alias_that_keeps_the_name_passes(self):
        self.assert_passes("struct Slot {};\n", "using Slot = a::Slot;\n")
        self.assert_passes("struct Slot {};\n", "using Slot = typename Traits::Slot;\n")
        self.assert_fails("struct Slot {};\n", "using Slot = std::shared_ptr<a::Slot>;\n")

    def test_comments_and_texts_are_skipped(self):
        self.assert_passes("struct Slot {};\n", '// struct Slot {\n/* class Slot {\n*/ auto x = "struct Slot {";\n')

    def test_a_specialisation_is_no_second_meaning(self):
        self.assert_passes("struct Slot {};\nstruct Slot<int> {};\n", "template <>\nstruct Slot<long> {};\n")

    def test_tests_beside_the_code_are_skipped(self):
        for name in ("b_test.cpp", "b_bench.cpp", "b_fuzz.cpp", "b_test_support.hpp"):
            self.assert_passes("struct Slot {};\n", "struct Slot {};\n", "src/b/" + name)
        self.assert_fails("struct Slot {};\n", "struct Slot {};\n", "src/b/test_points.hpp")

    def test_other_folders_are_skipped(self):
        self.assert_passes("struct Slot {};\n", "struct Slot {};\n", "sim/b.hpp")

    def test_a_pattern_passes_only_in_its_files(self):
        questions = {f"src/view/questions/{name}.hpp": f"struct {name} {{ using Query = {name}Query; }};"
                     for name in ("Cores", "Events")}
        self.assertEqual(self.run_on(questions)[0], 0)
        self.assertEqual(self.run_on({"src/a.hpp": "struct Query {};", "src/b.hpp": "struct Query {};"})[0], 1)

    def test_a_tree_without_types_fails(self):
        self.assertEqual(self.run_on({"src/a.hpp": "\n"})[0], 1)


if __name__ == "__main__":
    unittest.main()
