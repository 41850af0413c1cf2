// SPDX-License-Identifier: Apache-2.0
#pragma once

// What each process holds now, by name, kind and devices: what 'ttmem mark' keeps and 'ttmem diff' compares.

#include <string>
#include <vector>

#include "census/figures.hpp"
#include "view/model/diff.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

struct InventoryQuery {
    std::string mark = {};  // of the processes themselves (ttmem_mark); empty: now

    bool operator==(const InventoryQuery&) const = default;
};

// A pool of a device, over all processes.
struct HeldPool {
    uint32_t device = 0;
    census::Kind kind = census::Kind::dram;
    uint64_t capacity = 0;
    uint64_t used = 0;

    bool operator==(const HeldPool&) const = default;
};

struct InventoryView {
    Origin origin;  // with the time of the mark
    std::vector<census::Inexactness> inexact;
    uint64_t processes = 0;  // tracked ones
    uint64_t unread = 0;     // of them, those with more names than are read
    std::vector<HeldSum> sums;
    std::vector<HeldPool> pools =
        {};  // of which the capacity is known; none at a mark of the processes themselves
    Hidden hidden = {};

    bool is_exact() const { return inexact.empty() && unread == 0; }
    bool operator==(const InventoryView&) const = default;
};

struct Inventory {
    using Query = InventoryQuery;
    using View = InventoryView;
    static constexpr const char* kName = "inventory";
    static constexpr const char* kCommand = "mark";
    static constexpr const char* kPath = "/v1/inventory";
    static constexpr const char* kSummary = "what each process holds, by name, kind and devices";
    static constexpr Permission kPermission = Permission::details;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

extern template struct UrlForm<InventoryQuery>;
extern template struct JsonForm<InventoryView>;

}  // namespace ttmem::view
