# SPDX-License-Identifier: Apache-2.0
"""Segments that no client makes: valid in form, and as expensive for a reader as the format allows.

Runs inside attackers too (pass its source with `source()`), so it uses the standard library alone.
"""

import fcntl
import os
import struct

MAGIC_AT, HEADER_BYTES, REGIONS_AT = 0, 760, 120
DEVICES, SETS, CORE_SETS, POOLS, TALLIES, NAMES, FAILURES, WRITERS, RINGS, LEDGER = range(10)
MARKS = {DEVICES: 376, SETS: 384, CORE_SETS: 392, NAMES: 400, WRITERS: 408, LEDGER: 416}
STRIDES = {DEVICES: 256, SETS: 128, CORE_SETS: 64, POOLS: 64, NAMES: 128, FAILURES: 192, WRITERS: 64, LEDGER: 64}
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | 0x10 | fcntl.F_SEAL_SEAL


class LargeSegment:
    """A sparse memfd. `counts` gives the entries of each region; all counted as used."""

    def __init__(self, template: bytes, counts: dict[int, int], ring_records: int = 16):
        counts = {DEVICES: 1, SETS: 1, CORE_SETS: 1, NAMES: 2, FAILURES: 192, WRITERS: 1, LEDGER: 64} | counts
        counts |= {POOLS: counts[SETS] * 16, TALLIES: counts[WRITERS], RINGS: counts[WRITERS]}
        strides = STRIDES | {TALLIES: counts[SETS] * 16 * 32, RINGS: ring_records * 32}
        self.file = os.memfd_create("ttmem", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        self.region, offset = {}, 4096
        for region in range(10):
            self.region[region] = (offset, strides[region])
            offset = (offset + strides[region] * counts[region] + 4095) // 4096 * 4096
        header = bytearray(template[:HEADER_BYTES])
        header[REGIONS_AT:] = bytes(HEADER_BYTES - REGIONS_AT)
        struct.pack_into("<Q", header, 16, offset)
        for region, (at, stride) in self.region.items():
            struct.pack_into("<QII", header, REGIONS_AT + 16 * region, at, stride, counts[region])
        for region, at in MARKS.items():
            struct.pack_into("<Q", header, at, counts[region])
        os.ftruncate(self.file, offset)
        os.pwrite(self.file, header, 0)

    def put(self, region: int, entry: int, data: bytes, at: int = 0):
        offset, stride = self.region[region]
        os.pwrite(self.file, data, offset + entry * stride + at)

    def put_slot(self, region: int, entry: int, payload: bytes):
        """An entry with a generation word in front: live."""
        self.put(region, entry, struct.pack("<Q", 1) + payload)

    def put_set(self, index: int, members: int):
        self.put_slot(SETS, index, struct.pack("<Q", members))

    def put_device(self, index: int, asic_id: int):
        self.put_slot(DEVICES, index, struct.pack("<QII", asic_id, index, 2))

    def seal(self) -> int:
        fcntl.fcntl(self.file, fcntl.F_ADD_SEALS, SEALS)
        return self.file


def source() -> str:
    with open(__file__, encoding="utf-8") as file:
        return file.read()


ANNOUNCE = """
def announce(path, file):
    import array
    for _ in range(100):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            connection.connect(path)
            connection.sendmsg([b"\\x01"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))])
            connection.recv(1)  # until the daemon has read it
            return
        except OSError:
            pass  # closed before it was read

def own_slot():
    # the 64 bytes of an allocation of this process
    real = own_segment()
    offset, = struct.unpack("<Q", os.pread(real, 8, REGIONS_AT + 16 * LEDGER))
    slots = (os.pread(real, 64, offset + 64 * index) for index in range(64))
    return bytearray(next(slot for slot in slots if slot[0] & 1))

def own_template():
    allocate(open_set([device(0xbad)]), DRAM, 1048640, 1000, 4096)
    real = own_segment()
    return os.pread(real, 760, 0)
"""
