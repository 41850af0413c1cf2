# SPDX-License-Identifier: Apache-2.0
"""What the tests of the observer share."""

import os
import subprocess
import sys

BIN = os.environ["TTMEM_BIN_DIR"]
LIB = os.environ["TTMEM_LIB_DIR"]
TEST_BIN = os.environ["TTMEM_TEST_BIN_DIR"]
SOURCE = os.environ["TTMEM_SOURCE_DIR"]
TTMEM = os.path.join(BIN, "ttmem")
SIM = os.path.join(BIN, "ttmem-sim")
OBSERVER = os.path.join(LIB, "libttmem_observer.so")
OBSERVERS = os.path.join(LIB, "ttmem-observer")
PYTHON_SCENARIO = [sys.executable, os.path.join(SOURCE, "src/sim/testing/run_scenario.py"), LIB]

QUIET = {name: value for name, value in os.environ.items()
         if name not in ("LD_PRELOAD", "TT_ALLOC_TRACKING_ENABLED", "COLUMNS")}
OBSERVED = QUIET | {"LD_PRELOAD": OBSERVER, "TT_ALLOC_TRACKING_ENABLED": "1", "TTMEM_SIM_REPORTING": "0"}


def call(command: list[str], environment: dict[str, str], **options) -> subprocess.CompletedProcess:
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, **options)
