# SPDX-License-Identifier: Apache-2.0
"""The exceptions of this package. Each text names the thing, the cause and the way out."""

from __future__ import annotations


class TtmemError(Exception):
    """The base of all exceptions of this package."""


class TtmemNotRunning(TtmemError):
    """No daemon answers, and the `ttmem` program can't answer instead."""


class TtmemNotPermitted(TtmemError, PermissionError):
    """This user may not see it."""


class TtmemTimeout(TtmemError, TimeoutError):
    """No answer within the timeout."""


class TtmemBadRequest(TtmemError, ValueError):
    """A parameter is unknown, or its value is wrong."""


class TtmemNotFound(TtmemError, LookupError):
    """There is no such device, process or post-mortem."""


class TtmemNotSupported(TtmemError):
    """The daemon, the program or the client library is older than this call."""


class TtmemNotTracked(TtmemError):
    """Nothing in this process reports to ttmem."""


class TtmemMemoryError(TtmemError, AssertionError):
    """A limit on device memory was exceeded."""
