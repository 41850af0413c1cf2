#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/PYTHON.md and the examples run, and show what they promise."""

import os
import re
import subprocess
import sys
import tempfile

from harness.programs import TTMEM, read_file
from harness.python_package import EXAMPLES, run_script, script_environment
from harness.test_case import TestCase, main
from harness.waiting import TIMEOUT

BEGIN = """
import os
import ttmem
from simulated_runtime import Device
device, kept = Device(), []
def step():
    with ttmem.scope("decoder.0"):
        kept.append(device.allocate(1 << 20))
step()
"""


def recipes() -> list[tuple[str, str]]:
    """Title and code of each."""
    cookbook = read_file("docs", "PYTHON.md").partition("\n## Cookbook\n")[2]
    return re.findall(r"^### (\d+\. .*?)$.*?^```python\n(.*?)^```$", cookbook, re.MULTILINE | re.DOTALL)


class Cookbook(TestCase):
    def test_ten_recipes_run(self):
        self.daemon()
        self.assertEqual([title.split(".")[0] for title, _ in recipes()], [str(number) for number in range(1, 11)])
        for title, code in recipes():
            with self.subTest(title=title):
                run_script(BEGIN + code, self.directory.path, observed=True)


class Examples(TestCase):
    def run_example(self, *command: str) -> subprocess.CompletedProcess:
        """As a user does: under 'ttmem run'."""
        environment = script_environment(self.directory.path, TTMEM_SIM_REPORTING="0", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run([TTMEM, "run", "--", sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True,
                                  timeout=TIMEOUT)

    def test_a_leak_found_by_a_marker(self):
        done = self.run_example("-m", "pytest", "-p", "ttmem.pytest_plugin", "-p", "no:cacheprovider", os.path.join(EXAMPLES, "test_find_a_leak.py"))
        self.assertIn("1 failed, 1 passed", done.stdout)
        self.assertIn("decoder.2/attention_mask", done.stdout)
        self.assertIn("of dram stayed on device 0, above the limit of 0", done.stdout)

    def test_an_out_of_memory_card_in_a_handler(self):
        done = self.run_example(os.path.join(EXAMPLES, "out_of_memory.py"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^not enough: 1\.0 GiB for decoder\.\d/kv_cache\n")
        self.assertRegex(done.stdout, r"\n  request  1\.0 GiB in pages of 2\.0 KiB over 12 banks: 85\.3 MiB in each bank")
        self.assertRegex(done.stdout, r"\n  Largest holders then\n +USED  COUNT  NAME\n +3\.0 GiB      3  decoder\.0/kv_cache\n")
        self.assertRegex(done.stdout, r"\n  What would have made it fit\n  would fit after freeing 85\.3 MiB per bank in 1 allocation")


if __name__ == "__main__":
    main()
