#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The preloaded library is loaded into every process, and changes none of them."""

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from harness.observer import OBSERVED, OBSERVER, OBSERVERS, PYTHON_SCENARIO, SIMULATOR, UNOBSERVED, call, preloadable
from harness.processes import segments_of
from harness.programs import LIB, TEST_BIN

HOLD = ["--pause-at", "end"]


def libraries() -> list[str]:
    return [OBSERVER, *glob.glob(os.path.join(OBSERVERS, "*.so"))]


def symbols(library: str, *options: str) -> list[str]:
    lines = subprocess.run(["nm", "-D", *options, library], capture_output=True, text=True, check=True).stdout
    return [line.split()[-1] for line in lines.splitlines()]


class Library(unittest.TestCase):
    def test_an_observer_is_built(self):
        self.assertGreaterEqual(len(libraries()), 2)

    def test_no_symbol_of_tt_metal_is_undefined(self):
        for library in libraries():
            wanted = [name for name in symbols(library, "--undefined-only") if "tt_metal" in name or "tt_fabric" in name]
            self.assertEqual(wanted, [], library)

    def test_the_preloaded_library_needs_only_libc(self):
        text = subprocess.run(["readelf", "-d", OBSERVER], capture_output=True, text=True, check=True).stdout
        self.assertEqual(set(re.findall(r"NEEDED.*\[(.*)\]", text)) - {"ld-linux-x86-64.so.2"}, {"libc.so.6"})

    def test_it_exports_functions_of_tt_metal_and_those_for_the_doctor_and_for_python(self):
        shown = symbols(OBSERVER, "--defined-only")
        self.assertGreaterEqual(len(shown), 15)
        self.assertEqual({name for name in shown if not name.startswith("_ZN2tt8tt_metal")},
                         {"ttmem_observer_client", "ttmem_observer_probe", "ttmem_observer_scope_pop",
                          "ttmem_observer_scope_push"})

    def test_an_observer_exports_nothing_of_its_libttmem(self):
        for library in glob.glob(os.path.join(OBSERVERS, "*.so")):
            self.assertEqual(symbols(library, "--defined-only"), ["ttmem_observer_attach"])


class Unchanged(unittest.TestCase):
    """Programs that do not use tt-metal."""

    def assert_same(self, command: list[str], **options):
        alone = call(command, UNOBSERVED, **options)
        observed = call(command, OBSERVED, **options)
        self.assertEqual((alone.returncode, alone.stdout, alone.stderr),
                         (observed.returncode, observed.stdout, observed.stderr), command)

    def test_ls_is_unchanged(self):
        self.assert_same(["ls", "-la", "/usr"])
        self.assert_same(["ls", "/nonexistent"])

    def test_bash_and_its_children_are_unchanged(self):
        self.assert_same(["bash", "-c", "x=$(echo a | tr a b); (exit 7); echo $x $?; exec sh -c 'echo $0 end; exit 5'"])

    def test_python_is_unchanged(self):
        self.assert_same([sys.executable, "-c",
                          "import ctypes, json, subprocess, sys, threading\n"
                          "t = threading.Thread(target=lambda: print(json.dumps([1]))); t.start(); t.join()\n"
                          "print(subprocess.run(['true']).returncode)\nsys.exit(4)"])

    def test_python_that_spawns_and_forks_is_unchanged(self):
        body = ("import multiprocessing as mp\ndef work(q): q.put(42)\n"
                "if __name__ == '__main__':\n"
                "    for way in ('fork', 'spawn'):\n"
                "        context = mp.get_context(way); q = context.Queue()\n"
                "        p = context.Process(target=work, args=(q,)); p.start(); print(way, q.get()); p.join()\n")
        with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
            script.write(body)
            script.flush()
            self.assert_same([sys.executable, script.name])

    def test_a_compiler_is_unchanged(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "a.cpp")
            with open(source, "w", encoding="utf-8") as out:
                out.write("#include <stdexcept>\nint main() { try { throw std::runtime_error(\"x\"); } "
                          "catch (const std::exception&) { return 6; } }\n")
            self.assert_same(["g++", source, "-o", os.path.join(folder, "a")])
            self.assert_same([os.path.join(folder, "a")])

    def test_a_static_program_is_unchanged(self):
        self.assert_same([os.path.join(TEST_BIN, "observer_static_program")])

    def test_a_setuid_program_is_unchanged(self):
        if os.getuid() != 0:
            return self.assert_same(["su", "--help"])
        # For root only setuid programs of other users are special.
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            program = os.path.join(folder, "id")
            shutil.copy(shutil.which("id"), program)
            os.chown(program, 65534, -1)
            os.chmod(program, 0o4755)
            self.assert_same([program, "-u"])
            self.assertEqual(call([program, "-u"], OBSERVED).stdout, "65534\n")

    def test_a_program_without_standard_streams_is_unchanged(self):
        self.assert_same(["bash", "-c", "exec ls / 0<&- 1>&- 2>&-"])


