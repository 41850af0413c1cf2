// SPDX-License-Identifier: Apache-2.0
#include "census/fit_contents.hpp"

#include <algorithm>

#include "base/time.hpp"
#include "census/circular_buffers.hpp"
#include "census/device_facts.hpp"
#include "census/fit.hpp"
#include "census/ledger_scan.hpp"

namespace ttmem::census {

using allocator::BankSnapshot;
using allocator::LiveBlock;
using allocator::PoolGeometry;
using base::Error;

namespace {

// A ledger that changes all the time is read at least kFewestAttempts times, and then until this time has passed.
constexpr int kFewestAttempts = 4;
constexpr uint64_t kLongestReadNs = 30'000'000;

// For a kind in L1 the answer also says whether DRAM has room.
bool is_needed(Kind of, Kind kind) {
    return of == kind || (of == Kind::dram && allocator::is_in_l1(pool_of(kind)));
}

FitContents read_contents(const Selection& selection, const SelectedLedger& ledger, Kind kind) {
    FitContents found;
    selection.for_each_match(ledger, [&](segment::SlotRef slot, const segment::Allocation& a, Kind of) {
        if (!segment::adds_bytes(a.flags)) {
            return;
        }
        if (of == Kind::cb) {
            found.cb_end = std::max(found.cb_end, end_of_buffer(a));
        }
        if (is_needed(of, kind)) {
            if (++found.kept > kMostFitBlocks) {
                found.is_cut = true;
                return;
            }
            SetPool& pool = found.pools[{a.set, of}];
            pool.live.push_back({slot.pack(), a.address, a.reserved, a.owner, a.ticks, a.name});
            pool.used += a.used();
            pool.has_unknown_sizes =
                pool.has_unknown_sizes || a.flags.has(segment::AllocationFlag::reserved_unknown);
            pool.has_addresses_per_core =
                pool.has_addresses_per_core || a.flags.has(segment::AllocationFlag::per_core);
        }
    });
    return found;
}

// Whether the counters of the pools say the same.
bool agrees(const FitContents& contents, const SelectedLedger& ledger, const segment::Totals& totals,
            Kind kind) {
    return std::all_of(totals.sets.begin(), totals.sets.end(), [&](const segment::SetTotals& set) {
        const bool is_asked = set.index < ledger.sets.size() && ledger.sets[set.index].is_asked;
        for (const Kind one : {kind, Kind::dram}) {
            if (is_asked && set.is_open() && is_needed(one, kind) &&
                set.pools[memory_info_index(one)].used != contents.of(set.index, one).used) {
                return false;
            }
        }
        return true;
    });
}

}  // namespace

const SetPool& FitContents::of(uint32_t set, Kind kind) const {
    static const SetPool kEmpty;
    const auto found = pools.find({static_cast<uint8_t>(set), kind});
    return found == pools.end() ? kEmpty : found->second;
}

// What two passes both find was live between them. If the counters, read between them, have the same sum, nothing else was.
std::optional<FitContents> read_contents_at_once(const Selection& selection, const SelectedLedger& ledger,
                                                 Kind kind) {
    const segment::Reader& reader = ledger.reader();
    const uint64_t deadline = base::monotonic_ns() + kLongestReadNs;
    const std::optional<uint64_t> before = events_if_quiet(reader);
    FitContents found = read_contents(selection, ledger, kind);
    if (before && events_if_quiet(reader) == before) {
        return found;
    }
    for (int attempt = 1; attempt < kFewestAttempts || base::monotonic_ns() < deadline; ++attempt) {
        const segment::Totals totals = reader.totals();
        FitContents again = read_contents(selection, ledger, kind);
        if (found.pools == again.pools && agrees(again, ledger, totals, kind)) {
            return again;
        }
        found = std::move(again);
    }
    return std::nullopt;
}

namespace {

// The geometry of a pool as a process describes the device. Returns the problem if it does not suffice.
base::Expected<PoolGeometry> geometry_of(const ttmem_device_info& info, Kind kind) {
    if (info.arch != TTMEM_ARCH_WORMHOLE_B0 && info.arch != TTMEM_ARCH_BLACKHOLE) {
        return base::error(Error::Code::refused, "the rules of its architecture are not known");
    }
    const ttmem_memory_info& memory = info.memory[memory_info_index(kind)];
    const bool is_l1 = allocator::is_in_l1(pool_of(kind));
    const ttmem_memory_info& whole = info.memory[memory_info_index(is_l1 ? Kind::l1 : Kind::dram)];
    if (whole.banks == 0 || whole.size_per_bank == 0 || whole.alignment == 0) {
        return base::error(Error::Code::refused, "the process does not report the banks of the device");
    }
    // A region of size 0 may have no banks of its own.
    return PoolGeometry{.base = memory.base,
                        .size = memory.size_per_bank,
                        .banks = memory.banks == 0 ? whole.banks : memory.banks,
                        .page_alignment = is_l1 ? allocator::kL1PageAlignment : whole.alignment,
                        .bank_alignment = whole.alignment,
                        .bottom_up = allocator::grows_bottom_up(pool_of(kind))};
}

}  // namespace

base::Expected<PoolGeometry> geometry_of_set(const Report& report, uint64_t members, Kind kind) {
    std::optional<PoolGeometry> common;
    for (size_t entry = 0; entry < report.devices.size(); ++entry) {
        if ((members >> entry & 1) == 0) {
            continue;
        }
        if (!report.devices[entry]) {
            return base::error(Error::Code::refused, "a device of the set can't be read");
        }
        auto one = geometry_of(*report.devices[entry], kind);
        if (!one) {
            return one;
        }
        if (common && *common != *one) {
            return base::error(Error::Code::refused, "the devices of the set have different banks");
        }
        common = *one;
    }
    return common ? base::Expected<PoolGeometry>(*common)
                  : base::error(Error::Code::refused, "the set has no device that can be read");
}

base::Expected<BankSnapshot> snapshot_of(const PoolGeometry& pool, const SetPool& contents) {
    if (contents.has_unknown_sizes) {
        return base::error(Error::Code::refused,
                           "the reporter does not report how much allocations take (reserved size unknown)");
    }
    if (contents.has_addresses_per_core) {
        return base::error(Error::Code::refused, "it has buffers with addresses per core");
    }
    std::vector<LiveBlock> blocks;
    blocks.reserve(contents.live.size());
    bool is_lockstep = true;
    for (size_t i = 0; i < contents.live.size(); ++i) {
        const PlacedBuffer& a = contents.live[i];
        is_lockstep =
            is_lockstep && a.reserved % pool.banks == 0 && a.reserved / pool.banks % pool.bank_alignment == 0;
        blocks.push_back({a.address, a.reserved / pool.banks, i, a.name});
    }
    auto snapshot = BankSnapshot::of(pool.base, pool.size, std::move(blocks));
    if (!is_lockstep || !snapshot) {
        return base::error(Error::Code::refused,
                           "its allocations do not lie in lockstep banks: the allocator has addresses per "
                           "core or a sub-device");
    }
    return *std::move(snapshot);
}

}  // namespace ttmem::census
