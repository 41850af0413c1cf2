// SPDX-License-Identifier: Apache-2.0
#pragma once

// Used bytes over time.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "census/device_id_set.hpp"
#include "census/inexactness.hpp"
#include "census/kind.hpp"
#include "history/series.hpp"
#include "view/model/origin.hpp"
#include "view/model/past.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

struct HistoryQuery {
    census::DeviceIdSet device = {};
    census::KindSet kind = {};
    uint64_t since = 0;                  // ns since the epoch
    uint64_t step = 0;                   // seconds; 0: all samples
    std::optional<uint64_t> until = {};  // of samples, ns since the epoch

    bool operator==(const HistoryQuery&) const = default;
};

struct SeriesView {
    uint32_t device = 0;
    census::Kind kind = census::Kind::dram;
    std::vector<history::Sample> samples;  // used bytes

    bool operator==(const SeriesView&) const = default;
};

struct HistoryView {
    Origin origin;
    std::vector<SeriesView> series;
    uint64_t dropped = 0;  // series that are not kept: too many devices
    std::vector<census::Inexactness> inexact =
        {};  // of the figures that are sampled now, and what is not kept
    // Of the time since `since`. Empty where nothing is kept on disk.
    std::vector<Downtime> downtimes = {};
    std::vector<PastMoment> moments = {};  // the oldest first
    uint64_t moments_left_out = 0;
    uint64_t hidden_moments = 0;

    bool is_exact() const { return inexact.empty(); }
    bool operator==(const HistoryView&) const = default;
};

struct History {
    using Query = HistoryQuery;
    using View = HistoryView;
    static constexpr const char* kName = "history";
    static constexpr const char* kCommand = "history";
    static constexpr const char* kPath = "/v1/history";
    static constexpr const char* kSummary =
        "used bytes over time, also from before the daemon started, and what happened to processes";
    static constexpr Permission kPermission = Permission::totals;
    static base::Expected<View> answer(const Host& host, const Query& query);
    static base::Expected<std::function<std::string()>> pieces(const std::shared_ptr<const Host>& host,
                                                               const Query& query);
};

extern template struct UrlForm<HistoryQuery>;
extern template struct JsonForm<HistoryView>;

}  // namespace ttmem::view
