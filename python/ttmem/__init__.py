# SPDX-License-Identifier: Apache-2.0
"""Who holds the memory of the Tenstorrent accelerators of this host, to the byte.

    import ttmem

    ttmem.status().devices[0].memory["dram"].used
    with ttmem.scope("decoder.3"):
        ...
    ttmem.memory_allocated()

Importing it starts nothing and needs neither a daemon nor an accelerator. docs/PYTHON.md describes it.
"""

# Only type checkers import `typing` here: it takes longer than the whole package.

from __future__ import annotations

from ._cards import card
from ._client import Client, diff
from ._documents import Document, Rows, View
from ._errors import (
    TtmemBadRequest,
    TtmemError,
    TtmemMemoryError,
    TtmemNotFound,
    TtmemNotPermitted,
    TtmemNotRunning,
    TtmemNotSupported,
    TtmemNotTracked,
    TtmemTimeout,
)
from ._memory import (
    _dump_snapshot,
    _snapshot,
    default_client,
    get_memory_info,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_summary,
    pjrt_stats,
    reset_peak_memory_stats,
)
from ._native import is_reporting
from ._scopes import Mark, mark, scope, scoped, tag
from ._sizes import format_size, parse_size
from ._track import FailureWatch, Figures, on_failure, track
from ._verify import verify

ask = default_client.ask
status = default_client.status
processes = default_client.processes
allocations = default_client.allocations
why = default_client.why
fit = default_client.fit
map = default_client.map
cores = default_client.cores
programs = default_client.programs
peak = default_client.peak
growth = default_client.growth
leaks = default_client.leaks
history = default_client.history
events = default_client.events
post_mortems = default_client.post_mortems
watch = default_client.watch
follow_events = default_client.follow_events

__version__ = "0.1.0"

__all__ = [
    "Client", "Document", "FailureWatch", "Figures", "Mark", "Rows", "View",
    "TtmemBadRequest", "TtmemError", "TtmemMemoryError", "TtmemNotFound", "TtmemNotPermitted", "TtmemNotRunning",
    "TtmemNotSupported", "TtmemNotTracked", "TtmemTimeout",
    "allocations", "ask", "card", "cores", "diff", "events", "fit", "follow_events", "format_size", "get_memory_info", "growth", "history",
    "is_reporting", "leaks", "map", "mark", "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated",
    "memory_reserved", "memory_snapshot", "memory_stats", "memory_summary", "on_failure", "parse_size", "peak", "pjrt_stats",
    "post_mortems", "processes", "programs", "reset_peak_memory_stats", "scope", "scoped", "status", "tag", "track", "verify", "watch",
    "why", "_dump_snapshot", "_snapshot",
]  # fmt: skip


def load_ipython_extension(shell: object) -> None:
    """For `%load_ext ttmem`."""
    from ._notebook import load_ipython_extension

    load_ipython_extension(shell)


def unload_ipython_extension(shell: object) -> None:
    """For `%unload_ext ttmem`."""
    from ._notebook import unload_ipython_extension

    unload_ipython_extension(shell)
