// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the daemon costs, and how well it keeps up.

#include <optional>
#include <string>
#include <vector>

#include "view/model/origin.hpp"
#include "view/model/past.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

struct SelfQuery {
    bool operator==(const SelfQuery&) const = default;
};

// What users may make the daemon hold, and what they do.
struct BudgetView {
    std::string name;
    uint64_t used = 0;           // by all users
    uint64_t largest_share = 0;  // of one user
    uint64_t per_user = 0;       // the limits
    uint64_t total = 0;
    uint64_t refused = 0;  // since the start

    bool operator==(const BudgetView&) const = default;
};

// The recorder of 'ttmemd --record'.
struct FlightRecorderView {
    std::string folder;
    bool is_recording = false;
    std::string problem;  // why it does not record; empty: there is none
    uint64_t failures = 0;
    uint64_t files = 0;
    uint64_t bytes = 0;
    uint64_t events = 0;
    uint64_t events_lost = 0;

    bool operator==(const FlightRecorderView&) const = default;
};

struct SelfView {
    Origin origin;
    std::string version;
    uint32_t pid = 0;
    uint64_t uptime_ns = 0;
    uint64_t cpu_ns = 0;
    uint64_t memory_bytes = 0;  // resident, without the segments of others
    uint64_t segment_bytes = 0;
    uint64_t processes = 0;
    uint64_t post_mortems = 0;
    uint64_t connections = 0;
    uint64_t events_followed = 0;
    uint64_t events_lost = 0;
    uint64_t events_per_second = 0;
    uint64_t lag_ns = 0;  // age of the oldest event when it was last read
    uint64_t audits = 0;
    uint64_t defects = 0;
    uint64_t log_lines_lost = 0;
    uint64_t processes_missed = 0;  // that ended before they could be attached
    uint64_t failed_tasks = 0;
    std::optional<FlightRecorderView> flight_recorder;  // absent: there is none
    HistoryFile history;
    std::vector<BudgetView> budgets;

    bool operator==(const SelfView&) const = default;
};

struct Self {
    using Query = SelfQuery;
    using View = SelfView;
    static constexpr const char* kName = "self";
    static constexpr const char* kCommand = "self";
    static constexpr const char* kPath = "/v1/self";
    static constexpr const char* kSummary = "what ttmemd costs and how well it keeps up";
    static constexpr Permission kPermission = Permission::totals;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

extern template struct UrlForm<SelfQuery>;
extern template struct JsonForm<SelfView>;

}  // namespace ttmem::view
