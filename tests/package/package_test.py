#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian package: built from this build tree, installed on a clean root, its daemon run as the unit runs it, and purged.

    package_test.py --prepare     builds the packages and the clean root, without disturbing other tests
    package_test.py               the tests
    package_test.py RELEASE       the tests on another release of Debian

If no clean root can be created (not root, no debootstrap, no mirror), the package is unpacked into a prefix and run from
there; the output says which of both was tested.
"""

import configparser
import glob
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from clean_root import CleanRoot, NotPossible, run
from harness.programs import BUILD
from harness.users import OTHER_STRANGER, STRANGER, as_user
from harness.waiting import TIMEOUT, LineReader, wait_until

FOLDER = os.path.join(BUILD, "package-test")
MEMBER = OTHER_STRANGER  # gets the group ttmem
CLASSIC_SOCKET = "/tmp/tt_allocation_server.sock"
ALLOWED_IN_BIN = {"ttmem", "ttmemd", "ttmem-sim", "allocation_server_poc", "allocation_monitor_client", "tt_smi_umd"}


MADE = os.path.join(FOLDER, "made")
RELEASE = None  # this machine's


def build_package():
    shutil.rmtree(MADE, ignore_errors=True)
    run(os.environ["TTMEM_CPACK"], "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B", MADE, "-D", "CPACK_THREADS=0")


def prepare():
    os.makedirs(FOLDER, exist_ok=True)
    build_package()
    try:
        CleanRoot(FOLDER).remove()
    except NotPossible as reason:
        print(f"no clean root: {reason}", file=sys.stderr)


class Process:
    """A process that is killed when the test ends."""

    def __init__(self, test: unittest.TestCase, *command: str, **environment: str):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"} | environment)
        self.pid = self.process.pid
        test.addCleanup(self.close)

    def error_text(self) -> str:
        return os.pread(self.errors.fileno(), 65536, 0).decode()

    def wait_for_line(self, beginning: str):
        lines = LineReader(self.process.stdout.fileno())
        while (line := lines.next()) is not None:
            if line.startswith(beginning):
                return
        raise AssertionError(f"it ended without '{beginning}': {self.error_text()}")

    def close(self):
        if not self.errors.closed:
            self.process.kill()
            self.process.wait()
            for file in (self.process.stdin, self.process.stdout, self.errors):
                file.close()


class Manager:
    """Takes the place of systemd: receives the messages of a unit with Type=notify."""

    def __init__(self, test: unittest.TestCase):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.name = f"@ttmem-package-test-{os.getpid()}-{id(self)}"
        self.socket.bind("\0" + self.name[1:])
        test.addCleanup(self.socket.close)

    def receive(self, sender: Process) -> str:
        for _ in range(TIMEOUT * 10):
            if select.select([self.socket], [], [], 0.1)[0]:
                return self.socket.recv(4096).decode()
            assert sender.process.poll() is None, f"it ended: {sender.error_text()}"
        raise AssertionError(f"no message within {TIMEOUT} s")


def read_unit(path: str) -> dict[str, str]:
    """The last value of each key; no key that the test reads occurs twice."""
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str
    unit.read(path)
    return dict(unit["Service"])


class Package(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        [cls.package] = glob.glob(os.path.join(MADE, "*.deb"))
        try:
            cls.root, cls.reason = CleanRoot(FOLDER, release=RELEASE), None
        except NotPossible as reason:
            cls.root, cls.reason = None, str(reason)
        print("tested on a clean root made with debootstrap" if cls.root else
              f"tested in a prefix only, not on a clean root: {cls.reason}", file=sys.stderr)

    @classmethod
    def tearDownClass(cls):
        if cls.root:
            cls.root.remove()

    def test_the_package_has_programs_library_and_service_and_nothing_of_the_tests(self):
        listing = run("dpkg-deb", "--contents", self.package).splitlines()
        self.assertEqual({line.split()[1] for line in listing}, {"root/root"})
        files = {line.split()[5].lstrip(".") for line in listing if not line.endswith("/")}
        wanted = {"/etc/ttmem/ttmemd.toml", "/usr/include/ttmem/ttmem.h", "/usr/lib/systemd/system/ttmemd.service",
                  "/usr/lib/sysusers.d/ttmem.conf", "/usr/lib/tmpfiles.d/ttmem.conf", "/usr/lib/libttmem.so",
                  "/usr/lib/libttmem.so.2", "/usr/share/ttmem/observer-source/observer/places.hpp", "/usr/share/doc/ttmem/DEPLOY.md", "/usr/share/doc/ttmem/copyright"}
        self.assertLessEqual(wanted, files)
        self.assertEqual({os.path.basename(path) for path in files if "/bin/" in path}, ALLOWED_IN_BIN)
        self.assertEqual([path for path in files if re.search(r"test|bench|hold_memory|/usr/local|/root/", path)
                          and not path.startswith("/usr/share/ttmem/")], [])

    def test_the_programs_run_from_any_prefix(self):
        if self.root:
            return  # the next test proves this and more
        prefix = os.path.join(FOLDER, "prefix")
        shutil.rmtree(prefix, ignore_errors=True)
        run("dpkg-deb", "-x", self.package, prefix)
        runtime = tempfile.mkdtemp(prefix="ttmem-")
        self.addCleanup(shutil.rmtree, runtime, ignore_errors=True)
        manager, programs = Manager(self), os.path.join(prefix, "usr/bin/")
        sim = Process(self, programs + "ttmem-sim", "mesh-allocation", "--pause-at", "all", TT_ALLOC_TRACKING_ENABLED="1",
                      TTMEM_RUNTIME_DIR="/nonexistent")
        sim.wait_for_line("paused: ")
        daemon = Process(self, programs + "ttmemd", "--config", os.path.join(prefix, "etc/ttmem/ttmemd.toml"), "--listen",
                         "none", TTMEM_RUNTIME_DIR=runtime, NOTIFY_SOCKET=manager.name)
        self.assertEqual(manager.receive(daemon), "READY=1")

        def found() -> bool:
            view = json.loads(run(programs + "ttmem", "status", "--json", env={"TTMEM_RUNTIME_DIR": runtime}))
            self.assertEqual(view["source"], "daemon")
            return sim.pid in [process["pid"] for process in view["processes"]]
        wait_until(found, "the process is tracked")
        daemon.process.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.process.wait(TIMEOUT), 0)

    def test_the_package_installs_runs_as_its_unit_says_and_a_purge_leaves_nothing(self):
        if not self.root:
            self.skipTest(self.reason)
        files, accounts = self.root.files(), self.accounts()
        self.root.install(self.package)
        self.assertRegex(self.accounts()["passwd"], r"(?m)^ttmem:x:\d+:\d+:.*:/usr/sbin/nologin$")
        with self.subTest("configuration"):
            self.assertEqual(self.root.run("dpkg-query", "-W", "-f", "${Conffiles}", "ttmem").split()[0],
                             "/etc/ttmem/ttmemd.toml")
        self.run_it()
        with self.subTest("upgrade"):  # to the same version, with a changed configuration
            with open(self.root.at("/etc/ttmem/ttmemd.toml"), "a", encoding="utf-8") as file:
                file.write('log_events = "all"\n')
            shutil.copy(self.package, self.root.at("/root/package.deb"))
            self.root.run("dpkg", "--install", "/root/package.deb")
            os.remove(self.root.at("/root/package.deb"))
            with open(self.root.at("/etc/ttmem/ttmemd.toml"), encoding="utf-8") as file:
                self.assertIn('\nlog_events = "all"\n', file.read())
        self.root.run("dpkg", "--remove", "ttmem")
        self.assertTrue(os.path.exists(self.root.at("/etc/ttmem/ttmemd.toml")), "only a purge removes the configuration")
        self.assertFalse(os.path.exists(self.root.at("/usr/bin/ttmemd")))
        self.root.run("dpkg", "--purge", "ttmem")
        self.root.run("apt-get", "autoremove", "--purge", "-y")  # its dependencies
        self.assertEqual(self.root.files() - files, set())
        self.assertEqual(self.accounts(), accounts)

    def accounts(self) -> dict[str, str]:
        texts = {}
        for name in ("passwd", "group", "shadow", "gshadow"):
            with open(self.root.at(f"/etc/{name}"), encoding="utf-8") as file:
                texts[name] = file.read()
        return texts

    def as_user(self, uid: int, *command: str, groups: str = "") -> list[str]:
        return ["chroot", self.root.path, *as_user(uid, *command, groups=groups)]

    def start_daemon(self, unit: dict[str, str], manager: Manager, capabilities: bool = True) -> Process:
        """As systemd starts it: with the user, capabilities, directory and command of the unit."""
        user, group = unit["User"], unit["Group"]
        self.assertEqual(unit["AmbientCapabilities"], unit["CapabilityBoundingSet"])
        names = [name.lower().removeprefix("cap_") for name in unit["AmbientCapabilities"].split()]
        held = "-all" + "".join(f",+{name}" for name in names if capabilities)
        directory = "/run/" + unit["RuntimeDirectory"]
        os.makedirs(self.root.at(directory), exist_ok=True)
        self.root.run("chown", f"{user}:{group}", directory)
        self.root.run("chmod", unit["RuntimeDirectoryMode"], directory)
        return Process(self, "chroot", self.root.path, "setpriv", f"--reuid={user}", f"--regid={group}", "--init-groups",
                       f"--inh-caps={held}", f"--ambient-caps={held}", f"--bounding-set={held}", "--no-new-privs",
                       *unit["ExecStart"].split(), "--listen", "none",
                       RUNTIME_DIRECTORY=directory, NOTIFY_SOCKET=manager.name, WATCHDOG_USEC="300000")

    def hold_memory(self, uid: int) -> Process:
        """A process that announces itself to no daemon, so that the daemon must find it."""
        sim = Process(self, *self.as_user(uid, "ttmem", "sim", "mesh-allocation", "--pause-at", "all"),
                      TT_ALLOC_TRACKING_ENABLED="1", TTMEM_RUNTIME_DIR="/nonexistent")
        sim.wait_for_line("paused: ")
        return sim

    def json_of(self, uid: int, what: str, groups: str = "") -> dict:
        answer = json.loads(run(*self.as_user(uid, "ttmem", what, "--json", groups=groups)))
        self.assertEqual(answer["source"], "daemon")
        return answer

    def pids(self, uid: int = STRANGER) -> set[int]:
        return {process["pid"] for process in self.json_of(uid, "status")["processes"]}

    def run_it(self):
        unit, manager = read_unit(self.root.at("/usr/lib/systemd/system/ttmemd.service")), Manager(self)
        group = self.root.run("getent", "group", "ttmem").split(":")[2]
        stranger = self.hold_memory(STRANGER)

        daemon = self.start_daemon(unit, manager)
        self.assertEqual(manager.receive(daemon), "READY=1")
        self.assertEqual(manager.receive(daemon), "WATCHDOG=1")
        with open(f"/proc/{daemon.pid}/status", encoding="utf-8") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        self.assertNotIn("0", status["Uid"].split())
        self.assertEqual({status[name] for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")},
                         {f"{1 << 19 | 1 << 2:016x}"})  # CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH
        wait_until(lambda: stranger.pid in self.pids(), "the daemon finds the process of another user")
        self.assertEqual(os.stat(self.root.at(CLASSIC_SOCKET)).st_mode & 0o777, 0o666)

        with self.subTest("users see their own allocations, members of the group all"):
            def owners(uid: int, groups: str = "") -> set[int]:
                return {one["pid"] for one in self.json_of(uid, "allocations", groups)["allocations"]}
            self.assertEqual(owners(STRANGER), {stranger.pid})
            self.assertEqual(owners(MEMBER), set())
            self.assertEqual(owners(MEMBER, groups=group), {stranger.pid})

        with self.subTest("'ttmem run' reports on a command and decides its checks"):
            done = subprocess.run(self.as_user(STRANGER, "ttmem", "run", "--fail-on-leak", "--", "ttmem-sim", "leak"), timeout=TIMEOUT,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 97, done.stderr)
            self.assertRegex(done.stderr, r"; 1 process tracked, figures exact(?s:.*)decoder\.2/attention_mask")

        self.assertEqual(manager.receive(daemon), "WATCHDOG=1")
        daemon.process.send_signal(signal.SIGTERM)
        while (said := manager.receive(daemon)) == "WATCHDOG=1":
            pass
        self.assertEqual(said, "STOPPING=1")
        self.assertEqual((daemon.process.wait(TIMEOUT), daemon.error_text()), (0, ""))
        self.assertFalse(os.path.exists(self.root.at(CLASSIC_SOCKET)))

        # Without the capabilities it fails. The later process belongs to the user of the daemon, and the same scan finds it
        # after the earlier one.
        own = self.hold_memory(int(status["Uid"].split()[0]))
        self.assertGreater(own.pid, stranger.pid)
        daemon = self.start_daemon(unit, manager, capabilities=False)
        self.assertEqual(manager.receive(daemon), "READY=1")
        wait_until(lambda: own.pid in self.pids(), "the daemon finds the process of its own user")
        self.assertNotIn(stranger.pid, self.pids())
        daemon.process.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.process.wait(TIMEOUT), 0)
        own.close()


if __name__ == "__main__":
    if "TTMEM_TEST_NOT_ISOLATED" in os.environ:
        print("this test mounts file systems and needs its own namespaces, which this user may not create")
        sys.exit(77)  # ctest's SKIP_RETURN_CODE
    if sys.argv[1:] == ["--prepare"]:
        prepare()
    else:
        RELEASE = sys.argv[1] if len(sys.argv) > 1 else None
        unittest.main(argv=sys.argv[:1], verbosity=2)
