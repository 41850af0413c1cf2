// SPDX-License-Identifier: Apache-2.0
#include "view/questions/failures.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "census/scan_shares.hpp"
#include "view/json/json_document.hpp"
#include "view/model/kept_card_fields.hpp"
#include "view/questions/filters.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

namespace {

constexpr uint64_t kMostHolders = 5;       // per list: what is in the way is among the largest
constexpr uint64_t kMostKept = 64;         // cards of processes that have ended
constexpr size_t kMostHoldersPerUser = 8;  // lists of devices and kinds for the failures of a user

}  // namespace

void fields(auto& io, Like<FailureQuery> auto& query) {
    io("device", query.device, kDevicesMeaning);
    io("pid", query.pid, "only this process");
    io("type", query.type, "only this type");
    io("brief", query.brief, "cards without their blocks");
    io.limit("limit", query.limit, "maximum number of failures");
}

void fields(auto& io, Like<HoldersView> auto& holders) {
    io("device", holders.device, "the device");
    io("kind", holders.kind, "the kind of memory");
    io("by_process", holders.by_process, "the processes that hold most");
    io("by_name", holders.by_name, "the names that hold most");
}

void fields(auto& io, Like<FailureView> auto& view) {
    list_head(io, view);
    io("total", view.total, "failures that are kept and match");
    io.derived("left_out", view.left_out(), "failures that are not listed");
    io("counts", view.counts,
       "failures that match, since each process started; null where a device is asked for and not all are "
       "kept");
    io.rows("failures", view.failures,
            "the last first; each process keeps the first and the last few per type");
}

void fields(auto& io, Like<WhyView> auto& view) {
    fields(io, view.failures);
    io.rows("holders", view.holders,
            "the largest holders of each kind of memory that ran out, per device; of the failures of a user, "
            "the last 8 devices and kinds");
    io("kept_total", view.kept.total, "failures of processes that have ended, whose cards the daemon keeps");
    io("cards_lost", view.kept.lost, "cards that the daemon could not keep");
    io.unless_empty("cards_problem", view.kept.problem, "why the last of them was lost");
    io.rows("kept", view.kept.newest_first, "the last of these failures first, at most 64");
}

template struct UrlForm<FailureQuery>;
template struct JsonForm<FailureView>;
template struct JsonForm<WhyView>;

namespace {

std::vector<census::Group> largest_groups(const census::Census& census, const HoldersView& holders,
                                          census::GroupBy group) {
    census::GroupQuery query;
    query.device = std::to_string(holders.device);
    query.kind = holders.kind;
    query.group = group;
    query.limit = kMostHolders;
    auto page = census::list_groups(census, query);
    return page ? std::move(page->groups) : std::vector<census::Group>();
}

// For each device and kind that ran out, once. Each needs two scans of all ledgers, so a user has a share.
std::vector<HoldersView> holders_of(const std::vector<census::FailureFigures>& failures,
                                    const census::Census& census) {
    std::map<uint32_t, uint32_t> users;  // by pid
    for (const census::Process& process : census.processes) {
        users[process.identity.pid] = process.identity.uid;
    }
    std::map<uint32_t, size_t> shares;  // by user
    std::vector<HoldersView> result;
    for (const census::FailureFigures& failure : failures) {
        if (failure.type != census::FailureType::out_of_memory || !failure.kind || failure.devices.empty()) {
            continue;
        }
        HoldersView holders{failure.devices.front(), *failure.kind, {}, {}};
        const bool is_there = std::any_of(result.begin(), result.end(), [&](const HoldersView& one) {
            return one.device == holders.device && one.kind == holders.kind;
        });
        if (!is_there && ++shares[users[failure.pid]] <= kMostHoldersPerUser) {
            holders.by_process = largest_groups(census, holders, census::GroupBy::pid);
            holders.by_name = largest_groups(census, holders, census::GroupBy::name);
            result.push_back(std::move(holders));
        }
    }
    return result;
}

// Of processes that have ended, by the filters of the query.
KeptCards kept_cards(const Host& host, const FailureQuery& query, const std::vector<uint32_t>& devices) {
    const uint64_t limit = query.limit == 0 ? kMostKept : std::min(query.limit, kMostKept);
    const bool is_filtered = query.device || query.pid || query.type;
    KeptCards kept =
        host.kept_cards(is_filtered ? kMostKept : limit, query.brief ? 0 : census::kMostCardBlocks);
    if (!is_filtered) {
        return kept;
    }
    std::erase_if(kept.newest_first, [&](const KeptCard& card) {
        const std::vector<uint32_t>& of = card.failure.devices;
        const bool is_there = !query.device || std::any_of(of.begin(), of.end(), [&](uint32_t id) {
            return std::find(devices.begin(), devices.end(), id) != devices.end();
        });
        return !is_there || (query.pid && card.pid != *query.pid) ||
               (query.type && card.failure.type != *query.type);
    });
    kept.total = kept.newest_first.size();
    kept.newest_first.resize(std::min<size_t>(kept.newest_first.size(), limit));
    return kept;
}

}  // namespace

base::Expected<WhyView> Failures::answer(const Host& host, const FailureQuery& query) {
    auto visible = host.visible(query.pid, query.device);
    if (!visible) {
        return tl::unexpected(visible.error());
    }
    auto page = census::list_failures(visible->census, query);
    if (!page) {
        return tl::unexpected(std::move(page.error()));
    }
    // Holders are among all processes, also where the failures are those of one.
    if (query.pid) {
        census::share_scans(visible->census, std::nullopt);
        std::erase_if(visible->inexact, [](const census::Inexactness& reason) {
            return reason.reason == census::Reason::list_limit;
        });
        for (census::Inexactness& reason : census::beyond_shares(visible->census)) {
            visible->inexact.push_back(std::move(reason));
        }
    }
    WhyView view;
    view.holders = holders_of(page->failures, visible->census);
    view.kept = kept_cards(host, query, visible->devices);
    visible->describe(view.failures, host.origin());
    // A recording has a time of its own.
    const uint64_t now_ns = view.failures.origin.time_ns;
    for (census::FailureFigures& failure : page->failures) {
        failure.time_ns = now_ns - std::min(now_ns, failure.age_ns);
    }
    view.failures.total = page->total;
    view.failures.counts = std::move(page->counts);
    view.failures.failures = std::move(page->failures);
    return view;
}

}  // namespace ttmem::view
