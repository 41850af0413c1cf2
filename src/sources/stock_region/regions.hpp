// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the regions that stock tt-metal left on this host, and the live processes that their slots belong to.
//
// A slot counts if all of the following holds:
//   - its pid is a process here that can hold memory (liveness.hpp) and has the same pid in its own namespace;
//   - that process did not start after the slot's last update. Otherwise the pid was reused;
//   - that process belongs to the owner of the file. Otherwise anybody could make a file that says what others hold.
//
// A slot that fails the last rule alone is a claim: it is reported with its author and adds to no figure. Stock tt-metal
// makes its files with mode 0600, so honest claims are rare: root's processes in the file of a user, and files that an
// administrator opened to several users. Who opens its file to others trusts them with the figures of its own processes.
//
// Known limits. A process in a container that shares the folder with the host writes the pid of its own namespace. On
// the host, that pid does not exist or belongs to an unrelated process, which only the rules above can exclude. If a
// pid is reused within a second after the slot's last update, the new process is mistaken for the old one, because the
// kernel reports the boot time, which start times are relative to, in whole seconds. Both times are wall-clock times.
// After the clock is set, a slot may be skipped until its process updates it, or for as long as `proc` caches the
// former boot time.

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

// Any user may create files in this folder, so each has a share. A region per chip of the largest host is 32.
constexpr size_t kMostRegionsPerUser = 64;
constexpr size_t kMostRegions = 1024;
constexpr size_t kMostFolderEntries = 16'384;
// Live processes that the regions of one user may name.
constexpr size_t kMostProcessesPerUser = 256;
// Further claims of a user are summed.
constexpr size_t kMostClaimsPerUser = 16;

// The reason why some memory is missing from the figures.
struct Problem {
    std::optional<uint64_t> asic_id;  // absent: applies to all regions
    std::string text;                 // "stock region of ASIC 7: has version 99, and only 3 and 4 are known"
};

// A region says what a process of another user holds.
struct StockClaim {
    uint32_t author = 0;       // the owner of the region
    std::string author_name;   // the uid if it has no name
    census::Identity process;  // of another user
    uint64_t asic_id = 0;
    uint64_t bytes = 0;  // of all kinds

    std::string text() const;  // "user x's stock region of ASIC 7 claims 64 bytes for process 1"
};

// The claims of one author beyond kMostClaimsPerUser.
struct FurtherClaims {
    std::string author_name;
    size_t count = 0;
    uint64_t bytes = 0;

    std::string text() const;
};

struct FoundTotals {
    // By pid. Includes processes that hold 0 bytes, because they have the device open.
    std::vector<census::TotalsOnly> processes;
    std::vector<Problem> problems;   // by ASIC id
    std::vector<StockClaim> claims;  // by author, ASIC id and pid
    std::vector<FurtherClaims> further_claims;
    size_t left_over_slots = 0;  // of processes that have ended
};

// Silently skips regions that are not set up yet or vanish during the scan.
FoundTotals discover(const Proc& proc, const std::string& folder = kDefaultFolder);

// The ASIC id in the file name of a region, or nothing for any other name.
std::optional<uint64_t> asic_id_of(std::string_view file_name);

// Describes an errno of open().
Problem open_problem(uint64_t asic_id, int error);

}  // namespace ttmem::sources::stock_region
