// SPDX-License-Identifier: Apache-2.0
#pragma once

// The memory of programs: circular buffers and kernels, which a runtime keeps while the program is in its cache.

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

// One program on one device set. Byte counts are per device.
struct ProgramFigures {
    uint32_t pid = 0;
    std::optional<uint64_t> program;  // the runtime's id; absent: not reported
    std::string name;                 // the name of its first named allocation
    std::vector<uint32_t> devices;
    std::string set;
    uint64_t cb_requested = 0;  // bytes per core, over all its circular buffers
    uint64_t cb_used = 0;       // bytes over all cores
    uint64_t cb_count = 0;
    uint64_t cb_views = 0;            // on the memory of L1 buffers; add no bytes
    std::optional<uint64_t> cb_top;   // the end address of its highest circular buffer
    std::optional<Core> cb_top_core;  // one core of that buffer
    std::array<uint64_t, kKernelTypes.size()> kernel_by_type{};
    uint64_t kernel_count = 0;
    uint64_t age_ns = 0;  // age of its oldest live allocation

    uint64_t used() const;  // circular buffers and kernels
    bool operator==(const ProgramFigures&) const = default;
};

struct ProgramQuery {
    std::optional<std::string> device = {};
    std::optional<uint32_t> pid = {};
    std::string name = {};  // a part of the full name of an allocation
    uint64_t limit = 0;     // 0: all

    bool operator==(const ProgramQuery&) const = default;
};

// The maximum number of programs per set and pass. Allocations of further programs count as `left_aside`.
constexpr size_t kMostPrograms = 65'536;

struct ProgramPage {
    std::vector<ProgramFigures> programs;  // by used bytes, descending
    uint64_t total = 0;
    uint64_t left_aside = 0;
};

// The runtime's id of the program of a circular buffer or kernel. tt-metal's first program has the id 0, and a reporter may
// give the largest number to what belongs to none. In reports by address, the owner of a circular buffer is its own id, and
// the program is not reported.
constexpr uint64_t kNoProgram = UINT64_MAX - 1;
uint64_t program_of(const segment::Allocation& a);

// Returns an error if the device or the process does not exist.
base::Expected<ProgramPage> list_programs(const Census& census, const ProgramQuery& query);

}  // namespace ttmem::census
