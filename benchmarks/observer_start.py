#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the observer adds to the start of a process: of one without tt-metal, and by the first call of one with it.

usage: observer_start.py PROGRAMS-FOLDER LIB-FOLDER OUTPUT.json [--quick]

CPU time of whole processes, with and without the observer in turn: the difference of the medians.
"""

import json
import os
import statistics
import subprocess
import sys


def cpu_ms(command, environment):
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return (usage.ru_utime + usage.ru_stime) * 1000


def difference_ms(command, without, with_it, rounds):
    times = {"without": [], "with": []}
    for _ in range(rounds):
        times["without"].append(cpu_ms(command, without))
        times["with"].append(cpu_ms(command, with_it))
    return statistics.median(times["with"]) - statistics.median(times["without"])


def main():
    programs, libraries, output = sys.argv[1:4]
    rounds = 21 if "--quick" in sys.argv else 101
    alone = os.environ | {"TT_ALLOC_TRACKING_ENABLED": "0", "TTMEM_RUNTIME_DIR": "/nonexistent", "TTMEM_SIM_REPORTING": "0"}
    alone.pop("LD_PRELOAD", None)
    observed = alone | {"TT_ALLOC_TRACKING_ENABLED": "1", "LD_PRELOAD": os.path.join(libraries, "libttmem_observer.so")}
    results = {
        "preloaded_without_tt_metal_ms": difference_ms(["/bin/true"], alone, observed, 5 * rounds),
        # One allocation and its free are in it, of about 0.1 us.
        "first_call_ms": difference_ms([os.path.join(programs, "count_runtime_calls"), "1"], alone, observed, rounds),
    }
    with open(output, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)


main()
