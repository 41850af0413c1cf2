# SPDX-License-Identifier: Apache-2.0
"""A small binding of ttmem's simulated runtime: devices without an accelerator, for tests and examples of the Python package.

    from simulated_runtime import Device

    with Device() as device:
        weights = device.allocate(1 << 20)
        weights.free()

The board is that of TTMEM_SIM_BOARD (default n150). The runtime reports by itself if TT_ALLOC_TRACKING_ENABLED=1; with
TTMEM_SIM_REPORTING=0 the observer of 'ttmem run' does it instead.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from types import TracebackType
from typing import Iterator, Sequence

DRAM, L1, L1_SMALL, TRACE = 0, 1, 3, 4
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class OutOfMemory(RuntimeError):
    """What the runtime throws when it refuses a request."""


def _load() -> ctypes.CDLL:
    folder = os.environ.get("TTMEM_SIM_LIB_DIR") or os.path.join(_ROOT, "build", "lib")
    # As ttnn is loaded: its symbols are not those of the whole process.
    library = ctypes.CDLL(os.path.join(folder, "libttmem_sim_scenarios.so"), mode=os.RTLD_LOCAL | os.RTLD_NOW)
    pointer, u32, u64 = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64
    for name, result, arguments in [
        ("error", ctypes.c_char_p, []),
        ("open", pointer, [u32, u32, u64, u64]),
        ("close", ctypes.c_int, [pointer]),
        ("allocate", pointer, [pointer, u32, u64]),
        ("address", u64, [pointer]),
        ("free", None, [pointer]),
        ("program", ctypes.c_int, [pointer, ctypes.c_char_p, u32, u32, ctypes.POINTER(u32), u32]),
        ("enter_op", None, [ctypes.c_char_p]),
        ("leave_op", None, []),
        ("memory_view", ctypes.c_int, [pointer, u32, ctypes.POINTER(u64)]),
        ("block_table", ctypes.c_int, [pointer, u32, ctypes.POINTER(u64), u32]),
    ]:
        function = getattr(library, f"ttmem_sim_{name}")
        function.restype, function.argtypes = result, arguments
    return library


_library: ctypes.CDLL | None = None


def library() -> ctypes.CDLL:
    """Loaded with the first device."""
    global _library
    if _library is None:
        _library = _load()
    return _library


class Buffer:
    """Memory on a device, until free()."""

    def __init__(self, handle: int) -> None:
        self._handle: int | None = handle

    @property
    def address(self) -> int:
        return int(library().ttmem_sim_address(self._handle))

    def free(self) -> None:
        if self._handle is not None:
            library().ttmem_sim_free(self._handle)
            self._handle = None


class Device:
    """The chips first .. first + count - 1 as one mesh, with regions of these sizes for L1_SMALL and traces."""

    def __init__(self, first: int = 0, count: int = 1, *, l1_small_size: int = 0, trace_region_size: int = 0) -> None:
        self._first = first
        self._handle: int | None = library().ttmem_sim_open(first, count, l1_small_size, trace_region_size)
        if self._handle is None:
            raise RuntimeError(library().ttmem_sim_error().decode())

    def id(self) -> int:
        return self._first

    def allocate(self, size: int, buffer_type: int = DRAM) -> Buffer:
        """This many bytes on each chip."""
        handle = library().ttmem_sim_allocate(self._handle, buffer_type, size)
        if handle is None:
            raise OutOfMemory(library().ttmem_sim_error().decode())
        return Buffer(handle)

    def run(self, name: str, circular_buffers: Sequence[int], cores: tuple[int, int] = (1, 1)) -> None:
        """A program with these circular buffers, in bytes on each of the cores."""
        sizes = (ctypes.c_uint32 * len(circular_buffers))(*circular_buffers)
        if library().ttmem_sim_program(self._handle, name.encode(), *cores, sizes, len(sizes)) != 0:
            raise OutOfMemory(library().ttmem_sim_error().decode())

    def memory_view(self, buffer_type: int = DRAM) -> tuple[int, int, int, int, int]:
        """Banks, and bytes in a bank: all, allocated, free, largest free block."""
        view = (ctypes.c_uint64 * 5)()
        if library().ttmem_sim_memory_view(self._handle, buffer_type, view) != 0:
            raise RuntimeError(library().ttmem_sim_error().decode())
        return view[0], view[1], view[2], view[3], view[4]

    def block_table(self, buffer_type: int = DRAM) -> list[tuple[int, int, bool]]:
        """The blocks of a bank by address: address, bytes, and whether the block is allocated."""
        room = 1 << 16
        numbers = (ctypes.c_uint64 * (3 * room))()
        count = library().ttmem_sim_block_table(self._handle, buffer_type, numbers, room)
        if not 0 <= count <= room:
            raise RuntimeError(library().ttmem_sim_error().decode() if count < 0 else f"{count} blocks are too many")
        return [(numbers[3 * at], numbers[3 * at + 1], numbers[3 * at + 2] != 0) for at in range(count)]

    def close(self) -> None:
        if self._handle is not None:
            library().ttmem_sim_close(self._handle)
            self._handle = None

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


@contextlib.contextmanager
def op(name: str) -> Iterator[None]:
    """The name of an op, as ttnn reports it."""
    library().ttmem_sim_enter_op(name.encode())
    try:
        yield
    finally:
        library().ttmem_sim_leave_op()
