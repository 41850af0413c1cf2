# SPDX-License-Identifier: Apache-2.0
"""A clean Debian in a folder: created once with debootstrap from the mirror of this machine, then copied for each test, so
that no test finds files of an earlier one."""

import atexit
import os
import shutil
import subprocess
import tempfile

from harness.users import may_become_other_users


class NotPossible(Exception):
    """Why this machine cannot have such a root."""


def run(*command: str, **options) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=600, **options)
    assert done.returncode == 0, f"{' '.join(command)}: {done.returncode}\n{done.stdout}"
    return done.stdout


def release_and_mirror() -> tuple[str, str]:
    """The release of this machine, and the mirror that apt uses."""
    with open("/etc/os-release", encoding="utf-8") as file:
        facts = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
    release = facts.get("VERSION_CODENAME", "")
    lines = run("apt-get", "indextargets", "--no-release-info", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)",
                "Created-By: Packages").splitlines()
    mirrors = [line.split(" ", 2)[2] for line in lines if line.startswith(f"{release} main ")]
    if facts.get("ID") != "debian" or not mirrors:
        raise NotPossible("apt knows no mirror of this Debian")
    return release, mirrors[0]


def require_means():
    if not may_become_other_users():
        raise NotPossible("only root can")
    if not shutil.which("debootstrap"):
        raise NotPossible("debootstrap is not installed")


def make_base(base: str, archives: str, release: str | None):
    """Leaves a complete base or none."""
    own_release, mirror = release_and_mirror()
    release = release or own_release
    unfinished = base + ".unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    os.makedirs(archives, exist_ok=True)
    more = ["--include=ca-certificates"] if mirror.startswith("https:") else []
    try:
        run("debootstrap", "--variant=minbase", f"--cache-dir={os.path.abspath(archives)}", *more, release, unfinished,
            mirror)
    except (AssertionError, subprocess.TimeoutExpired) as problem:
        raise NotPossible(f"debootstrap failed: {str(problem)[-2000:]}") from None
    # The proxies of this machine.
    with open(os.path.join(unfinished, "etc/apt/apt.conf.d/90host"), "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in run("apt-config", "dump").splitlines() if line.startswith("Acquire::"))
    os.rename(unfinished, base)


def path_without_spaces(folder: str) -> str:
    """debootstrap does not support spaces in paths, so a folder with one is mounted elsewhere."""
    if " " not in folder:
        return folder
    place = tempfile.mkdtemp(prefix="ttmem-clean-root-")

    def remove():
        subprocess.run(["umount", "--lazy", place], stderr=subprocess.DEVNULL, check=False)
        os.rmdir(place)

    atexit.register(remove)
    os.makedirs(folder, exist_ok=True)
    try:
        run("mount", "--bind", folder, place)
    except AssertionError as problem:
        raise NotPossible(f"mounting failed: {problem}") from None
    return place


class CleanRoot:
    """Needs its own mount namespace, which removes the mounts. Without the name of a release it is that of this machine."""

    def __init__(self, folder: str, *more_packages: str, release: str | None = None):
        require_means()
        folder = os.path.join(path_without_spaces(folder), release or "")
        name = "-".join(["", *more_packages])
        base, self.path = os.path.join(folder, "base"), os.path.join(folder, "root" + name)
        self.archives = os.path.join(folder, "archives")
        if not os.path.isdir(base):
            make_base(base, self.archives, release)
        self.remove()
        if more_packages and os.path.isdir(base + name):
            base += name
        run("cp", "-a", "--reflink=auto", base, self.path)
        self.mount()
        if more_packages and not base.endswith(name):
            self.run("apt-get", "update")
            self.run("apt-get", "install", "-y", "--no-install-recommends", *more_packages)
            self.unmount()
            run("cp", "-a", "--reflink=auto", self.path, base + name)
            self.mount()

    def mount(self):
        try:
            run("mount", "-t", "proc", "proc", self.at("proc"))
            for place, mode in (("run", "0755"), ("tmp", "1777"), ("dev/shm", "1777")):
                os.makedirs(self.at(place), exist_ok=True)
                run("mount", "-t", "tmpfs", "-o", f"mode={mode}", "tmpfs", self.at(place))
            # Packages are downloaded once.
            run("mount", "--bind", self.archives, self.at("var/cache/apt/archives"))
            self.run("true")
        except AssertionError as problem:
            raise NotPossible(f"mounting or chroot failed: {problem}") from None

    def at(self, path: str) -> str:
        return os.path.join(self.path, path.lstrip("/"))

    def run(self, *command: str, **environment: str) -> str:
        return run("chroot", self.path, *command,
                   env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root",
                        "DEBIAN_FRONTEND": "noninteractive"} | environment)

    def install(self, package: str):
        """Installs a package and its dependencies."""
        shutil.copy(package, self.at("/root/package.deb"))
        command = ["apt-get", "install", "-y", "--no-install-recommends", "/root/package.deb"]
        try:
            self.run(*command)
        except AssertionError:  # the package lists of the base are outdated or missing
            self.run("apt-get", "update")
            self.run(*command)
        os.remove(self.at("/root/package.deb"))

    def files(self) -> set[str]:
        """All files, except those of the package tools and the kernel."""
        own = {self.at(path) for path in ("/proc", "/dev", "/sys", "/var/lib/dpkg", "/var/lib/apt", "/var/cache", "/var/log",
                                          "/etc/ld.so.cache")}
        # Backups by the tools that manage users.
        own |= {self.at(f"/etc/{name}-") for name in ("passwd", "group", "shadow", "gshadow", "subuid", "subgid")}
        own |= {self.at(f"/etc/.{name}.lock") for name in ("pwd",)}
        found = set()
        for folder, inner, names in os.walk(self.path):
            inner[:] = [name for name in inner if os.path.join(folder, name) not in own]
            found |= {os.path.join(folder, name) for name in inner + names} - own
        return {path.removeprefix(self.path) for path in found}

    def unmount(self):
        for place in ("proc", "run", "tmp", "dev/shm", "var/cache/apt/archives"):
            subprocess.run(["umount", "--lazy", self.at(place)], stderr=subprocess.DEVNULL, check=False)

    def remove(self):
        self.unmount()
        if os.path.isdir(self.path):
            # Never through a mount into other folders.
            run("rm", "-rf", "--one-file-system", self.path)
