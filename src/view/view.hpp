// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one model that every face shows, and nothing beside it. As JSON (view/json.hpp) it is the contract with scripts;
// as text (view/text.hpp) it is what people read.

#include <cstdint>
#include <string>
#include <vector>

#include "census/allocations.hpp"
#include "census/figures.hpp"

namespace ttmem::view {

constexpr uint32_t kSchema = 1;  // fields are added, never renamed

// Where and when the figures were taken, and by whom: "direct" or "daemon".
struct Origin {
    std::string host;
    uint64_t time_ns = 0;  // since the epoch
    std::string source;

    bool operator==(const Origin&) const = default;
};

// The host now, for figures that this process has just read itself.
Origin read_here();

struct View {
    Origin origin;
    census::Figures figures;

    bool is_exact() const { return figures.inexact.empty(); }
    bool operator==(const View&) const = default;
};

// A page of the list of live allocations.
struct AllocationView {
    Origin origin;
    std::vector<census::Inexactness> inexact;
    uint64_t processes = 0;  // tracked ones, whatever was asked for
    uint64_t total = 0;      // allocations that match; the page has the largest of them
    std::vector<census::LiveAllocation> allocations;

    bool is_exact() const { return inexact.empty(); }
    uint64_t left_out() const { return total - allocations.size(); }
    bool operator==(const AllocationView&) const = default;
};

}  // namespace ttmem::view
