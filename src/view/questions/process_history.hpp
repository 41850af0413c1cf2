// SPDX-License-Identifier: Apache-2.0
#pragma once

// Used bytes of one process over time, from the disk of the daemon. It may have ended, also before the daemon started.

#include <string>
#include <vector>

#include "census/inexactness.hpp"
#include "census/kind.hpp"
#include "history/series.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

struct ProcessHistoryQuery {
    uint32_t pid = 0;
    census::KindSet kind = {};
    uint64_t since = 0;  // ns since the epoch
    uint64_t step = 0;   // seconds; 0: all samples

    bool operator==(const ProcessHistoryQuery&) const = default;
};

struct ProcessSeriesView {
    uint64_t start_time_ns = 0;
    std::string comm;
    uint32_t uid = 0;
    std::string user;
    census::Kind kind = census::Kind::dram;
    std::vector<history::Sample> samples;

    bool operator==(const ProcessSeriesView&) const = default;
};

struct ProcessHistoryView {
    Origin origin;
    uint32_t pid = 0;
    std::vector<census::Inexactness> inexact = {};
    std::vector<ProcessSeriesView> series = {};

    bool is_exact() const { return inexact.empty(); }
    bool operator==(const ProcessHistoryView&) const = default;
};

struct ProcessHistory {
    using Query = ProcessHistoryQuery;
    using View = ProcessHistoryView;
    static constexpr const char* kName = "process-history";
    static constexpr const char* kCommand = "history --pid PID";
    static constexpr const char* kPath = "/v1/history";
    static constexpr const char* kSelector = "pid";
    static constexpr const char* kSummary =
        "used bytes of one process over time, over all its devices, from the disk of the daemon";
    static constexpr Permission kPermission = Permission::totals;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

extern template struct UrlForm<ProcessHistoryQuery>;
extern template struct JsonForm<ProcessHistoryView>;

}  // namespace ttmem::view
