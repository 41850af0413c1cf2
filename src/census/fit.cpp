// SPDX-License-Identifier: Apache-2.0
#include "census/fit.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "census/circular_buffers.hpp"
#include "census/device_facts.hpp"
#include "census/ledger_scan.hpp"
#include "census/selection.hpp"

namespace ttmem::census {

using allocator::BankSnapshot;
using allocator::BlocksToFree;
using allocator::BufferRequest;
using allocator::FitVerdict;
using allocator::LiveBlock;
using allocator::PoolGeometry;
using allocator::PoolKind;
using allocator::TensorPages;
using base::Error;

namespace {

// A ledger that changes all the time is read at most this often.
constexpr int kMostAttempts = 4;

// The kinds that have a pool are the allocator's pools.
constexpr PoolKind pool_of(Kind kind) { return static_cast<PoolKind>(index_of(kind)); }
static_assert(pool_of(Kind::dram) == PoolKind::dram && pool_of(Kind::l1) == PoolKind::l1 &&
              pool_of(Kind::l1_small) == PoolKind::l1_small && pool_of(Kind::trace) == PoolKind::trace &&
              kPoolKinds == allocator::kPoolCount);

// What an answer needs of a live allocation.
struct PlacedBuffer {
    uint64_t address = 0;
    uint64_t reserved = 0;
    uint64_t owner = 0;
    uint64_t ticks = 0;
    uint32_t name = 0;
};

// What one pool of a set holds.
struct SetPool {
    std::vector<PlacedBuffer> live;
    bool has_unknown_sizes = false;
};

// What a pass over one ledger finds: pools by set, and circular buffers.
struct FitContents {
    std::map<std::pair<uint8_t, Kind>, SetPool> pools;
    uint64_t cb_end = 0;  // of the highest one; 0: none
    uint64_t kept = 0;
    bool is_cut = false;  // there are more than kMostFitBlocks
};

FitContents read_contents(const Selection& selection, const SelectedLedger& ledger, Kind kind) {
    FitContents found;
    // For L1 the answer also says whether DRAM has room.
    const bool with_dram = allocator::is_in_l1(pool_of(kind));
    selection.for_each_match(ledger, [&](segment::SlotRef, const segment::Allocation& a, Kind of) {
        if (!segment::adds_bytes(a.flags)) {
            return;
        }
        if (of == Kind::cb) {
            found.cb_end = std::max(found.cb_end, end_of_buffer(a));
        }
        if (of == kind || (with_dram && of == Kind::dram)) {
            if (++found.kept > kMostFitBlocks) {
                found.is_cut = true;
                return;
            }
            SetPool& pool = found.pools[{a.set, of}];
            pool.live.push_back({a.address, a.reserved, a.owner, a.ticks, a.name});
            pool.has_unknown_sizes =
                pool.has_unknown_sizes || a.flags.has(segment::AllocationFlag::reserved_unknown);
        }
    });
    return found;
}

// Empty if the ledger changed at each attempt.
std::optional<FitContents> read_quiet_contents(const Selection& selection, const SelectedLedger& ledger,
                                               Kind kind) {
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
        const std::optional<uint64_t> before = events_if_quiet(ledger.reader());
        FitContents found = read_contents(selection, ledger, kind);
        if (before && events_if_quiet(ledger.reader()) == before) {
            return found;
        }
    }
    return std::nullopt;
}

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

// The geometry that all devices of a set have.
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
    std::vector<LiveBlock> blocks;
    blocks.reserve(contents.live.size());
    bool is_lockstep = true;
    for (size_t i = 0; i < contents.live.size(); ++i) {
        const PlacedBuffer& a = contents.live[i];
        is_lockstep =
            is_lockstep && a.reserved % pool.banks == 0 && a.reserved / pool.banks % pool.bank_alignment == 0;
        blocks.push_back({a.address, a.reserved / pool.banks, i});
    }
    auto snapshot = BankSnapshot::of(pool.base, pool.size, std::move(blocks));
    if (!is_lockstep || !snapshot) {
        return base::error(Error::Code::refused,
                           "its allocations do not lie in lockstep banks: the allocator has addresses per "
                           "core or a sub-device");
    }
    return *std::move(snapshot);
}

