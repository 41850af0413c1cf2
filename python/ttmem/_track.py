# SPDX-License-Identifier: Apache-2.0
"""What a block of code did to the device memory of this process: `with ttmem.track() as t:`."""

from __future__ import annotations

import os
import threading

from . import _memory, _native, _peaks
from ._cards import cards
from ._documents import Document, Rows
from ._errors import TtmemBadRequest, TtmemError, TtmemMemoryError, TtmemNotRunning, TtmemNotSupported
from ._sizes import format_size, parse_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Callable, Union

    from ._sizes import Size

    Sums = dict[tuple[str, Union[str, None]], tuple[int, int]]

KINDS = _memory.KINDS


class Figures:
    """Bytes by device (its number in this process) and kind."""

    def __init__(self, bytes_by_device: dict[int, dict[str, int]]) -> None:
        self.by_device = bytes_by_device

    def of(self, kind: str, device: int | None = None) -> int:
        """Of one device, or the highest of all devices: each has its own memory."""
        if device is not None:
            return self.by_device.get(device, {}).get(kind, 0)
        return max((figures.get(kind, 0) for figures in self.by_device.values()), default=0)

    def __getitem__(self, kind: str) -> int:
        return self.of(kind)

    def __repr__(self) -> str:
        parts = [
            f"device {device}: " + ", ".join(f"{kind} {format_size(figures[kind])}" for kind in figures if figures[kind])
            for device, figures in sorted(self.by_device.items())
            if any(figures.values())
        ]
        return "; ".join(parts) or "nothing"


def held() -> dict[int, dict[str, int]]:
    """What this process holds: bytes by device and kind. Nothing before its first device."""
    if not _native.is_reporting():
        return {}
    try:
        return {device: {kind: _native.own_usage(device, kind).used for kind in KINDS} for device in _native.own_devices()}
    except TtmemNotSupported:
        devices = _memory.default_client.own_process()["devices"]
        return {each["logical_id"]: {kind: each["memory"][kind]["used"] or 0 for kind in KINDS} for each in devices}


def _by_name() -> tuple[Sums, list[str]]:
    """What this process holds by kind and name, over all devices, and why that may be wrong."""
    if not _native.is_reporting():
        return {}, []
    view = _memory.default_client.allocations(pid=_memory._own_pid(), group_by="name").to_dict()
    sums = {
        (kind, group["key"]): (figures["used"], figures["count"])
        for group in view["groups"]
        for kind, figures in group["memory"].items()
        if figures["used"] or figures["count"]
    }
    return sums, [each["reason"] for each in view["inexact"]]


def _failures() -> tuple[int, list[dict[str, Any]]]:
    """How many requests of this process have failed, and the last of them, the newest first."""
    if not _native.is_reporting():
        return 0, []
    view = _memory.default_client.why(pid=_memory._own_pid(), limit=0).to_dict()
    count = sum((each["out_of_memory"] or 0) + (each["cb_clash"] or 0) for each in view["counts"])
    return count, [each for each in view["failures"] if each["type"] != "unknown_free"]


