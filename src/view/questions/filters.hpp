// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parameters that several queries have in common.

namespace ttmem::view {

constexpr const char* kDeviceMeaning =
    "only this device: its id, `/dev/tenstorrent/N`, its address on the PCI bus, or its ASIC id (`0x...`)";
constexpr const char* kDevicesMeaning =
    "only these devices, separated by commas: id or range of ids (`0-3`), `/dev/tenstorrent/N`, address on "
    "the "
    "PCI bus, or ASIC id (`0x...`)";
constexpr const char* kKindsMeaning = "only these kinds of memory";
constexpr const char* kNameMeaning =
    "only names that contain this text; with `*` or `?` a glob of the whole name; between slashes a regular "
    "expression";

void allocation_filters(auto& io, auto& query) {
    io("device", query.device, kDevicesMeaning);
    io("pid", query.pid, "only this process");
    io("kind", query.kind, kKindsMeaning);
    io("name", query.name, kNameMeaning);
    io("since", query.since, "only what is newer than this time of the host's monotonic clock, in ns");
}

}  // namespace ttmem::view
