// SPDX-License-Identifier: Apache-2.0
#pragma once

// The moments that processes marked (ttmem_mark), for a time line.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "census/inexactness.hpp"
#include "view/model/hidden.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

struct MarkQuery {
    std::optional<uint32_t> pid = {};
    uint64_t limit = 0;  // 0: all

    bool operator==(const MarkQuery&) const = default;
};

struct MarkView {
    uint32_t pid = 0;
    uint64_t number = 0;   // 1: the first mark of the process
    uint64_t time_ns = 0;  // since the epoch
    std::string name;

    bool operator==(const MarkView&) const = default;
};

struct MarkListView {
    Origin origin;
    std::vector<census::Inexactness> inexact;
    uint64_t processes = 0;  // tracked ones, whatever the filters
    uint64_t total = 0;      // marks that processes made, also those that are not kept
    std::vector<MarkView> moments;
    Hidden hidden = {};

    bool is_exact() const { return inexact.empty(); }
    uint64_t left_out() const { return total - std::min<uint64_t>(total, moments.size()); }
    bool operator==(const MarkListView&) const = default;
};

struct MarkList {
    using Query = MarkQuery;
    using View = MarkListView;
    static constexpr const char* kName = "marks";
    static constexpr const char* kPath = "/v1/marks";
    static constexpr const char* kSummary = "moments that processes marked, the newest first";
    static constexpr Permission kPermission = Permission::details;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

extern template struct UrlForm<MarkQuery>;
extern template struct JsonForm<MarkListView>;

}  // namespace ttmem::view
