// SPDX-License-Identifier: Apache-2.0
#include "census/programs.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>
#include <tuple>

#include "census/arithmetic.hpp"
#include "census/key_index.hpp"
#include "census/selection.hpp"
#include "census/worst_core.hpp"

namespace ttmem::census {

namespace {

// The sums of a program before its names and cores are resolved.
struct ProgramSums {
    uint64_t cb_requested = 0;
    uint64_t cb_used = 0;
    uint64_t cb_count = 0;
    uint64_t cb_views = 0;
    uint64_t cb_top = 0;
    uint16_t cb_top_cores = 0;
    std::array<uint64_t, kKernelTypes.size()> kernel_by_type{};
    uint64_t kernel_count = 0;
    uint64_t first_ticks = UINT64_MAX;
    uint32_t name = 0;

    void add(const segment::Allocation& a) {
        name = name == 0 ? a.name : name;
        first_ticks = std::min(first_ticks, a.ticks);
        if (segment::is_kernel(a.kind)) {
            uint64_t& bytes = kernel_by_type[kernel_type_of(a.kind)];
            bytes = saturating_add(bytes, a.used());
            ++kernel_count;
        } else if (segment::adds_bytes(a.flags)) {
            add_circular_buffer(a);
        } else {
            ++cb_views;
        }
    }

    void add_circular_buffer(const segment::Allocation& a) {
        cb_requested = saturating_add(cb_requested, a.requested);
        cb_used = saturating_add(cb_used, a.used());
        ++cb_count;
        const uint64_t top = saturating_add(a.address, a.requested);  // its request is the size per core
        if (top > cb_top) {
            cb_top = top;
            cb_top_cores = a.core_set;
        }
    }
};

struct SetPrograms {
    KeyIndex index{kMostPrograms};
    std::vector<ProgramSums> sums;
};

ProgramFigures describe(const Selection& selection, const SelectedLedger& ledger, uint32_t set,
                        uint64_t program, const ProgramSums& sums) {
    ProgramFigures figures;
    figures.pid = ledger.pid();
    figures.program = program != kNoProgram ? std::optional(program) : std::nullopt;
    figures.name = ledger.reader().name(sums.name);
    figures.devices = selection.ids(ledger.sets[set].positions);
    figures.set = ledger.sets[set].label;
    figures.cb_requested = sums.cb_requested;
    figures.cb_used = sums.cb_used;
    figures.cb_count = sums.cb_count;
    figures.cb_views = sums.cb_views;
    if (sums.cb_top != 0) {
        figures.cb_top = sums.cb_top;
        const auto cores = ledger.reader().cores(sums.cb_top_cores);
        figures.cb_top_core = cores ? first_core(*cores) : std::nullopt;
    }
    figures.kernel_by_type = sums.kernel_by_type;
    figures.kernel_count = sums.kernel_count;
    figures.age_ns = ledger.clock.age_ns(sums.first_ticks);
    return figures;
}

// One program before its name is resolved.
struct FoundProgram {
    const SelectedLedger* ledger = nullptr;
    uint32_t set = 0;
    uint64_t program = 0;
    ProgramSums sums;

    uint64_t used() const {
        return std::accumulate(sums.kernel_by_type.begin(), sums.kernel_by_type.end(), sums.cb_used,
                               saturating_add);
    }
};

bool comes_before(const FoundProgram& a, const FoundProgram& b) {
    const auto place = [](const FoundProgram& found) {
        return std::tuple(~found.used(), found.ledger->pid(), found.ledger->number, found.program, found.set);
    };
    return place(a) < place(b);
}

void find_programs(const Selection& selection, const SelectedLedger& ledger, std::vector<FoundProgram>& found,
                   uint64_t& left_aside) {
    std::map<uint32_t, SetPrograms> sets;
    selection.for_each_match(ledger, [&](segment::SlotRef, const segment::Allocation& a, Kind kind) {
        if (kind != Kind::cb && kind != Kind::kernel) {
            return;
        }
        SetPrograms& set = sets[a.set];
        const size_t number = set.index.of(program_of(a));
        if (number == KeyIndex::kNoRoom) {
            ++left_aside;
            return;
        }
        set.sums.resize(std::max(set.sums.size(), number + 1));
        set.sums[number].add(a);
    });
    for (auto& [index, set] : sets) {
        assert(set.sums.size() == set.index.keys().size());
        for (size_t i = 0; i < set.sums.size(); ++i) {
            found.push_back({&ledger, index, set.index.keys()[i], set.sums[i]});
        }
    }
}

}  // namespace

uint64_t program_of(const segment::Allocation& a) {
    return a.flags.has(segment::AllocationFlag::keyed) ? kNoProgram : a.owner;
}

uint64_t ProgramFigures::used() const {
    return std::accumulate(kernel_by_type.begin(), kernel_by_type.end(), cb_used, saturating_add);
}

base::Expected<ProgramPage> list_programs(const Census& census, const ProgramQuery& query) {
    const auto selection = Selection::of(census, {query.device, query.pid, std::nullopt, query.name});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    ProgramPage page;
    std::vector<FoundProgram> found;
    for (const SelectedLedger& ledger : selection->ledgers()) {
        find_programs(*selection, ledger, found, page.left_aside);
    }
    page.total = found.size();
    const size_t shown = query.limit == 0 ? found.size() : std::min<size_t>(query.limit, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<ptrdiff_t>(shown), found.end(),
                      comes_before);
    for (size_t i = 0; i < shown; ++i) {
        page.programs.push_back(
            describe(*selection, *found[i].ledger, found[i].set, found[i].program, found[i].sums));
    }
    return page;
}

}  // namespace ttmem::census
