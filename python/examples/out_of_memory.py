# SPDX-License-Identifier: Apache-2.0
"""An out-of-memory card in a handler: ttmem run -- python3 out_of_memory.py"""

from __future__ import annotations

import os

import ttmem
from simulated_runtime import Buffer, Device, OutOfMemory


def fill(device: Device) -> None:
    kept: list[Buffer] = []
    for layer in range(1000):
        with ttmem.scope(f"decoder.{layer % 4}"), ttmem.scope("kv_cache"):
            kept.append(device.allocate(1 << 30))


def main() -> None:
    with Device() as device:
        try:
            fill(device)
        except OutOfMemory:
            failure = ttmem.why(pid=os.getpid(), limit=1).failures[0]
            print(f"{failure.verdict}: {ttmem.format_size(failure.requested)} for {failure.name}")
            print(ttmem.card(failure))


if __name__ == "__main__":
    main()
