// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the regions that stock tt-metal has left on this host, and the processes that really stand behind their slots.
//
// A slot counts if all of this holds, else it is passed over:
//   - its pid is a process here, which can hold memory (liveness.hpp), and whose own namespace knows it by that number;
//   - that process did not begin after the slot's last update: else the pid is a dead one's, given to another since;
//   - that process may write into the file: else somebody made a file that speaks about others.
//
// What stays open: a process in a container that shares the folder with the host writes the pid of its own namespace. Here
// that number is nobody, or a stranger, and the stranger is told apart by the rules above and by nothing else. A pid that is
// given to a new process within a second after the slot's last update is taken for the old one, since the kernel tells the time
// of the boot, which start times are counted from, in whole seconds.
// Both times are the wall clock's: where somebody sets it, a slot may be passed over until its process updates it, or for as
// long as `proc` remembers the former time of the boot.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "census/totals_only.hpp"
#include "sources/proc.hpp"

namespace ttmem::sources::stock_region {

constexpr auto kDefaultFolder = "/dev/shm";

// Eight times what the largest host has. Anybody may make files there.
constexpr size_t kMostRegions = 256;

// Why something is in no figure.
struct Problem {
    std::optional<uint64_t> asic_id;  // absent: it is about all of them
    std::string text;                 // "stock region of ASIC 7: has version 99, and only 3 and 4 are known"
};

struct Found {
    std::vector<census::TotalsOnly>
        processes;                  // by pid; also those that hold 0 bytes, which have the device open
    std::vector<Problem> problems;  // by ASIC id
    size_t left_over_slots = 0;     // of processes that are gone
};

// Regions that are not set up yet are passed over in silence, and so are those that vanish meanwhile.
Found discover(const Proc& proc, const std::string& folder = kDefaultFolder);

// The ASIC id in the name of a region's file; nothing for the name of anything else.
std::optional<uint64_t> asic_id_of(std::string_view file_name);

// What open() said, in words.
Problem open_problem(uint64_t asic_id, int error);

}  // namespace ttmem::sources::stock_region
