// SPDX-License-Identifier: Apache-2.0
#pragma once

// What grew from mark to mark: bytes per name at the moments that the processes marked (ttmem_mark).

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "census/figures.hpp"
#include "census/kind.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/inventory.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

constexpr uint64_t kLeastMarks = 3;

// The first four are those of census::Filter.
struct LeakQuery {
    std::optional<std::string> device = {};
    std::optional<uint32_t> pid = {};
    census::KindSet kind = {};
    std::string name = {};
    std::string mark_name = {};    // only marks with this name; empty: all
    uint64_t marks = kLeastMarks;  // that a name must have grown at, one after another
    uint64_t limit = 0;            // 0: all

    bool operator==(const LeakQuery&) const = default;
};

enum class LeakVerdict : uint8_t {
    growing,
    program_cache,  // circular buffers, kernels and what the runtime names so: each new program adds to it
    plateau,        // it grew, then stopped
};
constexpr auto enum_names(LeakVerdict /*of*/) {
    return std::to_array<std::string_view>({"growing", "program_cache", "plateau"});
}

// Bytes are per device; a mesh allocation counts once.
struct NameLeak {
    uint32_t pid = 0;
    std::string name;
    census::Kind kind = census::Kind::dram;
    LeakVerdict verdict = LeakVerdict::growing;
    uint64_t marks = 0;  // of the run in which it grew
    uint64_t first = 0;  // bytes at the first of them
    uint64_t last = 0;   // bytes at the last of them
    uint64_t since_age_ns = 0;
    std::optional<uint64_t> full_after_marks = {};
    std::optional<uint64_t> full_in_ns = {};

    uint64_t grown() const { return last - std::min(first, last); }
    uint64_t per_mark() const { return marks < 2 ? 0 : grown() / (marks - 1); }
    bool operator==(const NameLeak&) const = default;
};

struct LeakView {
    Origin origin;
    std::vector<census::Inexactness> inexact;
    uint64_t processes = 0;  // tracked ones, whatever the filters
    uint64_t marked = 0;     // processes with enough marks
    uint64_t unmarked = 0;   // the others
    uint64_t cut_marks = 0;  // marks that do not have all names
    uint64_t total = 0;
    std::vector<NameLeak> leaks;
    Hidden hidden = {};

    bool is_exact() const { return inexact.empty(); }
    bool is_growing() const {
        return std::any_of(leaks.begin(), leaks.end(),
                           [](const NameLeak& leak) { return leak.verdict == LeakVerdict::growing; });
    }
    uint64_t left_out() const { return total - std::min<uint64_t>(total, leaks.size()); }
    bool operator==(const LeakView&) const = default;
};

struct Leaks {
    using Query = LeakQuery;
    using View = LeakView;
    static constexpr const char* kName = "leaks";
    static constexpr const char* kCommand = "leaks";
    static constexpr const char* kPath = "/v1/leaks";
    static constexpr const char* kSummary = "what grew from mark to mark, by name";
    static constexpr Permission kPermission = Permission::details;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

// The same from marks of the host ('ttmem mark NAME'), the oldest first: for the processes of the last mark, each from its start on.
// Marks know devices by number. The name of the marks in the query does not matter: `marks` are those that have it.
base::Expected<LeakView> leaks_between(const std::vector<InventoryView>& marks, const LeakQuery& query,
                                       const Origin& now);

extern template struct UrlForm<LeakQuery>;
extern template struct JsonForm<LeakView>;

}  // namespace ttmem::view