class track:
    """Measures a block of this process:

    peak         the highest bytes inside the block, by device and kind; None if it is not known (see `inexact`)
    growth       bytes at its end less those at its start
    leaked       what grew, by kind and name, over all devices: `kind`, `name`, `before`, `now`, `grown`, `count_before`, `count_now`
    failures     out-of-memory failures and clashes inside it, as in `why()`, the last first
    was_tracked  whether this process reported to ttmem
    inexact      why figures are missing or may be wrong; empty if they are exact

    Blocks may be inside each other and overlap on several threads: the peak of the outer one includes the inner ones. The figures are
    those of the whole process, whichever thread allocates. In a forked child the figures of a block begin with the fork."""

    _open: list["track"] = []

    def __init__(self, name: str | None = None) -> None:
        self.name = name
        self.peak: Figures | None = None
        self.growth = Figures({})
        self.failures = Rows([])
        self.leaked = Rows([])
        self.inexact: list[str] = []
        self.was_tracked = False
        self._peak = _peaks.Peak()
        self._begin_at_zero()

    def _begin_at_zero(self) -> None:
        self._before: dict[int, dict[str, int]] = {}
        self._names: Sums = {}
        self._failure_count = 0

    def __enter__(self) -> "track":
        self._before = held()
        self._names, _ = _by_name()
        self._failure_count, _ = _failures()
        track._open.append(self)
        try:
            _peaks.begin(self._peak)
        except TtmemNotSupported:
            pass  # noted at the end
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        track._open.remove(self)
        try:
            self.peak = Figures(_peaks.end(self._peak))
        except TtmemNotSupported as missing:
            self.inexact.append(f"the peak is not known: {missing}")
        self.was_tracked = _native.is_reporting()
        if not self.was_tracked:
            self.peak, self.inexact = None, ["nothing in this process reports to ttmem: run it under 'ttmem run'"]
            return
        try:
            self.growth = Figures(_difference(held(), self._before))
            names, reasons = _by_name()
            self.inexact += reasons
            self.leaked = Rows(_grown(self._names, names))
            self._note_failures()
        except TtmemError as problem:  # what the block raises is more important
            self.inexact.append(f"what grew and failed is not known: {problem}")

    def _note_failures(self) -> None:
        count, failures = _failures()
        new = count - self._failure_count
        self.failures = Rows(failures[:new])
        if len(failures) < new:
            self.inexact.append(f"{new - len(failures)} of {new} failures are no longer kept")

    def _peak_so_far(self, device: _memory.Device = None, *, kind: str = "dram") -> int:
        """Inside the block: its highest bytes until now."""
        return _memory._highest(self._peak, device, kind)

    def above_limits(self, device: _memory.Device = None, **limits: Size) -> list[str]:
        """The limits by kind that a peak is above, on this device or on any; the reason if that is not known."""
        if self.peak is None:
            return ["the limits can't be checked: " + "; ".join(self.inexact)]
        number = None if device is None else _memory._number(device)
        if number is not None and number not in self.peak.by_device:
            return [f"the limits of device {number} can't be checked: this process has not opened it"]
        problems = []
        for kind, limit in limits.items():
            if kind not in KINDS:
                raise TtmemBadRequest(f"'{kind}': must be one of {', '.join(KINDS)}")
            peak = self.peak.of(kind, number)
            if peak > parse_size(limit):
                problems.append(f"the peak of {kind} is {format_size(peak)} ({peak} B), above the limit of {limit}")
        return problems

    def left_above(self, limit: Size) -> list[str]:
        """Where more buffers than this stayed. Circular buffers and kernels do not count, because a cache keeps programs."""
        if not self.was_tracked:
            return ["the limits can't be checked: " + "; ".join(self.inexact)]
        return [
            f"{format_size(grown)} ({grown} B) of {kind} stayed on device {device}, above the limit of {limit}"
            for device, kinds in sorted(self.growth.by_device.items())
            for kind, grown in kinds.items()
            if kind not in ("cb", "kernel") and grown > parse_size(limit)
        ]

    def require(self, *, leaks: Size | None = None, device: _memory.Device = None, **limits: Size) -> None:
        """After the block: raises TtmemMemoryError with the card if a peak is above its limit (`dram="1 GiB"`) or more than `leaks`
        stayed on a device."""
        problems = [] if leaks is None else self.left_above(leaks)
        problems += self.above_limits(device, **limits) if limits else []
        if problems:
            raise TtmemMemoryError("\n".join([*problems, self.card()]))

    def card(self) -> str:
        """What a person needs to see: the figures, what grew by name, and what failed, with the card of each of the last failures."""
        lines = [repr(self)]
        if len(self.leaked):
            lines += ["what grew, over all devices:", repr(self.leaked)]
        if len(self.failures):
            lines += ["what failed:", repr(self.failures), cards(self.failures)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        lines = [f"peak    {self.peak if self.peak is not None else 'unknown'}", f"growth  {self.growth}"]
        lines += [f"failed  {each['verdict']}: {each['name'] or 'no name'}" for each in self.failures]
        return "\n".join(lines + [f"not exact: {reason}" for reason in self.inexact])


def _start_afresh() -> None:
    """In a forked child, which has nothing yet."""
    for each in track._open:
        each._begin_at_zero()


os.register_at_fork(after_in_child=_start_afresh)


def _grown(before: Sums, now: Sums) -> list[dict[str, Any]]:
    rows = []
    for (kind, name), (used, count) in now.items():
        used_before, count_before = before.get((kind, name), (0, 0))
        if used > used_before:
            rows.append({"kind": kind, "name": name, "before": used_before, "now": used, "grown": used - used_before,
                         "count_before": count_before, "count_now": count})  # fmt: skip
    return sorted(rows, key=lambda row: (-row["grown"], str(row["name"])))


def _difference(after: dict[int, dict[str, int]], before: dict[int, dict[str, int]]) -> dict[int, dict[str, int]]:
    return {
        device: {
            kind: after.get(device, {}).get(kind, 0) - before.get(device, {}).get(kind, 0)
            for kind in {**after.get(device, {}), **before.get(device, {})}
        }
        for device in {**after, **before}
    }


class FailureWatch:
    """What on_failure() returns. `close()` ends it."""

    def __init__(self, callback: Callable[[Document], Any], timeout: float) -> None:
        self._callback, self._is_closed = callback, threading.Event()
        self._pid = _memory._own_pid()
        self._sequence: int = _memory.default_client.ask("events", last=1)["next_sequence"]
        self._last_time = max((each["time_ns"] for each in self._failures()), default=0)
        self._thread = threading.Thread(target=self._run, args=(timeout,), name="ttmem on_failure", daemon=True)
        self._thread.start()

    def _failures(self) -> Rows:
        failures: Rows = _memory.default_client.why(pid=self._pid, limit=0)["failures"]
        return failures

    def _run(self, timeout: float) -> None:
        while not self._is_closed.is_set():
            try:
                self._report()  # what failed before the stream began
                for event in _memory.default_client.follow_events(pid=self._pid, since=self._sequence, timeout=timeout):
                    if self._is_closed.is_set():
                        return
                    self._sequence = event.get("sequence", self._sequence - 1) + 1
                    if event.get("what") == "failure":
                        self._report()
            except TtmemError:
                self._is_closed.wait(1)  # the daemon restarts

    def _report(self) -> None:
        """Failures that are newer than the last one, the oldest first."""
        for failure in sorted(self._failures(), key=lambda each: int(each["time_ns"])):
            if failure["time_ns"] > self._last_time and not self._is_closed.is_set():
                self._last_time = failure["time_ns"]
                try:
                    self._callback(failure)
                except Exception:
                    import traceback

                    traceback.print_exc()  # as for any thread; the next failure is reported again

    def close(self) -> None:
        """No callback starts after this."""
        self._is_closed.set()


def on_failure(callback: Callable[[Document], Any], *, timeout: float = 30.0) -> FailureWatch:
    """Calls `callback(failure)` on a thread of its own whenever an allocation of this process fails or circular buffers clash,
    with the failure as in `why()`. Needs the daemon, and a process that is tracked."""
    try:
        return FailureWatch(callback, timeout)
    except TtmemNotRunning as error:
        raise TtmemNotRunning(f"on_failure needs the daemon: {error}") from None
