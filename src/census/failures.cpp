// SPDX-License-Identifier: Apache-2.0
#include "census/failures.hpp"

#include <algorithm>
#include <cassert>
#include <map>

#include "allocator/bank_snapshot.hpp"
#include "base/time.hpp"
#include "census/arithmetic.hpp"
#include "census/device_facts.hpp"
#include "census/fit_contents.hpp"
#include "census/free_space.hpp"
#include "census/selection.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::census {

namespace {

uint64_t difference_or_zero(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

// The smallest bank over the devices of a failure. A larger request can never fit.
std::optional<uint64_t> bank_size(const Report& report, uint64_t members, Kind kind) {
    std::optional<uint64_t> smallest;
    for (size_t entry = 0; index_of(kind) < kPoolKinds && entry < report.devices.size(); ++entry) {
        if (report.devices[entry] && (members >> entry & 1) != 0) {
            const Bank bank = bank_of(*report.devices[entry], kind);
            if (bank.is_known()) {
                smallest = std::min(smallest.value_or(bank.size), bank.size);
            }
        }
    }
    return smallest;
}

FailureVerdict verdict_of(uint64_t needed, const allocator::PoolStatistics& bank) {
    switch (allocator::judge(needed, bank)) {
        case allocator::FitVerdict::too_big:
            return FailureVerdict::too_big;
        case allocator::FitVerdict::not_enough:
            return FailureVerdict::not_enough;
        case allocator::FitVerdict::fragmented:
            return FailureVerdict::fragmented;
        case allocator::FitVerdict::fits:
        case allocator::FitVerdict::too_many_cores:
            break;
    }
    return FailureVerdict::unknown;
}

void describe_out_of_memory(FailureFigures& figures, const segment::Failure& failure, const Report& report) {
    figures.requested = failure.requested;
    figures.needed = failure.needed_per_bank;
    figures.free = failure.free_per_bank;
    figures.largest_free = failure.largest_free_per_bank;
    figures.missing = difference_or_zero(failure.needed_per_bank, failure.largest_free_per_bank);
    const auto size = figures.kind ? bank_size(report, failure.members, *figures.kind) : std::nullopt;
    const allocator::PoolStatistics bank{.size = size.value_or(UINT64_MAX),
                                         .free = failure.free_per_bank,
                                         .largest_free = failure.largest_free_per_bank};
    figures.verdict = verdict_of(failure.needed_per_bank, bank);
    if (figures.verdict != FailureVerdict::unknown) {
        figures.short_by = allocator::short_by(failure.needed_per_bank, bank);
    }
}

void describe_clash(FailureFigures& figures, const segment::Failure& failure) {
    figures.requested = failure.requested;
    figures.free = failure.free_per_bank;
    figures.cb_end = failure.cb_end;
    if (failure.program != TTMEM_UNKNOWN) {
        figures.program = failure.program;  // the first one of a process has number 0
    }
    if (failure.l1_end != 0) {
        figures.l1_end = failure.l1_end;
    } else {
        figures.lowest_buffer = failure.lowest_buffer;
    }
    figures.missing = difference_or_zero(failure.cb_end, failure.cb_limit());
    figures.short_by = figures.missing;
    figures.core = core_of(failure);
    figures.verdict = FailureVerdict::clash;
}

void describe_unknown_free(FailureFigures& figures, const segment::Failure& failure) {
    figures.kind.reset();
    figures.address = failure.address;
    figures.logical_device = failure.has_device != 0 ? std::optional(failure.device) : std::nullopt;
    figures.verdict = FailureVerdict::unknown_free;
}

// The label of the set. Empty if its slot has been reused since.
std::string label_of(const segment::Failure& failure, const Report& report, const segment::Reader& ledger) {
    for (const segment::SetTotals& set : report.totals.sets) {
        if (set.index == failure.set && set.set.opened_ticks <= failure.ticks &&
            failure.type != static_cast<uint8_t>(FailureType::unknown_free)) {
            return ledger.name(set.set.label);
        }
    }
    return "";
}

Blocker describe_blocker(const segment::Failure& failure, const segment::Reader& ledger) {
    return {kind_of(static_cast<segment::AllocationKind>(failure.blocker_kind)),
            failure.blocker_address,
            failure.blocker_requested,
            failure.blocker_reserved,
            failure.blocker_owner,
            ledger.name(failure.blocker_name)};
}

FailureFigures describe(const segment::Failure& failure, const SelectedLedger& ledger,
                        const Selection& selection, uint64_t now_ns) {
    const Report& report = selection.reports()[ledger.report];
    FailureFigures figures;
    figures.pid = ledger.pid();
    figures.type = static_cast<FailureType>(failure.type);
    figures.age_ns = ledger.clock.age_ns(failure.ticks);
    figures.time_ns = difference_or_zero(now_ns, figures.age_ns);
    figures.devices = selection.ids(selection.table().positions(ledger.report, failure.members));
    figures.set = label_of(failure, report, ledger.reader());
    figures.kind = kind_of(static_cast<segment::AllocationKind>(failure.kind));
    figures.name = ledger.reader().name(failure.name);
    figures.thread = failure.thread;
    switch (figures.type) {
        case FailureType::out_of_memory:
            describe_out_of_memory(figures, failure, report);
            break;
        case FailureType::cb_clash:
            describe_clash(figures, failure);
            break;
        case FailureType::unknown_free:
            describe_unknown_free(figures, failure);
            break;
    }
    if (failure.has_blocker != 0) {
        figures.blocker = describe_blocker(failure, ledger.reader());
    }
    if (failure.card == 0 && failure.no_card != 0 && failure.no_card < segment::kNoCardReasons) {
        figures.no_card = static_cast<NoCard>(failure.no_card);
    }
    return figures;
}

// The failures that a process keeps. A card outlives the entry of its failure if many failures follow.
std::vector<segment::Failure> failures_of(const segment::Reader& reader) {
    std::vector<segment::Failure> failures = reader.failures();
    for (const uint64_t number : reader.card_numbers()) {
        const bool is_kept = std::any_of(failures.begin(), failures.end(),
                                         [&](const auto& failure) { return failure.card == number; });
        const auto card = is_kept ? std::nullopt : reader.card(number);
        if (card && card->head.failure.type < segment::kFailureTypes) {
            failures.push_back(card->head.failure);
            failures.back().card = number;
        }
    }
    return failures;
}

// A failure of the page, and where its card is.
struct ListedFailure {
    FailureFigures figures;
    const SelectedLedger* ledger = nullptr;
    uint64_t card = 0;
};

// The other pools of the allocators of one ledger, which is read at most once.
class OtherPoolsOf {
public:
    OtherPoolsOf(const Selection& selection, const SelectedLedger& ledger)
        : selection_(selection), ledger_(ledger), report_(selection.reports()[ledger.report]) {}

    OtherPools of(const segment::Failure& failure) {
        OtherPools pools;
        // The slot of the set may have been used again since.
        const auto set = std::find_if(
            report_.totals.sets.begin(), report_.totals.sets.end(), [&](const segment::SetTotals& one) {
                return one.index == failure.set && one.set.opened_ticks <= failure.ticks;
            });
        if (set == report_.totals.sets.end()) {
            return pools;
        }
        if (failure.type == static_cast<uint8_t>(FailureType::cb_clash)) {
            add_l1_small(pools, *set);
            return pools;
        }
        const auto kind = kind_of(static_cast<segment::AllocationKind>(failure.kind));
        const auto below = geometry_of_set(report_, set->set.members, pool_below(kind.value_or(Kind::l1)));
        if (below) {
            pools.room_below = below->size;
        }
        // DRAM is read as it is now. What a process left behind when it ended, or closed, says nothing about a next request.
        const bool is_live = set->is_open() && ledger_.process->state == ProcessState::live &&
                             !ledger_.process->lifetime.ended;
        if (is_live && (failure.kind == static_cast<uint8_t>(segment::AllocationKind::l1) ||
                        failure.kind == static_cast<uint8_t>(segment::AllocationKind::l1_small))) {
            add_dram(pools, *set);
        }
        return pools;
    }

private:
    void add_l1_small(OtherPools& pools, const segment::SetTotals& set) const {
        const auto geometry = geometry_of_set(report_, set.set.members, Kind::l1_small);
        if (geometry) {
            pools.l1_small_size = geometry->size;
            pools.l1_small_peak = in_one_bank(set.pools[memory_info_index(Kind::l1_small)].peak,
                                              {geometry->base, geometry->size, geometry->banks});
        }
    }

    void add_dram(OtherPools& pools, const segment::SetTotals& set) {
        if (!is_read_ && !ledger_.process->is_beyond_share) {
            contents_ = read_contents_at_once(selection_, ledger_, Kind::dram);
        }
        is_read_ = true;
        const auto geometry = geometry_of_set(report_, set.set.members, Kind::dram);
        if (!contents_ || contents_->is_cut || !geometry) {
            return;
        }
        if (auto bank = snapshot_of(*geometry, contents_->of(set.index, Kind::dram))) {
            pools.dram.emplace(*geometry, *std::move(bank));
        }
    }

    const Selection& selection_;
    const SelectedLedger& ledger_;
    const Report& report_;
    bool is_read_ = false;
    std::optional<FitContents> contents_;
};

// The newest first: their blocks matter most.
void add_cards(std::vector<ListedFailure>& listed, const Selection& selection, bool is_brief) {
    std::map<uint32_t, uint64_t> blocks;  // by user
    std::map<const SelectedLedger*, OtherPoolsOf> others;
    for (ListedFailure& failure : listed) {
        const auto card = failure.card == 0 ? std::nullopt : failure.ledger->reader().card(failure.card);
        if (!card) {
            continue;
        }
        OtherPoolsOf& pools = others.try_emplace(failure.ledger, selection, *failure.ledger).first->second;
        uint64_t& taken = blocks[failure.ledger->process->identity.uid];
        failure.figures.card =
            describe_card(*card, *failure.ledger, pools.of(card->head.failure),
                          is_brief ? 0 : kMostCardBlocks - std::min(kMostCardBlocks, taken));
        taken += failure.figures.card->blocks.size();
    }
}

bool is_on(const FailureFigures& failure, const Selection& selection) {
    const auto& devices = selection.table().devices();
    for (size_t position = 0; selection.device() && position < devices.size(); ++position) {
        const bool is_there = std::find(failure.devices.begin(), failure.devices.end(),
                                        devices[position].id) != failure.devices.end();
        if (is_there && selection.selects(position)) {
            return true;
        }
    }
    return !selection.device();
}

// Counters have no device. With a device in the query the kept failures are counted, if all are kept.
void add_counts(std::vector<FailureCounts>& counts, const SelectedLedger& ledger, const FailureQuery& query,
                FailureCounts kept, FailureCounts matching) {
    FailureCounts ever;
    ever.pid = ledger.pid();
    for (const FailureType type :
         {FailureType::out_of_memory, FailureType::cb_clash, FailureType::unknown_free}) {
        if (query.type && *query.type != type) {
            continue;
        }
        const uint64_t count = ledger.reader().failure_count(type);
        ever.is_known = ever.is_known && (!query.device || count == kept.of(type));
        ever.of(type) = query.device ? matching.of(type) : count;
    }
    if (ever.sum() == 0 && ever.is_known) {
        return;
    }
    assert(counts.empty() || counts.back().pid <= ever.pid);
    if (counts.empty() || counts.back().pid != ever.pid) {
        counts.push_back(ever);
        return;
    }
    FailureCounts& sum = counts.back();  // a process may have several ledgers
    sum.out_of_memory = saturating_add(sum.out_of_memory, ever.out_of_memory);
    sum.cb_clash = saturating_add(sum.cb_clash, ever.cb_clash);
    sum.unknown_free = saturating_add(sum.unknown_free, ever.unknown_free);
    sum.is_known = sum.is_known && ever.is_known;
}

}  // namespace

base::Expected<FailurePage> list_failures(const Census& census, const FailureQuery& query) {
    const auto selection = Selection::of(census, {query.device, query.pid, std::nullopt, {}});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    FailurePage page;
    std::vector<ListedFailure> listed;
    const uint64_t now_ns = base::realtime_ns();
    for (const SelectedLedger& ledger : selection->ledgers()) {
        FailureCounts kept;
        FailureCounts matching;
        for (const segment::Failure& failure : failures_of(ledger.reader())) {
            FailureFigures figures = describe(failure, ledger, *selection, now_ns);
            ++kept.of(figures.type);
            if (is_on(figures, *selection) && (!query.type || figures.type == *query.type)) {
                ++matching.of(figures.type);
                listed.push_back({std::move(figures), &ledger, failure.card});
            }
        }
        add_counts(page.counts, ledger, query, kept, matching);
    }
    page.total = listed.size();
    std::stable_sort(listed.begin(), listed.end(), [](const ListedFailure& a, const ListedFailure& b) {
        return a.figures.age_ns < b.figures.age_ns;
    });
    if (query.limit != 0 && listed.size() > query.limit) {
        listed.resize(query.limit);
    }
    add_cards(listed, *selection, query.brief);
    for (ListedFailure& failure : listed) {
        page.failures.push_back(std::move(failure.figures));
    }
    return page;
}

}  // namespace ttmem::census
