// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one model that every face shows, and nothing beside it. As JSON (view/json.hpp) it is the contract with scripts;
// as text (view/text.hpp) it is what people read.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "census/address_map.hpp"
#include "census/allocations.hpp"
#include "census/cores.hpp"
#include "census/failures.hpp"
#include "census/figures.hpp"
#include "census/groups.hpp"
#include "census/post_mortem.hpp"
#include "census/programs.hpp"

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
    uint64_t total = 0;      // allocations that match
    std::vector<census::LiveAllocation> allocations;
    uint64_t left_out = 0;                 // of those that match, how many come after this page
    std::optional<std::string> next = {};  // the cursor of the next page; absent: this is the last
    census::Sort sort = census::Sort::used;

    bool is_exact() const { return inexact.empty(); }
    bool operator==(const AllocationView&) const = default;
};

// What is live, in groups.
struct GroupView {
    Origin origin;
    std::vector<census::Inexactness> inexact;
    uint64_t processes = 0;  // tracked ones, whatever was asked for
    census::GroupBy group = census::GroupBy::name;
    uint64_t total = 0;        // groups there are; the view has the largest of them
    uint64_t allocations = 0;  // in all groups
    uint64_t ungrouped = 0;    // of them, those that are in no group, as these are too many
    std::vector<census::Group> groups;

    bool is_exact() const { return inexact.empty(); }
    uint64_t left_out() const { return total - std::min<uint64_t>(total, groups.size()); }
    bool operator==(const GroupView&) const = default;
};

// The programs that hold circular buffers and kernels.
struct ProgramView {
    Origin origin;
    std::vector<census::Inexactness> inexact;
    uint64_t processes = 0;   // tracked ones, whatever was asked for
    uint64_t total = 0;       // programs that match; the view has the largest of them
    uint64_t left_aside = 0;  // allocations of programs beyond what one pass keeps: they are in none
    std::vector<census::ProgramFigures> programs;

    bool is_exact() const { return inexact.empty(); }
    uint64_t left_out() const { return total - std::min<uint64_t>(total, programs.size()); }
    bool operator==(const ProgramView&) const = default;
};

// Who is where on one device.
struct MapView {
    Origin origin;
    std::vector<census::Inexactness> inexact;
    uint64_t processes = 0;  // tracked ones, whatever was asked for
    std::string device;      // as it was asked for
    std::vector<census::AddressMap> maps;

    bool is_exact() const { return inexact.empty(); }
    bool operator==(const MapView&) const = default;
};

// L1 of one device, core by core.
struct CoreView {
    Origin origin;
    std::vector<census::Inexactness> inexact;
    uint64_t processes = 0;  // tracked ones, whatever was asked for
    std::string device;      // as it was asked for
    census::CoreGrid grid;

    bool is_exact() const { return inexact.empty(); }
    bool operator==(const CoreView&) const = default;
};

// What did not work.
struct FailureView {
    Origin origin;
    uint64_t processes = 0;  // tracked ones, whatever was asked for
    uint64_t total = 0;      // failures that are kept and match; the view has the last of them
    std::vector<census::FailureCounts> counts;
    std::vector<census::FailureFigures> failures;

    uint64_t left_out() const { return total - std::min<uint64_t>(total, failures.size()); }
    bool operator==(const FailureView&) const = default;
};

// Who holds a kind of memory that ran out, in groups by name and process, the largest first.
struct HoldersView {
    std::string device;
    census::Kind kind = census::Kind::dram;
    std::vector<census::Group> by_process;
    std::vector<census::Group> by_name;

    bool operator==(const HoldersView&) const = default;
};

// What did not work, and who is in the way.
struct WhyView {
    FailureView failures;
    std::vector<HoldersView> holders;

    bool operator==(const WhyView&) const = default;
};

// The processes that died while somebody watched.
struct PostMortemListView {
    Origin origin;
    uint64_t dropped = 0;                                 // older ones that are no longer kept
    std::vector<census::PostMortemSummary> post_mortems;  // the last first

    bool operator==(const PostMortemListView&) const = default;
};

struct PostMortemView {
    Origin origin;
    census::PostMortem post_mortem;

    bool operator==(const PostMortemView&) const = default;
};

}  // namespace ttmem::view
