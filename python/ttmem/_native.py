# SPDX-License-Identifier: Apache-2.0
"""The client inside this process, by ctypes. Nothing here makes a segment: a runtime does that when it opens a device.

The client is in one of two places:

    libttmem.so     loaded by a runtime that reports by itself
    the observer    preloaded by 'ttmem run'; its scopes may be opened before the runtime is loaded

Scopes that find neither wait in this module. They reach libttmem.so with the first scope that is opened after the runtime has
opened a device.
"""

from __future__ import annotations

import ctypes
import os
import threading

from ._errors import TtmemNotFound, TtmemNotSupported, TtmemNotTracked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    Push = Callable[[bytes], Any]
    Pop = Callable[[], Any]

_LIBRARY = "libttmem.so.2"
_WAY_OUT = "run the program under 'ttmem run', or with TT_ALLOC_TRACKING_ENABLED=1 if its runtime reports by itself"

KIND_NUMBERS = {"dram": 0, "l1": 1, "l1_small": 3, "trace": 4, "cb": 5, "kernel": 6}
_OTHER_KERNELS = (7, 8)
ALL_DEVICES = -1
_MOST_DEVICES = 256
_HIGHEST_DEVICE = 2**31 - 1  # ctypes would cut a higher number to another device's


class Usage(ctypes.Structure):
    """ttmem_usage of ttmem.h."""

    used: int
    requested: int
    count: int
    peak: int
    peak_since_reset: int
    capacity: int
    _fields_ = [(name, ctypes.c_uint64) for name in ("used", "requested", "count", "peak", "peak_since_reset", "capacity")] + [
        ("reserved", ctypes.c_uint64 * 2)
    ]


class _ObjectInfo(ctypes.Structure):
    """The start of dl_phdr_info of libc."""

    _fields_ = [("address", ctypes.c_void_p), ("name", ctypes.c_char_p), ("headers", ctypes.c_void_p), ("count", ctypes.c_uint16),
                ("loads", ctypes.c_ulonglong)]  # fmt: skip


_loads = 0


def _note_loads_of(info: Any, _size: int, _data: Any) -> int:
    global _loads
    _loads = info[0].loads
    return 1  # the first object is enough


_note_loads = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(_ObjectInfo), ctypes.c_size_t, ctypes.c_void_p)(_note_loads_of)


# The functions of ttmem.h about the process itself: result and arguments.
_PROTOTYPES: dict[str, tuple[Any, ...]] = {
    "ttmem_is_reporting": (ctypes.c_int,),
    "ttmem_scope_push": (None, ctypes.c_char_p),
    "ttmem_scope_pop": (None,),
    "ttmem_own_usage": (ctypes.c_int, ctypes.c_int32, ctypes.c_uint32, ctypes.POINTER(Usage)),
    "ttmem_reset_peak": (ctypes.c_int, ctypes.c_int32),
    "ttmem_mark": (ctypes.c_int, ctypes.c_char_p),
    "ttmem_tag_address": (ctypes.c_int, ctypes.c_int32, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_char_p),
}


class _Thread(threading.local):
    """The scopes of this thread, the outermost first: each a name, and the function that leaves it."""

    def __init__(self) -> None:
        self.scopes: list[tuple[bytes, Pop | None]] = []


class _Found:
    """What is known of this process. A forked child starts with nothing known."""

    def __init__(self) -> None:
        self.functions: dict[str, Any] = {}  # of the client that reports
        self.push: Push | None = None  # into the client, once that reports
        self.pop: Pop | None = None
        self.process: Any = None
        self.library: ctypes.CDLL | None = None  # libttmem.so, once it is loaded
        self.loads = -1  # how many objects had been loaded when it was last searched
        self.observer: ctypes.CDLL | None = None
        self.has_looked = False  # for the observer, which is there from the start or never
        self.in_library: dict[str, Any] = {}
        self.in_observer: dict[str, Any] = {}


_thread = _Thread()
_found = _Found()


def _start_afresh() -> None:
    """The scopes of this thread stay: those that wait reach the client of the child, and the parent's client ignores the others' ends
    there."""
    global _found
    _found = _Found()


def _nothing() -> None:
    pass


os.register_at_fork(after_in_child=_start_afresh)


def _process() -> Any:
    """What this process has loaded. PyDLL: a call is shorter than giving up the interpreter's lock."""
    if _found.process is None:
        _found.process = ctypes.PyDLL(None)
    return _found.process


def _library() -> ctypes.CDLL | None:
    """libttmem.so, if a runtime has loaded it. The search takes long where it is not there, so it is repeated only after something
    was loaded."""
    if _found.library is None:
        _process().dl_iterate_phdr(_note_loads, None)
        if _loads != _found.loads:
            _found.loads = _loads
            try:
                _found.library = ctypes.PyDLL(_LIBRARY, mode=os.RTLD_LAZY | os.RTLD_NOLOAD)
            except OSError:
                return None
    return _found.library


def _observer() -> ctypes.CDLL | None:
    if not _found.has_looked:
        _found.has_looked = True
        process = _process()
        if hasattr(process, "ttmem_observer_client"):
            process.ttmem_observer_client.restype = ctypes.c_void_p
            process.ttmem_observer_client.argtypes = [ctypes.c_char_p]
            process.ttmem_observer_scope_push.argtypes = [ctypes.c_char_p]
            process.ttmem_observer_scope_push.restype = process.ttmem_observer_scope_pop.restype = None
            _found.observer = process
    return _found.observer


