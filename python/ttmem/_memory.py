# SPDX-License-Identifier: Apache-2.0
"""The shape of torch.accelerator.memory and torch.cuda.memory, for this process. `device` is the number that this process gives
the device, or an object with `get_device_ids()`, whose first chip it is, or `id()`; the default is 0. `kind` is a kind of memory: dram (the default), l1, l1_small, trace, cb
or kernel. Bytes are those that the allocator took, rounding included."""

from __future__ import annotations

import os

from . import _native, _peaks
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
    return _highest(_peaks.of_process, device, kind)


def _highest(peak: _peaks.Peak, device: Device, kind: str) -> int:
    try:
        return peak.usage(_number(device), _kind(kind)).peak_since_reset
    except TtmemNotTracked:
        if _has_nothing_yet():
            return 0
        raise


def reset_peak_memory_stats(device: Device = None) -> None:
    """max_memory_allocated() starts again with what is held now, for all kinds."""
    try:
        _peaks.reset(_number(device))
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
    `all` adds up DRAM and L1, which are unlike: it is there for programs that expect it. Its peaks add up those of the kinds, which may be
    of different moments: no total was higher."""
    number = _number(device)
    stats: dict[str, int] = {}
    totals: dict[str, int] = {}
    for kind in KINDS:
        usage = _native.Usage() if _has_nothing_yet() else _peaks.of_process.usage(number, kind)
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
            totals[key.format("all")] = totals.get(key.format("all"), 0) + value
    totals["num_alloc_retries"] = totals["num_ooms"] = 0  # tt-metal's allocator tries once
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
        usage = _native.Usage() if _has_nothing_yet() else _peaks.of_process.usage(_number(device), kind)
        if usage.peak or not abbreviated:
            amounts = (usage.used, usage.peak_since_reset, usage.requested, usage.capacity or None)
            lines.append(f"{kind:<9}" + "".join(f"{format_size(each):>11}" for each in amounts) + f"{usage.count:>8}")
    return "\n".join(lines)


def memory_snapshot(device: Device = None, *, include_traces: bool = False) -> list[dict[str, Any]]:
    """The blocks of this process in the form of torch.cuda.memory_snapshot(): a segment per allocator and kind that has a bank.
    Addresses and sizes are those in one bank. With traces, each segment has its events too, as `trace`; that needs the daemon."""
    number = _host_number(device)
    maps = default_client.map(number, pid=_own_pid())["maps"].to_list()
    segments = [_segment(each) for each in maps if each["bank"]["size"] is not None and each["kind"] != "cb"]
    if include_traces:
        events = default_client.events(pid=_own_pid(), device=number)["events"].to_list()
        for segment in segments:
            segment["trace"] = [entry for event in events if _is_of(event, segment) for entry in _trace_entries(event, segment)]
    return segments


_pids: dict[int, int] = {}  # the number of this process on the host, by its own; a forked child has another


def _own_pid() -> int:
    if os.getpid() not in _pids:
        _pids[os.getpid()] = default_client.own_process()["pid"]
    return _pids[os.getpid()]


def _frames(name: str | None) -> list[dict[str, Any]]:
    return [] if name is None else [{"name": name, "filename": "", "line": 0}]


def _in_one_bank(requested: int | None, banks: int | None, size: int) -> int:
    """Requested bytes are those in all banks."""
    return min(-(-(requested or 0) // max(banks or 1, 1)), size)


def _blocks(bank: dict[str, Any]) -> list[dict[str, Any]]:
    """By address and without a gap, as readers of snapshots want it. Circular buffers are no memory of the allocator."""
    end: int = bank["bank"]["base"] or 0
    limit = end + bank["bank"]["size"]
    blocks = []

    def add(address: int, size: int, requested: int, name: str | None, state: str) -> None:
        blocks.append({"address": address, "size": size, "requested_size": requested, "state": state, "frames": _frames(name)})

    for block in bank["blocks"]:
        address, size = block["address"], block["bytes"]
        if block["is_free"] or block["circular_buffers"] or not size or address < end or address + size > limit:
            continue
        if address > end:
            add(end, address - end, 0, None, "inactive")
        add(address, size, _in_one_bank(block["requested"], bank["bank"]["banks"], size), block["name"], "active_allocated")
        end = address + size
    if end < limit:
        add(end, limit - end, 0, None, "inactive")
    return blocks


def _segment(bank: dict[str, Any]) -> dict[str, Any]:
    blocks = _blocks(bank)
    used = sum(block["size"] for block in blocks if block["state"] != "inactive")
    return {
        "device": bank["device"], "address": bank["bank"]["base"] or 0, "total_size": bank["bank"]["size"], "stream": 0,
        "allocated_size": used, "active_size": used, "segment_type": bank["kind"], "banks": bank["bank"]["banks"],
        "requested_size": sum(block["requested_size"] for block in blocks), "frames": [], "blocks": blocks,
    }  # fmt: skip


_ACTIONS = {"allocation": ["alloc"], "free": ["free_requested", "free_completed"]}  # readers want both of a free


def _is_of(event: dict[str, Any], segment: dict[str, Any]) -> bool:
    address = event["address"]
    return (
        event["what"] in _ACTIONS
        and event["adds_bytes"]
        and event["kind"] == segment["segment_type"]
        and address is not None
        and 0 <= address - segment["address"] < segment["total_size"]
    )


def _trace_entries(event: dict[str, Any], segment: dict[str, Any]) -> list[dict[str, Any]]:
    entry = {
        "addr": event["address"], "stream": 0, "time_us": event["time_ns"] // 1000,
        "size": _in_one_bank(event["requested"], segment["banks"], segment["total_size"]), "frames": _frames(event["name"]),
    }  # fmt: skip
    return [{"action": action, **entry} for action in _ACTIONS[event["what"]]]


def _snapshot(device: Device = None, *, include_traces: bool = False) -> dict[str, Any]:
    """Readers know one address space per device, so each segment is a device of its own here, in the order of memory_snapshot()."""
    segments = memory_snapshot(device, include_traces=include_traces)
    traces = [segment.pop("trace", []) for segment in segments]
    return {
        "segments": [{**segment, "device": number} for number, segment in enumerate(segments)],
        "device_traces": traces,
        "allocator_settings": {},
        "external_annotations": [],
    }


def _dump_snapshot(filename: str = "dump_snapshot.pickle", device: Device = None, *, include_traces: bool = False) -> None:
    """Writes a pickle that PyTorch's memory_viz reads. Traces need the daemon, which keeps the events."""
    import pickle

    with open(filename, "wb") as file:
        pickle.dump(_snapshot(device, include_traces=include_traces), file, protocol=4)  # memory_viz reads no later one


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
