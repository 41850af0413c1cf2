#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy on every tracked source file that a build folder compiles; fails on the first word it says.

    run_clang_tidy.py <build folder> [<path> ...]

Most of its time goes into headers of others, so files that are compiled together are looked at together. What passed is not
looked at again until it, one of our headers that it reaches, its flags or .clang-tidy changes.
"""

import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

CLANG, CLANG_TIDY = "clang++-14", "clang-tidy-14"
PLACES = ["src", "include", "tests"]

# Unit tests are left to the compiler's warnings: clang-tidy spends minutes on the templates of GoogleTest, and the headers
# that tests include are checked by the code that includes them.
TEST_FILE = re.compile(r"_(test|bench|fuzz)\.cpp$")

# The flags are those of g++: clang does not know all its warnings, and objects to the casts of a C header.
EXTRA = ["-Wno-unknown-warning-option", "-Wno-old-style-cast"]

# Nor can clang read what g++ has precompiled.
PRECOMPILED = re.compile(r" -Winvalid-pch| -include \S*/cmake_pch\.hxx")

TOGETHER = re.compile(r'^#include "(.*\.cpp)"$', re.MULTILINE)


def tracked_files(root: Path, places: list[str]) -> set[Path]:
    names = subprocess.run(["git", "-C", str(root), "ls-files", "--", *places],
                           check=True, capture_output=True, text=True).stdout.splitlines()
    return {root / name for name in names if name.endswith((".c", ".cpp")) and not TEST_FILE.search(name)}


def files_of(source: Path) -> set[Path]:
    """What a file that the compiler is given brings: itself, or those that are compiled together by it."""
    together = TOGETHER.findall(source.read_text()) if "/Unity/" in str(source) else []
    return {Path(name).resolve() for name in together} or {source}


def hand_on_settings(root: Path, build: Path) -> bytes:
    """Settings of a folder hold for what is compiled together there too, which lies in the same place of the build folder."""
    names = subprocess.run(["git", "-C", str(root), "ls-files", "--", "*/.clang-tidy"],
                           check=True, capture_output=True, text=True).stdout.splitlines()
    for name in names:
        (build / name).parent.mkdir(parents=True, exist_ok=True)
        (build / name).write_bytes((root / name).read_bytes())
    return b"".join((root / name).read_bytes() for name in [".clang-tidy", *names])


def flags_of(entry: dict) -> list[str]:
    """The flags of a compile command: without the launcher, the compiler, the input and the outputs."""
    words = shlex.split(entry["command"])
    flags = [word for word in words if word.startswith(("-I", "-D", "-f", "-W", "-std", "-O", "-m"))]
    pairs = [word for flag, word in zip(words, words[1:]) if flag == "-isystem"]
    return flags + [part for path in pairs for part in ("-isystem", path)]


def fingerprint(source: Path, entry: dict, config: bytes) -> str:
    """A hash of all that decides the outcome. Headers of the system count by the version of the tool alone."""
    rule = subprocess.run([CLANG, "-MM", "-w", *flags_of(entry), str(source)],
                          capture_output=True, text=True, cwd=entry["directory"])
    digest = hashlib.sha256(config + entry["command"].encode())
    files = rule.stdout.replace("\\\n", " ").partition(":")[2].split() if rule.returncode == 0 else [str(source)]
    for name in sorted(files):
        digest.update(name.encode() + b"\0" + Path(entry["directory"], name).read_bytes())
    return digest.hexdigest()


def look_at(source: Path, entry: dict, build: Path, config: bytes) -> str:
    """Returns what clang-tidy has against the file; nothing if it passes."""
    notes = build / "clang-tidy"
    stamp = notes / fingerprint(source, entry, config)
    if stamp.exists():
        return ""
    command = [CLANG_TIDY, "-p", str(notes), "--quiet", *(f"--extra-arg={flag}" for flag in EXTRA)]
    result = subprocess.run([*command, str(source)], capture_output=True, text=True)
    if result.returncode == 0:
        stamp.touch()
        return ""
    return result.stdout or result.stderr or f"{source}: clang-tidy ended with {result.returncode} and said nothing"


def main(arguments: list[str]) -> int:
    root, build = Path.cwd(), Path(arguments[0]).resolve()
    version = subprocess.run([CLANG_TIDY, "--version"], check=True, capture_output=True).stdout
    config = version + hand_on_settings(root, build)
    commands = [entry | {"command": PRECOMPILED.sub("", entry["command"])}
                for entry in json.loads((build / "compile_commands.json").read_text())]
    (build / "clang-tidy").mkdir(parents=True, exist_ok=True)
    (build / "clang-tidy" / "compile_commands.json").write_text(json.dumps(commands))
    entries = {Path(entry["directory"], entry["file"]).resolve(): entry for entry in commands}
    tracked = tracked_files(root, arguments[1:] or PLACES)
    brings = {source: files_of(source) & tracked for source in entries}
    sources = sorted(source for source in entries if brings[source])
    looked_at = set().union(*brings.values())
    if not sources:
        print("clang-tidy: the build compiles none of these files, so there is nothing to look at", file=sys.stderr)
        return 1
    for path in sorted(tracked - looked_at):
        print(f"clang-tidy: not looked at, since nothing compiles it: {path.relative_to(root)}")

    said = set()  # a remark about a header comes once for each file that includes it
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for text in pool.map(lambda path: look_at(path, entries[path], build, config), sources):
            if text and text not in said:
                print(text, file=sys.stderr, flush=True)
            said.add(text)
    said.discard("")
    print(f"{len(looked_at)} files, " + ("clang-tidy has objections" if said else "clang-tidy has nothing against them"))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
