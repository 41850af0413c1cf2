// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the peak of each process was made of, by name.

#include <optional>
#include <vector>

#include "census/figures.hpp"
#include "census/peak_contents.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

using census::PeakQuery;

struct PeakView {
    Origin origin;
    std::vector<census::Inexactness> inexact;
    uint64_t processes = 0;  // tracked ones, whatever the filters
    census::Kind kind = census::Kind::dram;
    std::optional<uint32_t> device = {};  // absent: all device sets
    std::vector<census::ProcessPeak> peaks;
    Hidden hidden = {};

    bool is_exact() const { return inexact.empty(); }
    bool operator==(const PeakView&) const = default;
};

struct PeakContents {
    using Query = PeakQuery;
    using View = PeakView;
    static constexpr const char* kName = "peak";
    static constexpr const char* kCommand = "peak";
    static constexpr const char* kPath = "/v1/peak";
    static constexpr const char* kSummary = "what the peak of each process was made of, by name";
    static constexpr Permission kPermission = Permission::details;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

extern template struct UrlForm<PeakQuery>;
extern template struct JsonForm<PeakView>;

}  // namespace ttmem::view
