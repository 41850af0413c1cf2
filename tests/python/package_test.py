#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel and the Debian package: complete, reproducible, light to import, and with the plugin of pytest registered."""

import filecmp
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
import zipfile

from harness.programs import ROOT, clean_environment
from harness.users import may_become_other_users
from harness.waiting import TIMEOUT

OF_THE_HOST = ("usr", "bin", "lib", "lib64", "sbin", "etc", "dev")  # what a root with the programs of this machine needs


def output_of(*command: str, **environment: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, cwd="/",
                          env=clean_environment("PYTHONPATH", **{"PYTHONDONTWRITEBYTECODE": "1"} | environment))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="ttmem-packages-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.made = [cls.build(name) for name in ("first", "second")]
        cls.wheel, cls.debian = cls.made[0]
        cls.root = os.path.join(cls.folder.name, "root")
        output_of("dpkg-deb", "-x", cls.debian, cls.root)
        cls.installed = os.path.join(cls.root, "usr/lib/python3/dist-packages")

    @classmethod
    def build(cls, name: str) -> list[str]:
        return output_of(os.path.join(ROOT, "packaging/python/build"), os.path.join(cls.folder.name, name)).split()

    def sources(self) -> set[str]:
        return {name for name in os.listdir(os.path.join(ROOT, "python/ttmem")) if name.endswith(".py") or name == "py.typed"}

    def test_the_wheel_is_pure_and_complete(self):
        self.assertRegex(os.path.basename(self.wheel), r"^ttmem-[\d.]+-py3-none-any\.whl$")
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
            metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
        self.assertEqual({name.removeprefix("ttmem/") for name in names if name.startswith("ttmem/")}, self.sources())
        self.assertIn("Requires-Python: >=3.10", metadata)
        self.assertEqual([line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line], [])

    def test_the_debian_package_is_complete(self):
        self.assertEqual(set(os.listdir(os.path.join(self.installed, "ttmem"))), self.sources())
        fields = output_of("dpkg-deb", "-f", self.debian, "Package", "Architecture", "Depends")
        self.assertEqual(fields, "Package: python3-ttmem\nArchitecture: all\nDepends: python3 (>= 3.10)\n")
        self.assertTrue(os.path.exists(os.path.join(self.root, "usr/share/doc/python3-ttmem/copyright")))

    def test_the_same_source_gives_the_same_packages(self):
        for first, second in zip(*self.made):
            self.assertTrue(filecmp.cmp(first, second, shallow=False), first)

    def test_pytest_finds_the_plugin(self):
        text = output_of(sys.executable, "-m", "pytest", "--help", PYTHONPATH=self.installed)
        for option in ("--ttmem", "--ttmem-report", "--ttmem-html", "--ttmem-fail-on-leak", "--ttmem-fail-on-increase"):
            self.assertIn(option, text)

    CHECK = ("import ttmem, importlib.metadata as m; print(ttmem.__file__); print(ttmem.parse_size('1 GiB'));"
             "print([e.value for e in m.entry_points(group='pytest11') if e.name == 'ttmem'])")

    def test_an_installed_wheel_works(self):
        site = os.path.join(self.folder.name, "site")
        output_of(sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--root-user-action=ignore", "--no-cache-dir",
                  "--disable-pip-version-check", "--target", site, self.wheel)
        lines = output_of(sys.executable, "-c", self.CHECK, PYTHONPATH=site).splitlines()
        self.assertEqual(lines, [os.path.join(site, "ttmem/__init__.py"), str(1 << 30), "['ttmem.pytest_plugin']"])

    def another_root(self, name: str) -> tuple[str, list[str], str]:
        """A folder with a database of packages that is empty, dpkg for it, and where Python's packages are installed."""
        root = os.path.join(self.folder.name, name)
        database = os.path.join(root, "var/lib/dpkg")
        for name in ("info", "updates", "triggers"):
            os.makedirs(os.path.join(database, name))
        for name in ("status", "available"):
            with open(os.path.join(database, name), "w", encoding="utf-8"):
                pass
        dpkg = ["dpkg", "--root=" + root, "--force-depends", "--force-not-root", "--force-script-chrootless", "--log=/dev/null"]
        return root, dpkg, os.path.join(root, "usr/lib/python3/dist-packages")

    def test_the_debian_package_is_installed_and_removed_without_a_trace(self):
        _, dpkg, packages = self.another_root("installed")
        output_of(*dpkg, "--install", self.debian)
        lines = output_of(sys.executable, "-B", "-c", self.CHECK, PYTHONPATH=packages).splitlines()
        self.assertEqual(lines, [os.path.join(packages, "ttmem/__init__.py"), str(1 << 30), "['ttmem.pytest_plugin']"])
        self.assertEqual(set(os.listdir(os.path.join(packages, "ttmem"))), self.sources())
        output_of(sys.executable, "-c", self.CHECK, PYTHONPATH=packages, PYTHONDONTWRITEBYTECODE="")
        self.assertTrue(os.path.exists(os.path.join(packages, "ttmem/__pycache__")))
        output_of(*dpkg, "--purge", "python3-ttmem")
        self.assertFalse(os.path.exists(os.path.join(packages, "ttmem")))

    @unittest.skipUnless(may_become_other_users() and shutil.which("py3compile"), "needs root, and Debian's py3compile")
    def test_the_debian_package_has_byte_code_while_it_is_installed(self):
        root, dpkg, packages = self.another_root("debian")
        dpkg.remove("--force-script-chrootless")
        for name in ("tmp", *(each for each in OF_THE_HOST if os.path.isdir("/" + each))):
            os.makedirs(os.path.join(root, name))
        database = os.path.join(root, "var/lib/dpkg")
        with open(os.path.join(database, "status"), "w", encoding="utf-8") as file:
            file.write("Package: base-files\nStatus: install ok installed\nVersion: 1\nArchitecture: all\n"
                       "Maintainer: none\nDescription: has the folders that a purge must leave\n")
        with open(os.path.join(database, "info/base-files.list"), "w", encoding="utf-8") as file:
            file.write("/.\n/usr\n/usr/lib\n/usr/lib/python3\n/usr/lib/python3/dist-packages\n/usr/share\n/usr/share/doc\n/usr/bin/sh\n")
        # The programs of this machine, with folders of their own for what is installed.
        own = [os.path.join(self.folder.name, name) for name in ("packages", "documents")]
        script = "".join(f"mount --rbind -o ro /{name} {root}/{name}\n" for name in OF_THE_HOST
                         if os.path.isdir(f"{root}/{name}"))
        for folder, place in zip(own, (packages, os.path.join(root, "usr/share/doc"))):
            os.makedirs(folder)
            script += f"mount --bind {folder} {place}\n"
        script += textwrap.dedent(f"""
            {shlex.join(dpkg)} --install {self.debian}
            cd {packages}/ttmem && ls -1 . __pycache__
            chroot {root} /usr/bin/python3 -O -c 'import ttmem'
            ls __pycache__ | grep -c opt-1
            cd / && {shlex.join(dpkg)} --purge python3-ttmem
        """)
        listed = output_of("unshare", "--mount", "--propagation=private", "sh", "-ec", script, PYTHONDONTWRITEBYTECODE="").splitlines()
        tag = sys.implementation.cache_tag
        compiled = {f"{name.removesuffix('.py')}.{tag}.pyc" for name in self.sources() if name.endswith(".py")}
        self.assertEqual(compiled - set(listed), set())
        self.assertGreater(max(int(line) for line in listed if line.isdigit()), 0)
        self.assertEqual([os.listdir(folder) for folder in own], [[], []])

    def test_importing_it_loads_nothing_large(self):
        code = "import sys; before = set(sys.modules); import ttmem; print(*sorted(set(sys.modules) - before))"
        loaded = set(output_of(sys.executable, "-c", code, PYTHONPATH=self.installed).split())
        self.assertIn("ttmem._client", loaded)
        large = {"asyncio", "dataclasses", "email", "enum", "html", "http.client", "inspect", "json", "logging", "pandas", "pickle", "pytest", "re", "shutil", "socket",
                 "ssl", "subprocess", "tempfile", "typing", "urllib.parse"}
        self.assertEqual(loaded & large, set())

    def test_importing_it_needs_no_daemon_program_or_library(self):
        for tracking in ("0", "1"):
            text = output_of(sys.executable, "-c", "import ttmem\ntry: ttmem.status()\nexcept ttmem.TtmemNotRunning as error: print(error)",
                             PYTHONPATH=self.installed, PATH="/nonexistent", TTMEM_RUNTIME_DIR="/nonexistent", TT_ALLOC_TRACKING_ENABLED=tracking)
            self.assertRegex(text, "^no daemon answers at /nonexistent, and the program 'ttmem' is not in PATH: install the package ttmem, or start")


if __name__ == "__main__":
    unittest.main(verbosity=2)
