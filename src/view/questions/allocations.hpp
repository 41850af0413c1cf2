// SPDX-License-Identifier: Apache-2.0
#pragma once

// Live allocations, page by page.

#include <optional>
#include <string>
#include <vector>

#include "census/allocations.hpp"
#include "census/figures.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

using census::AllocationQuery;

struct AllocationView {
    Origin origin;
    std::vector<census::Inexactness> inexact;
    uint64_t processes = 0;  // tracked ones, whatever the filters
    uint64_t total = 0;      // allocations that match
    std::vector<census::LiveAllocation> allocations;
    uint64_t left_out = 0;                 // matching allocations after this page
    std::optional<std::string> next = {};  // the cursor of the next page; absent: this is the last
    census::Sort sort = census::Sort::used;
    Hidden hidden = {};

    bool is_exact() const { return inexact.empty(); }
    bool operator==(const AllocationView&) const = default;
};

struct Allocations {
    using Query = AllocationQuery;
    using View = AllocationView;
    static constexpr const char* kName = "allocations";
    static constexpr const char* kCommand = "allocations";
    static constexpr const char* kPath = "/v1/allocations";
    static constexpr const char* kSummary = "live allocations, the largest first";
    static constexpr Permission kPermission = Permission::details;
    static base::Expected<View> answer(const Host& host, const Query& query);

    // What is still wanted after a page, if anything.
    static std::optional<Query> next_page(const Query& query, const View& view);
    static void append(View& view, View page);
};

extern template struct UrlForm<AllocationQuery>;
extern template struct JsonForm<AllocationView>;

}  // namespace ttmem::view
