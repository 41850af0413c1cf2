# SPDX-License-Identifier: Apache-2.0
"""Bytes per device and kind, in one form for views and for the truth of allocators."""

KINDS = ("dram", "l1", "l1_small", "trace", "cb", "kernel")


def figures_of(devices: list[dict], key: str = "asic_id") -> dict:
    """{device: {kind: (used, requested)}}, without zeros."""
    result = {}
    for device in devices:
        memory = {kind: (device["memory"][kind]["used"], device["memory"][kind]["requested"]) for kind in KINDS
                  if kind in device["memory"]}
        memory = {kind: figures for kind, figures in memory.items() if figures != (0, 0)}
        if memory:
            result[device[key]] = memory
    return result


def figures_by_process(view: dict) -> dict:
    """{pid: figures}, with devices by ASIC id."""
    asic_ids = {device["id"]: device["asic_id"] for device in view["devices"]}
    return {process["pid"]: {asic_ids[number]: memory
                             for number, memory in figures_of(process["devices"], "id").items()}
            for process in view["processes"]}


def sum_of(all_figures) -> dict:
    total: dict = {}
    for figures in all_figures:
        for device, memory in figures.items():
            for kind, (used, requested) in memory.items():
                before = total.setdefault(device, {}).get(kind, (0, 0))
                total[device][kind] = (before[0] + used, before[1] + requested)
    return total
