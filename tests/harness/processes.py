# SPDX-License-Identifier: Apache-2.0
"""Children and names of processes, from /proc."""

import os

from harness.waiting import wait_until


def children_of(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def name_of(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""


def state_of(pid: int) -> str:
    """One letter: R, S, Z, ..."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0]


def wait_for_child(pid: int, name: str) -> int:
    """The child with that name, once it is there."""
    return wait_until(lambda: next((child for child in children_of(pid) if name_of(child) == name), None),
                      f"{name} is a child of {pid}")


def segments_of(pid: int) -> int:
    """How many segments a process has open."""
    folder = f"/proc/{pid}/fd"
    links = [os.readlink(os.path.join(folder, name)) for name in os.listdir(folder)]
    return sum(link.startswith("/memfd:ttmem") for link in links)
