# SPDX-License-Identifier: Apache-2.0
"""Compares ttmem's figures with those of the runtime itself."""

from __future__ import annotations

import sys

from . import _memory
from ._documents import Rows
from ._errors import TtmemNotSupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# ttmem's kind, and the name of the runtime's buffer type
_TYPES = {"dram": "DRAM", "l1": "L1", "l1_small": "L1_SMALL", "trace": "TRACE"}


def verify(device: Any) -> Rows:
    """One row per kind of memory of an open device of ttnn: what `ttnn.get_memory_view` reports for a bank, what ttmem counts, and
    whether they are equal. A kind of which the runtime has no bank is left out. `device` is ttnn's object."""
    ttnn = sys.modules.get("ttnn")
    if ttnn is None or not hasattr(ttnn, "get_memory_view"):
        raise TtmemNotSupported("verify() asks ttnn.get_memory_view, and this process has not imported such a ttnn")
    rows = []
    number = _memory._host_number(device)
    maps = _memory.default_client.map(number, kind=list(_TYPES), pid=_memory._own_pid(), limit=1)["maps"].to_list()
    for kind, type_name in _TYPES.items():
        view = ttnn.get_memory_view(device, getattr(ttnn.BufferType, type_name))
        if view.num_banks == 0 or view.total_bytes_per_bank == 0:
            continue
        own = [each for each in maps if each["kind"] == kind]
        used = sum(each["used"] for each in own)
        rows.append(
            {
                "kind": kind,
                "banks": view.num_banks,
                "runtime_used": view.total_bytes_allocated_per_bank,
                "ttmem_used": used,
                "runtime_size": view.total_bytes_per_bank,
                "ttmem_size": own[0]["bank"]["size"] if own else None,
                "equal": used == view.total_bytes_allocated_per_bank and (not own or own[0]["bank"]["banks"] == view.num_banks),
            }
        )
    return Rows(rows)
