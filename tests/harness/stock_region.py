# SPDX-License-Identifier: Apache-2.0
"""The shared memory region that stock tt-metal writes for each chip, with the faults of its writer."""

import os
import struct
import time

SIZE, CHIPS, SLOTS = 8576, 16, 64
FIRST_CHIP, CHIP_SIZE, FIRST_SLOT, SLOT_SIZE, INIT_STATE = 88, 48, 856, 120, 8536
READY = 0x52454459
BEING_RELEASED = -1


class StockRegion:
    def __init__(self, folder: str, asic_id: int, version: int = 3):
        self.path = os.path.join(folder, f"tt_device_{asic_id}_memory")
        self.data = bytearray(SIZE)
        struct.pack_into("<I", self.data, 0, version)
        struct.pack_into("<Q", self.data, 32, asic_id)
        for chip in range(CHIPS):
            struct.pack_into("<I", self.data, FIRST_CHIP + chip * CHIP_SIZE, 0xFFFFFFFF)
        if version == 4:
            struct.pack_into("<I", self.data, INIT_STATE, READY)
        self.used = 0
        self.write()

    def put(self, pid: int, dram: int = 0, l1: int = 0, l1_small: int = 0, trace: int = 0, cb: int = 0,
            updated_ns: int | None = None, slot: int | None = None):
        """Fills the next slot, and updates the header as the writer does."""
        slot = self.used if slot is None else slot
        self.used = max(self.used, slot + 1)
        updated_ns = time.time_ns() if updated_ns is None else updated_ns
        struct.pack_into("<iI6Q64s", self.data, FIRST_SLOT + slot * SLOT_SIZE, pid, 0, dram, l1, l1_small, trace, cb,
                         updated_ns, b"python3")
        struct.pack_into("<IQI", self.data, 4, self.used, updated_ns, self.used)
        self.write()

    def claim_totals(self, *totals: int):
        """Sets dram, l1, l1_small, trace and cb in the header and the first chip. The writer never corrects them after a crash."""
        struct.pack_into("<5Q", self.data, 48, *totals)
        struct.pack_into("<II5Q", self.data, FIRST_CHIP, 0, 0, *totals)
        self.write()

    def write(self):
        with open(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600), "r+b") as file:
            file.write(self.data)
