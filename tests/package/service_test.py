#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The unit under a real systemd, in a container on a clean root: with each of its restrictions the daemon still finds the
processes of other users, it is started again when it hangs, and it goes with the package.

    service_test.py --prepare     makes the clean root
    service_test.py               the test

Where a container can't be started (not root, no systemd-nspawn, no cgroups to write) nothing is shown, and that is said.
"""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "daemon"))

from asking import PATIENCE, Lines, wait_until  # noqa: E402
from clean_root import CleanRoot, NotPossible, run  # noqa: E402

FOLDER = os.path.join(os.environ["TTMEM_BUILD_DIR"], "package-test")
STRANGER, OTHER_STRANGER = 65534, 65533
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def make_root() -> CleanRoot:
    if not shutil.which("systemd-nspawn"):
        raise NotPossible("systemd-nspawn is not installed")
    return CleanRoot(FOLDER, "systemd", "systemd-sysv")


class Container:
    """A root with a systemd of its own, and a network of its own, so that no port of this host is taken."""

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
                               timeout=PATIENCE, check=False).stdout.strip()
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
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def as_user(uid: int, *command: str) -> list[str]:
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *command]


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
            print(f"NOT SHOWN: {reason}", file=sys.stderr)
            self.skipTest(str(reason))
        self.addCleanup(self.container.close)
        self.container.run("dpkg", "--install", "/root/package.deb")

    def hold_memory(self) -> int:
        """Another user's process, which tells no daemon of itself; gives its pid in the container."""
        sim = subprocess.Popen(
            self.container.command("TT_ALLOC_TRACKING_ENABLED=1", "TTMEM_RUNTIME_DIR=/nonexistent",
                                   *as_user(STRANGER, "sh", "-c", "echo $$; exec ttmem sim mesh-allocation --pause-at all")),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        # It ends by itself when nobody speaks to it any more. Killed, nsenter would leave it to us as an orphan, and while its
        # remains are there the container can't go.
        self.addCleanup(sim.stdout.close)
        self.addCleanup(sim.wait, PATIENCE)
        self.addCleanup(sim.stdin.close)
        lines = Lines(sim.stdout.fileno())
        pid = int(lines.next())
        while not lines.next().startswith("paused: "):
            pass
        return pid

    def pids(self) -> set[int]:
        answer = json.loads(self.container.run(*as_user(OTHER_STRANGER, "ttmem", "status", "--json")))
        self.assertEqual(answer["source"], "daemon")
        return {process["pid"] for process in answer["processes"]}

    def test_the_unit_works_with_all_that_it_forbids(self):
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
        seen_by_it = ["nsenter", f"--target={pid}", "--mount", "--wdns=/"]
        for place in ("/dev/shm", "/etc/ttmem", "/usr"):
            container.run(*seen_by_it, "sh", "-c", f"! touch {place}/x 2>&1")
        container.run(*seen_by_it, "sh", "-c", "! ls /dev | grep -E '^(kmsg|mem|tenstorrent)$'")

        directory = container.run("stat", "-c", "%i %U %a", "/run/ttmem")
        container.run("mkdir", "-p", "/run/systemd/system/ttmemd.service.d")
        container.run("sh", "-c", "printf '[Service]\\nWatchdogSec=1\\n' > /run/systemd/system/ttmemd.service.d/test.conf")
        container.run("systemctl", "daemon-reload")
        container.run("systemctl", "restart", "ttmemd")
        hung = container.show("MainPID")
        container.run("sh", "-c", f"kill -STOP {hung}")
        wait_until(lambda: container.show("ActiveState") == "active" and container.show("MainPID") not in (hung, "0"),
                   "a daemon that hangs is started again")
        self.assertIn("'watchdog'", container.run("journalctl", "--unit=ttmemd", "--no-pager"))
        self.assertEqual(container.run("stat", "-c", "%i %U %a", "/run/ttmem"), directory,
                         "containers have mounted this directory, and must find the next daemon in it")
        wait_until(lambda: stranger in self.pids(), "and finds again what is there")

        container.run("dpkg", "--purge", "ttmem")
        self.assertEqual(container.show("LoadState"), "not-found")
        container.run("sh", "-c", "! getent passwd ttmem && ! ls -d /etc/ttmem /run/ttmem /tmp/tt_allocation_server.sock "
                                  "/etc/systemd/system/multi-user.target.wants/ttmemd.service 2>/dev/null")


if __name__ == "__main__":
    if "TTMEM_TEST_NOT_ALONE" in os.environ:
        sys.exit("this test mounts, so it needs namespaces of its own")
    if sys.argv[1:] == ["--prepare"]:
        try:
            make_root().remove()
        except NotPossible as why:
            print(f"there will be no container: {why}", file=sys.stderr)
    else:
        unittest.main(verbosity=2)
