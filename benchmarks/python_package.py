#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the Python package costs inside a process: a known scope, own figures, and importing it.

usage: python_package.py LIB-FOLDER OUTPUT.json

Medians over many short rounds, in a process with the simulated runtime: reporting by itself, and observed. Of importing it: the best of 21,
beside that of json of the standard library as a yardstick.
"""

import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

MEASURE = """
import json, statistics, time
import ttmem
from simulated_runtime import Device

device = Device()
kept = device.allocate(1 << 20)
name = ttmem.scope("decoder.3")

def scope():
    with name:
        pass

def median_us(call, rounds=200, calls=50):
    times = []
    for _ in range(rounds):
        start = time.perf_counter_ns()
        for _ in range(calls):
            call()
        times.append((time.perf_counter_ns() - start) / calls / 1000)
    return round(statistics.median(times), 2)

results = {"scope_us": median_us(scope)}
try:
    ttmem.max_memory_allocated()
    results["memory_allocated_us"] = median_us(ttmem.memory_allocated)
except ttmem.TtmemNotSupported:
    results["memory_allocated_us"] = None
print(json.dumps(results))
"""

IMPORT = "import time; start = time.perf_counter(); import {}; print((time.perf_counter() - start) * 1000)"


def output_of(code, **variables):
    path = os.pathsep.join(os.path.join(ROOT, "python", *rest) for rest in ((), ("examples",)))
    environment = os.environ | {"PYTHONPATH": path, "TTMEM_RUNTIME_DIR": "/nonexistent", "TT_ALLOC_TRACKING_ENABLED": "1"} | variables
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout


def main():
    libraries, output = sys.argv[1:]
    observed = {"LD_PRELOAD": os.path.join(libraries, "libttmem_observer.so"), "TTMEM_SIM_REPORTING": "0"}
    best = {module: min(float(output_of(IMPORT.format(module))) for _ in range(21)) for module in ("ttmem", "json")}
    results = {
        "reporting": json.loads(output_of(MEASURE, TTMEM_SIM_LIB_DIR=libraries)),
        "observed": json.loads(output_of(MEASURE, TTMEM_SIM_LIB_DIR=libraries, **observed)),
        "import_ms": round(best["ttmem"], 1),
        "import_json_ms": round(best["json"], 1),
        "import_ratio": round(best["ttmem"] / best["json"], 2),
    }
    with open(output, "w", encoding="utf-8") as file:
        json.dump(results, file)
    print(json.dumps(results))


main()
