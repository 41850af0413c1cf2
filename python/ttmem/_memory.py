# SPDX-License-Identifier: Apache-2.0
"""The shape of torch.accelerator.memory and torch.cuda.memory, for this process. `device` is the number that this process gives
the device, or an object with `get_device_ids()`, whose first chip it is, or `id()`; the default is 0. `kind` is a kind of memory: dram (the default), l1, l1_small, trace, cb
or kernel. Bytes are those that the allocator took, rounding included."""

from __future__ import annotations

import os

from . import _native
from ._client import Client
from ._documents import Document
from ._errors import TtmemBadRequest, TtmemNotFound, TtmemNotSupported, TtmemNotTracked
from ._sizes import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Union

    Device = Union[int, None, Any]

KINDS = tuple(_native.KIND_NUMBERS)

default_client = Client()


def _number(device: Device) -> int:
    if device is None:
        return 0
    if isinstance(device, int) and not isinstance(device, bool):
        return device
    # ttnn's id() of a mesh is not the number of a chip.
    chips = getattr(device, "get_device_ids", None)
    number = chips()[0] if callable(chips) else getattr(device, "id", None)
    number = number() if callable(number) else number
    if not isinstance(number, int):
        raise TtmemBadRequest(f"{device!r}: a device must be its number in this process, or an object with get_device_ids() or id()")
    return number


def _kind(kind: str) -> str:
    if kind not in _native.KIND_NUMBERS:
        raise TtmemBadRequest(f"'{kind}': must be one of {', '.join(KINDS)}")
    return kind


def _has_nothing_yet() -> bool:
    """It is observed and has not called the runtime: 0 bytes are exact."""
    return _native.is_observed() and not _native.is_reporting()


def _as_others_see_it(device: int) -> Document:
    """This process on a device, from the daemon or the program: for clients without ttmem_own_usage()."""
    devices = default_client.own_process()["devices"]
    found = [each for each in devices if each["logical_id"] == device]
    if not found:
        raise TtmemNotFound(f"this process has no device {device}: open it first")
    own: Document = found[0]
    return own


def memory_allocated(device: Device = None, *, kind: str = "dram") -> int:
    """Bytes that this process holds on the device."""
    try:
        return _native.own_usage(_number(device), _kind(kind)).used
    except TtmemNotTracked:
        if _has_nothing_yet():
            return 0
        raise
    except TtmemNotSupported:
        used: int = _as_others_see_it(_number(device))["memory"][kind]["used"]
        return used


def max_memory_allocated(device: Device = None, *, kind: str = "dram") -> int:
    """The highest `memory_allocated()` since the start, or since reset_peak_memory_stats()."""
    try:
        return _native.own_usage(_number(device), _kind(kind)).peak_since_reset
    except TtmemNotTracked:
        if _has_nothing_yet():
            return 0
        raise


def reset_peak_memory_stats(device: Device = None) -> None:
    """max_memory_allocated() starts again with what is held now, for all kinds."""
    try:
        _native.reset_peak(_number(device))
    except TtmemNotTracked:
        if not _has_nothing_yet():
            raise


def memory_reserved(device: Device = None, *, kind: str = "dram") -> int:
    """Bytes that the allocator of the device can give out: a runtime takes all banks when it opens a device."""
    try:
        return _native.own_usage(_number(device), _kind(kind)).capacity
    except TtmemNotTracked:
        if _has_nothing_yet():
            return 0
        raise


def max_memory_reserved(device: Device = None, *, kind: str = "dram") -> int:
    """As memory_reserved(), which does not change while the device is open."""
    return memory_reserved(device, kind=kind)


def memory_stats(device: Device = None) -> dict[str, int]:
    """The keys of torch.cuda.memory_stats() that exist here, with a kind of memory in the middle: `allocated_bytes.l1.peak`.
    `all` adds up DRAM and L1, which are unlike: it is there for programs that expect it."""
    number = _number(device)
    stats: dict[str, int] = {}
    totals: dict[str, int] = {}
    for kind in KINDS:
        usage = _native.Usage() if _has_nothing_yet() else _native.own_usage(number, kind)
        figures = {
            "allocation.{}.current": usage.count,
            "allocated_bytes.{}.current": usage.used,
            "allocated_bytes.{}.peak": usage.peak_since_reset,
            "active_bytes.{}.current": usage.used,
            "active_bytes.{}.peak": usage.peak_since_reset,
            "requested_bytes.{}.current": usage.requested,
            "reserved_bytes.{}.current": usage.capacity,
            "reserved_bytes.{}.peak": usage.capacity,
        }
        for key, value in figures.items():
            stats[key.format(kind)] = value
            if not key.endswith(".peak"):  # peaks of kinds are of different moments
                totals[key.format("all")] = totals.get(key.format("all"), 0) + value
    if not _has_nothing_yet():
        counts = default_client.why(pid=_own_pid(), limit=1)["counts"]
        totals["num_ooms"] = sum(each["out_of_memory"] or 0 for each in counts if each["pid"] == _own_pid())
    return {**totals, **stats}


