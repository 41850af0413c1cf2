#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy on every tracked source file that a build folder compiles; fails if it reports anything.

    run_clang_tidy.py <build folder> [<path> ...]

clang-tidy spends most of its time on headers of the system, again for each file that it is given. So the files that the build
compiles as one are checked as one, and several of those together. A file that passed is not checked again until the file,
one of our headers that it includes, its flags or .clang-tidy changes.
"""

import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.tracked_files import tracked_files  # noqa: E402

CLANG_TIDY = "clang-tidy-14"
PLACES = ["src", "sim", "include", "tests"]

# Unit tests are left to the compiler's warnings: clang-tidy needs minutes for the templates of GoogleTest, and the headers
# that tests include are checked with the code that includes them.
TEST_FILE = re.compile(r"_(test|bench|fuzz)\.cpp$")

# The flags are those of g++. clang does not know all of its warnings, and reports casts in C headers.
EXTRA = ["-Wno-unknown-warning-option", "-Wno-old-style-cast"]

# clang cannot read the precompiled headers of g++.
PRECOMPILED = re.compile(r"cmake_pch\.hxx$")

INCLUDED_SOURCE = re.compile(r'^#include "(.*\.cpp)"$', re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.MULTILINE)

MAIN = re.compile(r"^(extern \"C\" )?int main\(", re.MULTILINE)

MOST_TOGETHER = 40  # files; more would need gigabytes of memory


@dataclass(frozen=True)
class Unit:
    """What the build gives to the compiler: one file, or a unity file that includes several."""
    source: Path
    files: frozenset[Path]     # those to check
    settings: Path             # the .clang-tidy that applies
    defines: tuple[str, ...]
    roots: tuple[str, ...]     # include folders, in order, as -I and -isystem flags
    others: tuple[str, ...]    # other flags


def sources(root: Path, places: list[str]) -> set[Path]:
    return {root / name for name in tracked_files(root, *places)
            if name.endswith((".c", ".cpp")) and not TEST_FILE.search(name)}


def files_in(source: Path) -> frozenset[Path]:
    included = INCLUDED_SOURCE.findall(source.read_text()) if "Unity" in source.parts else []
    return frozenset(Path(name).resolve() for name in included) or frozenset({source})


def settings_of(files: frozenset[Path], root: Path) -> Path:
    folder = min(files).parent
    while folder != root and not (folder / ".clang-tidy").exists():
        folder = folder.parent
    return folder / ".clang-tidy"


def copy_settings(root: Path, build: Path) -> bytes:
    """Settings of a folder apply to its unity files too, which lie at the same place of the build folder."""
    names = tracked_files(root, "*/.clang-tidy")
    for name in names:
        (build / name).parent.mkdir(parents=True, exist_ok=True)
        (build / name).write_bytes((root / name).read_bytes())
    return b"".join((root / name).read_bytes() for name in [".clang-tidy", *names])


def unit_of(entry: dict, root: Path) -> Unit:
    source = Path(entry["directory"], entry["file"]).resolve()
    words = iter(shlex.split(entry["command"]))
    defines, roots, others = [], [], []
    for word in words:
        if word in ("-include", "-isystem", "-o", "-MF", "-MT"):
            value = next(words)
            if word == "-isystem":
                roots.append(f"-isystem{Path(entry['directory'], value)}")
        elif word.startswith("-D"):
            defines.append(word)
        elif word.startswith("-I"):
            roots.append(f"-I{Path(entry['directory'], word[2:])}")
        elif word.startswith(("-f", "-W", "-std", "-m")) and word not in ("-Winvalid-pch", "-fPIC", "-fPIE"):
            others.append(word)  # without -O and -fPIC, which make no difference here, there are fewer groups
    files = files_in(source)
    language = ["-xc"] if source.suffix == ".c" else ["-xc++"]
    return Unit(source, files, settings_of(files, root), tuple(defines), tuple(roots), tuple(others + language))


def includes_of(path: Path, roots: list[Path], known: dict[Path, set[Path]]) -> set[Path]:
    """The files of the repository that a file includes. Conditions are ignored, so the set may be larger than needed."""
    if path not in known:
        names = INCLUDE.findall(path.read_text(errors="replace"))
        found = (place / name for name in names for place in [path.parent, *roots])
        known[path] = {place.resolve() for place in found if place.is_file()}
    return known[path]


def fingerprint(unit: Unit, root: Path, config: bytes, known: dict[Path, set[Path]]) -> str:
    """A hash of all that decides the outcome. Headers of the system count by the version of the tool only."""
    roots = [root / "src", root / "include", root, root / "sim/include"]
    reached, waiting = set(), set(unit.files)
    while waiting:
        path = waiting.pop()
        reached.add(path)
        waiting |= includes_of(path, roots, known) - reached
    digest = hashlib.sha256(config + repr((unit.defines, unit.roots, unit.others)).encode())
    for path in sorted(reached):
        digest.update(str(path).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def defines_main(unit: Unit) -> bool:
    return any(MAIN.search(path.read_text(errors="replace")) for path in unit.files)


def fits(unit: Unit, group: list[Unit]) -> bool:
    """A group has the same flags, and no two unity files of one target or folder, because those may use a name twice."""
    values = {flag.partition("=")[0]: flag for each in group for flag in each.defines}
    return ((group[0].settings, group[0].others) == (unit.settings, unit.others)
            and all(values.get(flag.partition("=")[0], flag) == flag for flag in unit.defines)
            and not any(len(each.files) > 1 and (each.source.parent == unit.source.parent
                                                 or min(each.files).parent == min(unit.files).parent) for each in group)
            and sum(defines_main(each) for each in [unit, *group]) < 2)


def together(units: list[Unit], jobs: int) -> list[list[Unit]]:
    """Groups of units; small ones if there is little to check, so that all jobs have work."""
    groups: list[list[Unit]] = []
    most = min(MOST_TOGETHER, sum(len(unit.files) for unit in units) // (2 * jobs))
    for unit in units:
        group = next((group for group in groups
                      if sum(len(each.files) for each in [unit, *group]) <= most and fits(unit, group)), None)
        if group:
            group.append(unit)
        else:
            groups.append([unit])
    return groups


def run_tidy(units: list[Unit], root: Path, build: Path) -> str:
    """Returns the report of clang-tidy on these units; an empty one if they pass."""
    files = sorted(path for unit in units for path in unit.files)
    source = files[0]
    if len(files) > 1:
        # In the build folder that corresponds to the first file's, where clang-tidy finds the settings.
        name = "tidy_" + hashlib.sha256(repr(files).encode()).hexdigest()[:16] + ".cpp"
        source = build / files[0].parent.relative_to(root) / name
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("".join(f'#include "{path}"\n' for path in files))
    flags = [flag for kind in ("defines", "roots", "others") for unit in units for flag in getattr(unit, kind)]
    command = [CLANG_TIDY, "--quiet", str(source), "--", *dict.fromkeys(flags), *EXTRA]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode == 0:
        return ""
    if len(units) > 1:
        # One at a time: the report must not depend on the group, and the group may not compile.
        return "".join(run_tidy([unit], root, build) for unit in units)
    return result.stdout or result.stderr or f"{source}: clang-tidy ended with {result.returncode} without a message\n"


def check(units: list[Unit], stamps: dict[Unit, Path], root: Path, build: Path) -> str:
    report = run_tidy(units, root, build)
    if not report:
        for unit in units:
            stamps[unit].touch()
    return report


def units_to_check(entries: list[dict], tracked: set[Path], root: Path) -> list[Unit]:
    """Each tracked file once: in the unit of a library or program if there is one, else in that of a test."""
    units = {unit.source: unit for unit in (unit_of(entry, root) for entry in entries if not PRECOMPILED.search(entry["file"]))}
    wanted, taken = [], set()
    for unit in sorted(units.values(), key=lambda unit: (any(TEST_FILE.search(path.name) for path in unit.files), unit.source)):
        files = (unit.files & tracked) - taken
        taken |= files
        if files:
            wanted.append(replace(unit, files=frozenset(files)))
    return wanted


def main(arguments: list[str]) -> int:
    root, build = Path.cwd().resolve(), Path(arguments[0]).resolve()
    version = subprocess.run([CLANG_TIDY, "--version"], check=True, capture_output=True).stdout
    config = version + copy_settings(root, build)
    notes = build / "clang-tidy"
    notes.mkdir(parents=True, exist_ok=True)

    tracked = sources(root, arguments[1:] or PLACES)
    entries = json.loads((build / "compile_commands.json").read_text())
    wanted = units_to_check(entries, tracked, root)
    checked = set().union(*(unit.files for unit in wanted))
    if not wanted:
        print("clang-tidy: the build compiles none of these files", file=sys.stderr)
        return 1
    for path in sorted(tracked - checked):
        print(f"clang-tidy: not checked, because nothing compiles it: {path.relative_to(root)}")

    known: dict[Path, set[Path]] = {}
    stamps = {unit: notes / fingerprint(unit, root, config, known) for unit in wanted}
    pending = [unit for unit in wanted if not stamps[unit].exists()]
    jobs = os.cpu_count() or 1
    groups = sorted(together(pending, jobs), key=lambda group: -sum(len(unit.files) for unit in group))
    failed = set()  # the same report about a header comes once for each file that includes it
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        reports = [pool.submit(check, group, stamps, root, build) for group in groups]
        for number, done in enumerate(concurrent.futures.as_completed(reports), 1):
            print(f"[{number}/{len(groups)}] checked", flush=True)
            report = done.result()
            if report and report not in failed:
                print(report, file=sys.stderr, flush=True)
            failed.add(report)
    failed.discard("")
    print(f"{len(checked)} files, " + ("clang-tidy reports problems" if failed else "no problem found by clang-tidy"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
