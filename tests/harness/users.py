# SPDX-License-Identifier: Apache-2.0
"""Users without an account, for tests with more than one user."""

import os
import unittest

STRANGER, OTHER_STRANGER = 65534, 65533


def may_become_other_users() -> bool:
    """True for the real root; the root of a user namespace has only one user."""
    with open("/proc/self/uid_map", encoding="utf-8") as file:
        return os.geteuid() == 0 and "4294967295" in file.read()


needs_other_users = unittest.skipUnless(may_become_other_users(), "needs root, to become another user")


def as_user(uid: int, *command: str, groups: str = "") -> list[str]:
    """The command, run by that user."""
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", f"--groups={groups}" if groups else "--clear-groups", *command]
