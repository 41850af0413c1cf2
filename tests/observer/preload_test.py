#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The preloaded library goes into every process there is, and changes none of them."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import LIB, OBSERVED, OBSERVER, OBSERVERS, PYTHON_SCENARIO, QUIET, SIM, TEST_BIN, call

HOLD = ["--pause-at", "end"]


def libraries() -> list[str]:
    return [OBSERVER, *glob.glob(os.path.join(OBSERVERS, "*.so"))]


def symbols(library: str, *options: str) -> list[str]:
    lines = subprocess.run(["nm", "-D", *options, library], capture_output=True, text=True, check=True).stdout
    return [line.split()[-1] for line in lines.splitlines()]


class Library(unittest.TestCase):
    def test_there_is_an_observer_behind_the_preloaded_library(self):
        self.assertGreaterEqual(len(libraries()), 2)

    def test_no_symbol_of_tt_metal_is_undefined(self):
        for library in libraries():
            wanted = [name for name in symbols(library, "--undefined-only") if "tt_metal" in name or "tt_fabric" in name]
            self.assertEqual(wanted, [], library)

    def test_the_preloaded_library_needs_libc_alone(self):
        text = subprocess.run(["readelf", "-d", OBSERVER], capture_output=True, text=True, check=True).stdout
        self.assertEqual(set(re.findall(r"NEEDED.*\[(.*)\]", text)) - {"ld-linux-x86-64.so.2"}, {"libc.so.6"})

    def test_it_shows_functions_of_tt_metal_and_one_for_the_doctor(self):
        shown = symbols(OBSERVER, "--defined-only")
        self.assertGreaterEqual(len(shown), 15)
        self.assertEqual([name for name in shown if not name.startswith("_ZN2tt8tt_metal")], ["ttmem_observer_probe"])

    def test_an_observer_shows_nothing_of_its_libttmem(self):
        for library in glob.glob(os.path.join(OBSERVERS, "*.so")):
            self.assertEqual(symbols(library, "--defined-only"), ["ttmem_observer_attach"])


class Unharmed(unittest.TestCase):
    """Programs that have nothing to do with tt-metal."""

    def assert_same(self, command: list[str], **options):
        alone = call(command, QUIET, **options)
        observed = call(command, OBSERVED, **options)
        self.assertEqual((alone.returncode, alone.stdout, alone.stderr),
                         (observed.returncode, observed.stdout, observed.stderr), command)

    def test_ls(self):
        self.assert_same(["ls", "-la", "/usr"])
        self.assert_same(["ls", "/nonexistent"])

    def test_bash_with_its_children(self):
        self.assert_same(["bash", "-c", "x=$(echo a | tr a b); (exit 7); echo $x $?; exec sh -c 'echo $0 end; exit 5'"])

    def test_python(self):
        self.assert_same([sys.executable, "-c",
                          "import ctypes, json, subprocess, sys, threading\n"
                          "t = threading.Thread(target=lambda: print(json.dumps([1]))); t.start(); t.join()\n"
                          "print(subprocess.run(['true']).returncode)\nsys.exit(4)"])

    def test_python_that_spawns_and_forks(self):
        body = ("import multiprocessing as mp\ndef work(q): q.put(42)\n"
                "if __name__ == '__main__':\n"
                "    for way in ('fork', 'spawn'):\n"
                "        context = mp.get_context(way); q = context.Queue()\n"
                "        p = context.Process(target=work, args=(q,)); p.start(); print(way, q.get()); p.join()\n")
        with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
            script.write(body)
            script.flush()
            self.assert_same([sys.executable, script.name])

    def test_a_compiler(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "a.cpp")
            with open(source, "w", encoding="utf-8") as out:
                out.write("#include <stdexcept>\nint main() { try { throw std::runtime_error(\"x\"); } "
                          "catch (const std::exception&) { return 6; } }\n")
            self.assert_same(["g++", source, "-o", os.path.join(folder, "a")])
            self.assert_same([os.path.join(folder, "a")])

    def test_a_static_program(self):
        self.assert_same([os.path.join(TEST_BIN, "observer_static_program")])

    def test_a_setuid_program(self):
        if os.getuid() != 0:
            return self.assert_same(["su", "--help"])
        # The superuser's own setuid programs are nothing special to him; those of others are.
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            program = os.path.join(folder, "id")
            shutil.copy(shutil.which("id"), program)
            os.chown(program, 65534, -1)
            os.chmod(program, 0o4755)
            self.assert_same([program, "-u"])
            self.assertEqual(call([program, "-u"], OBSERVED).stdout, "65534\n")

    def test_a_program_without_standard_streams(self):
        self.assert_same(["bash", "-c", "exec ls / 0<&- 1>&- 2>&-"])


