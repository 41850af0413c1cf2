#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on each #include in src/, sim/ and include/ that the architecture does not allow.

    check_includes.py [<root of the repository>]

The rules are in the table of docs/ARCHITECTURE.md ("| folder | what lives there | may use |") and nowhere else. Besides:

  - all folders may use src/base and include/ttmem, but include/ttmem uses only itself;
  - unit tests, benchmarks and fuzzers beside the code (x_test.cpp, x_bench.cpp, x_fuzz.cpp, x_test_support.hpp) may
    use everything;
  - only src/segment, src/client and sim use atomics;
  - libttmem (src/client and every header of ours that it includes) uses libc and the few C++ headers that need no C++ runtime.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

TABLE_HEAD = ["folder", "what lives there", "may use"]
PUBLIC = "include/ttmem"
FOR_ALL = {"base", PUBLIC}
USE_ATOMICS = {"segment", "client", "sim"}
ATOMIC_HEADERS = {"atomic", "stdatomic.h"}

# C++ headers that work with libc alone.
FREESTANDING = {"atomic", "bit", "compare", "cstddef", "cstdint", "cstring", "limits", "new", "type_traits"}
# Folders of headers of libc and the kernel. A header "x.h" without a folder belongs to libc or the compiler.
LIBC_FOLDERS = {"sys", "linux", "asm", "bits", "net", "netinet", "arpa"}

SOURCE_SUFFIXES = {".c", ".h", ".cpp", ".hpp"}
TEST_STEM = re.compile(r"(^|_)(test|bench|fuzz)(_support)?$")
BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)


@dataclass(frozen=True)
class Include:
    line: int
    name: str
    quoted: bool
    target: Path | None  # the file in this repository; None: a header of the system


class TableError(Exception):
    pass


def read_table(text: str) -> dict[str, set[str]]:
    """The folders of the table, each with those that it may use; {"*"} means all."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in text.splitlines() if line.strip().startswith("|")]
    if TABLE_HEAD not in rows:
        raise TableError(f"no table has the head {TABLE_HEAD}")
    table = {}
    for row in rows[rows.index(TABLE_HEAD) + 2:]:
        if len(row) != 3:
            break
        uses = {"all": {"*"}, "nothing": set()}.get(row[2], set(re.split(r",\s*", row[2])))
        for name in re.findall(r"`([^`]+?)/?`", row[0]):
            table[name.removeprefix("src/")] = uses
    for folder, uses in table.items():
        unknown = uses - set(table) - {"*"}
        if unknown:
            raise TableError(f"{folder} may use {sorted(unknown)}, which the table lacks")
    require_one_way(table)
    return table


def require_one_way(table: dict[str, set[str]]) -> None:
    """No folder may use itself through others."""
    def reachable(folder: str, seen: set[str]) -> set[str]:
        for used in table[folder] - {"*"} - seen:
            seen.add(used)
            reachable(used, seen)
        return seen

    for folder in table:
        if folder in reachable(folder, set()):
            raise TableError(f"{folder} uses itself through others")


def folder_of(path: Path, root: Path) -> str:
    """The folder of a file as in the table: src/segment/ring.hpp is in "segment"."""
    parts = path.relative_to(root).parts
    if parts[0] == "src":
        return parts[1] if len(parts) > 2 else "src"
    return "/".join(parts[:2]) if parts[0] == "include" else parts[0]


def is_test(path: Path) -> bool:
    return TEST_STEM.search(path.stem) is not None


def read_includes(path: Path, root: Path) -> list[Include]:
    text = path.read_text(encoding="utf-8")
    # A comment may contain an #include as an example. Blank it, to keep the line numbers.
    text = BLOCK_COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    includes = []
    for match in INCLUDE.finditer(text):
        quoted, name = match.group(1) is not None, match.group(1) or match.group(2)
        places = ([path.parent] if quoted else []) + [root / "src", root / "include", root]
        target = next((place / name for place in places if (place / name).is_file()), None)
        line = text.count("\n", 0, match.start()) + 1
        includes.append(Include(line, name, quoted, target.resolve() if target else None))
    return includes


class Checker:
    def __init__(self, root: Path):
        self.root = root.resolve()
        self.table = read_table((self.root / "docs/ARCHITECTURE.md").read_text(encoding="utf-8"))
        files = [path for top in ("src", "include", "sim") for path in sorted((self.root / top).rglob("*"))
                 if path.suffix in SOURCE_SUFFIXES]
        self.includes = {path: read_includes(path, self.root) for path in files}
        self.library_files = self.files_of_library()
        self.problems: list[str] = []

    def files_of_library(self) -> set[Path]:
        """The files of libttmem: src/client and every file of ours that it includes."""
        waiting = [path for path in self.includes if folder_of(path, self.root) == "client" and not is_test(path)]
        reached = set()
        while waiting:
            path = waiting.pop()
            if path not in reached:
                reached.add(path)
                waiting += [inc.target for inc in self.includes.get(path, []) if inc.target]
        return reached

    def report(self, path: Path, include: Include, text: str) -> None:
        self.problems.append(f"{path.relative_to(self.root)}:{include.line}: {text}")

    def check_arrow(self, path: Path, include: Include) -> None:
        user, used = folder_of(path, self.root), folder_of(include.target, self.root)
        allowed = self.table[user] | (FOR_ALL if user != PUBLIC else set()) | {user}
        if used not in allowed and "*" not in allowed:
            self.report(path, include, f'{user} may not use {used} ("{include.name}"); '
                                       f"it may use {', '.join(sorted(allowed - {user})) or 'nothing'}")

    def check_system_header(self, path: Path, include: Include) -> None:
        name, folder = include.name, folder_of(path, self.root)
        if name in ATOMIC_HEADERS and folder not in USE_ATOMICS:
            self.report(path, include, f"<{name}>: only {', '.join(sorted(USE_ATOMICS))} use atomics")
        if path in self.library_files and not self.is_libc_or_freestanding(name):
            self.report(path, include, f"<{name}>: this file is part of libttmem, which uses libc and, of C++, only "
                                       + ", ".join(f"<{header}>" for header in sorted(FREESTANDING)))

    @staticmethod
    def is_libc_or_freestanding(name: str) -> bool:
        top, slash, _ = name.partition("/")
        return name in FREESTANDING or (name.endswith(".h") and (not slash or top in LIBC_FOLDERS))

    def run(self) -> list[str]:
        for path, includes in self.includes.items():
            if is_test(path):
                continue
            if folder_of(path, self.root) not in self.table:
                self.problems.append(f"{path.relative_to(self.root)}: the table of docs/ARCHITECTURE.md has no row "
                                     f"for {folder_of(path, self.root)}")
                continue
            for include in includes:
                if include.target:
                    self.check_arrow(path, include)
                elif include.quoted:
                    self.report(path, include, f'"{include.name}" is not a file of this repository')
                else:
                    self.check_system_header(path, include)
        return self.problems


def main(arguments: list[str]) -> int:
    root = Path(arguments[0] if arguments else ".")
    try:
        checker = Checker(root)
    except (TableError, OSError) as error:
        print(f"docs/ARCHITECTURE.md: {error}", file=sys.stderr)
        return 1
    problems = checker.run()
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"{len(checker.includes)} files, every include is allowed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
