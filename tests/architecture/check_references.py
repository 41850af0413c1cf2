#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on each reference to something outside the repository, because a clone must work with nothing beside it.

    check_references.py [<root of the repository>]

Reads every tracked file and reports:

  - a relative path ("../x") that leads out of the repository from the file's folder, or from the root where the path
    begins with a variable for the source folder;
  - an absolute path below a folder that belongs to one machine or one person, such as a home folder;
  - a symbolic link that leads out of the repository;
  - a build file that downloads something.

A line that creates a symbolic link is skipped: its relative path starts at the link.
"""

import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.tracked_files import is_clone, tracked_files  # noqa: E402

ROOT_VARIABLES = {"CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR", "TTMEM_SOURCE_DIR", "sourceDir", "PWD"}
FOLDER_VARIABLES = {"CMAKE_CURRENT_SOURCE_DIR", "CMAKE_CURRENT_LIST_DIR"}

PATH = re.compile(r"[\w./${}+-]*\.\.[\w./${}+-]*")
VARIABLE = re.compile(r"^\$\{?(\w+)\}?")
MACRO_BEFORE = re.compile(r'(\w+)\)?\s*\+?\s*"$')
FOREIGN = re.compile(r"(?<![\w.}$*-])/(?:home|house|root|work|workspace|builds|Users)/[\w.][^\s\"'`)]*")
IN_A_CLEAN_ROOT = {"/root/package.deb"}  # tests/package installs it in a Debian of its own
CREATES_LINK = re.compile(r"symlink|ln -s")
BUILD_FILE = re.compile(r"(^|/)CMakeLists\.txt$|\.cmake$")
DOWNLOAD = re.compile(r"\b(FetchContent_\w+|ExternalProject_\w+|file\s*\(\s*DOWNLOAD)")


def files_of(root: Path) -> list[Path]:
    """Without git, everything but the build folder counts as tracked."""
    if is_clone(root):
        return [Path(name) for name in tracked_files(root)]
    found = [path.relative_to(root) for path in root.rglob("*") if path.is_file() or path.is_symlink()]
    return sorted(path for path in found if path.parts[0] != "build" and "node_modules" not in path.parts)


def leads_out(start: Path, path: str) -> bool:
    return os.path.normpath(start / path.lstrip("/")).split("/")[0] == ".."


def start_of(name: str, folder: Path) -> Path | None:
    """The folder of the repository that a variable stands for; None if it stands for another."""
    if name in ROOT_VARIABLES:
        return Path()
    return folder if name in FOLDER_VARIABLES else None


def outside_path(line: str, match: re.Match, folder: Path) -> bool:
    text = match.group()
    if ".." not in text.split("/"):
        return False
    if variable := VARIABLE.match(text):
        start, text = start_of(variable[1], folder), text[variable.end():]
    elif text.startswith("/"):
        macro = MACRO_BEFORE.search(line[:match.start()])
        start = start_of(macro[1], folder) if macro else None
    else:
        start = folder
    return start is not None and leads_out(start, text)


def problems_of_line(line: str, file: Path) -> list[str]:
    problems = []
    if not CREATES_LINK.search(line):
        problems += [f"'{match.group()}' leads out of the repository" for match in PATH.finditer(line)
                     if outside_path(line, match, file.parent)]
    problems += [f"'{match.group()}' is a path of one machine" for match in FOREIGN.finditer(line)
                 if match.group() not in IN_A_CLEAN_ROOT]
    if BUILD_FILE.search(str(file)) and DOWNLOAD.search(line):
        problems.append("a build must not download anything")
    return problems


def check_file(root: Path, file: Path) -> list[str]:
    path = root / file
    if path.is_symlink():
        target = os.readlink(path)
        return [f"{file}: the link leads to '{target}', outside the repository"] if (
            os.path.isabs(target) or leads_out(file.parent, target)) else []
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return []  # a binary file
    return [f"{file}:{number}: {problem}" for number, line in enumerate(text.splitlines(), 1)
            for problem in problems_of_line(line, file)]


def main(arguments: list[str]) -> int:
    root = Path(arguments[0] if arguments else ".").resolve()
    own = Path("tests/architecture/check_references_test.py")  # it holds what must fail
    files = [file for file in files_of(root) if file != own]
    problems = [problem for file in files for problem in check_file(root, file)]
    for problem in problems:
        print(problem, file=sys.stderr)
    if not files:
        print(f"{root} holds no file", file=sys.stderr)
    elif not problems:
        print(f"{len(files)} files, no reference leads out of the repository")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
