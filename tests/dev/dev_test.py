#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ./dev says where it cannot work: in a copy of the script, with a made-up apt, dpkg and id."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LISTS = ROOT / "packaging/apt"


def packages_of(name: str) -> set[str]:
    lines = (LISTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return {line.partition("#")[0].strip() for line in lines} - {""}


class Sandbox(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a b-")
        self.addCleanup(folder.cleanup)
        self.tree, self.bin = Path(folder.name, "ttmem"), Path(folder.name, "bin")
        self.bin.mkdir()
        shutil.copytree(LISTS, self.tree / "packaging/apt")
        shutil.copy(ROOT / "dev", self.tree)
        for name in ("bash", "cat", "comm", "chmod", "dirname", "echo", "env", "find", "grep", "mkdir", "nproc", "rm", "sed", "sort", "tail", "tee", "xargs"):
            (self.bin / name).symlink_to(shutil.which(name))
        self.program("id", "echo 1000")
        self.program("dpkg-query", "exit 1")
        self.program("apt-get", "exit 1")

    def program(self, name: str, script: str) -> None:
        path = self.bin / name
        path.write_text(f"#!{shutil.which('sh')}\n{script}\n", encoding="utf-8")
        path.chmod(0o755)

    def dev(self, *arguments: str) -> tuple[int, str]:
        done = subprocess.run([str(self.tree / "dev"), *arguments], env={"PATH": str(self.bin)}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        return done.returncode, done.stdout


class Dev(Sandbox):
    def test_help_names_every_command(self):
        status, text = self.dev("help")
        self.assertEqual(status, 0, text)
        commands = set(re.findall(r"^cmd_(\w+)\(\)", (ROOT / "dev").read_text(encoding="utf-8"), re.MULTILINE))
        self.assertEqual({line.split()[0] for line in text.splitlines() if line.startswith("  ")}, commands)

    def test_an_unknown_command_shows_the_help(self):
        status, text = self.dev("tset")
        self.assertEqual(status, 2)
        self.assertIn("dev: unknown command 'tset'", text)
        self.assertIn("test [all]", text)

    def test_without_apt_it_names_the_system_that_it_needs(self):
        (self.bin / "apt-get").unlink()
        status, text = self.dev("build")
        self.assertEqual(status, 1)
        self.assertIn("needs Debian 12", text)

    def test_without_root_and_sudo_it_names_what_to_install(self):
        status, text = self.dev("build")
        self.assertEqual(status, 1)
        self.assertIn("you are not root, and sudo is missing. As root, run: apt-get install ", text)
        self.assertEqual(set(text.split("apt-get install ")[1].split()), packages_of("build") | packages_of("web"))

    def installed_by(self, *command: str) -> set[str]:
        """What the command installs on a machine that has nothing. It fails then, because there is no compiler."""
        installed = self.bin / "installed"
        installed.write_text("", encoding="utf-8")
        self.program("sudo", f'shift; printf "%s\\n" "$@" >>"{installed}"')
        self.program("dpkg-query", f'sed "s/^/installed /" "{installed}"')
        status, text = self.dev(*command)
        self.assertNotEqual(status, 0)
        self.assertNotIn("still missing", text)
        return set(installed.read_text(encoding="utf-8").split())

    def test_with_sudo_it_installs_only_what_the_command_needs(self):
        commands = {"run": ["build", "web"], "build": ["build", "web"], "bench": ["build", "web", "bench"],
                    "package": ["build", "web", "package"], "test": ["build", "web", "test", "bench", "package", "lint"],
                    "lint": ["build", "web", "test", "bench", "lint"], "format": ["lint"]}
        for command, lists in commands.items():
            self.assertEqual(self.installed_by(command), set().union(*map(packages_of, lists)), command)

    def test_a_node_and_npm_of_the_user_are_enough_for_the_page(self):
        self.program("node", "exit 0")
        self.assertEqual(self.installed_by("run"), packages_of("build") | packages_of("web"))
        self.program("npm", "exit 0")
        self.assertEqual(self.installed_by("run"), packages_of("build"))

    def test_a_failed_installation_shows_the_last_lines_of_apt(self):
        self.program("sudo", "echo 'E: no network'; exit 1")
        status, text = self.dev("build")
        self.assertEqual(status, 1)
        self.assertIn("E: no network\ndev: the installation failed", text)

    def test_progress_is_counted(self):
        self.program("sudo", "echo '0 upgraded, 2 newly installed, 0 to remove and 0 not upgraded.'\n"
                             "echo 'Setting up cmake (3.25) ...'\necho 'Setting up g++ (12) ...'")
        status, text = self.dev("build")
        self.assertIn("[1/2] Installed cmake\n[2/2] Installed g++\n", text)
        self.assertEqual(status, 1)
        self.assertIn("still missing", text)


class Installation(Sandbox):
    """packaging/apt/install, with its policy-rc.d and the links of systemd in the made-up folder."""

    def setUp(self):
        super().setUp()
        self.policy, self.script = self.bin / "policy-rc.d", self.tree / "packaging/apt/install"
        text = self.script.read_text(encoding="utf-8")
        self.assertIn("=/usr/sbin/policy-rc.d", text)
        self.links = self.tree / "links"
        text = text.replace("=/usr/sbin/policy-rc.d", f"='{self.policy}'").replace("find /etc/systemd/system", f"find '{self.links}'")
        self.script.write_text(text, encoding="utf-8")
        self.program("id", "echo 0")
        self.program("dpkg-query", "echo installed bash")

    def install(self) -> int:
        return subprocess.run([str(self.script), "prometheus"], env={"PATH": str(self.bin)}, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False).returncode

    def test_services_are_forbidden_during_the_installation_only(self):
        for code in (0, 100):
            self.program("apt-get", f'[ "$(\'{self.policy}\'; echo $?)" = 101 ] || exit 3; exit {code}')
            self.assertEqual(self.install(), 1 if code else 0)
            self.assertFalse(self.policy.exists())

    def test_a_policy_of_the_administrator_stays(self):
        self.program("policy-rc.d", "exit 0")
        self.program("apt-get", "exit 0")
        before = self.policy.read_bytes()
        self.assertEqual(self.install(), 0)
        self.assertEqual(self.policy.read_bytes(), before)

    def test_a_policy_that_a_killed_run_left_behind_is_removed(self):
        self.program("apt-get", f"kill -9 $PPID")
        self.assertLess(self.install(), 0)
        self.assertTrue(self.policy.exists())
        self.program("apt-get", "exit 0")
        self.assertEqual(self.install(), 0)
        self.assertFalse(self.policy.exists())

    def test_units_of_new_packages_are_disabled_and_no_others(self):
        (self.links / "multi-user.target.wants").mkdir(parents=True)
        for unit in ("old.service", "updated.service"):
            (self.links / "multi-user.target.wants" / unit).symlink_to(f"/lib/systemd/system/{unit}")
        installed = self.bin / "installed"
        wants = self.links / "multi-user.target.wants"
        self.program("apt-get", f"[ $1 != -q ] || touch '{installed}'; cd '{wants}' && touch x\n"
                                "ln -sf /lib/systemd/system/new.service new.service")
        self.program("dpkg-query", f"""case $1 in
            -W) echo installed old; [ ! -e '{installed}' ] || echo installed new ;;
            -L) echo /lib/systemd/system/new.service; echo /lib/systemd/system/static.service ;;
            esac""")
        self.program("systemctl", 'echo "$@" >>"$0.called"')
        for name in ("touch", "ln"):
            (self.bin / name).symlink_to(shutil.which(name))
        self.assertEqual(self.install(), 0)
        called = (self.bin / "systemctl.called").read_text(encoding="utf-8").splitlines()
        self.assertEqual(called[0], "disable --quiet new.service")
        self.assertEqual({line.split()[-1] for line in called}, {"new.service"})


class Lists(unittest.TestCase):
    def test_building_needs_no_package_of_the_tests(self):
        self.assertFalse((packages_of("build") | packages_of("web")) & (packages_of("test") | packages_of("bench") | packages_of("lint")))


if __name__ == "__main__":
    unittest.main()
