// SPDX-License-Identifier: Apache-2.0
#pragma once

// The processes of the status, from counters alone.

#include <optional>
#include <vector>

#include "census/device_id_set.hpp"
#include "census/figures.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

struct ProcessQuery {
    std::optional<uint32_t> pid = {};
    census::DeviceIdSet device = {};

    bool operator==(const ProcessQuery&) const = default;
};

struct ProcessView {
    Origin origin;
    std::vector<census::Inexactness> inexact;
    std::vector<census::ProcessFigures> processes;
    std::optional<uint64_t> processes_missed = {};

    bool is_exact() const { return inexact.empty(); }
    bool operator==(const ProcessView&) const = default;
};

struct Processes {
    using Query = ProcessQuery;
    using View = ProcessView;
    static constexpr const char* kName = "processes";
    static constexpr const char* kPath = "/v1/processes";
    static constexpr const char* kSummary = "the processes of the status, from counters";
    static constexpr Permission kPermission = Permission::totals;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

extern template struct UrlForm<ProcessQuery>;
extern template struct JsonForm<ProcessView>;

}  // namespace ttmem::view
