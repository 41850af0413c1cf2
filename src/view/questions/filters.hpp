// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parameters that several queries have in common.

namespace ttmem::view {

constexpr const char* kDeviceMeaning =
    "only this device: its id, `/dev/tenstorrent/N`, its address on the PCI bus, or its ASIC id (`0x...`)";

void allocation_filters(auto& io, auto& query) {
    io("device", query.device, kDeviceMeaning);
    io("pid", query.pid, "only this process");
    io("kind", query.kind, "only this kind of memory");
    io("name", query.name, "only names that contain this text (case-sensitive)");
    io("since", query.since, "only what is newer than this time of the host's monotonic clock, in ns");
}

}  // namespace ttmem::view