def _in_library(name: str) -> Any:
    if name not in _found.in_library:
        library = _library()
        function = getattr(library, name, None) if library is not None else None
        if function is None:
            return None
        function.restype, *function.argtypes = _PROTOTYPES[name]
        _found.in_library[name] = function
    return _found.in_library[name]


def _in_observer(name: str) -> Any:
    if name not in _found.in_observer:
        observer = _observer()
        address = observer.ttmem_observer_client(name.encode()) if observer is not None else None
        if not address:
            return None
        result, *arguments = _PROTOTYPES[name]
        _found.in_observer[name] = ctypes.PYFUNCTYPE(result, *arguments)(address)
    return _found.in_observer[name]


def is_reporting() -> bool:
    """Whether this process reports to ttmem: its runtime has opened a device."""
    return _reporting_place() is not None


def _reporting_place() -> Callable[[str], Any] | None:
    for place in (_in_library, _in_observer):
        asks = place("ttmem_is_reporting")
        if asks is not None and asks():
            return place
    return None


def is_observed() -> bool:
    """Whether 'ttmem run' has preloaded the observer."""
    return _observer() is not None and os.environ.get("TT_ALLOC_TRACKING_ENABLED") == "1"


def function(name: str) -> Any:
    """A function of the client that reports for this process."""
    known = _found.functions.get(name)
    if known is not None:
        return known
    place = _reporting_place()
    if place is None:
        raise TtmemNotTracked(f"process {os.getpid()} reports nothing to ttmem: no device is open, or it is not tracked; {_WAY_OUT}")
    found = place(name)
    if found is None:
        raise TtmemNotSupported(f"the client in this process has no {name}(): update the package ttmem, or the runtime that contains it")
    _found.functions[name] = found
    return found


def _find_scopes() -> bool:
    """Whether a client reports, so that scopes can go there for good."""
    place = _reporting_place()
    if place is _in_library:
        _found.pop, _found.push = _in_library("ttmem_scope_pop"), _in_library("ttmem_scope_push")
    elif place is not None and _found.observer is not None:
        _found.pop, _found.push = _found.observer.ttmem_observer_scope_pop, _found.observer.ttmem_observer_scope_push
    return place is not None


def enter_scope(name: bytes) -> None:
    scopes = _thread.scopes
    if _found.push is None and os.environ.get("TT_ALLOC_TRACKING_ENABLED") != "1":
        scopes.append((name, _nothing))  # no client will ever report
        return
    if _found.push is None and not _find_scopes():
        observer = _observer()
        if observer is None:
            scopes.append((name, None))
        else:
            observer.ttmem_observer_scope_push(name)
            scopes.append((name, observer.ttmem_observer_scope_pop))
        return
    push, pop = _found.push, _found.pop
    assert push is not None
    if scopes and scopes[-1][1] is None:
        for at, (waiting, leave) in enumerate(scopes):
            if leave is None:
                push(waiting)
                scopes[at] = (waiting, pop)
    push(name)
    scopes.append((name, pop))


def leave_scope() -> None:
    scopes = _thread.scopes
    if scopes:
        leave = scopes.pop()[1]
        if leave is not None:
            leave()


def own_usage(device: int, kind: str) -> Usage:
    """What this process has on the device that it calls `device`."""
    usage = Usage()
    asks = _found.functions.get("ttmem_own_usage") or function("ttmem_own_usage")
    if abs(device) > _HIGHEST_DEVICE:
        raise TtmemNotFound(f"this process has no device {device}: open it first")
    if asks(device, KIND_NUMBERS[kind], usage):
        return usage if kind != "kernel" else _all_kernels(asks, device, usage)
    if kind == "dram" or not asks(device, KIND_NUMBERS["dram"], Usage()):
        raise TtmemNotFound(f"this process has no device {device}: open it first")
    return usage


def _all_kernels(asks: Any, device: int, application: Usage) -> Usage:
    """The client has three kinds of kernels, with one peak."""
    for number in _OTHER_KERNELS:
        other = Usage()
        asks(device, number, other)
        application.used += other.used
        application.requested += other.requested
        application.count += other.count
    return application


def own_devices() -> list[int]:
    """The devices that this process has opened, by its own numbers."""
    asks, usage = function("ttmem_own_usage"), Usage()
    return [device for device in range(_MOST_DEVICES) if asks(device, KIND_NUMBERS["dram"], usage)]


def reset_peak(device: int = ALL_DEVICES) -> None:
    if not ALL_DEVICES <= device <= _HIGHEST_DEVICE or not function("ttmem_reset_peak")(device):
        raise TtmemNotFound(f"this process has no device {device}: open it first")


def mark(name: bytes) -> bool:
    return bool(function("ttmem_mark")(name))


def tag(device: int, kind: str, address: int, name: bytes) -> bool:
    if not 0 <= device <= _HIGHEST_DEVICE or not 0 <= address < 2**64:
        return False
    return bool(function("ttmem_tag_address")(device, KIND_NUMBERS[kind], address, name))
