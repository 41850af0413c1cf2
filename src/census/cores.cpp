// SPDX-License-Identifier: Apache-2.0
#include "census/cores.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>

#include "census/arithmetic.hpp"
#include "census/circular_buffers.hpp"
#include "census/device_facts.hpp"
#include "census/programs.hpp"
#include "census/selection.hpp"
#include "census/worst_core.hpp"

namespace ttmem::census {

namespace {

constexpr uint32_t kMostAcross = 16;  // the width of a core mask

// The highest circular buffer of a core or of a core set.
struct HighestBuffer {
    uint64_t top = 0;  // its end address; 0: none
    const SelectedLedger* ledger = nullptr;
    uint64_t program = kNoProgram;
    uint32_t name = 0;

    void add(const HighestBuffer& other) {
        if (other.top > top) {
            *this = other;
        }
    }
};

// The highest circular buffer of each core.
struct CoreTops {
    std::array<std::array<HighestBuffer, kMostAcross>, kMostAcross> highest{};  // by row
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

    void add_circular_buffer(const HighestBuffer& buffer, const segment::CoreMask& mask) {
        for (uint32_t y = 0; y < kMostAcross; ++y) {
            for (uint32_t x = 0; x < kMostAcross; ++x) {
                if (has_core(mask, {x, y})) {
                    highest[y][x].add(buffer);
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
    const HighestBuffer& highest = found.highest[core.y][core.x];
    L1Reach reach;
    reach.lowest_buffer = found.lowest_buffer;
    if (highest.top != 0) {
        reach.add_circular_buffer(highest.top, core);
    }
    const WorstCore worst = worst_core(reach, found.l1, found.l1_used);
    CoreFigures figures{core, worst.cb_top, worst.used, worst.headroom};
    if (highest.top != 0) {
        assert(highest.ledger != nullptr);
        figures.pid = highest.ledger->pid();
        figures.program = highest.program != kNoProgram ? std::optional(highest.program) : std::nullopt;
        figures.name = highest.ledger->reader().name(highest.name);
    }
    return figures;
}

}  // namespace

base::Expected<CoreGrid> map_cores(const Census& census, const std::string& device) {
    const auto selection = Selection::of(census, {.device = device});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    if (selection->has_several_devices()) {
        return base::error(base::Error::Code::refused, "cores are those of one device, not of " + device);
    }
    CoreTops found;
    assert(selection->device());
    add_infos(*selection, found);
    for (const SelectedLedger& ledger : selection->ledgers()) {
        // By core set: there are few core sets and many circular buffers.
        std::map<uint16_t, HighestBuffer> highest;
        selection->for_each_match(ledger, [&](segment::SlotRef, const segment::Allocation& a, Kind kind) {
            if (!segment::adds_bytes(a.flags)) {
                return;
            }
            if (kind == Kind::l1) {
                found.add_buffer(a);
            } else if (kind == Kind::cb) {
                highest[a.core_set].add({end_of_buffer(a), &ledger, program_of(a), a.name});
                found.without_cores += a.core_set == 0 ? 1 : 0;
            }
        });
        for (const auto& [core_set, buffer] : highest) {
            if (const auto mask = ledger.reader().cores(core_set)) {
                found.add_circular_buffer(buffer, *mask);
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
            if (is_in_grid || found.highest[y][x].top != 0) {
                grid.cores.push_back(describe(found, {x, y}));
            }
        }
    }
    assert(!grid.size || grid.cores.size() >= size_t{grid.size->x} * grid.size->y);
    return grid;
}

}  // namespace ttmem::census
