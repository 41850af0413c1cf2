# SPDX-License-Identifier: Apache-2.0
"""The highest bytes that this process has held since a moment. The client has one peak per device and kind that can start again, and both
reset_peak_memory_stats() and the blocks of track() do that: each reset first notes the client's peaks for all the others."""

from __future__ import annotations

import os
import threading

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    Bytes = dict[int, dict[str, int]]  # by device and kind


def _now() -> Bytes:
    """The client's, since its last reset. Nothing before the first device."""
    if not _native.is_reporting():
        return {}
    kinds = _native.KIND_NUMBERS
    return {device: {kind: _native.own_usage(device, kind).peak_since_reset for kind in kinds} for device in _native.own_devices()}


def _highest(first: Bytes, second: Bytes) -> Bytes:
    return {
        device: {
            kind: max(first.get(device, {}).get(kind, 0), second.get(device, {}).get(kind, 0))
            for kind in {**first.get(device, {}), **second.get(device, {})}
        }
        for device in {**first, **second}
    }


class Peak:
    """The peaks since a moment."""

    def __init__(self) -> None:
        self.earlier: Bytes = {}  # until the client's last reset

    def note(self, peaks: Bytes) -> None:
        self.earlier = _highest(self.earlier, peaks)

    def usage(self, device: int, kind: str) -> _native.Usage:
        """As the client has it, with this peak. The client is asked first: if it is reset meanwhile, its peak is noted by then."""
        usage = _native.own_usage(device, kind)
        usage.peak_since_reset = max(usage.peak_since_reset, self.earlier.get(device, {}).get(kind, 0))
        return usage

    def all(self) -> Bytes:
        return _highest(_now(), self.earlier)


of_process = Peak()  # since the start, or since reset_peak_memory_stats()
_open: list[Peak] = []  # those of blocks
_lock = threading.Lock()  # a block begins for all others at once


def begin(block: Peak) -> None:
    with _lock:
        try:
            peaks = _now()
            for each in (of_process, *_open):
                each.note(peaks)
            if peaks:
                _native.reset_peak()
        finally:
            _open.append(block)


def end(block: Peak) -> Bytes:
    with _lock:
        _open.remove(block)
        return block.all()


def reset(device: int) -> None:
    """Of the process, on this device or on all."""
    with _lock:
        peaks = _now()
        for each in _open:
            each.note(peaks)
        _native.reset_peak(device)
        of_process.earlier = {number: kinds for number, kinds in of_process.earlier.items() if device not in (number, _native.ALL_DEVICES)}


def _start_afresh() -> None:
    """In a forked child, which has held nothing yet. Another thread of the parent may have held the lock."""
    global _lock
    _lock = threading.Lock()
    for each in (of_process, *_open):
        each.earlier = {}


os.register_at_fork(after_in_child=_start_afresh)
