// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether a request would fit on a device, in each allocator that has it, and what would make it fit.

#include <string>
#include <vector>

#include "allocator/tensor.hpp"
#include "census/figures.hpp"
#include "census/fit.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

using census::FitQuery;

struct FitView {
    Origin origin;
    std::vector<census::Inexactness> inexact;
    uint64_t processes = 0;  // tracked ones, whatever the filters
    uint32_t device = 0;
    FitQuery request = {};               // as asked
    allocator::TensorPages tensor = {};  // its pages
    std::vector<census::AllocatorFit> allocators = {};
    // Why allocators may be missing: processes on the device that can't be read, or not by this user.
    std::vector<std::string> unseen = {};
    Hidden hidden = {};

    // It fits if it fits in every allocator. It does not fit if one of them has no room, whatever the others have.
    census::FitAnswer answer() const;

    bool is_exact() const { return inexact.empty(); }
    bool operator==(const FitView&) const = default;
};

struct FitCheck {
    using Query = FitQuery;
    using View = FitView;
    static constexpr const char* kName = "fit";
    static constexpr const char* kCommand = "fit";
    static constexpr const char* kPath = "/v1/fit";
    static constexpr const char* kSummary =
        "whether a request would fit, at which address, or what would make it fit";
    static constexpr Permission kPermission = Permission::details;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

extern template struct UrlForm<FitQuery>;
extern template struct JsonForm<FitView>;

}  // namespace ttmem::view
