// SPDX-License-Identifier: Apache-2.0
#include "census/cores.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>

#include "census/arithmetic.hpp"
#include "census/device_facts.hpp"
#include "census/selection.hpp"
#include "census/worst_core.hpp"

namespace ttmem::census {

namespace {

constexpr uint32_t kMostAcross = 16;  // the width of a core mask

// The highest end of a circular buffer on each core.
struct CoreTops {
    std::array<std::array<uint64_t, kMostAcross>, kMostAcross> cb_top{};  // by row; 0: none
    std::optional<uint64_t> lowest_buffer;
    uint64_t l1_used = 0;
    uint64_t without_cores = 0;
    Bank l1;
    Core size;

    void add_info(const ttmem_device_info& info) {
        if (const Bank bank = bank_of(info, Kind::l1); bank.is_known() && !l1.is_known()) {
            l1 = bank;
        }
        size = {std::max<uint32_t>(size.x, std::min<uint32_t>(info.grid_x, kMostAcross)),
                std::max<uint32_t>(size.y, std::min<uint32_t>(info.grid_y, kMostAcross))};
    }

    void add_buffer(const segment::Allocation& a) {
        lowest_buffer = std::min(lowest_buffer.value_or(a.address), a.address);
        l1_used = saturating_add(l1_used, a.used());
    }

    void add_circular_buffers(uint64_t top, const segment::CoreMask& mask) {
        for (uint32_t y = 0; y < kMostAcross; ++y) {
            for (uint32_t x = 0; x < kMostAcross; ++x) {
                if ((mask[y] >> x & 1) != 0) {
                    cb_top[y][x] = std::max(cb_top[y][x], top);
                }
            }
        }
    }
};

// Adds the descriptions of the device by all processes.
void add_infos(const Selection& selection, CoreTops& found) {
    for (const SelectedLedger& ledger : selection.ledgers()) {
        const auto& devices = selection.reports()[ledger.report].devices;
        for (size_t entry = 0; entry < devices.size(); ++entry) {
            if (devices[entry] && selection.table().position(ledger.report, entry) == *selection.device()) {
                found.add_info(*devices[entry]);
            }
        }
    }
}

CoreFigures describe(const CoreTops& found, Core core) {
    const uint64_t top = found.cb_top[core.y][core.x];
    L1Reach reach;
    reach.lowest_buffer = found.lowest_buffer;
    if (top != 0) {
        reach.add_circular_buffer(top, core);
    }
    const WorstCore figures = worst_core(reach, found.l1, found.l1_used);
    return {core, figures.cb_top, figures.used, figures.headroom};
}

}  // namespace

base::Expected<CoreGrid> map_cores(const Census& census, const std::string& device) {
    const auto selection = Selection::of(census, {.device = device});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    CoreTops found;
    assert(selection->device());
    add_infos(*selection, found);
    for (const SelectedLedger& ledger : selection->ledgers()) {
        // By core set: there are few core sets and many circular buffers.
        std::map<uint16_t, uint64_t> tops;
        selection->for_each_match(ledger, [&](segment::SlotRef, const segment::Allocation& a, Kind kind) {
            if (!segment::adds_bytes(a.flags)) {
                return;
            }
            if (kind == Kind::l1) {
                found.add_buffer(a);
            } else if (kind == Kind::cb) {
                // The request of a circular buffer is its size on one core.
                uint64_t& top = tops[a.core_set];
                top = std::max(top, saturating_add(a.address, a.requested));
                found.without_cores += a.core_set == 0 ? 1 : 0;
            }
        });
        for (const auto& [core_set, top] : tops) {
            if (const auto mask = ledger.reader().cores(core_set)) {
                found.add_circular_buffers(top, *mask);
            }
        }
    }
    CoreGrid grid;
    if (found.size.x != 0 && found.size.y != 0) {
        grid.size = found.size;
    }
    grid.capacity = found.l1.is_known() ? std::optional(found.l1.size) : std::nullopt;
    grid.lowest_buffer = found.lowest_buffer;
    grid.without_cores = found.without_cores;
    for (uint32_t y = 0; y < kMostAcross; ++y) {
        for (uint32_t x = 0; x < kMostAcross; ++x) {
            const bool is_in_grid = grid.size && x < grid.size->x && y < grid.size->y;
            if (is_in_grid || found.cb_top[y][x] != 0) {
                grid.cores.push_back(describe(found, {x, y}));
            }
        }
    }
    assert(!grid.size || grid.cores.size() >= size_t{grid.size->x} * grid.size->y);
    return grid;
}

}  // namespace ttmem::census
