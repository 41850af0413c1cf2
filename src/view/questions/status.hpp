// SPDX-License-Identifier: Apache-2.0
#pragma once

// Devices and processes with their totals.

#include "census/figures.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

struct StatusQuery {
    bool scan = true;
    bool rss = false;  // it changes all the time, so streams do without

    bool operator==(const StatusQuery&) const = default;
};

struct View {
    Origin origin;
    census::Figures figures;

    bool is_exact() const { return figures.inexact.empty(); }
    bool operator==(const View&) const = default;
};

struct Status {
    using Query = StatusQuery;
    using View = view::View;
    static constexpr const char* kName = "status";
    static constexpr const char* kCommand = "status, ps, monitor";
    static constexpr const char* kPath = "/v1/status";
    static constexpr const char* kSummary = "devices and processes with their totals";
    static constexpr Permission kPermission = Permission::totals;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

extern template struct UrlForm<StatusQuery>;
extern template struct JsonForm<View>;

}  // namespace ttmem::view
