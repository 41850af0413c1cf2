# SPDX-License-Identifier: Apache-2.0
"""Paths of the programs and libraries under test."""

import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("TTMEM_BUILD_DIR", os.path.join(ROOT, "build", "dev"))
BIN = os.environ.get("TTMEM_BIN_DIR", os.path.join(BUILD, "bin"))
LIB = os.environ.get("TTMEM_LIB_DIR", os.path.join(BUILD, "lib"))
TEST_BIN = os.path.join(BUILD, "test-bin")

TTMEM = os.path.join(BIN, "ttmem")
TTMEMD = os.path.join(BIN, "ttmemd")
SIMULATOR = os.path.join(BIN, "ttmem-sim")

NO_RUNTIME_DIRECTORY = "/nonexistent"  # a process with this one announces itself to no daemon

# The boards of the machine that runs the tests appear in none of them.
os.environ.setdefault("TTMEM_HOST_ROOT", "/nonexistent")


def clean_environment(*dropped: str, **variables: str) -> dict[str, str]:
    """This process's environment without what changes the output of programs, and with `variables`."""
    unwanted = {"COLUMNS", "NO_COLOR", *dropped}
    return {name: value for name, value in os.environ.items() if name not in unwanted} | variables


def read_file(*parts: str) -> str:
    """The text of a file; a relative path starts at the root of the repository."""
    with open(os.path.join(ROOT, *parts), encoding="utf-8") as file:
        return file.read()
