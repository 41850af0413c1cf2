// SPDX-License-Identifier: Apache-2.0
#pragma once

// What grew in the last minute: bytes per name now, and then.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "census/figures.hpp"
#include "census/kind.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

// The first four are those of census::Filter.
struct GrowthQuery {
    std::optional<std::string> device = {};
    std::optional<uint32_t> pid = {};
    census::KindSet kind = {};
    std::string name = {};
    uint64_t limit = 0;  // 0: all

    bool operator==(const GrowthQuery&) const = default;
};

// Bytes are per device; a mesh allocation counts once.
struct NameGrowth {
    std::string name;
    census::Kind kind = census::Kind::dram;
    uint64_t before = 0;
    uint64_t now = 0;

    int64_t grown() const { return static_cast<int64_t>(now - before); }
    bool operator==(const NameGrowth&) const = default;
};

struct GrowthView {
    Origin origin;
    std::vector<census::Inexactness> inexact;
    uint64_t processes = 0;  // tracked ones, whatever the filters
    uint64_t span_ns = 0;    // the longest time between the two readings of a process
    uint64_t unsampled = 0;  // processes of which no earlier reading is known
    uint64_t total = 0;      // names whose bytes have changed
    std::vector<NameGrowth> names;
    Hidden hidden = {};

    bool is_exact() const { return inexact.empty(); }
    uint64_t left_out() const { return total - std::min<uint64_t>(total, names.size()); }
    bool operator==(const GrowthView&) const = default;
};

struct Growth {
    using Query = GrowthQuery;
    using View = GrowthView;
    static constexpr const char* kName = "growth";
    static constexpr const char* kCommand = "growth";
    static constexpr const char* kPath = "/v1/growth";
    static constexpr const char* kSummary = "what grew in the last minute, by name";
    static constexpr Permission kPermission = Permission::details;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

extern template struct UrlForm<GrowthQuery>;
extern template struct JsonForm<GrowthView>;

}  // namespace ttmem::view
