#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The unit under a real systemd, in a container on a clean root: with all restrictions the daemon finds the processes of
other users, it is restarted when it hangs, and it is removed with the package.

    service_test.py --prepare     makes the clean root
    service_test.py               the test

If no container can be started (not root, no systemd-nspawn, no writable cgroups), the test is skipped.
"""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import unittest

from clean_root import CleanRoot, NotPossible, run
from harness.programs import BUILD
from harness.users import OTHER_STRANGER, STRANGER, as_user
from harness.waiting import TIMEOUT, LineReader, wait_until

FOLDER = os.path.join(BUILD, "package-test")
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def make_root() -> CleanRoot:
    if not shutil.which("systemd-nspawn"):
        raise NotPossible("systemd-nspawn is not installed")
    return CleanRoot(FOLDER, "systemd", "systemd-sysv")


class Container:
    """A root with its own systemd and its own network, so that it uses no port of this host."""

    def __init__(self, root: CleanRoot):
        self.log = open(os.path.join(FOLDER, "container.log"), "w+b")
        self.process = subprocess.Popen(
            ["systemd-nspawn", "--register=no", "--keep-unit", "--quiet", "--private-network", "--console=pipe",
             f"--directory={root.path}", "--boot"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env=os.environ | {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"})
        self.leader = None
        wait_until(self.is_up, "the container's systemd is up")

    def is_up(self) -> bool:
        if self.process.poll() is not None:
            raise NotPossible("systemd-nspawn ended: " + os.pread(self.log.fileno(), 4096, 0).decode(errors="replace"))
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            children = file.read().split()
        if not children:
            return False
        self.leader = int(children[0])
        state = subprocess.run(self.command("systemctl", "is-system-running"), capture_output=True, text=True,
                               timeout=TIMEOUT, check=False).stdout.strip()
        return state in ("running", "degraded")

    def command(self, *command: str) -> list[str]:
        return ["nsenter", f"--target={self.leader}", "--all", "--wdns=/", "env", "-i", f"PATH={PATH}", "LC_ALL=C.UTF-8",
                *command]

    def run(self, *command: str) -> str:
        return run(*self.command(*command))

    def show(self, what: str) -> str:
        return self.run("systemctl", "show", "--property", what, "--value", "ttmemd").strip()

    def close(self):
        if self.leader and self.process.poll() is None:
            os.kill(self.leader, signal.SIGKILL)
        try:
            self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


class Service(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        [package] = glob.glob(os.path.join(FOLDER, "made", "*.deb"))
        try:
            root = make_root()
            self.addCleanup(root.remove)
            root.run("apt-get", "satisfy", "-y", "--no-install-recommends",
                     run("dpkg-deb", "--field", package, "Depends").strip())
            shutil.copy(package, root.at("/root/package.deb"))
            root.unmount()
            self.container = Container(root)
        except NotPossible as reason:
            self.skipTest(str(reason))
        self.addCleanup(self.container.close)
        self.container.run("dpkg", "--install", "/root/package.deb")

    def hold_memory(self) -> int:
        """Starts a process of another user that announces itself to no daemon; returns its pid in the container."""
        sim = subprocess.Popen(
            self.container.command("TT_ALLOC_TRACKING_ENABLED=1", "TTMEM_RUNTIME_DIR=/nonexistent",
                                   *as_user(STRANGER, "sh", "-c", "echo $$; exec ttmem sim mesh-allocation --pause-at all")),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        # It ends when its input is closed. If nsenter were killed, the process would become an orphan of this one, and the
        # container could not end before it is reaped.
        self.addCleanup(sim.stdout.close)
        self.addCleanup(sim.wait, TIMEOUT)
        self.addCleanup(sim.stdin.close)
        lines = LineReader(sim.stdout.fileno())
        pid = int(lines.next())
        while not lines.next().startswith("paused: "):
            pass
        return pid

    def pids(self) -> set[int]:
        answer = json.loads(self.container.run(*as_user(OTHER_STRANGER, "ttmem", "status", "--json")))
        self.assertEqual(answer["source"], "daemon")
        return {process["pid"] for process in answer["processes"]}

    def test_the_daemon_works_with_all_restrictions_of_its_unit(self):
        container = self.container
        self.assertEqual((container.show("ActiveState"), container.show("UnitFileState")), ("active", "enabled"))
        pid = container.show("MainPID")
        status = dict(line.split(":\t", 1) for line in container.run("cat", f"/proc/{pid}/status").splitlines()
                      if ":\t" in line)
        self.assertNotIn("0", status["Uid"].split())
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"], status["CapEff"], status["CapBnd"]),
                         ("1", "2", f"{1 << 19 | 1 << 2:016x}", f"{1 << 19 | 1 << 2:016x}"))

        stranger = self.hold_memory()
        wait_until(lambda: stranger in self.pids(), "the daemon finds the process of another user")
        container.run("test", "-S", "/tmp/tt_allocation_server.sock")
        in_its_namespace = ["nsenter", f"--target={pid}", "--mount", "--wdns=/"]
        for place in ("/dev/shm", "/etc/ttmem", "/usr"):
            container.run(*in_its_namespace, "sh", "-c", f"! touch {place}/x 2>&1")
        container.run(*in_its_namespace, "sh", "-c", "! ls /dev | grep -E '^(kmsg|mem|tenstorrent)$'")

        directory = container.run("stat", "-c", "%i %U %a", "/run/ttmem")
        container.run("mkdir", "-p", "/run/systemd/system/ttmemd.service.d")
        container.run("sh", "-c", "printf '[Service]\\nWatchdogSec=1\\n' > /run/systemd/system/ttmemd.service.d/test.conf")
        container.run("systemctl", "daemon-reload")
        container.run("systemctl", "restart", "ttmemd")
        hung = container.show("MainPID")
        container.run("sh", "-c", f"kill -STOP {hung}")
        wait_until(lambda: container.show("ActiveState") == "active" and container.show("MainPID") not in (hung, "0"),
                   "a daemon that hangs is restarted")
        self.assertIn("'watchdog'", container.run("journalctl", "--unit=ttmemd", "--no-pager"))
        self.assertEqual(container.run("stat", "-c", "%i %U %a", "/run/ttmem"), directory,
                         "containers have mounted this directory, and must find the next daemon there")
        wait_until(lambda: stranger in self.pids(), "the new daemon finds the process")

        container.run("dpkg", "--purge", "ttmem")
        self.assertEqual(container.show("LoadState"), "not-found")
        container.run("sh", "-c", "! getent passwd ttmem && ! ls -d /etc/ttmem /run/ttmem /tmp/tt_allocation_server.sock "
                                  "/etc/systemd/system/multi-user.target.wants/ttmemd.service 2>/dev/null")


if __name__ == "__main__":
    if "TTMEM_TEST_NOT_ISOLATED" in os.environ:
        print("this test mounts file systems and needs its own namespaces, which this user may not create")
        sys.exit(77)  # ctest's SKIP_RETURN_CODE
    if sys.argv[1:] == ["--prepare"]:
        try:
            make_root().remove()
        except NotPossible as why:
            print(f"no container: {why}", file=sys.stderr)
    else:
        unittest.main(verbosity=2)
