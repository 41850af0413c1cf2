// SPDX-License-Identifier: Apache-2.0
#include "sources/stock_region/region.hpp"

#include <cstring>
#include <string_view>

#include "base/text.hpp"
#include "sources/stock_region/layout.hpp"

namespace ttmem::sources::stock_region {

using base::Error;

namespace {

std::optional<uint64_t> plausible(uint64_t bytes) {
    return bytes <= kMostPlausibleBytes ? std::optional(bytes) : std::nullopt;
}

RegionSlot slot_of(const layout::SlotLayout& raw) {
    RegionSlot slot;
    slot.pid = static_cast<uint32_t>(raw.pid);
    slot.requested[census::index_of(census::Kind::dram)] = plausible(raw.figures.dram);
    slot.requested[census::index_of(census::Kind::l1)] = plausible(raw.figures.l1);
    slot.requested[census::index_of(census::Kind::l1_small)] = plausible(raw.figures.l1_small);
    slot.requested[census::index_of(census::Kind::trace)] = plausible(raw.figures.trace);
    slot.last_update_ns = raw.last_update_ns;
    slot.name = base::printable(std::string_view(raw.name, strnlen(raw.name, sizeof raw.name)));
    return slot;
}

base::Expected<void> check_state(const layout::RegionLayout& raw) {
    if (raw.version == 0 || (raw.version == layout::kVersion4 && raw.init_state != layout::kReady)) {
        return base::error(Error::Code::unfinished, "is being set up");
    }
    if (raw.version != layout::kVersion3 && raw.version != layout::kVersion4) {
        return base::error(Error::Code::refused,
                           "has version " + std::to_string(raw.version) + ", and only 3 and 4 are known");
    }
    return {};
}

}  // namespace

base::Expected<void> check_size(uint64_t size) {
    if (size == 0) {
        return base::error(Error::Code::unfinished, "is being set up");
    }
    if (size != layout::kRegionBytes) {
        return base::error(Error::Code::refused, "has " + std::to_string(size) + " bytes, and a region has " +
                                                     std::to_string(layout::kRegionBytes));
    }
    return {};
}

base::Expected<StockRegion> parse(RegionBytes bytes) {
    if (auto size = check_size(bytes.size()); !size) {
        return tl::unexpected(std::move(size.error()));
    }
    layout::RegionLayout raw;
    std::memcpy(&raw, bytes.data(), sizeof raw);
    if (auto state = check_state(raw); !state) {
        return tl::unexpected(std::move(state.error()));
    }
    StockRegion region;
    region.version = raw.version;
    region.asic_id = raw.asic_id;
    region.logical_id = raw.logical_id;
    for (const layout::SlotLayout& one : raw.slots) {
        if (one.pid <= 0) {  // free, or being released and only partly cleared
            continue;
        }
        region.slots.push_back(slot_of(one));
        for (const auto& figure : region.slots.back().requested) {
            region.implausible += figure ? 0u : 1u;
        }
    }
    return region;
}

}  // namespace ttmem::sources::stock_region