def mem_get_info(device: Device = None, *, kind: str = "dram") -> tuple[int, int]:
    """Free and all bytes of the device, whoever holds the rest."""
    figures = _device_view(device)["memory"][_kind(kind)]
    if figures["capacity"] is None or figures["used"] is None:
        raise TtmemNotFound(f"what device {_number(device)} has of {kind} is not known: no process reports it")
    return figures["capacity"] - figures["used"], figures["capacity"]


get_memory_info = mem_get_info


def _host_number(device: Device) -> int:
    """The number of the device in the view; processes may call it otherwise."""
    try:
        found: int = _as_others_see_it(_number(device))["id"]
        return found
    except (TtmemNotFound, TtmemNotTracked):
        return _number(device)


def _device_view(device: Device) -> Document:
    number = _host_number(device)
    for each in default_client.status()["devices"]:
        if each["id"] == number:
            found: Document = each
            return found
    raise TtmemNotFound(f"there is no device {number}: 'ttmem status' lists the devices")


def memory_summary(device: Device = None, abbreviated: bool = False) -> str:
    """The figures of memory_stats() as a table; the parameter `abbreviated` leaves out kinds that this process does not use."""
    lines = [f"{'KIND':<9}{'NOW':>11}{'PEAK':>11}{'REQUESTED':>11}{'CAPACITY':>11}{'COUNT':>8}"]
    for kind in KINDS:
        usage = _native.Usage() if _has_nothing_yet() else _native.own_usage(_number(device), kind)
        if usage.peak or not abbreviated:
            amounts = (usage.used, usage.peak_since_reset, usage.requested, usage.capacity or None)
            lines.append(f"{kind:<9}" + "".join(f"{format_size(each):>11}" for each in amounts) + f"{usage.count:>8}")
    return "\n".join(lines)


def memory_snapshot(device: Device = None) -> list[dict[str, Any]]:
    """The blocks of this process in the form of torch.cuda.memory_snapshot(), without traces: a segment per allocator and kind.
    Addresses and sizes are those in one bank. _dump_snapshot() adds traces on request."""
    return [_segment(each) for each in default_client.map(_host_number(device), pid=_own_pid())["maps"]]


_pids: dict[int, int] = {}  # the number of this process on the host, by its own; a forked child has another


def _own_pid() -> int:
    if os.getpid() not in _pids:
        _pids[os.getpid()] = default_client.own_process()["pid"]
    return _pids[os.getpid()]


def _segment(bank: Document) -> dict[str, Any]:
    blocks = [
        {
            "address": block["address"],
            "size": block["bytes"],
            "requested_size": block["requested"] if block["requested"] is not None else 0,
            "state": "inactive" if block["is_free"] else "active_allocated",
            "frames": [] if block["name"] is None else [{"name": block["name"], "filename": "", "line": 0}],
        }
        for block in bank["blocks"]
    ]
    return {
        "device": bank["device"], "address": bank["bank"]["base"], "total_size": bank["bank"]["size"], "stream": 0,
        "allocated_size": bank["used"], "active_size": bank["used"], "segment_type": bank["kind"],
        "requested_size": sum(block["requested_size"] for block in blocks), "frames": [], "blocks": blocks,
    }  # fmt: skip


def _device_traces(device: Device) -> list[list[dict[str, Any]]]:
    number, actions = _host_number(device), {"allocation": "alloc", "free": "free_completed"}
    trace = [
        {
            "action": actions[event["what"]], "addr": event["address"] or 0, "size": event["requested"] or 0, "stream": 0,
            "time_us": event["time_ns"] // 1000,
            "frames": [] if event["name"] is None else [{"name": event["name"], "filename": "", "line": 0}],
        }
        for event in default_client.events(pid=_own_pid(), device=number)["events"]
        if event["what"] in actions and event["adds_bytes"]
    ]  # fmt: skip
    earlier: list[list[dict[str, Any]]] = [[] for _ in range(number)]
    return [*earlier, trace]


def _snapshot(device: Device = None, *, include_traces: bool = False) -> dict[str, Any]:
    return {
        "segments": memory_snapshot(device),
        "device_traces": _device_traces(device) if include_traces else [[] for _ in range(_host_number(device) + 1)],
        "allocator_settings": {},
        "external_annotations": [],
    }


def _dump_snapshot(filename: str = "dump_snapshot.pickle", device: Device = None, *, include_traces: bool = False) -> None:
    """Writes a pickle that PyTorch's memory_viz reads. Traces need the daemon, which keeps the events."""
    import pickle

    with open(filename, "wb") as file:
        pickle.dump(_snapshot(device, include_traces=include_traces), file)


def pjrt_stats(device: Device = None) -> dict[str, int]:
    """DRAM of the device under the names of PJRT_Device_MemoryStats, over all processes. Unknown figures are left out."""
    view = _device_view(device)
    dram = view["memory"]["dram"]
    largest = default_client.allocations(device=view["id"], kind="dram", limit=1)["allocations"]
    stats = {
        "bytes_in_use": dram["used"],
        "peak_bytes_in_use": dram["peak"],
        "largest_alloc_size": largest[0]["used"] if len(largest) else 0,
        "bytes_limit": dram["capacity"],
        "bytes_reservable_limit": dram["capacity"],
        "largest_free_block_bytes": dram["largest_free"],
        "bytes_used": dram["used"],
        "peak_bytes_used": dram["peak"],
    }
    return {name: value for name, value in stats.items() if value is not None}
