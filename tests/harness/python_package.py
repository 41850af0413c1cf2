# SPDX-License-Identifier: Apache-2.0
"""The Python package under test: imported from the tree, and for scripts that a test runs."""

import json
import os
import subprocess
import sys
import textwrap

from harness.observer import OBSERVER, preloadable
from harness.programs import LIB, ROOT, TTMEM, clean_environment
from harness.waiting import TIMEOUT

PACKAGE = os.path.join(ROOT, "python")
EXAMPLES = os.path.join(PACKAGE, "examples")

for folder in (EXAMPLES, PACKAGE):
    if folder not in sys.path:
        sys.path.insert(0, folder)
os.environ["TTMEM_PROGRAM"] = TTMEM


def script_environment(runtime_directory: str, *, observed: bool = False, **variables: str) -> dict[str, str]:
    """In which a script finds the package, the simulated runtime and the daemon. Observed: as under 'ttmem run', with a runtime that
    does not report by itself."""
    path = os.pathsep.join([PACKAGE, EXAMPLES, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = clean_environment(TTMEM_RUNTIME_DIR=runtime_directory, TTMEM_PROGRAM=TTMEM, TTMEM_SIM_LIB_DIR=LIB,
                                    TT_ALLOC_TRACKING_ENABLED="1", PYTHONPATH=path)
    if observed:
        environment |= {"LD_PRELOAD": preloadable(OBSERVER), "TTMEM_SIM_REPORTING": "0"}
    return environment | variables


def run_script(code: str, runtime_directory: str, **options) -> object:
    """Runs the code in a new interpreter and returns what it gives to `answer()`."""
    source = "import json, sys\ndef answer(value): print('ANSWER ' + json.dumps(value))\n" + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=TIMEOUT,
                          env=script_environment(runtime_directory, **options))
    assert (done.returncode, done.stderr) == (0, ""), f"it ended with {done.returncode}: {done.stdout}{done.stderr}"
    answers = [line.removeprefix("ANSWER ") for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
    return json.loads(answers[-1]) if answers else None
