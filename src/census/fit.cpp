// SPDX-License-Identifier: Apache-2.0
#include "census/fit.hpp"

#include <utility>

#include "census/fit_contents.hpp"
#include "census/selection.hpp"

namespace ttmem::census {

using allocator::BufferRequest;
using allocator::FitVerdict;
using allocator::LiveBlock;
using allocator::TensorPages;
using base::Error;

namespace {

// Answers for the allocators of one process.
class LedgerFitter {
public:
    LedgerFitter(const Selection& selection, const SelectedLedger& ledger, const FitRequest& request,
                 const std::string& set, const std::vector<Inexactness>& doubts)
        : selection_(selection), ledger_(ledger), request_(request), label_(set) {
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
            const bool is_asked = set.is_open() && set.index < ledger_.sets.size() &&
                                  ledger_.sets[set.index].is_asked &&
                                  (label_.empty() || ledger_.sets[set.index].label == label_);
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
            contents_ = read_contents_at_once(selection_, ledger_, request_.kind);
            is_read_ = true;
        }
        if (fit.undecided.empty() && !contents_) {
            fit.undecided = "it allocates and frees this kind of memory while its ledger is read (ask again)";
        }
        if (fit.undecided.empty() && contents_->is_cut) {
            fit.undecided = "it has too many allocations to read at once";
        }
        if (fit.undecided.empty()) {
            decide(fit, set);
        }
        return fit;
    }

    void decide(AllocatorFit& fit, const segment::SetTotals& set) {
        const Kind kind = request_.kind;
        const Report& report = selection_.reports()[ledger_.report];
        const auto geometry = geometry_of_set(report, set.set.members, kind);
        if (!geometry) {
            fit.undecided = geometry.error().text;
            return;
        }
        const SetPool& contents = contents_->of(set.index, kind);
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
        fit.ways.fits_after_compaction = fit.needed <= fit.free;
        add_releases(fit.ways, *bank, fit.needed, bottom_up, [&](const LiveBlock& block) {
            const PlacedBuffer& a = contents.live[block.id];
            return FitBlock{block.address, block.size, a.owner, ledger_.clock.age_ns(a.ticks),
                            ledger_.reader().name(a.name)};
        });
        add_other_requests(fit.ways, request_, *geometry, *bank);
        fit.ways.region_size =
            region_size_for(kind, *geometry, *bank, request, fit.needed, room_below(set, report));
        if (allocator::is_in_l1(pool_of(kind))) {
            add_dram(fit, set, report);
        }
    }

    // The size of the pool from which a region is cut.
    std::optional<uint64_t> room_below(const segment::SetTotals& set, const Report& report) const {
        const auto below = geometry_of_set(report, set.set.members, pool_below(request_.kind));
        return below ? std::optional(below->size) : std::nullopt;
    }

    void add_dram(AllocatorFit& fit, const segment::SetTotals& set, const Report& report) {
        const auto geometry = geometry_of_set(report, set.set.members, Kind::dram);
        if (!geometry) {
            return;
        }
        if (const auto bank = snapshot_of(*geometry, contents_->of(set.index, Kind::dram))) {
            fit.ways.dram_address = place(*geometry, *bank, request_.in_dram());
        }
    }

    const Selection& selection_;
    const SelectedLedger& ledger_;
    const FitRequest& request_;
    const std::string& label_;  // of the sets; empty: all
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
        case Reason::stopped:
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
    const FitRequest request{.kind = query.kind,
                             .tensor = *pages,
                             .size = query.size,
                             .cores = query.cores.value_or(0),
                             .bottom_up = query.direction
                                              ? std::optional(*query.direction == FitDirection::bottom_up)
                                              : std::nullopt};
    std::vector<AllocatorFit> result;
    for (const SelectedLedger& ledger : selection->ledgers()) {
        LedgerFitter(*selection, ledger, request, query.set, doubts).add_to(result);
    }
    if (!query.set.empty() && result.empty()) {
        return base::error(Error::Code::not_found, "no allocator of device " + query.device + " is called '" +
                                                       query.set + "' (without --set all are listed)");
    }
    return result;
}

}  // namespace ttmem::census
