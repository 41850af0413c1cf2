#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every field of an answer that the page declares (web/src/model/types.ts) is in the tables of docs/API.md, which are generated
from the declarations of the questions."""

import re
import unittest

from harness.programs import read_file

INTERFACE = re.compile(r"^export interface (\w+)[^{]*\{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
FIELD = re.compile(r"(?:^ {4}|[{;] )(\w+)\??: ", re.MULTILINE)
ROW = re.compile(r"^\| `([^`]+)` \| [^|]+ \| ", re.MULTILINE)


def declared() -> dict[str, list[str]]:
    """The fields of each interface, with those of objects inside."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", read_file("web/src/model/types.ts"), flags=re.DOTALL)
    return {name: FIELD.findall(body) for name, body in INTERFACE.findall(text)}


def documented() -> set[str]:
    """The names in the paths of all tables, such as `devices[].memory.KIND.used`."""
    return {re.sub(r"\[\]$", "", part) for path in ROW.findall(read_file("docs/API.md")) for part in path.split(".")}


class PageFields(unittest.TestCase):
    def test_the_page_declares_no_field_that_the_api_does_not_have(self):
        known = documented()
        self.assertGreater(len(known), 200)
        unknown = [f"{interface}.{field}" for interface, fields in declared().items() for field in fields if field not in known]
        self.assertEqual(unknown, [])

    def test_fields_are_found(self):
        fields = declared()
        self.assertIn("largest_free", fields["Pool"])
        self.assertIn("firmware", fields["Device"], "the driver's, in an object inside")
        self.assertGreater(sum(map(len, fields.values())), 150)


if __name__ == "__main__":
    unittest.main(verbosity=2)
