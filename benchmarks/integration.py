#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the calls of integrations/tt-metal, inserted into the stand-in tree of the tests and compiled with -O2.

usage: integration.py OUTPUT.json [--quick]

CPU time per event, an allocation or a free, with tracking on and off, and the instructions that callgrind counts.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from harness.programs import LIB
from stand_in import StandIn

CALLS = Path(__file__).with_name("integration_calls.cpp")


def environment(is_on: bool) -> dict[str, str]:
    return os.environ | {"TT_ALLOC_TRACKING_ENABLED": "1" if is_on else "0", "TTMEM_RUNTIME_DIR": "/nonexistent"}


def ns(program: str, is_on: bool, rounds: int) -> float:
    done = subprocess.run([program, "200000", str(rounds)], env=environment(is_on), capture_output=True, text=True, check=True)
    return float(done.stdout)


def collected(program: str, is_on: bool, pairs: int) -> int:
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, str(pairs), "1"]
    done = subprocess.run(command, env=environment(is_on), capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def main() -> None:
    output, rounds = sys.argv[1], 3 if "--quick" in sys.argv else 9
    stand_in = StandIn()
    try:
        stand_in.integrate("insert").check_returncode()
        stand_in.add_other_headers()
        program = stand_in.compile(os.environ.get("CXX", "c++"), LIB, CALLS, "-O2")
        result = {}
        for way, is_on in (("on", True), ("off", False)):
            result[f"{way}_ns"] = ns(program, is_on, rounds)
            result[f"{way}_instructions"] = (collected(program, is_on, 3000) - collected(program, is_on, 1000)) / 4000
    finally:
        stand_in.close()
    with open(output, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    for name, value in result.items():
        print(f"  integration, an event, {name:<20} {value:>8.1f}")


main()
