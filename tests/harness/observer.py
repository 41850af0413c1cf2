# SPDX-License-Identifier: Apache-2.0
"""The observer: a library that is preloaded into programs which do not report by themselves."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile

from harness.programs import LIB, ROOT, TEST_BIN, clean_environment

OBSERVER = os.path.join(LIB, "libttmem_observer.so")
OBSERVERS = os.path.join(LIB, "ttmem-observer")
SIMULATOR = os.path.join(TEST_BIN, "ttmem-sim")  # with shared libraries: the installed one has nothing to preload before
PYTHON_SCENARIO = [sys.executable, os.path.join(ROOT, "sim/testing/run_scenario.py"), LIB]


def preloadable(path: str) -> str:
    """A path of this library for LD_PRELOAD, which is separated by spaces and colons."""
    if " " not in path and ":" not in path:
        return path
    folder = tempfile.mkdtemp(prefix="ttmem-preload-", dir="/tmp")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    link = os.path.join(folder, "lib")
    os.symlink(os.path.dirname(path), link)
    return os.path.join(link, os.path.basename(path))


RELEASE = os.path.join(TEST_BIN, "observer_release")  # runs a stand-in of a release of the runtime


def stand_in(release: str) -> str:
    """The library that has the layout of a release."""
    return os.path.join(TEST_BIN, f"libobserver_release_v{release}_gcc.so")


UNOBSERVED = clean_environment("LD_PRELOAD", "TT_ALLOC_TRACKING_ENABLED")
OBSERVED = UNOBSERVED | {"LD_PRELOAD": preloadable(OBSERVER), "TT_ALLOC_TRACKING_ENABLED": "1", "TTMEM_SIM_REPORTING": "0"}


def call(command: list[str], environment: dict[str, str], **options) -> subprocess.CompletedProcess:
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, **options)
