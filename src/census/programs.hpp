// SPDX-License-Identifier: Apache-2.0
#pragma once

// What programs hold: circular buffers and kernels, which a runtime keeps for as long as the program lives in its cache.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "census/census.hpp"
#include "census/figures.hpp"
#include "census/kind.hpp"

namespace ttmem::census {

// One program on one device set. Bytes are those on each device of the set.
struct ProgramFigures {
    uint32_t pid = 0;
    std::optional<uint64_t> program;  // the runtime's id; absent: whoever reported it told none
    std::string name;                 // of its first allocation that has one
    std::vector<uint32_t> devices;
    std::string set;
    uint64_t cb_requested = 0;  // bytes on one core, of all its circular buffers
    uint64_t cb_used = 0;       // on all their cores
    uint64_t cb_count = 0;
    uint64_t cb_views = 0;            // on memory of L1 buffers: add none
    std::optional<uint64_t> cb_top;   // the address where its highest circular buffer ends
    std::optional<Core> cb_top_core;  // a core of that one
    std::array<uint64_t, kKernelTypes.size()> kernel_by_type{};
    uint64_t kernel_count = 0;
    uint64_t age_ns = 0;  // since its first allocation that is live

    uint64_t used() const;  // circular buffers and kernels
    bool operator==(const ProgramFigures&) const = default;
};

struct ProgramQuery {
    std::optional<std::string> device = {};
    std::optional<uint32_t> pid = {};
    std::string name = {};  // a part of the full name of an allocation
    uint64_t limit = 0;     // 0: all
};

// Programs on one set that are kept in one pass; the allocations of others are counted in `left_aside`.
constexpr size_t kMostPrograms = 65'536;

struct ProgramPage {
    std::vector<ProgramFigures> programs;  // by used bytes, the most first
    uint64_t total = 0;
    uint64_t left_aside = 0;
};

// An error where the device or the process asked for is not there.
base::Expected<ProgramPage> list_programs(const Census& census, const ProgramQuery& query);

}  // namespace ttmem::census
