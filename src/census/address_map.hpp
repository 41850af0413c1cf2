// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who is where: the address space of each allocator that a device is in, with the free blocks between what is live.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "census/census.hpp"
#include "census/free_space.hpp"
#include "census/kind.hpp"

namespace ttmem::census {

// What lies in a bank from one address on. An allocation takes the same place in each bank.
struct MapBlock {
    uint64_t address = 0;
    uint64_t bytes = 0;  // in one bank
    bool is_free = false;
    // Of what is live:
    uint64_t requested = 0;  // in all banks
    uint64_t used = 0;       // in all banks
    uint64_t owner = 0;
    uint64_t age_ns = 0;
    std::string name;

    bool operator==(const MapBlock&) const = default;
};

// One allocator's pool on the device that was asked for.
struct AddressMap {
    uint32_t pid = 0;
    std::string set;
    std::vector<uint32_t> devices;  // that it keeps in lockstep
    Kind kind = Kind::dram;
    Bank bank;          // without banks: nothing is known of it, and then there are no free blocks either
    uint64_t used = 0;  // bytes in one bank
    std::optional<uint64_t> free;
    std::optional<uint64_t> largest_free;
    std::vector<MapBlock> blocks;  // by address
    uint64_t left_out = 0;  // live blocks beyond the limit: the free ones between them are left out too

    bool operator==(const AddressMap&) const = default;
};

struct MapQuery {
    std::string device = {};
    std::optional<uint32_t> pid = {};
    std::optional<Kind> kind = {};  // of those that have a pool; absent: all that something lies in
    uint64_t limit = 0;             // live blocks of one pool; 0: all
};

// Blocks of one pool that are kept in one pass.
constexpr uint64_t kMostMapBlocks = 1'000'000;

// An error where the device or the process asked for is not there, or the kind has no addresses of its own.
base::Expected<std::vector<AddressMap>> map_addresses(const Census& census, const MapQuery& query);

}  // namespace ttmem::census
