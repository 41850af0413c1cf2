# SPDX-License-Identifier: Apache-2.0
"""The C API of libttmem, as far as the tests need it. Importing it does not start tracking; the first call does."""

import ctypes
import os

from harness.programs import LIB

DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE, CB, KERNEL_APPLICATION, KERNEL_FABRIC, KERNEL_DISPATCH = range(9)
PLANNED, VIEW = 0x100, 0x200

u16, u32, u64 = ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64


class MemoryInfo(ctypes.Structure):
    _fields_ = [("base", u64), ("size_per_bank", u64), ("capacity", u64), ("banks", u32), ("alignment", u32),
                ("direction", u32), ("reserved", u32)]


class DeviceInfo(ctypes.Structure):
    _fields_ = [("asic_id", u64), ("logical_id", u32), ("arch", u32), ("grid_x", u16), ("grid_y", u16),
                ("reserved", u32), ("board", ctypes.c_char * 16), ("memory", MemoryInfo * 5)]


class Cores(ctypes.Structure):
    _fields_ = [("row", u16 * 16)]


class OutOfMemory(ctypes.Structure):
    _fields_ = [("set", u32), ("kind", u32), ("requested", u64), ("needed_per_bank", u64), ("free_per_bank", u64),
                ("largest_free_per_bank", u64)]


library = ctypes.CDLL(os.path.join(LIB, "libttmem.so"))
for name, result, arguments in [
        ("ttmem_register_device", u32, [ctypes.POINTER(DeviceInfo)]),
        ("ttmem_open_set", u32, [ctypes.POINTER(u32), u32, ctypes.c_char_p]),
        ("ttmem_close_set", None, [u32]),
        ("ttmem_allocate", u64, [u32, u32, u64, u64, u64, u64]),
        ("ttmem_free", None, [u64]),
        ("ttmem_scope_push", None, [ctypes.c_char_p]),
        ("ttmem_scope_pop", None, []),
        ("ttmem_mark", ctypes.c_int, [ctypes.c_char_p]),
        ("ttmem_allocate_cb", u64, [u32, u64, u64, u64, ctypes.POINTER(Cores), u32]),
        ("ttmem_load_kernel", u64, [u32, u64, u32, u64]),
        ("ttmem_allocation_failed", None, [ctypes.POINTER(OutOfMemory)]),
        ("ttmem_report_allocation", None, [ctypes.c_int32, u64, ctypes.c_uint8, u64]),
]:
    function = getattr(library, name)
    function.restype, function.argtypes = result, arguments


def device(asic_id: int, logical_id: int = 0) -> int:
    """A wormhole chip of an n300."""
    info = DeviceInfo(asic_id=asic_id, logical_id=logical_id, arch=2, grid_x=8, grid_y=7, board=b"n300")
    info.memory[DRAM] = MemoryInfo(base=1048640, size_per_bank=1072693184, capacity=12872318208, banks=12, alignment=32)
    info.memory[L1] = MemoryInfo(base=105664, size_per_bank=1393472, capacity=78034432, banks=56, alignment=16,
                                 direction=1)
    return library.ttmem_register_device(info)


def open_set(devices: list[int], label: str = "set") -> int:
    return library.ttmem_open_set((u32 * len(devices))(*devices), len(devices), label.encode())


def allocate(set_: int, kind: int, address: int, requested: int, reserved: int, owner: int = 0) -> int:
    return library.ttmem_allocate(set_, kind, address, requested, reserved, owner)


def free(handle: int) -> None:
    library.ttmem_free(handle)


def scope(name: str) -> None:
    library.ttmem_scope_push(name.encode("utf-8", "surrogateescape"))


def mark(name: str) -> int:
    return library.ttmem_mark(name.encode())


def allocate_cb(set_: int, program: int, address: int, size: int, rows: list[int]) -> int:
    cores = Cores()
    cores.row[:len(rows)] = rows
    return library.ttmem_allocate_cb(set_, program, address, size, cores, 0)


def load_kernel(set_: int, program: int, kind: int, size: int) -> int:
    return library.ttmem_load_kernel(set_, program, kind, size)


def allocation_failed(set_: int, kind: int, requested: int, needed: int, free_bytes: int, largest: int) -> None:
    """`needed` and what follows are bytes of one bank."""
    library.ttmem_allocation_failed(OutOfMemory(set_, kind, requested, needed, free_bytes, largest))


def report_allocation(device_id: int, size: int, buffer_type: int, address: int) -> None:
    library.ttmem_report_allocation(device_id, size, buffer_type, address)


def own_segment() -> int:
    """The descriptor of this process's segment."""
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}") == "/memfd:ttmem (deleted)":
                return int(name)
        except FileNotFoundError:
            pass
    raise AssertionError("this process has no segment")