std::vector<FitRelease> describe(const std::vector<BlocksToFree>& releases, const BankSnapshot& bank,
                                 const SetPool& contents, const SelectedLedger& ledger) {
    std::vector<FitRelease> result;
    for (const BlocksToFree& release : releases) {
        FitRelease one{release.count, release.bytes, release.address, {}};
        for (size_t i = 0; i < std::min(release.count, kMostReleaseBlocks); ++i) {
            const LiveBlock& block = bank.blocks()[release.first + i];
            const PlacedBuffer& a = contents.live[block.id];
            one.blocks.push_back({block.address, block.size, a.owner, ledger.clock.age_ns(a.ticks),
                                  ledger.reader().name(a.name)});
        }
        result.push_back(std::move(one));
    }
    return result;
}

// The request of a query, in any pool and on any number of cores.
struct FitRequest {
    const FitQuery& query;
    TensorPages tensor;

    std::optional<bool> bottom_up() const {
        return query.direction ? std::optional(*query.direction == FitDirection::bottom_up) : std::nullopt;
    }
    BufferRequest in_pool() const { return on_cores(query.cores.value_or(0)); }
    BufferRequest on_cores(uint32_t cores) const {
        return allocator::request_of(tensor, pool_of(query.kind), cores, bottom_up());
    }
    BufferRequest in_dram() const { return allocator::request_of(tensor, PoolKind::dram, 0, std::nullopt); }
    BufferRequest in_pages_of(uint64_t page_size) const {
        return allocator::request_of(allocator::pages_of_bytes(*query.size, page_size), pool_of(query.kind),
                                     0, bottom_up());
    }
};

// The address that a request gets in a pool.
std::optional<uint64_t> place(const PoolGeometry& pool, const BankSnapshot& bank,
                              const BufferRequest& request) {
    return allocator::has_cores(pool, request) ? bank.find(footprint(pool, request).reserved_per_bank,
                                                           request.bottom_up.value_or(pool.bottom_up))
                                               : std::nullopt;
}

// What else the user could ask for.
void add_other_requests(AllocatorFit& fit, const FitRequest& request, const PoolGeometry& pool,
                        const BankSnapshot& bank) {
    const uint32_t cores = request.query.cores.value_or(0);
    for (uint32_t more = cores + 1; cores != 0 && more <= pool.banks && !fit.with_cores; ++more) {
        if (place(pool, bank, request.on_cores(more))) {
            fit.with_cores = more;
        }
    }
    const bool has_pages = request.query.size && cores == 0;
    for (uint64_t page = request.tensor.page_size / 2;
         has_pages && page >= pool.page_alignment && !fit.with_page; page /= 2) {
        if (place(pool, bank, request.in_pages_of(page))) {
            fit.with_page = page;
        }
    }
    // A region that holds what is live and the request.
    const uint64_t together =
        fit.needed > UINT64_MAX - fit.used ? allocator::kMostBytes : fit.used + fit.needed;
    if (request.query.kind == Kind::l1_small) {
        fit.region_size = allocator::round_up_or_most(together, pool.bank_alignment);
    } else if (request.query.kind == Kind::trace) {
        fit.region_size = allocator::multiply_or_most(
            allocator::round_up_or_most(together, allocator::kTraceAlignment), pool.banks);
    }
}

// Answers for the allocators of one process.
class LedgerFitter {
public:
    LedgerFitter(const Selection& selection, const SelectedLedger& ledger, const FitRequest& request,
                 const std::vector<Inexactness>& doubts)
        : selection_(selection), ledger_(ledger), request_(request) {
        for (const Inexactness& doubt : doubts) {
            if (doubt.pid == ledger.pid() && doubt_.empty() && concerns_addresses(doubt.reason)) {
                doubt_ = "its ledger is not exact: " + text_of(doubt);
            }
        }
        if (doubt_.empty() && ledger.process->is_beyond_share) {
            doubt_ =
                "its ledger is too large to read with those of its user's other processes (--pid reads it)";
        }
    }

