// SPDX-License-Identifier: Apache-2.0
#pragma once

// L1 of one device, core by core.

#include <string>
#include <vector>

#include "census/cores.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

struct CoreQuery {
    std::string device = {};

    bool operator==(const CoreQuery&) const = default;
};

struct CoreView {
    Origin origin;
    std::vector<census::Inexactness> inexact;
    uint64_t processes = 0;  // tracked ones, whatever the filters
    uint32_t device = 0;
    census::CoreGrid grid;
    Hidden hidden = {};

    bool is_exact() const { return inexact.empty(); }
    bool operator==(const CoreView&) const = default;
};

struct Cores {
    using Query = CoreQuery;
    using View = CoreView;
    static constexpr const char* kName = "cores";
    static constexpr const char* kCommand = "cores";
    static constexpr const char* kPath = "/v1/cores";
    static constexpr const char* kSummary = "L1 of a device, core by core";
    static constexpr Permission kPermission = Permission::details;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

extern template struct UrlForm<CoreQuery>;
extern template struct JsonForm<CoreView>;

}  // namespace ttmem::view
