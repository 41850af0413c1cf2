#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets the compiler read each file of a release by itself: one that test runs compile together with others may lack an include.

    compile_alone.py <build folder of the release preset> <build folder of a test run>

What the test run compiles alone too is left out.
"""

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path


def read_alone(entry: dict) -> str:
    """Returns what the compiler has against the file; nothing if it stands alone."""
    words = shlex.split(entry["command"])
    compiler = next(i for i, word in enumerate(words) if Path(word).name in ("g++", "gcc"))
    flags, values_of = [], iter(words[compiler + 1:])
    for word in values_of:
        if word in ("-o", "-MF", "-MT"):
            next(values_of)
        elif word not in ("-c", "-MD"):
            flags.append(word)
    result = subprocess.run([words[compiler], *flags, "-w", "-fsyntax-only"],
                            cwd=entry["directory"], capture_output=True, text=True)
    return result.stderr if result.returncode != 0 else ""


def commands_of(build: str) -> dict[str, dict]:
    """By file: one that two targets compile is read once."""
    return {entry["file"]: entry for entry in json.loads(Path(build, "compile_commands.json").read_text())}


def main(arguments: list[str]) -> int:
    release, tests = (commands_of(build) for build in arguments)
    entries = {file: entry for file, entry in release.items() if file not in tests}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = [text for text in pool.map(read_alone, entries.values()) if text]
    for text in said:
        print(text, file=sys.stderr)
    print(f"{len(entries)} files, " + (f"{len(said)} do not stand alone" if said else "each stands alone"))
    return 1 if said or not entries else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