    void add_to(std::vector<AllocatorFit>& result) {
        const Report& report = selection_.reports()[ledger_.report];
        for (const segment::SetTotals& set : report.totals.sets) {
            const bool is_asked =
                set.is_open() && set.index < ledger_.sets.size() && ledger_.sets[set.index].is_asked &&
                (request_.query.set.empty() || ledger_.sets[set.index].label == request_.query.set);
            if (is_asked) {
                result.push_back(answer(set));
            }
        }
    }

private:
    AllocatorFit answer(const segment::SetTotals& set) {
        AllocatorFit fit;
        fit.pid = ledger_.pid();
        fit.comm = ledger_.process->identity.comm;
        fit.set = ledger_.sets[set.index].label;
        fit.devices = selection_.ids(ledger_.sets[set.index].positions);
        fit.undecided = doubt_;
        if (fit.undecided.empty() && !is_read_) {
            contents_ = read_quiet_contents(selection_, ledger_, request_.query.kind);
            is_read_ = true;
        }
        if (fit.undecided.empty() && !contents_) {
            fit.undecided = "it allocates and frees while its ledger is read (ask again)";
        }
        if (fit.undecided.empty() && contents_->is_cut) {
            fit.undecided = "it has too many allocations to read at once";
        }
        if (fit.undecided.empty()) {
            decide(fit, set);
        }
        return fit;
    }

    const SetPool& pool(uint8_t set, Kind kind) const {
        static const SetPool kEmpty;
        const auto found = contents_->pools.find({set, kind});
        return found == contents_->pools.end() ? kEmpty : found->second;
    }

    void decide(AllocatorFit& fit, const segment::SetTotals& set) {
        const Kind kind = request_.query.kind;
        const Report& report = selection_.reports()[ledger_.report];
        const auto geometry = geometry_of_set(report, set.set.members, kind);
        if (!geometry) {
            fit.undecided = geometry.error().text;
            return;
        }
        const SetPool& contents = pool(static_cast<uint8_t>(set.index), kind);
        const auto bank = snapshot_of(*geometry, contents);
        if (!bank) {
            fit.undecided = bank.error().text;
            return;
        }
        const BufferRequest request = request_.in_pool();
        const bool bottom_up = request.bottom_up.value_or(geometry->bottom_up);
        fit.bank = {geometry->base, geometry->size, geometry->banks};
        fit.is_top_down = !bottom_up;
        fit.needed = footprint(*geometry, request).reserved_per_bank;
        fit.used = bank->statistics().allocated;
        fit.free = bank->statistics().free;
        fit.largest_free = bank->statistics().largest_free;
        fit.address = place(*geometry, *bank, request);
        if (fit.address) {
            fit.answer = FitAnswer::fits;
            fit.verdict = FitVerdict::fits;
            if (kind == Kind::l1 && *fit.address < contents_->cb_end) {
                fit.clash_with_cb = contents_->cb_end;
            }
            return;
        }
        fit.answer = FitAnswer::does_not_fit;
        if (!has_cores(*geometry, request)) {
            fit.verdict = FitVerdict::too_many_cores;
            return;
        }
        fit.verdict = judge(fit.needed, bank->statistics());
        fit.short_by = short_by(fit.needed, bank->statistics());
        fit.fits_after_compaction = fit.needed <= fit.free;
        fit.to_free =
            describe(bank->cheapest_to_free(fit.needed, bottom_up, kMostReleases), *bank, contents, ledger_);
        add_other_requests(fit, request_, *geometry, *bank);
        if (allocator::is_in_l1(pool_of(kind))) {
            add_dram(fit, set, report);
        }
    }

    void add_dram(AllocatorFit& fit, const segment::SetTotals& set, const Report& report) {
        const auto geometry = geometry_of_set(report, set.set.members, Kind::dram);
        if (!geometry) {
            return;
        }
        if (const auto bank = snapshot_of(*geometry, pool(static_cast<uint8_t>(set.index), Kind::dram))) {
            fit.dram_address = place(*geometry, *bank, request_.in_dram());
        }
    }