class Observed(unittest.TestCase):
    """Programs that use the runtime in unusual ways."""

    def assert_runs(self, command: list[str]):
        done = call(command, OBSERVED)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        return done.stdout

    def test_an_observed_program_prints_the_same(self):
        for scenario in ("leak", "cb-clash", "oom-dram", "hooked-capture"):
            alone = call([SIMULATOR, scenario], UNOBSERVED | {"TT_ALLOC_TRACKING_ENABLED": "0"})
            self.assertEqual(self.assert_runs([SIMULATOR, scenario]), alone.stdout, scenario)

    def test_a_program_may_close_every_descriptor_at_any_time(self):
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

    def test_a_program_may_run_without_standard_streams(self):
        command = ["bash", "-c", f"exec {shlex.quote(SIMULATOR)} leak 0<&- 1>&- 2>&-"]
        done = call(command, OBSERVED)
        alone = call(command, UNOBSERVED | {"TTMEM_SIM_REPORTING": "0"})
        self.assertEqual(done.returncode, alone.returncode)

    def test_a_program_may_run_out_of_descriptors_and_memory(self):
        for limit in ("ulimit -n 8", "ulimit -f 0", "ulimit -v 400000"):
            done = call(["bash", "-c", f"{limit}; exec {shlex.quote(SIMULATOR)} leak"], OBSERVED)
            self.assertEqual(done.returncode, 0, limit + done.stderr)
            self.assertLessEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_with_tracking_off_nothing_is_observed(self):
        with subprocess.Popen([SIMULATOR, "leak", *HOLD], env=OBSERVED | {"TT_ALLOC_TRACKING_ENABLED": "0"}, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            self.wait_for_pause(process)
            self.assertEqual(segments_of(process.pid), 0)
            self.assertEqual(self.loaded_observers(process.pid), 0)
            process.communicate("\n")

    def test_a_process_that_reports_already_has_one_segment(self):
        for command in ([SIMULATOR, "leak", *HOLD], [*PYTHON_SCENARIO, "leak", *HOLD]):
            with subprocess.Popen(command, env=OBSERVED | {"TTMEM_SIM_REPORTING": "1"}, text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                self.wait_for_pause(process)
                self.assertEqual(segments_of(process.pid), 1)
                _, errors = process.communicate("\n")
                self.assertEqual((process.returncode, errors), (0, ""))

    @staticmethod
    def wait_for_pause(process):
        for line in process.stdout:
            if line.startswith("paused: "):
                return
        raise AssertionError("it ended before its pause")

    @staticmethod
    def loaded_observers(pid: int) -> int:
        with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
            return maps.read().count("/ttmem-observer/")


class NotObserved(unittest.TestCase):
    """The library prints one line, and the program runs as if it were not there."""

    def assert_not_observed(self, done: subprocess.CompletedProcess, words: str):
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], r"^ttmem: process \d+ is not observed: .*" + words)

    def test_a_runtime_that_lacks_a_function_is_not_observed(self):
        body = ("import ctypes, os, sys\n"
                "library = ctypes.CDLL(sys.argv[1], mode=os.RTLD_LOCAL | os.RTLD_NOW)\n"
                "library.other_runtime_allocates(); library.other_runtime_allocates()\n")
        library = os.path.join(TEST_BIN, "libobserver_other_runtime.so")
        done = call([sys.executable, "-c", body, library], OBSERVED)
        self.assertEqual(done.stdout, "the original was called\n" * 2)
        self.assert_not_observed(done, "libobserver_other_runtime.so lacks: _ZN2tt8tt_metal")

    def test_without_an_observer_nothing_is_observed(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(OBSERVER, folder)
            done = call([SIMULATOR, "leak"], OBSERVED | {"LD_PRELOAD": preloadable(alone)})
            self.assert_not_observed(done, "can't load the observer: .*any.so")

    def test_without_a_fitting_observer_nothing_is_observed(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(OBSERVER, folder)
            os.mkdir(os.path.join(folder, "ttmem-observer"))
            observer = os.path.join(folder, "ttmem-observer", "any.so")
            for library in (os.path.join(LIB, "libttmem.so"), __file__):
                shutil.copy(library, observer)
                done = call([SIMULATOR, "leak"], OBSERVED | {"LD_PRELOAD": preloadable(alone)})
                self.assert_not_observed(done, "can't load the observer: .*any.so")

    def test_places_that_are_none_are_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(OBSERVER, folder)
            shutil.copytree(OBSERVERS, os.path.join(folder, "ttmem-observer"))
            for name, text in (("a", ""), ("b", f"# {LIB}\nthese are no places\n")):
                with open(os.path.join(folder, "ttmem-observer", name + ".places"), "w", encoding="utf-8") as out:
                    out.write(text)
            done = call([SIMULATOR, "leak"], OBSERVED | {"LD_PRELOAD": preloadable(alone)})
            self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
