// SPDX-License-Identifier: Apache-2.0
#include "view/questions/fit.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "view/json/json_document.hpp"
#include "view/questions/filters.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

using census::FitAnswer;

namespace {

// What the manual says about the parts of a request, in URLs and in answers.
constexpr const char* kKindMeaning =
    "the kind of memory: `dram`, `l1`, `l1_small` or `trace`; default `dram`";
constexpr const char* kSizeMeaning = "requested bytes on each device; absent: `shape`";
constexpr const char* kPageMeaning = "page size of these bytes; default 2048, a tile of bfloat16";
constexpr const char* kShapeMeaning = "shape of a tensor on each device: `1,32,4096,4096`";
constexpr const char* kTypeMeaning = "its data type; default `bfloat16`";
constexpr const char* kLayoutMeaning = "its layout; default `tile`";
constexpr const char* kCoresMeaning =
    "sharded by height over this many cores; absent: interleaved over all banks";
constexpr const char* kDirectionMeaning =
    "where the search begins; absent: as the runtime does for this kind";

// The processes that have the device, as far as anybody knows.
std::set<uint32_t> pids_on_device(const census::Census& census, uint32_t device) {
    std::set<uint32_t> pids;
    for (const census::ProcessFigures& process :
         census::compute_figures(census, census::Depth::pools).processes) {
        if (std::any_of(process.devices.begin(), process.devices.end(),
                        [&](const census::DeviceHoldings& held) { return held.id == device; })) {
            pids.insert(process.pid);
        }
    }
    return pids;
}

// Why allocators of the device may be missing from the answer. A question about one process misses none.
std::vector<std::string> reasons_for_missing(const VisibleProcesses& visible, const FitQuery& query) {
    std::vector<std::string> reasons;
    if (query.pid) {
        return reasons;
    }
    std::set<uint32_t> answered;
    for (const census::Process& process : visible.census.processes) {
        if (!process.is_hidden) {
            answered.insert(process.identity.pid);
        }
    }
    const std::set<uint32_t> on_device = pids_on_device(visible.census, visible.device);
    for (const census::Inexactness& reason : visible.inexact) {
        const bool is_of_others = reason.pid == 0 ||
                                  (on_device.contains(reason.pid) && !answered.contains(reason.pid)) ||
                                  reason.is_skipped();
        if (is_of_others && census::concerns_addresses(reason.reason)) {
            reasons.push_back((reason.pid == 0 ? "" : "process " + std::to_string(reason.pid) + ": ") +
                              text_of(reason));
        }
    }
    return reasons;
}

}  // namespace

FitAnswer FitView::answer() const {
    const auto has = [&](FitAnswer answer) {
        return std::any_of(allocators.begin(), allocators.end(),
                           [&](const census::AllocatorFit& one) { return one.answer == answer; });
    };
    if (has(FitAnswer::does_not_fit)) {
        return FitAnswer::does_not_fit;
    }
    const bool is_decided = !allocators.empty() && !has(FitAnswer::undecided) && unseen.empty();
    return is_decided ? FitAnswer::fits : FitAnswer::undecided;
}

void fields(auto& io, Like<FitQuery> auto& query) {
    io.required("device", query.device, kDeviceMeaning);
    io("kind", query.kind, kKindMeaning);
    io("size", query.size, kSizeMeaning);
    io("page", query.page_size, kPageMeaning);
    io("shape", query.shape, kShapeMeaning);
    io("dtype", query.dtype, kTypeMeaning);
    io("layout", query.layout, kLayoutMeaning);
    io("cores", query.cores, kCoresMeaning);
    io("direction", query.direction, kDirectionMeaning);
    io("pid", query.pid, "only the allocators of this process");
    io("set", query.set, "only allocators of device sets with this name");
}

