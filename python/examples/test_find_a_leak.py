# SPDX-License-Identifier: Apache-2.0
"""A leak that a marker finds: ttmem run -- pytest -p ttmem.pytest_plugin test_find_a_leak.py

The second test fails, and its report names the layer that keeps a buffer."""

from __future__ import annotations

from typing import Iterator

import pytest
import ttmem
from simulated_runtime import Buffer, Device


class Decoder:
    def __init__(self, forgetful: bool) -> None:
        self.forgetful = forgetful
        self.masks: list[Buffer] = []

    def forward(self, device: Device) -> None:
        for layer in range(4):
            with ttmem.scope(f"decoder.{layer}"):
                hidden = device.allocate(1 << 20)
                with ttmem.scope("attention_mask"):
                    mask = device.allocate(1 << 18)
                if self.forgetful and layer == 2:
                    self.masks.append(mask)
                else:
                    mask.free()
                hidden.free()


@pytest.fixture
def device() -> Iterator[Device]:
    with Device() as opened:
        yield opened


@pytest.mark.limit_device_leaks()
def test_a_careful_decoder_leaves_nothing(device: Device) -> None:
    Decoder(forgetful=False).forward(device)


@pytest.mark.limit_device_leaks()
def test_a_forgetful_decoder_is_caught(device: Device) -> None:
    Decoder(forgetful=True).forward(device)
