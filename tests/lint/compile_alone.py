#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles each file of the release on its own: one that is otherwise compiled together with others may lack an include.

    compile_alone.py <build folder of the alone preset> <build folder of a test run>

Files that the test run compiles on their own are skipped.

Most of the time goes into headers of the system. So the system headers that several files have in common are precompiled.
That hides no missing include: a file only gets a precompiled header whose contents it includes anyway, directly or through
our own headers.
"""

import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

INCLUDE = re.compile(r'^[ \t]*#[ \t]*(include|if|ifdef|ifndef)\b(?:[ \t]*(?:"([^"]+)"|<([^>]+)>))?|^[ \t]*#[ \t]*endif', re.MULTILINE)

# Rough seconds to parse a header, by the beginning of its name; any other header of the system takes less.
WEIGHTS = {"boost/": 2.0, "CLI/": 2.0, "nlohmann/": 1.2, "toml++/": 1.5, "fmt/": 0.5, "tl/": 0.2,
           "filesystem": 0.3, "functional": 0.2, "algorithm": 0.3, "chrono": 0.3, "regex": 0.5, "string": 0.2}
OTHER_WEIGHT = 0.05
WORTH_IT = 6.0  # seconds that a precompiled header must save


@dataclass(frozen=True)
class Command:
    file: str
    folder: str
    compiler: str
    flags: tuple[str, ...]
    headers: frozenset[str]


def system_headers(path: Path, roots: list[Path], known: dict[Path, tuple[set[str], set[Path]]]) -> frozenset[str]:
    """The system headers that a file includes, directly or through our headers, apart from conditional includes."""
    reached, waiting, headers = set(), {path}, set()
    while waiting:
        current = waiting.pop()
        reached.add(current)
        if current not in known:
            known[current] = direct_includes(current, roots)
        headers |= known[current][0]
        waiting |= known[current][1] - reached
    return frozenset(headers)


def direct_includes(path: Path, roots: list[Path]) -> tuple[set[str], set[Path]]:
    headers, ours, depth = set(), set(), 0
    for match in INCLUDE.finditer(path.read_text(errors="replace")):
        name = match[2] or match[3]
        if match[1] is None:
            depth -= 1
        elif match[1] != "include":
            depth += 1
        elif name and depth == 0:
            places = [path.parent / name] if match[2] else []
            target = next((place for place in places + [root / name for root in roots] if place.is_file()), None)
            if target:
                ours.add(target.resolve())
            elif match[3]:
                headers.add(name)
    return headers, ours


def command_of(entry: dict, known: dict) -> Command:
    words = shlex.split(entry["command"])
    compiler = next(i for i, word in enumerate(words) if Path(word).name in ("g++", "gcc"))
    flags, rest = [], iter(words[compiler + 1:])
    for word in rest:
        if word in ("-o", "-MF", "-MT"):
            next(rest)
        elif word not in ("-c", "-MD", entry["file"]):
            flags.append(word)
    named = [flag[2:] for flag in flags if flag.startswith("-I")]
    named += [folder for flag, folder in zip(flags, flags[1:]) if flag == "-isystem" and not folder.startswith("/usr")]
    roots = [Path(entry["directory"], name) for name in named]
    headers = frozenset() if entry["file"].endswith(".c") else system_headers(Path(entry["file"]), roots, known)
    return Command(entry["file"], entry["directory"], words[compiler], tuple(flags), headers)


def weight(headers: frozenset[str]) -> float:
    return sum(next((seconds for start, seconds in WEIGHTS.items() if name.startswith(start)), OTHER_WEIGHT)
               for name in headers)


def group(commands: list[Command]) -> list[tuple[frozenset[str], list[Command]]]:
    """Divides files with equal flags into groups with common headers that are worth precompiling, and a rest without."""
    groups, left = [], list(commands)
    while left:
        candidates = {first.headers & second.headers for first in left for second in left}
        users = {headers: [command for command in left if headers <= command.headers] for headers in candidates}
        best = max(candidates, key=lambda headers: weight(headers) * (len(users[headers]) - 1))
        if weight(best) * (len(users[best]) - 1) < WORTH_IT:
            return groups + [(frozenset(), left)]
        groups.append((best, users[best]))
        left = [command for command in left if command not in users[best]]
    return groups


def group_all(commands: list[Command]) -> list[tuple[frozenset[str], list[Command]]]:
    by_flags: dict[tuple[str, ...], list[Command]] = {}
    for command in commands:
        by_flags.setdefault(command.flags, []).append(command)
    return [each for same_flags in by_flags.values() for each in group(same_flags)]


def compile_group(headers: frozenset[str], commands: list[Command], folder: Path) -> list[Command]:
    """Precompiles the headers. Returns the commands that use them."""
    if not headers:
        return commands
    header = folder / "system.hpp"
    folder.mkdir()
    header.write_text("".join(f"#include <{name}>\n" for name in sorted(headers)))
    first = commands[0]
    done = subprocess.run([first.compiler, *first.flags, "-w", "-x", "c++-header", str(header), "-o", f"{header}.gch"],
                          cwd=first.folder, capture_output=True, text=True)
    if done.returncode != 0:
        return commands  # headers that do not go together: slower, not wrong
    return [Command(each.file, each.folder, each.compiler, (*each.flags, "-include", str(header)), each.headers)
            for each in commands]


def compile_alone(command: Command) -> str:
    """Returns the errors of the compiler; nothing if the file compiles."""
    result = subprocess.run([command.compiler, *command.flags, "-w", "-fsyntax-only", command.file],
                            cwd=command.folder, capture_output=True, text=True)
    return result.stderr if result.returncode != 0 else ""


def commands_in(build: str) -> dict[str, dict]:
    """By file: one that two targets compile is compiled once."""
    return {entry["file"]: entry for entry in json.loads(Path(build, "compile_commands.json").read_text())}


def main(arguments: list[str]) -> int:
    release, tests = (commands_in(build) for build in arguments)
    known: dict = {}
    commands = [command_of(entry, known) for file, entry in release.items() if file not in tests]
    with (tempfile.TemporaryDirectory(prefix="ttmem-alone-") as folder,
          concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool):
        prepared = pool.map(lambda each: compile_group(*each[1], Path(folder, str(each[0]))), enumerate(group_all(commands)))
        errors = [text for text in pool.map(compile_alone, [command for part in prepared for command in part]) if text]
    for text in errors:
        print(text, file=sys.stderr)
    print(f"{len(commands)} files, " + (f"{len(errors)} do not compile on their own" if errors else "each compiles on its own"))
    return 1 if errors or not commands else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
