// SPDX-License-Identifier: Apache-2.0
#pragma once

// What failed, why, and which allocations hold the memory that ran out.

#include <algorithm>
#include <vector>

#include "census/failures.hpp"
#include "census/groups.hpp"
#include "view/model/kept_card.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

using census::FailureQuery;

struct FailureView {
    Origin origin;
    uint64_t processes = 0;  // tracked ones, whatever the filters
    uint64_t total = 0;      // failures that are kept and match; the view has the last of them
    std::vector<census::FailureCounts> counts;
    std::vector<census::FailureFigures> failures;
    std::vector<census::Inexactness> inexact = {};
    Hidden hidden = {};

    bool is_exact() const { return inexact.empty(); }
    uint64_t left_out() const { return total - std::min<uint64_t>(total, failures.size()); }
    bool operator==(const FailureView&) const = default;
};

// The largest holders of a kind of memory that ran out.
struct HoldersView {
    uint32_t device = 0;
    census::Kind kind = census::Kind::dram;
    std::vector<census::Group> by_process;
    std::vector<census::Group> by_name;

    bool operator==(const HoldersView&) const = default;
};

struct WhyView {
    FailureView failures;
    std::vector<HoldersView> holders;
    KeptCards kept = {};  // of processes that have ended

    bool operator==(const WhyView&) const = default;
};

struct Failures {
    using Query = FailureQuery;
    using View = WhyView;
    static constexpr const char* kName = "failures";
    static constexpr const char* kCommand = "why";
    static constexpr const char* kPath = "/v1/failures";
    static constexpr const char* kSummary =
        "out-of-memory failures, clashes and unknown frees, with their causes";
    static constexpr Permission kPermission = Permission::details;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

extern template struct UrlForm<FailureQuery>;
extern template struct JsonForm<FailureView>;
extern template struct JsonForm<WhyView>;

}  // namespace ttmem::view
