#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on each type name of src/ that two files define, because a name has one meaning in the whole tree.

    check_names.py [<root of the repository>]

A definition is a struct, class, union or enum with a body, or an alias (using X = ...). Not counted:

  - unit tests, benchmarks and fuzzers beside the code, and their support;
  - a specialisation of a template;
  - an alias that keeps the name (using Request = http::Request), which means the same type;
  - the names in PATTERNS, by which a template finds the types that belong to its argument.
"""

import re
import sys
from collections import defaultdict
from fnmatch import fnmatch
from pathlib import Path

# By name: the files that define it as a member that a template reads.
PATTERNS = {
    "Query": ["src/view/questions/*"],  # of each question
    "View": ["src/view/questions/*"],
    "Line": ["src/segment/writer.hpp"],  # of the traits of an event writer
    "Record": ["src/segment/writer.hpp"],
}

SOURCE_SUFFIXES = {".h", ".cpp", ".hpp"}
TEST_STEM = re.compile(r"(^|_)(test|bench|fuzz)(_support)?$")
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
# A definition has a body; a declaration (class X;) or a use of the type (struct X* next) has none.
TYPE = re.compile(r"(?<!friend )\b(?:struct|class|union|enum(?:\s+(?:struct|class))?)\s+"
                  r"(?:\[\[[^\]]*\]\]\s*|alignas\([^)]*\)\s*)*(?:\w+::)*(\w+)(?:\s+final)?\s*(?::[^;{}()]*)?\{")
ALIAS = re.compile(r"\busing\s+(\w+)\s*=\s*([^;]*);")


def blank(match: re.Match) -> str:
    """Keeps the line numbers."""
    return re.sub(r"[^\n]", " ", match.group())


def keeps_its_name(alias: re.Match) -> bool:
    return re.search(rf"\b{alias[1]}\s*$", alias[2]) is not None


def is_pattern(name: str, file: str) -> bool:
    return any(fnmatch(file, pattern) for pattern in PATTERNS.get(name, []))


def definitions_of(text: str) -> list[tuple[str, int]]:
    """The names that a file defines, with their lines."""
    text = COMMENT_OR_TEXT.sub(blank, text)
    matches = [*TYPE.finditer(text), *(alias for alias in ALIAS.finditer(text) if not keeps_its_name(alias))]
    return [(match[1], text.count("\n", 0, match.start()) + 1) for match in matches]


def read_definitions(root: Path) -> dict[str, dict[str, int]]:
    """By name: the files that define it, with the line of one definition."""
    places = defaultdict(dict)
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in SOURCE_SUFFIXES and not TEST_STEM.search(path.stem):
            file = str(path.relative_to(root))
            for name, line in definitions_of(path.read_text(encoding="utf-8")):
                if not is_pattern(name, file):
                    places[name].setdefault(file, line)
    return places


def main(arguments: list[str]) -> int:
    places = read_definitions(Path(arguments[0] if arguments else "."))
    repeated = {name: files for name, files in sorted(places.items()) if len(files) > 1}
    for name, files in repeated.items():
        listed = ", ".join(f"{file}:{line}" for file, line in files.items())
        print(f"{name} is defined in {len(files)} files ({listed}); give each meaning its own name", file=sys.stderr)
    if not places:
        print("src/ defines no type", file=sys.stderr)
    elif not repeated:
        print(f"{len(places)} type names, each defined in one file")
    return 1 if repeated or not places else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
