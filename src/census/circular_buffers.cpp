// SPDX-License-Identifier: Apache-2.0
#include "census/circular_buffers.hpp"

#include <algorithm>

#include "census/arithmetic.hpp"
#include "census/key_index.hpp"
#include "census/programs.hpp"
#include "census/worst_core.hpp"

namespace ttmem::census {

namespace {

std::optional<Core> fullest_core(std::span<const segment::Allocation> buffers, CoreMasks& masks) {
    L1Reach reach;
    for (const segment::Allocation& a : buffers) {
        const auto& mask = masks.of(a.core_set);
        const auto core = mask ? first_core(*mask) : std::nullopt;
        if (core) {
            reach.add_circular_buffer(end_of_buffer(a), core);
        }
    }
    return reach.core;
}

// A program before its name is resolved.
struct ProgramOnCore {
    CoreProgram figures;
    uint32_t name = 0;
};

void add_programs(CoreBuffers& found, const SelectedLedger& ledger, uint64_t limit) {
    KeyIndex index(kMostPrograms);
    std::vector<ProgramOnCore> programs;
    for (const segment::Allocation& a : found.buffers) {
        const uint64_t id = program_of(a);
        const size_t number = index.of(id);
        if (number == KeyIndex::kNoRoom) {
            continue;  // its bytes are in the map all the same
        }
        programs.resize(std::max(programs.size(), number + 1));
        auto& [figures, name] = programs[number];
        figures.program = id != kNoProgram ? std::optional(id) : std::nullopt;
        figures.bytes = saturating_add(figures.bytes, a.requested);
        if (figures.count++ == 0 || end_of_buffer(a) > figures.top) {
            figures.top = end_of_buffer(a);
            name = a.name;
        }
    }
    std::stable_sort(programs.begin(), programs.end(), [](const ProgramOnCore& a, const ProgramOnCore& b) {
        return a.figures.top > b.figures.top;
    });
    const size_t shown = std::min<size_t>(programs.size(), limit);
    for (size_t i = 0; i < shown; ++i) {
        programs[i].figures.name = ledger.reader().name(programs[i].name);
        found.core.programs.push_back(std::move(programs[i].figures));
    }
    found.core.programs_left_out = programs.size() - shown;
}

}  // namespace

uint64_t end_of_buffer(const segment::Allocation& a) { return saturating_add(a.address, a.requested); }

const std::optional<segment::CoreMask>& CoreMasks::of(uint16_t core_set) {
    const auto [place, is_new] = masks_.try_emplace(core_set);
    if (is_new) {
        place->second = ledger_.cores(core_set);
    }
    return place->second;
}

CoreBuffers buffers_on_core(std::span<const segment::Allocation> buffers, CoreMasks& masks,
                            std::optional<Core> asked, const SelectedLedger& ledger, uint64_t limit) {
    CoreBuffers found;
    found.core.core = asked ? asked : fullest_core(buffers, masks);
    found.core.is_asked = asked.has_value();
    for (const segment::Allocation& a : buffers) {
        const auto& mask = masks.of(a.core_set);
        if (mask && !(found.core.core && has_core(*mask, *found.core.core))) {
            ++found.core.on_other_cores;
            continue;
        }
        found.core.without_cores += mask ? 0u : 1u;
        found.core.cb_top = std::max(found.core.cb_top.value_or(0), end_of_buffer(a));
        found.buffers.push_back(a);
    }
    std::sort(
        found.buffers.begin(), found.buffers.end(),
        [](const segment::Allocation& a, const segment::Allocation& b) { return a.address < b.address; });
    add_programs(found, ledger, limit);
    return found;
}

}  // namespace ttmem::census
