# SPDX-License-Identifier: Apache-2.0
"""The files that git tracks, also in a clone of another user."""

import os
import subprocess
from pathlib import Path


def is_clone(root: str | Path) -> bool:
    return os.path.exists(os.path.join(root, ".git"))


def tracked_files(root: str | Path, *patterns: str) -> list[str]:
    """Paths from the root, sorted; without those that were deleted. The root is a clone."""
    # git refuses a clone of another user by default.
    command = ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z", "--", *patterns]
    listing = subprocess.run(command, capture_output=True, check=True).stdout
    names = [os.fsdecode(name) for name in listing.split(b"\0") if name]
    return sorted(name for name in names if os.path.isfile(os.path.join(root, name)) or os.path.islink(os.path.join(root, name)))
