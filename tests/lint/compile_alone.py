#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles each file of the release on its own: one that is otherwise compiled together with others may lack an include.

    compile_alone.py <build folder of the alone preset> <build folder of a test run>

Files that the test run compiles on their own are skipped, and files that only a build writes.

Most of the time goes into headers. So the headers that several files have in common are precompiled, in a tree: what all
files include, then what most of them include besides, and so on. clang can base one precompiled header on another. That hides
no missing include: a file only gets a precompiled header whose contents it includes anyway, directly or through our headers.
"""

import concurrent.futures
import functools
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

CLANG = "clang++-14"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*(include|if|ifdef|ifndef)\b(?:[ \t]*(?:"([^"]+)"|<([^>]+)>))?|^[ \t]*#[ \t]*endif', re.MULTILINE)

# Rough seconds to parse a header, by the beginning of its name; any other header takes less.
WEIGHTS = {"boost/": 1.5, "CLI/": 1.5, "nlohmann/": 1.0, "toml++/": 1.2, "fmt/": 0.4, "tl/": 0.1,
           "filesystem": 0.2, "functional": 0.2, "algorithm": 0.2, "chrono": 0.2, "regex": 0.4, "string": 0.2}
OTHER_WEIGHT = 0.03
WORTH_IT = 1.5  # seconds that a precompiled header must save


@dataclass(frozen=True)
class Source:
    file: str
    defines: frozenset[str]
    others: tuple[str, ...]  # language and include folders
    headers: frozenset[str]  # as after "#include"; those of the system and ours


@dataclass
class Node:
    """A precompiled header. The files use it as it is; the children are based on it."""
    headers: list[str]
    files: list[Source] = field(default_factory=list)
    children: list["Node"] = field(default_factory=list)


@functools.cache
def direct_includes(path: Path, roots: tuple[Path, ...]) -> tuple[frozenset[str], frozenset[Path]]:
    """The headers of the system and our files that a file includes, apart from conditional includes."""
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
    return frozenset(headers), frozenset(ours)


def headers_of(path: Path, roots: tuple[Path, ...]) -> frozenset[str]:
    """All headers that a file includes, directly or through our headers."""
    reached, waiting, headers = set(), {path}, set()
    while waiting:
        current = waiting.pop()
        reached.add(current)
        system, ours = direct_includes(current, roots)
        headers |= {f"<{name}>" for name in system}
        headers |= {f'"{name}"' for name in ours if name.suffix == ".hpp"}
        waiting |= ours - reached
    return frozenset(headers)


def source_of(entry: dict) -> Source:
    words = iter(shlex.split(entry["command"]))
    defines, folders, others = [], [], ["-xc"] if entry["file"].endswith(".c") else ["-xc++"]
    for word in words:
        if word.startswith("-D"):
            defines.append(word)
        elif word.startswith("-std"):
            others.append(word)
        elif word == "-isystem" or word.startswith("-I"):
            folder = str(Path(entry["directory"], next(words) if word == "-isystem" else word[2:]))
            folders.append(("-isystem" if word == "-isystem" else "-I") + folder)
    roots = tuple(Path(folder.removeprefix("-isystem").removeprefix("-I")) for folder in folders
                  if not folder.startswith("-isystem/usr"))
    headers = frozenset() if "-xc" in others else headers_of(Path(entry["file"]), roots)
    return Source(entry["file"], frozenset(defines), (*others, *dict.fromkeys(folders)), headers)


def weight(headers: frozenset[str]) -> float:
    return sum(next((seconds for start, seconds in WEIGHTS.items() if name[1:].startswith(start)), OTHER_WEIGHT)
               for name in headers)


def tree(files: list[Source], included: frozenset[str] = frozenset()) -> Node:
    """Precompiles what all these files include; then, for as many files as it is worth it, what those include besides."""
    common = frozenset.intersection(*(file.headers for file in files)) - included
    node, left, included = Node(sorted(common)), list(files), included | common
    while left:
        users: dict[str, list[Source]] = {}
        for file in left:
            for name in file.headers - included:
                users.setdefault(name, []).append(file)
        gains = {name: weight(frozenset.intersection(*(file.headers for file in some)) - included) * (len(some) - 1)
                 for name, some in users.items()}
        best = max(gains, key=lambda name: (gains[name], name), default=None)
        if best is None or gains[best] < WORTH_IT:
            break
        node.children.append(tree(users[best], included))
        left = [file for file in left if file not in users[best]]
    node.files = left
    return node


def forest(sources: list[Source]) -> list[tuple[list[str], Node]]:
    """Trees of files with the same language and folders, and no macro with two values. All get the macros of all."""
    groups: list[tuple[tuple[str, ...], dict[str, str], list[Source]]] = []
    for source in sources:
        values = {flag.partition("=")[0]: flag for flag in source.defines}
        group = next((group for group in groups if group[0] == source.others
                      and all(group[1].get(name, flag) == flag for name, flag in values.items())), None)
        if group is None:
            groups.append(group := (source.others, {}, []))
        group[1].update(values)
        group[2].append(source)
    return [([*others, *sorted(values.values())], tree(files)) for others, values, files in groups]


def precompile(node: Node, base: Path | None, flags: list[str], target: Path) -> Path | None:
    """Returns the precompiled header; the one that it is based on if the headers do not go together: slower, not wrong."""
    if not node.headers:
        return base
    header = target.with_suffix(".hpp")
    header.write_text("".join(f"#include {name}\n" for name in node.headers))
    language = ["-xc++-header" if flag == "-xc++" else flag for flag in flags]
    done = subprocess.run([CLANG, "-w", "-fpch-instantiate-templates", *language, *based_on(base), str(header), "-o", str(target)],
                          capture_output=True)
    return target if done.returncode == 0 else base


def based_on(header: Path | None) -> list[str]:
    return ["-include-pch", str(header)] if header else []


def compile_alone(source: Source, header: Path | None, flags: list[str]) -> str:
    """Returns the errors of the compiler; nothing if the file compiles."""
    result = subprocess.run([CLANG, "-w", "-fsyntax-only", *flags, *based_on(header), source.file],
                            capture_output=True, text=True)
    if result.returncode != 0 and header:
        return compile_alone(source, None, flags)  # clang 14 forgets some macros of precompiled headers
    return result.stderr if result.returncode != 0 else ""


def compile_all(trees: list[tuple[list[str], Node]], folder: Path, pool: concurrent.futures.Executor) -> list[str]:
    """Returns the errors of all files. A tree is compiled from its root on, and files as soon as their header is there."""
    headers, files = {}, []

    def start(node: Node, base: Path | None, flags: list[str]) -> concurrent.futures.Future:
        header = pool.submit(precompile, node, base, flags, folder / f"{len(headers)}.pch")
        headers[header] = (node, flags)
        return header

    waiting = {start(root, None, flags) for flags, root in trees}
    while waiting:
        done, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
        for header in done:
            node, flags = headers[header]
            waiting |= {start(child, header.result(), flags) for child in node.children}
            files += [pool.submit(compile_alone, source, header.result(), flags) for source in node.files]
    return [text for file in files if (text := file.result())]


def commands_in(build: str) -> dict[str, dict]:
    """By file: one that two targets compile is compiled once."""
    return {entry["file"]: entry for entry in json.loads(Path(build, "compile_commands.json").read_text())}


def main(arguments: list[str]) -> int:
    release, tests = (commands_in(build) for build in arguments)
    sources = [source_of(entry) for file, entry in release.items() if file not in tests and Path(file).exists()]
    with (tempfile.TemporaryDirectory(prefix="ttmem-alone-") as folder,
          concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool):
        errors = compile_all(forest(sources), Path(folder), pool)
    for text in errors:
        print(text, file=sys.stderr)
    print(f"{len(sources)} files, " + (f"{len(errors)} do not compile on their own" if errors else "each compiles on its own"))
    return 1 if errors or not sources else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
