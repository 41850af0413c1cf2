// SPDX-License-Identifier: Apache-2.0
#pragma once

// What to change: settings that peaks and failures suggest, memory that is large and was held long, fragmentation, and chips that
// differ.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/named_enum.hpp"
#include "census/failures.hpp"
#include "census/figures.hpp"
#include "view/model/origin.hpp"
#include "view/model/run.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

struct AdviceQuery {
    bool operator==(const AdviceQuery&) const = default;
};

enum class AdviceTopic : uint8_t { l1_small_size, trace_region_size, fragmentation, held_long, imbalance };
constexpr auto enum_names(AdviceTopic /*of*/) {
    return std::to_array<std::string_view>(
        {"l1_small_size", "trace_region_size", "fragmentation", "held_long", "imbalance"});
}
using base::name_of;

struct AdviceItem {
    AdviceTopic topic = AdviceTopic::l1_small_size;
    std::vector<uint32_t> devices = {};
    std::optional<uint32_t> pid = {};
    std::string name = {};
    std::optional<uint64_t> value = {};  // of the setting
    std::string text = {};               // what to do, and why

    bool operator==(const AdviceItem&) const = default;
};

struct AdviceView {
    Origin origin;
    std::vector<census::Inexactness> inexact;
    uint64_t processes = 0;
    std::vector<AdviceItem> advice;
    Hidden hidden = {};

    bool is_exact() const { return inexact.empty(); }
    bool operator==(const AdviceView&) const = default;
};

// What peaks and failures say. `small_banks` has the devices of which it is known.
std::vector<AdviceItem> advise_on(const census::Figures& figures,
                                  const std::vector<census::FailureFigures>& failures,
                                  const std::vector<SmallBanks>& small_banks);

struct Advice {
    using Query = AdviceQuery;
    using View = AdviceView;
    static constexpr const char* kName = "advice";
    static constexpr const char* kCommand = "advise";
    static constexpr const char* kPath = "/v1/advice";
    static constexpr const char* kSummary = "settings and names that peaks and failures suggest to change";
    static constexpr Permission kPermission = Permission::details;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

extern template struct UrlForm<AdviceQuery>;
extern template struct JsonForm<AdviceView>;

}  // namespace ttmem::view