void fields(auto& io, Like<census::AllocatorFit> auto& fit) {
    bool is_known = fit.verdict.has_value();
    io("pid", fit.pid, "the process");
    io("comm", fit.comm, "command name");
    io.unless_empty("set", fit.set, "what the process called the device set");
    io("devices", fit.devices, "device ids that the allocator keeps in lockstep");
    io("answer", fit.answer, "whether the request fits");
    io("verdict", fit.verdict, "why it does not fit; null: undecided");
    io.unless_empty("reason", fit.undecided, "why it is undecided; null: it is decided");
    io("address", fit.address, "the address that the request gets; null: it does not fit");
    io("clash_with_cb", fit.clash_with_cb,
       "end address of the circular buffers of the process, if above `address`: programs that have them "
       "clash when they run next");
    io.unless_unknown("needed", fit.needed, is_known, "bytes that the request takes in one bank");
    uint64_t reserved = fit.reserved();
    io.unless_unknown("reserved", reserved, is_known, "bytes that it takes on each device, in all banks");
    io.object(
        "bank",
        [&](auto& bank) {
            bank.unless_unknown("base", fit.bank.base, is_known, "its first address");
            bank.unless_unknown("size", fit.bank.size, is_known, "its bytes");
            bank.unless_unknown("banks", fit.bank.banks, is_known, "number of banks");
        },
        "one bank of the pool");
    io("top_down", fit.is_top_down, "the search begins at the highest address");
    io.unless_unknown("used", fit.used, is_known, "reserved bytes per bank");
    io.unless_unknown("free", fit.free, is_known, "free bytes per bank");
    io.unless_unknown("largest_free", fit.largest_free, is_known, "largest free block per bank");
    io.unless_unknown(
        "short_by", fit.short_by, is_known,
        "missing bytes per bank: of the bank (`too big`), of the free memory (`not enough`) or of "
        "the largest block (`fragmented`)");
    ways_fields(io, fit.ways);
}

void fields(auto& io, Like<FitView> auto& view) {
    list_head(io, view);
    io("device", view.device, "the device");
    io.object(
        "request",
        [&](auto& request) {
            request("kind", view.request.kind, kKindMeaning);
            request("size", view.request.size, kSizeMeaning);
            request("page", view.request.page_size, kPageMeaning);
            request.unless_empty("shape", view.request.shape, kShapeMeaning);
            request("dtype", view.request.dtype, kTypeMeaning);
            request("layout", view.request.layout, kLayoutMeaning);
            request("shard_cores", view.request.cores, kCoresMeaning);
            request("direction", view.request.direction, kDirectionMeaning);
            request("page_size", view.tensor.page_size, "bytes of one page");
            request("rows", view.tensor.rows, "rows of pages; shards have whole rows");
            request("pages_per_row", view.tensor.pages_per_row, "pages of a row");
            request.derived("pages", view.tensor.pages(), "number of pages");
        },
        "what was asked for");
    io.derived("answer", std::string(name_of(view.answer())),
               "`fits`: in every allocator; `does not fit`: at least one has no room; `undecided`");
    io("unseen", view.unseen, "why allocators of the device may be missing");
    io.rows("allocators", view.allocators, "one per allocator that has the device");
}

template struct UrlForm<FitQuery>;
template struct JsonForm<FitView>;

base::Expected<FitView> FitCheck::answer(const Host& host, const FitQuery& query) {
    const auto tensor = census::pages_of(query);
    if (!tensor) {
        return tl::unexpected(tensor.error());
    }
    const auto visible = host.visible(query.pid, query.device);
    if (!visible) {
        return tl::unexpected(visible.error());
    }
    auto allocators = census::fit_request(visible->census, query, visible->inexact);
    if (!allocators) {
        return tl::unexpected(std::move(allocators.error()));
    }
    FitView view;
    visible->describe(view, host.origin());
    view.device = visible->device;
    view.request = query;
    // The view has its own device, and its filters are those of the list.
    view.request.device.clear();
    view.request.pid.reset();
    view.request.set.clear();
    view.tensor = *tensor;
    view.allocators = *std::move(allocators);
    view.unseen = reasons_for_missing(*visible, query);
    return view;
}

}  // namespace ttmem::view