    const Selection& selection_;
    const SelectedLedger& ledger_;
    const FitRequest& request_;
    std::string doubt_;
    bool is_read_ = false;
    std::optional<FitContents> contents_;  // empty: not read, or never quiet
};

tl::unexpected<Error> wrong(std::string problem) {
    return base::error(Error::Code::refused, std::move(problem));
}

}  // namespace

base::Expected<TensorPages> pages_of(const FitQuery& query) {
    if (index_of(query.kind) >= kPoolKinds) {
        return wrong(std::string(name_of(query.kind)) +
                     " comes from no allocator: the kind must be dram, l1, l1_small or trace");
    }
    if (query.size.has_value() == !query.shape.empty()) {
        return wrong(query.size ? "a size and a shape are given: the request must have one of them"
                                : "a size (16MiB) or a shape (1,32,4096,4096) is missing");
    }
    if (query.cores == 0u) {
        return wrong("cores: must be at least 1 (leave it out for interleaved)");
    }
    if (query.kind == Kind::l1_small && !query.cores) {
        return wrong("l1_small takes sharded buffers only: the number of cores is missing (--cores N)");
    }
    if (query.size) {
        if (query.dtype || query.layout) {
            return wrong("a dtype and a layout belong to a shape, not to a size");
        }
        if (*query.size == 0 || query.page_size == 0u) {
            return wrong(*query.size == 0 ? "size 0: must be at least 1 byte"
                                          : "page 0: must be at least 1 byte");
        }
        return allocator::pages_of_bytes(*query.size, query.page_size.value_or(kStandardPageSize));
    }
    if (query.page_size) {
        return wrong("a page belongs to a size: that of a tensor follows from its dtype and layout");
    }
    const auto shape = allocator::parse_shape(query.shape);
    if (!shape) {
        return tl::unexpected(shape.error());
    }
    return pages_of_tensor(*shape, query.dtype.value_or(allocator::DataType::bfloat16),
                           query.layout.value_or(allocator::TensorLayout::tile));
}

bool concerns_addresses(Reason reason) {
    switch (reason) {
        case Reason::ledger_full:
        case Reason::sets_full:
        case Reason::devices_full:
        case Reason::implausible_size:
        case Reason::unknown_set:
        case Reason::unknown_kind:
        case Reason::reentered:
        case Reason::unknown_free:
        case Reason::ambiguous_free:
        case Reason::no_host_memory:
        case Reason::unknown_device:
        case Reason::negative_pool:
        case Reason::event_in_flight:
        case Reason::counters_differ:
        case Reason::started_before_ledger:
        case Reason::list_limit:
        case Reason::totals_only:
        case Reason::untracked:
        case Reason::not_listed:
        case Reason::unreadable:
        case Reason::processes_unreadable:
        case Reason::segment_skipped:
        case Reason::too_many_segments:
        case Reason::too_many_processes:
        case Reason::too_many_devices:
        case Reason::scan_running:
        case Reason::scan_incomplete:
        case Reason::other:
            return true;
        default:
            // Names, threads and numbers of devices; and what the fitter checks itself: a ledger that changes, unknown sizes.
            return false;
    }
}

base::Expected<std::vector<AllocatorFit>> fit_request(const Census& census, const FitQuery& query,
                                                      const std::vector<Inexactness>& doubts) {
    auto pages = pages_of(query);
    if (!pages) {
        return tl::unexpected(std::move(pages.error()));
    }
    const auto selection = Selection::of(census, {.device = query.device, .pid = query.pid});
    if (!selection) {
        return tl::unexpected(selection.error());
    }
    if (selection->has_several_devices()) {
        return wrong("device '" + query.device + "': must be one device");
    }
    const FitRequest request{query, *pages};
    std::vector<AllocatorFit> result;
    for (const SelectedLedger& ledger : selection->ledgers()) {
        LedgerFitter(*selection, ledger, request, doubts).add_to(result);
    }
    if (!query.set.empty() && result.empty()) {
        return base::error(Error::Code::gone, "no allocator of device " + query.device + " is called '" +
                                                  query.set + "' (without --set all are listed)");
    }
    return result;
}

}  // namespace ttmem::census
