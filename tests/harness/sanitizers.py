# SPDX-License-Identifier: Apache-2.0
"""Whether the programs under test are built with a sanitizer, which makes them slow and large."""

import os

SANITIZER = os.environ.get("TTMEM_SANITIZE", "")  # from python_test.cmake; "thread", for example
SLOWNESS = 5 if SANITIZER else 1


def scaled(number: int) -> int:
    """Less work for a slow build."""
    return max(1, number // SLOWNESS)
