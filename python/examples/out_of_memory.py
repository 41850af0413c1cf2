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
            card = ttmem.why(pid=os.getpid(), limit=1)
            failure = card.failures[0]
            print(f"{failure.verdict}: {ttmem.format_size(failure.requested)} for {failure.name}")
            print(f"short by {ttmem.format_size(failure.missing)} in each bank; what holds {failure.kind}:")
            for group in card.holders[0].by_name:
                print(f"  {ttmem.format_size(group.memory[failure.kind].used):>10}  {group.key}")


if __name__ == "__main__":
    main()
