# SPDX-License-Identifier: Apache-2.0
"""Compares ttmem's figures with those of the runtime itself."""

from __future__ import annotations

import sys

from . import _memory
from ._documents import Rows
from ._errors import TtmemNotSupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Union

    Figures = dict[str, Union[int, None]]

# ttmem's kind, and the name of the runtime's buffer type
_TYPES = {"dram": "DRAM", "l1": "L1", "l1_small": "L1_SMALL", "trace": "TRACE"}

# Of a bank: ttmem's name, and the runtime's.
_FIGURES = {
    "banks": "num_banks",
    "size": "total_bytes_per_bank",
    "used": "total_bytes_allocated_per_bank",
    "free": "total_bytes_free_per_bank",
    "largest_free": "largest_contiguous_bytes_free_per_bank",
}


def _figures(bank: dict[str, Any]) -> Figures:
    """Of a map. The runtime's allocator has no circular buffers, so what they occupy is free to it."""
    figures: Figures = {"banks": bank["bank"]["banks"], "size": bank["bank"]["size"], "used": bank["used"]}
    if bank["kind"] != "l1" or bank["left_out"]:
        return {**figures, "free": bank["free"], "largest_free": bank["largest_free"]}
    free = largest = run = 0
    for block in bank["blocks"]:
        is_free = block["is_free"] or block["circular_buffers"] != 0
        run = run + block["bytes"] if is_free else 0
        free += block["bytes"] if is_free else 0
        largest = max(largest, run)
    return {**figures, "free": free, "largest_free": largest}


def _allocated(view: Any, base: int) -> dict[int, int] | None:
    """Bytes by address of the runtime's allocated blocks; None if it gives no block table. Its addresses begin at the bank's base, or
    at 0."""
    table = [(int(each["address"]), int(each["size"]), each["allocated"]) for each in getattr(view, "block_table", None) or []]
    if not table:
        return None
    shift = base if min(address for address, _, _ in table) < base else 0
    return {address + shift: size for address, size, allocated in table if str(allocated).lower() in ("yes", "true", "1")}


def _difference(figure: str, runtime: int | None, ttmem: int | None, address: int | None = None) -> dict[str, Any]:
    return {"figure": figure, "address": address, "runtime": runtime, "ttmem": ttmem}


def _differences(view: Any, bank: dict[str, Any] | None, figures: Figures) -> list[dict[str, Any]]:
    """Figure by figure, then block by block."""
    reported = {name: getattr(view, theirs) for name, theirs in _FIGURES.items()}
    found = [_difference(name, reported[name], figures[name]) for name in _FIGURES if reported[name] != figures[name]]
    blocks = None if bank is None or bank["left_out"] else _allocated(view, bank["bank"]["base"] or 0)
    if bank is None or blocks is None:
        return found
    own = {each["address"]: each["bytes"] for each in bank["blocks"] if not each["is_free"] and not each["circular_buffers"]}
    return found + [
        _difference("block", blocks.get(address), own.get(address), address)
        for address in sorted({*blocks, *own})
        if blocks.get(address) != own.get(address)
    ]


def _row(kind: str, view: Any, maps: list[dict[str, Any]]) -> dict[str, Any]:
    rows = []
    banks: list[dict[str, Any] | None] = [*maps] or [None]
    for bank in banks:
        figures: Figures = dict.fromkeys(_FIGURES) if bank is None else _figures(bank)
        differences = _differences(view, bank, figures)
        rows.append({"kind": kind, "equal": not differences, **figures, "differences": differences})
    return min(rows, key=lambda row: len(row["differences"]))


def verify(device: Any) -> Rows:
    """One row per kind of memory of an open device of ttnn: ttmem's figures of a bank, whether those of `ttnn.get_memory_view` are equal, and
    where not, what differs: `figure`, and the values of `runtime` and `ttmem`; of a `block` also the `address`. A kind of which neither has
    a bank is left out. `device` is ttnn's object. Call it while no thread allocates."""
    ttnn = sys.modules.get("ttnn")
    if ttnn is None or not hasattr(ttnn, "get_memory_view"):
        raise TtmemNotSupported("verify() asks ttnn.get_memory_view, and this process has not imported such a ttnn")
    rows = []
    number = _memory._host_number(device)
    maps = _memory.default_client.map(number, kind=list(_TYPES), pid=_memory._own_pid())["maps"].to_list()
    identity = getattr(device, "id", None)
    name = f"mesh {identity() if callable(identity) else identity}"
    maps = [each for each in maps if each["set"] == name] or maps
    for kind, type_name in _TYPES.items():
        view = ttnn.get_memory_view(device, getattr(ttnn.BufferType, type_name))
        own = [each for each in maps if each["kind"] == kind and (each["bank"]["size"] or each["used"])]
        if own or (view.num_banks != 0 and view.total_bytes_per_bank != 0):
            rows.append(_row(kind, view, own))
    return Rows(rows)
