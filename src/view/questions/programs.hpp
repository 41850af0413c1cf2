// SPDX-License-Identifier: Apache-2.0
#pragma once

// Programs with their circular buffers and kernels.

#include <algorithm>
#include <vector>

#include "census/programs.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

using census::ProgramQuery;

struct ProgramView {
    Origin origin;
    std::vector<census::Inexactness> inexact;
    uint64_t processes = 0;   // tracked ones, whatever the filters
    uint64_t total = 0;       // programs that match; the view has the largest of them
    uint64_t left_aside = 0;  // allocations in no program, because there are too many programs
    std::vector<census::ProgramFigures> programs;
    Hidden hidden = {};

    bool is_exact() const { return inexact.empty(); }
    uint64_t left_out() const { return total - std::min<uint64_t>(total, programs.size()); }
    bool operator==(const ProgramView&) const = default;
};

struct Programs {
    using Query = ProgramQuery;
    using View = ProgramView;
    static constexpr const char* kName = "programs";
    static constexpr const char* kCommand = "programs";
    static constexpr const char* kPath = "/v1/programs";
    static constexpr const char* kSummary = "programs with their circular buffers and kernels";
    static constexpr Permission kPermission = Permission::details;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

extern template struct UrlForm<ProgramQuery>;
extern template struct JsonForm<ProgramView>;

}  // namespace ttmem::view
