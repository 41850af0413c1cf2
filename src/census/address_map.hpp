// SPDX-License-Identifier: Apache-2.0
#pragma once

// The address space of each allocator that contains a device, with the free blocks between the live ones.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "census/census.hpp"
#include "census/free_space.hpp"
#include "census/kind.hpp"

namespace ttmem::census {

// A range of addresses in one bank. An allocation has the same address in every bank.
struct MapBlock {
    uint64_t address = 0;
    uint64_t bytes = 0;  // per bank
    bool is_free = false;
    // Set for live blocks only:
    uint64_t requested = 0;  // in all banks
    uint64_t used = 0;       // in all banks
    uint64_t owner = 0;
    uint64_t age_ns = 0;
    std::string name;

    bool operator==(const MapBlock&) const = default;
};

// The pool of one allocator on the requested device.
struct AddressMap {
    uint32_t pid = 0;
    std::string set;
    std::vector<uint32_t> devices;  // the devices that it keeps in lockstep
    Kind kind = Kind::dram;
    // Without banks the geometry is not known, and the map has no free blocks.
    Bank bank;
    uint64_t used = 0;  // bytes per bank
    std::optional<uint64_t> free;
    std::optional<uint64_t> largest_free;
    std::vector<MapBlock> blocks;  // by address
    // Live blocks beyond the limit. The free blocks between them are left out too.
    uint64_t left_out = 0;

    bool operator==(const AddressMap&) const = default;
};

struct MapQuery {
    std::string device = {};
    std::optional<uint32_t> pid = {};
    std::optional<Kind> kind = {};  // a kind that has a pool; absent: all pools that hold something
    uint64_t limit = 0;             // live blocks per pool; 0: all

    bool operator==(const MapQuery&) const = default;
};

// The maximum number of live blocks of one process that a pass keeps. Further ones are left out.
constexpr uint64_t kMostMapBlocks = 250'000;

// The maximum number of live blocks in all maps of an answer whose query has a limit.
constexpr uint64_t kMostShownBlocks = 20'000;

// Returns an error if the device or the process does not exist, or if the kind has no address space.
base::Expected<std::vector<AddressMap>> map_addresses(const Census& census, const MapQuery& query);

}  // namespace ttmem::census