class Observed(unittest.TestCase):
    """Programs that use the runtime, in ways that a library may not expect."""

    def assert_runs(self, command: list[str]):
        done = call(command, OBSERVED)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        return done.stdout

    def test_what_it_prints_is_what_it_prints_alone(self):
        for scenario in ("leak", "cb-clash", "oom-dram", "hooked-capture"):
            alone = call([SIM, scenario], QUIET | {"TT_ALLOC_TRACKING_ENABLED": "0"})
            self.assertEqual(self.assert_runs([SIM, scenario]), alone.stdout, scenario)

    def test_it_closes_every_descriptor_before_and_meanwhile(self):
        body = ("import ctypes, os, sys, threading\n"
                "os.closerange(3, 4096)\n"
                "library = ctypes.CDLL(sys.argv[1] + '/libttmem_sim_scenarios.so', mode=os.RTLD_LOCAL | os.RTLD_NOW)\n"
                "def run(name):\n"
                "    words = (ctypes.c_char_p * 3)(b'ttmem-sim', name, None)\n"
                "    return library.ttmem_sim_main(2, words)\n"
                "assert run(b'leak') == 0\n"
                "os.closerange(3, 4096)\n"
                "assert run(b'leak') == 0\n"
                "t = threading.Thread(target=run, args=(b'leak',)); t.start(); t.join()\n")
        self.assert_runs([sys.executable, "-c", body, LIB])

    def test_without_standard_streams(self):
        done = call(["bash", "-c", f"exec {SIM} leak 0<&- 1>&- 2>&-"], OBSERVED)
        alone = call(["bash", "-c", f"exec {SIM} leak 0<&- 1>&- 2>&-"], QUIET | {"TTMEM_SIM_REPORTING": "0"})
        self.assertEqual(done.returncode, alone.returncode)

    def test_with_a_limit_of_descriptors_and_of_memory(self):
        for limit in ("ulimit -n 8", "ulimit -f 0", "ulimit -v 400000"):
            done = call(["bash", "-c", f"{limit}; exec {SIM} leak"], OBSERVED)
            self.assertEqual(done.returncode, 0, limit + done.stderr)
            self.assertLessEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_tracking_off_means_off(self):
        with subprocess.Popen([SIM, "leak", *HOLD], env=OBSERVED | {"TT_ALLOC_TRACKING_ENABLED": "0"}, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            self.wait_for_pause(process)
            self.assertEqual(self.segments(process.pid), 0)
            self.assertEqual(self.loaded_observers(process.pid), 0)
            process.communicate("\n")

    def test_a_process_that_reports_by_itself_has_one_segment(self):
        for command in ([SIM, "leak", *HOLD], [*PYTHON_SCENARIO, "leak", *HOLD]):
            with subprocess.Popen(command, env=OBSERVED | {"TTMEM_SIM_REPORTING": "1"}, text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                self.wait_for_pause(process)
                self.assertEqual(self.segments(process.pid), 1)
                _, errors = process.communicate("\n")
                self.assertEqual((process.returncode, errors), (0, ""))

    @staticmethod
    def wait_for_pause(process):
        for line in process.stdout:
            if line.startswith("paused: "):
                return
        raise AssertionError("it ended before its pause")

    @staticmethod
    def segments(pid: int) -> int:
        folder = f"/proc/{pid}/fd"
        links = [os.readlink(os.path.join(folder, name)) for name in os.listdir(folder)]
        return sum(link.startswith("/memfd:ttmem") for link in links)

    @staticmethod
    def loaded_observers(pid: int) -> int:
        with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
            return maps.read().count("/ttmem-observer/")


class StandsAside(unittest.TestCase):
    """One line, and the program goes on as if nothing were there."""

    def assert_stands_aside(self, done: subprocess.CompletedProcess, words: str):
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], r"^ttmem: process \d+ is not observed: .*" + words)

    def test_where_the_runtime_lacks_a_function(self):
        body = ("import ctypes, os, sys\n"
                "library = ctypes.CDLL(sys.argv[1], mode=os.RTLD_LOCAL | os.RTLD_NOW)\n"
                "library.other_runtime_allocates(); library.other_runtime_allocates()\n")
        library = os.path.join(TEST_BIN, "libobserver_other_runtime.so")
        done = call([sys.executable, "-c", body, library], OBSERVED)
        self.assertEqual(done.stdout, "the original was called\n" * 2)
        self.assert_stands_aside(done, "libobserver_other_runtime.so lacks: _ZN2tt8tt_metal")

    def test_where_no_observer_is_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(OBSERVER, folder)
            done = call([SIM, "leak"], OBSERVED | {"LD_PRELOAD": alone})
            self.assert_stands_aside(done, "there is none")

    def test_where_none_of_them_fits(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(OBSERVER, folder)
            os.mkdir(os.path.join(folder, "ttmem-observer"))
            shutil.copy(os.path.join(LIB, "libttmem.so"), os.path.join(folder, "ttmem-observer", "v1.so"))
            with open(os.path.join(folder, "ttmem-observer", "v2.so"), "w", encoding="utf-8") as out:
                out.write("this is no library")
            done = call([SIM, "leak"], OBSERVED | {"LD_PRELOAD": alone})
            self.assert_stands_aside(done, "v2.so: .*; v1.so: it is no observer")

    def test_the_one_that_fits_is_chosen_among_several(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(OBSERVER, folder)
            shutil.copytree(OBSERVERS, os.path.join(folder, "ttmem-observer"))
            with open(os.path.join(folder, "ttmem-observer", "z.so"), "w", encoding="utf-8") as out:
                out.write("this is no library")
            done = call([SIM, "leak"], OBSERVED | {"LD_PRELOAD": alone})
            self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
