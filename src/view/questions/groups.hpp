// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sums of live allocations by name, process, kind and more.

#include <algorithm>
#include <optional>
#include <vector>

#include "census/groups.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

using census::GroupQuery;

struct GroupView {
    Origin origin;
    std::vector<census::Inexactness> inexact;
    uint64_t processes = 0;  // tracked ones, whatever the filters
    census::GroupBy group = census::GroupBy::name;
    uint64_t total = 0;        // groups there are; the view has the largest of them
    uint64_t allocations = 0;  // in all groups
    uint64_t ungrouped = 0;    // allocations in no group, because there are too many groups
    std::vector<census::Group> groups;
    Hidden hidden = {};
    std::optional<uint32_t> device = {};  // sums are those on this device only; absent: over all devices
    std::vector<uint32_t> devices = {};   // or over these, if the query has several

    // Each sum is of one device.
    bool is_per_device() const { return device.has_value() || group == census::GroupBy::device; }

    bool is_exact() const { return inexact.empty(); }
    uint64_t left_out() const { return total - std::min<uint64_t>(total, groups.size()); }
    bool operator==(const GroupView&) const = default;
};

struct Groups {
    using Query = GroupQuery;
    using View = GroupView;
    static constexpr const char* kName = "groups";
    static constexpr const char* kCommand = "allocations --group-by";
    static constexpr const char* kPath = "/v1/allocations";
    static constexpr const char* kSelector = "group";
    static constexpr const char* kSummary = "sums of live allocations";
    static constexpr Permission kPermission = Permission::details;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

extern template struct UrlForm<GroupQuery>;
extern template struct JsonForm<GroupView>;

}  // namespace ttmem::view
