#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/PYTHON.md, the examples and the notebook run, and show what they promise."""

import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap

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


class Notebook(TestCase):
    def test_every_cell_runs_and_shows_a_table(self):
        pages = self.execute("peak_per_layer.ipynb")
        text = "\n".join(pages)
        self.assertNotIn("not exact", text)
        for wanted in ("decoder.3", "PEAK_L1", "16.0 MiB", "GROWTH", "512.0 MiB", "<table", "device 0 dram of process"):
            self.assertIn(wanted, text)
        self.assertNotIn("<script", text)
        self.assertNotIn("src=", text)
        if "TTMEM_KEEP_PAGE" in os.environ:  # to look at it in a browser
            with open(os.environ["TTMEM_KEEP_PAGE"], "w", encoding="utf-8") as file:
                file.write('<!doctype html><meta charset="utf-8">' + "<hr>".join(pages))

    def test_the_extension_is_loaded_and_unloaded(self):
        found = run_script("""
            from IPython.core.interactiveshell import InteractiveShell
            import ttmem
            shell = InteractiveShell.instance(history_length=0)
            ttmem.load_ipython_extension(shell)
            has = [shell.find_line_magic("ttmem") is not None, shell.find_cell_magic("ttmem") is not None]
            ttmem.unload_ipython_extension(shell)
            answer([*has, shell.find_line_magic("ttmem"), shell.find_cell_magic("ttmem")])
        """, self.directory.path, HOME=self.state_directory, IPYTHONDIR=self.state_directory)
        self.assertEqual(found, [True, True, None, None])

    def execute(self, name: str) -> list[str]:
        with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
            cells = ["".join(cell["source"]) for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
        return run_script(textwrap.dedent(f"""
            from IPython.core.interactiveshell import InteractiveShell
            from IPython.utils.capture import capture_output
            shell, pages = InteractiveShell.instance(history_length=0), []
            for cell in {cells!r}:
                with capture_output() as shown:
                    result = shell.run_cell(cell)
                result.raise_error()
                pages += [each.data["text/html"] for each in shown.outputs if "text/html" in each.data]
                if result.result is not None:
                    pages.append(result.result._repr_html_())
            answer(pages)
        """), self.directory.path, observed=True, HOME=self.state_directory, IPYTHONDIR=self.state_directory)


if __name__ == "__main__":
    main()
