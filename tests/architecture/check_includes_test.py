#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The check of the includes must fail where it should: each case is a small made-up tree."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
import check_includes  # noqa: E402

TABLE = """
# Made up

| folder | what lives there | may use |
|---|---|---|
| `include/ttmem/` | public API | nothing |
| `src/base/` | helpers | nothing |
| `src/segment/` | the ABI, | base |
| `src/client/` | library | segment, base |
| `src/census/` | census | segment, base |
| `src/cli/`, `src/tui/`, `web/` | faces | census |
| `tests/` | proofs | all |

| another | table |
|---|---|
| `src/segment/` | not read |
"""


class IncludeCheck(unittest.TestCase):
    def run_on(self, files: dict[str, str], table: str = TABLE) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in ({"docs/ARCHITECTURE.md": table} | files).items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            output = io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                status = check_includes.main([folder])
            return status, output.getvalue()

    def assert_passes(self, files: dict[str, str]) -> None:
        status, output = self.run_on(files)
        self.assertEqual(status, 0, output)

    def assert_fails(self, files: dict[str, str], expected: str, table: str = TABLE) -> None:
        status, output = self.run_on(files, table)
        self.assertEqual(status, 1, output)
        self.assertIn(expected, output)

    def test_allowed_arrows_pass(self):
        self.assert_passes({
            "include/ttmem/ttmem.h": "#include <stdint.h>\n",
            "src/base/error.hpp": "#include <string>\n",
            "src/segment/layout.hpp": '#include <atomic>\n#include "ttmem/ttmem.h"\n',
            "src/client/client.cpp": '#include "segment/layout.hpp"\n#include <sys/mman.h>\n#include <cstring>\n',
            "src/census/census.cpp": '#include "base/error.hpp"\n#include "segment/layout.hpp"\n#include <vector>\n',
        })

    def test_an_arrow_against_the_table_fails(self):
        self.assert_fails({"src/census/a.hpp": "", "src/segment/b.hpp": '\n#include "census/a.hpp"\n'},
                          "src/segment/b.hpp:2: segment may not use census")

    def test_an_arrow_in_angle_brackets_or_by_a_relative_path_fails_too(self):
        self.assert_fails({"src/census/a.hpp": "", "src/segment/b.hpp": "#include <census/a.hpp>\n"}, "may not use census")
        self.assert_fails({"src/census/a.hpp": "", "src/segment/b.hpp": '# include "../census/a.hpp"\n'},
                          "may not use census")

    def test_a_face_may_not_skip_a_layer_and_reach_the_segment(self):
        self.assert_fails({"src/segment/a.hpp": "", "src/tui/b.cpp": '#include "segment/a.hpp"\n'},
                          "tui may not use segment")

    def test_the_public_api_uses_nothing(self):
        self.assert_fails({"src/base/a.hpp": "", "include/ttmem/b.h": '#include "base/a.hpp"\n'},
                          "include/ttmem may not use base")

    def test_code_may_not_use_tests(self):
        self.assert_fails({"tests/support/a.hpp": "", "src/cli/b.cpp": '#include "tests/support/a.hpp"\n'},
                          "cli may not use tests")

    def test_unit_tests_beside_the_code_may_use_everything(self):
        for name in ("b_test.cpp", "b_bench.cpp", "b_fuzz.cpp", "b_test_support.hpp"):
            self.assert_passes({"src/census/a.hpp": "",
                                f"src/segment/{name}": '#include "census/a.hpp"\n#include <atomic>\n'})

    def test_a_name_that_only_begins_like_a_test_is_code(self):
        self.assert_fails({"src/census/a.hpp": "", "src/segment/test_points.hpp": '#include "census/a.hpp"\n'},
                          "may not use census")

    def test_atomics_in_other_folders_fail(self):
        self.assert_fails({"src/census/a.cpp": "#include <atomic>\n"}, "only client, segment, sim use atomics")

    def test_the_library_may_not_use_the_cpp_runtime(self):
        for header in ("vector", "string", "iostream", "fmt/core.h", "tl/expected.hpp"):
            self.assert_fails({"src/client/a.cpp": f"#include <{header}>\n"}, "part of libttmem")

    def test_a_header_that_the_library_reaches_is_part_of_it(self):
        files = {"src/base/a.hpp": "#include <string>\n", "src/segment/b.hpp": '#include "base/a.hpp"\n'}
        self.assert_passes(files)
        self.assert_fails(files | {"src/client/c.cpp": '#include "segment/b.hpp"\n'},
                          "src/base/a.hpp:1: <string>: this file is part of libttmem")

    def test_an_include_in_a_comment_does_not_count(self):
        self.assert_passes({"src/census/a.hpp": "",
                            "src/segment/b.hpp": '/*\n#include "census/a.hpp"\n*/\n// #include "census/a.hpp"\n'})

    def test_a_file_that_does_not_exist_fails(self):
        self.assert_fails({"src/base/a.cpp": '#include "base/gone.hpp"\n'}, "is not a file of this repository")

    def test_a_folder_without_a_row_fails(self):
        self.assert_fails({"src/misc/a.cpp": "\n"}, "has no row for misc")

    def test_a_table_with_a_cycle_fails(self):
        self.assert_fails({}, "uses itself through others", TABLE.replace("| helpers | nothing |", "| helpers | census |"))

    def test_a_table_that_names_an_unknown_folder_fails(self):
        self.assert_fails({}, "which the table lacks", TABLE.replace("| faces | census |", "| faces | views |"))

    def test_a_missing_table_fails(self):
        self.assert_fails({}, "no table has the head", "# nothing here\n")


if __name__ == "__main__":
    unittest.main()
