# SPDX-License-Identifier: Apache-2.0
"""A copy of the stand-in tree, and integrate.py on it."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.programs import ROOT

HERE = Path(__file__).resolve().parent
TRUTH = Path(ROOT, "tests", "observer", "releases")  # its account of itself, as other stand-ins keep it
INTEGRATION = Path(ROOT, "integrations", "tt-metal")
REPORTER = "tt_metal/impl/ttmem/ttmem_reporter.cpp"


class StandIn:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="ttmem-tree-")
        self.root = Path(self.folder.name, "a tree")
        shutil.copytree(HERE / "tree", self.root)
        # The repository has no such line ends.
        self.change("tt_metal/impl/device/device.cpp", lambda text: text.replace("\n", "\r\n"))

    def close(self):
        self.folder.cleanup()

    def path(self, name: str) -> Path:
        return self.root / name

    def change(self, name: str, change) -> None:
        path = self.path(name)
        path.write_bytes(change(path.read_bytes().decode()).encode())

    def contents(self) -> dict[str, bytes]:
        return {str(path.relative_to(self.root)): path.read_bytes() for path in sorted(self.root.rglob("*")) if path.is_file()}

    def integrate(self, *arguments: str) -> subprocess.CompletedProcess:
        command = [sys.executable, str(INTEGRATION / "integrate.py"), *arguments, str(self.root)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    def add_other_headers(self) -> None:
        """Each header of tt-metal that the reporter includes and the tree lacks leads to the stand-in's only one."""
        included = re.compile(r'#include ["<]((?:tt-metalium|impl|llrt)/[^">]+)')
        reporter = "".join(path.read_text() for path in sorted(INTEGRATION.glob("*pp")))
        for name in included.findall(reporter):
            path = self.path("tt_metal/api" if name.startswith("tt-metalium") else "tt_metal") / name
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text('#pragma once\n#include "impl/stand_in.hpp"\n')

    def compile(self, compiler: str, library_folder: str, main: Path = HERE / "scenario.cpp", optimisation: str = "-O0") -> str:
        """A program with all sources of the tree, as one file because that is faster."""
        program, together = str(Path(self.folder.name, main.stem)), Path(self.folder.name, "together.cpp")
        sources = [*sorted(self.root.rglob("*.cpp")), TRUTH / "truth.cpp", main]
        together.write_text("".join(f'#include "{path}"\n' for path in sources))
        command = [compiler, "-std=c++20", optimisation, "-pthread", "-Wall", "-Wextra", "-Werror",
                   f"-I{self.path('tt_metal/api')}", f"-I{self.path('tt_metal')}", f"-I{os.path.join(ROOT, 'include')}", f"-I{TRUTH}",
                   str(together), "-o", program, f"-L{library_folder}", "-lttmem", f"-Wl,-rpath,{library_folder}"]
        subprocess.run(command, check=True)
        return program
