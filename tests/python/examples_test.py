#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/PYTHON.md and the examples run, and show what they promise."""

import os
import re
import subprocess
import sys
import tempfile
import textwrap

from harness.programs import TTMEM, read_file
from harness.python_package import EXAMPLES, script_environment
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

# What recipes show: a regular expression of their whole output.
SHOWN = [
    r"\d+ \S+ python3 0 1\.0 MiB\n",
    r"decoder\.0 1\.0 MiB 1\n",
    r"decoder\.0 1\.0 MiB 1\n",
    r"KIND +BEFORE +NOW +GROWN +NAME\ndram +1\.0 MiB +2\.0 MiB +1\.0 MiB +decoder\.0\n",
    r"1 fits\n32 fits\n1024 does not fit\n((device|mesh) 0 too big short by .* MiB in each bank\n)+",
    r"too big dram .* GiB None\nCard: dram of device 0 at that moment, process \d+\n(.*\n)*  What would have made it fit\n(.*\n)+",
    r"ERROR:root:device memory: too big of dram, .* GiB short in each bank\n",
    r"decoder\.0 \d+\n",
    r"(device 0: 0%\n)+device 0: 92%\n",
    r"kind +name +\ndram +decoder\.0 +\d+\nName: used, dtype: int64\n",
]

# What happens meanwhile.
MEANWHILE = {
    9: """
        import builtins, threading
        is_shown, show = threading.Event(), print
        def print(*values):
            show(*values)
            is_shown.set()
        threading.Thread(target=lambda: is_shown.wait() and kept.append(device.allocate(11 << 30)), daemon=True).start()
    """
}


def recipes() -> list[tuple[str, str]]:
    """Title and code of each."""
    cookbook = read_file("docs", "PYTHON.md").partition("\n## Cookbook\n")[2]
    return re.findall(r"^### (\d+\. .*?)$.*?^```python\n(.*?)^```$", cookbook, re.MULTILINE | re.DOTALL)


class Cookbook(TestCase):
    def test_ten_recipes_run_and_show_what_they_promise(self):
        self.daemon()
        self.assertEqual([title.split(".")[0] for title, _ in recipes()], [str(number) for number in range(1, 11)])
        for number, (title, code) in enumerate(recipes(), 1):
            with self.subTest(title=title):
                done = subprocess.run([sys.executable, "-c", BEGIN + textwrap.dedent(MEANWHILE.get(number, "")) + code], stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT,
                                      env=script_environment(self.directory.path, observed=True))
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertRegex(done.stdout, rf"\A(?:{SHOWN[number - 1]})\Z")


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
