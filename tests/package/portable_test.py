#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The packages run on every host of docs/DEPLOY.md: what each file needs, and the programs of the archive in a root that has libc
and libgcc_s and nothing else, as a user without rights."""

import glob
import hashlib
import json
import os
import pty
import re
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

from clean_root import run
from harness.programs import BUILD, TEST_BIN
from harness.users import STRANGER, may_become_other_users
from harness.waiting import TIMEOUT, LineReader, wait_until

MADE = os.path.join(BUILD, "package-test", "made")
HOST_FILES = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}
# The versions that the oldest of the hosts has. An observer goes into a process that has loaded libstdc++ already.
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13)}
IN_ROOT = "/opt/a user/ttmem"


def archive() -> str:
    [path] = glob.glob(os.path.join(MADE, "ttmem-*.tar.zst"))
    return path


def unpack(folder: str) -> str:
    """Returns the path of the only folder in the archive."""
    run("cmake", "-E", "tar", "xf", archive(), cwd=folder)
    [name] = os.listdir(folder)
    return os.path.join(folder, name)


def is_elf(path: str) -> bool:
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def elf_files(folder: str) -> dict[str, str]:
    """By the path below the folder."""
    paths = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]
    return {os.path.relpath(path, folder): path for path in paths if is_elf(path)}


def needed_libraries(path: str) -> set[str]:
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", path)))


def needed_versions(path: str) -> set[tuple[str, tuple[int, ...]]]:
    """Such as ("GLIBC", (2, 34)), of the libraries that the file needs."""
    return {(name, tuple(int(part) for part in number.split(".")))
            for name, number in re.findall(r"Name: (\w+?)_([0-9.]+)  ", run("readelf", "-VW", path))}


class Files(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        os.mkdir(os.path.join(cls.folder.name, "archive"))
        cls.prefix = unpack(os.path.join(cls.folder.name, "archive"))

    def test_a_file_needs_libc_and_libgcc_s_and_an_observer_also_libstdcxx(self):
        files = elf_files(self.prefix)
        self.assertLessEqual({"bin/ttmem", "bin/ttmemd", "bin/ttmem-sim", "lib/libttmem.so.2.0.0", "lib/libttmem_observer.so",
                              "lib/ttmem-observer/any.so"}, set(files))
        for name, path in files.items():
            more = {"libstdc++.so.6"} if name.startswith("lib/ttmem-observer/") else set()
            self.assertLessEqual(needed_libraries(path), HOST_FILES | more, name)
            self.assertNotRegex(run("readelf", "-dW", path), r"R(UN)?PATH", name)

    def test_no_file_needs_a_newer_version_than_the_oldest_host_has(self):
        for name, path in elf_files(self.prefix).items():
            versions = needed_versions(path)
            self.assertIn("GLIBC", {of for of, _ in versions}, name)
            self.assertEqual({(of, number) for of, number in versions if of in NEWEST and number > NEWEST[of]}, set(), name)
            self.assertLessEqual({of for of, _ in versions}, {*NEWEST, "GCC"}, name)

    def test_the_archive_holds_the_files_of_the_debian_package(self):
        [package] = glob.glob(os.path.join(MADE, "*.deb"))
        self.assertEqual(run("dpkg-deb", "--field", package, "Depends").strip(), "libc6 (>= 2.34), libgcc-s1")
        other = os.path.join(self.folder.name, "package")
        run("dpkg-deb", "-x", package, other)

        def contents(folder: str) -> dict[str, str]:
            texts = {}
            for place, _, names in os.walk(folder):
                for path in (os.path.join(place, name) for name in names):
                    with open(path, "rb") as file:
                        texts[os.path.relpath(path, folder)] = hashlib.sha256(file.read()).hexdigest()
            return texts
        packaged, archived = contents(os.path.join(other, "usr")), contents(self.prefix)
        self.assertEqual({name for name in packaged if name not in archived},
                         {"lib/systemd/system/ttmemd.service", "lib/sysusers.d/ttmem.conf", "lib/tmpfiles.d/ttmem.conf"})
        self.assertEqual({name: text for name, text in packaged.items() if name in archived}, archived)

    def test_the_terms_of_everything_that_is_linked_in_are_there(self):
        folder = os.path.join(self.prefix, "share/doc/ttmem/libraries")
        self.assertGreaterEqual(len(os.listdir(folder)), 8)
        for name in os.listdir(folder):
            self.assertGreater(os.path.getsize(os.path.join(folder, name)), 500, name)

    def test_manual_pages_are_found_beside_the_programs(self):
        path = os.path.join(self.prefix, "bin") + ":/usr/bin:/bin"
        for name in ("ttmem", "ttmemd"):
            found = run("man", "--where", name, env={"PATH": path}).strip()
            self.assertTrue(found.startswith(os.path.join(self.prefix, "share/man/")), found)


class Root:
    """Has the files of libc6 and libgcc-s1 that the programs load, /proc, /dev/null, /tmp, and the unpacked archive."""

    def __init__(self, *more: str):
        self.folder = tempfile.TemporaryDirectory(prefix="ttmem-bare-root-")
        self.path = self.folder.name
        os.chmod(self.path, 0o755)
        for place, mode in (("proc", 0o755), ("tmp", 0o1777), ("dev", 0o755), ("opt", 0o755)):
            os.mkdir(self.at(place))
            os.chmod(self.at(place), mode)
        os.mknod(self.at("dev/null"), stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.chmod(self.at("dev/null"), 0o666)
        run("mount", "-t", "proc", "proc", self.at("proc"))
        os.mkdir(self.at("unpacked"))
        os.makedirs(self.at(os.path.dirname(IN_ROOT)))
        os.rename(unpack(self.at("unpacked")), self.at(IN_ROOT))
        os.rmdir(self.at("unpacked"))
        for path in set(re.findall(r"(/\S+) \(0x", run("ldd", self.at(IN_ROOT + "/bin/ttmem")))) | set(more):
            os.makedirs(os.path.dirname(self.at(path)), exist_ok=True)
            shutil.copy(path, self.at(path))

    def at(self, path: str) -> str:
        return os.path.join(self.path, path.lstrip("/"))

    def close(self):
        run("umount", "--lazy", self.at("proc"))
        self.folder.cleanup()

    def start(self, program: str, *arguments: str, **options) -> subprocess.Popen:
        environment = {"PATH": IN_ROOT + "/bin", "LC_ALL": "C.UTF-8", "TTMEM_RUNTIME_DIR": "/tmp/run",
                       "HOME": "/nonexistent"} | options.pop("environment", {})
        path = program if program.startswith("/") else f"{IN_ROOT}/bin/{program}"

        def enter():
            os.chroot(self.path)
            os.chdir("/")
            os.setgroups([])
            os.setresgid(STRANGER, STRANGER, STRANGER)
            os.setresuid(STRANGER, STRANGER, STRANGER)

        # The path is that inside the root; Python looks it up after enter().
        return subprocess.Popen([path, *arguments], preexec_fn=enter, env=environment,
                                **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} | options)

    def run(self, program: str, *arguments: str, status: int = 0, **environment: str) -> str:
        with self.start(program, *arguments, environment=environment) as process:
            text = process.communicate(timeout=TIMEOUT)[0].decode()
        assert process.returncode == status, f"{program} {arguments}: {process.returncode}\n{text}"
        return text


class Dashboard:
    """A terminal outside of the root with a program inside it."""

    def __init__(self, root: Root, *arguments: str, **environment: str):
        self.terminal, inner = pty.openpty()
        self.process = root.start("ttmem", *arguments, stdin=inner, stdout=inner, stderr=inner, environment=environment)
        os.close(inner)
        self.text = ""

    def read_until(self, wanted: str):
        while wanted not in self.text:
            if not select.select([self.terminal], [], [], TIMEOUT)[0]:
                raise AssertionError(f"no {wanted!r} within {TIMEOUT} s: {self.text!r}")
            try:
                self.text += os.read(self.terminal, 65536).decode(errors="replace")
            except OSError:  # the program has ended
                raise AssertionError(f"it ended without {wanted!r}: {self.text!r}") from None

    def press(self, key: str):
        os.write(self.terminal, key.encode())

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)


@unittest.skipUnless(may_become_other_users(), "needs root, to make a root and become another user")
class BareRoot(unittest.TestCase):
    def setUp(self):
        self.root = Root()
        self.addCleanup(self.root.close)

    def start(self, *command: str, **options) -> subprocess.Popen:
        process = self.root.start(*command, **options)

        def close():
            process.kill()
            process.wait()
            for file in (process.stdin, process.stdout):
                if file:
                    file.close()
        self.addCleanup(close)
        return process

    def hold_memory(self) -> subprocess.Popen:
        process = self.start("ttmem-sim", "mesh-allocation", "--pause-at", "all", stdin=subprocess.PIPE)
        lines = LineReader(process.stdout.fileno())
        while not (line := lines.next() or "").startswith("paused: "):
            self.assertNotEqual(line, "")
        return process

    def pids(self, source: str) -> set[int]:
        answer = json.loads(self.root.run("ttmem", "status", "--json"))
        self.assertEqual(answer["source"], source)
        return {process["pid"] for process in answer["processes"]}

    def test_every_program_starts(self):
        programs = set(os.listdir(self.root.at(IN_ROOT + "/bin")))
        self.assertEqual(programs, {"ttmem", "ttmemd", "ttmem-sim", "allocation_server_poc", "allocation_monitor_client", "tt_smi_umd"})
        for program in programs:
            with self.subTest(program):
                self.assertRegex(self.root.run(program, "--help"), "(?i)usage")
        for program in ("ttmem", "ttmemd", "allocation_server_poc"):
            self.assertRegex(self.root.run(program, "--version"), r"\d+\.\d+\.\d+")
        self.assertIn("mesh-allocation", self.root.run("ttmem", "sim", "list"))
        with open(self.root.at(IN_ROOT + "/share/bash-completion/completions/ttmem"), encoding="utf-8") as file:
            self.assertEqual(self.root.run("ttmem", "completion", "bash"), file.read())
        self.assertRegex(self.root.run("ttmem", "doctor", status=1), r"observer +note +installed")

    def test_a_user_runs_the_daemon(self):
        process = self.hold_memory()
        self.assertEqual(self.pids("direct"), {process.pid})
        daemon = self.start("ttmemd", "--listen", "none")
        wait_until(lambda: os.path.exists(self.root.at("/tmp/run/api.sock")), "the daemon serves")
        wait_until(lambda: process.pid in self.pids("daemon"), "the daemon finds the process")
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(TIMEOUT), 0)

    def test_ttmem_run_reports_on_a_command(self):
        text = self.root.run("ttmem", "run", "--", f"{IN_ROOT}/bin/ttmem-sim", "leak")
        self.assertRegex(text, r"1 process tracked, figures exact(?s:.*)Peak per device")

    def test_the_demo_knows_a_terminal_that_the_host_does_not(self):
        self.assertFalse(glob.glob(self.root.at("/lib/terminfo")) + glob.glob(self.root.at("/usr/share/terminfo")))
        for terminal in ("xterm-256color", "screen-256color", "tmux-256color", "linux", "vt220", "rxvt-unicode-256color"):
            with self.subTest(terminal):
                screen = Dashboard(self.root, "demo", TERM=terminal)
                self.addCleanup(screen.close)
                screen.read_until("n300")
                screen.press("q")
                self.assertEqual(screen.process.wait(TIMEOUT), 0)

    def test_a_terminal_of_the_host_comes_before_ours(self):
        place = self.root.at("/usr/share/terminfo/x")
        os.makedirs(place)
        shutil.copy(self.root.at(IN_ROOT + "/share/ttmem/terminfo/v/vt100"), os.path.join(place, "xterm-256color"))
        screen = Dashboard(self.root, "demo", TERM="xterm-256color")
        self.addCleanup(screen.close)
        screen.read_until("n300")
        self.assertNotIn("\033[?1049h", screen.text, "a vt100 has no second screen")

    def test_the_demo_refuses_a_terminal_that_nobody_knows(self):
        screen = Dashboard(self.root, "demo", TERM="nobodys")
        self.addCleanup(screen.close)
        screen.read_until("unknown terminal type (TERM is 'nobodys'")


@unittest.skipUnless(may_become_other_users(), "needs root, to make a root and become another user")
class RootWithRuntime(unittest.TestCase):
    """With libstdc++, which comes with the runtime that is observed."""

    def test_ttmem_run_of_the_archive_reports_every_stand_in_of_a_release_as_it_is(self):
        with open(os.path.join(TEST_BIN, "observer_stand_ins.txt"), encoding="utf-8") as file:
            stand_ins = [line.split("|") for line in file.read().splitlines()]
        self.assertGreater(len(stand_ins), 40)
        program = os.path.join(TEST_BIN, "observer_release")
        libraries = {name: os.path.join(TEST_BIN, f"libobserver_release_{name}.so") for name, _, _ in stand_ins}
        more = set(re.findall(r"(/\S+) \(0x", run("ldd", program, *libraries.values())))
        root = Root(*more)
        self.addCleanup(root.close)
        for path in (program, *libraries.values()):
            shutil.copy(path, root.at("/opt"))
        for name, kind, reason in stand_ins:
            with self.subTest(name):
                library = "/opt/" + os.path.basename(libraries[name])
                text = root.run("ttmem", "run", "--", "/opt/observer_release", library, "--truth", "/tmp/truth")
                if kind == "releases" or (kind == "mutations" and not reason):
                    self.assertRegex(text, r"; 1 process tracked, figures exact")
                    self.assertRegex(text, r"(?m)^ +0 +\S+ +[1-9][0-9.]* [KMG]iB ")
                elif kind == "mutations":
                    self.assertNotIn("figures exact", text)
                else:  # unknown bytes, which are gone at the end
                    self.assertIn("; 1 process tracked", text)
                if kind == "mutations":
                    self.assertEqual(bool(re.search(r"(?m)^ttmem: process \d+ is not observed: .*" + re.escape(reason), text)), bool(reason), text)
                if kind == "releases":
                    self.assertRegex(root.run("ttmem", "doctor", library, status=1), r"observer +ok +it fits: .*/any\.so")


if __name__ == "__main__":
    if "TTMEM_TEST_NOT_ISOLATED" in os.environ:
        print("this test mounts file systems and needs its own namespaces, which this user may not create")
        sys.exit(77)  # ctest's SKIP_RETURN_CODE
    unittest.main(verbosity=2)
