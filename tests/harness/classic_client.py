# SPDX-License-Identifier: Apache-2.0
"""A client of the classic wire, as the earlier allocation server had it; written from docs/CLASSIC_WIRE.md."""

import os
import random
import socket
import struct

from harness.waiting import TIMEOUT

(ALLOC, FREE, QUERY, RESPONSE, DUMP_REMAINING, DEVICE_INFO_QUERY, DEVICE_INFO_RESPONSE, CB_ALLOC, CB_FREE, KERNEL_LOAD,
 KERNEL_UNLOAD, DUMP_KERNELS) = range(1, 13)
GENERATIONS = (72, 112, 144)

START = struct.Struct("<B3xiQB3xiQQ4Q")
INFO = struct.Struct("<2Q6I")
AMOUNTS = ("dram", "l1", "l1_small", "trace")
INFO_NAMES = ("total_dram", "total_l1", "arch", "dram_channels", "dram_per_channel", "l1_per_core", "is_available", "devices")
assert START.size == 72 and INFO.size == 40


def message(type_: int, device: int = 0, size: int = 0, buffer: int = 0, kind: int = 0, *, generation: int = 144,
            pid: int | None = None, garbage: random.Random | None = None) -> bytes:
    start = START.pack(type_, device, size, kind, os.getpid() if pid is None else pid, buffer, 1, 0, 0, 0, 0)
    rest = generation - len(start)
    return start + (garbage.randbytes(rest) if garbage else bytes(rest))


def read_answer(answer: bytes) -> dict:
    start = START.unpack_from(answer)
    result = {"type": start[0], "device": start[1]} | dict(zip(AMOUNTS, start[7:]))
    if len(answer) == 144:
        result["cb"], result["kernel"] = struct.unpack_from("<2Q", answer, 72)
    if len(answer) > 72:
        result |= dict(zip(INFO_NAMES, INFO.unpack_from(answer, 88 if len(answer) == 144 else 72)))
    return result


class Wire:
    def __init__(self, path: str, generation: int = 144):
        self.generation = generation
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)  # without a time limit: connect() fails at once on a full queue if there is one
        self.socket.settimeout(TIMEOUT)

    def message(self, *arguments, **options) -> bytes:
        return message(*arguments, **({"generation": self.generation} | options))

    def send(self, *arguments, **options):
        self.socket.sendall(self.message(*arguments, **options))

    def receive(self) -> dict:
        answer = b""
        while len(answer) < self.generation:
            part = self.socket.recv(self.generation - len(answer))
            if not part:
                raise AssertionError(f"the server hung up after {len(answer)} bytes")
            answer += part
        return read_answer(answer)

    def ask(self, type_: int = QUERY, device: int = 0) -> dict:
        self.send(type_, device)
        return self.receive()

    def close(self):
        self.socket.close()
