// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is held by name at two moments, and the difference.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/named_enum.hpp"
#include "census/kind.hpp"
#include "view/json/json.hpp"
#include "view/model/origin.hpp"

namespace ttmem::view {

// What one process holds under one name on the same devices. Bytes are per device; a mesh allocation counts once.
struct HeldSum {
    uint32_t pid = 0;
    uint64_t start_time_ns = 0;
    std::string name;  // empty: it has none
    census::Kind kind = census::Kind::dram;
    std::vector<uint32_t> devices;
    uint64_t used = 0;

    bool operator==(const HeldSum&) const = default;
};

enum class DiffVerdict : uint8_t { came, grew, shrank, gone };
constexpr auto enum_names(DiffVerdict /*of*/) {
    return std::to_array<std::string_view>({"came", "grew", "shrank", "gone"});
}
using base::name_of;

struct NameDifference {
    std::optional<uint32_t> pid;  // absent: the two have no process in common
    std::string name;
    census::Kind kind = census::Kind::dram;
    std::vector<uint32_t> devices;
    uint64_t before = 0;
    uint64_t after = 0;

    int64_t change() const { return static_cast<int64_t>(after - before); }
    DiffVerdict verdict() const {
        return before == 0  ? DiffVerdict::came
               : after == 0 ? DiffVerdict::gone
                            : (after > before ? DiffVerdict::grew : DiffVerdict::shrank);
    }
    bool operator==(const NameDifference&) const = default;
};

// What changed, the largest growth first. Processes are told apart if any is in both lists; else the lists are of two runs, and
// names are compared over all processes.
std::vector<NameDifference> compare_sums(const std::vector<HeldSum>& before,
                                         const std::vector<HeldSum>& after);

struct DiffSide {
    std::string what;  // as the user wrote it
    std::string host;
    uint64_t time_ns = 0;
    uint64_t used = 0;  // the sum of the names that were asked for

    bool operator==(const DiffSide&) const = default;
};

struct DiffView {
    Origin origin;
    DiffSide a;
    DiffSide b;
    bool is_of_peaks = false;          // of two reports
    std::vector<std::string> inexact;  // why something may be missing
    uint64_t total = 0;                // names that changed
    std::vector<NameDifference> changes;

    bool is_growing() const;
    uint64_t left_out() const { return total - std::min<uint64_t>(total, changes.size()); }
    bool operator==(const DiffView&) const = default;
};

// The table for pull requests.
std::string diff_markdown(const DiffView& view);

extern template struct JsonForm<DiffView>;

}  // namespace ttmem::view
