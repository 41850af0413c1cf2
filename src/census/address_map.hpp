// SPDX-License-Identifier: Apache-2.0
#pragma once

// The address space of each allocator that contains a device, device by device, with the free blocks between the live ones. A map of L1
// also has what circular buffers occupy on one core. A map of circular buffers is of one program on one core.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "census/census.hpp"
#include "census/figures.hpp"
#include "census/free_space.hpp"
#include "census/kind.hpp"

namespace ttmem::census {

// A range of addresses in one bank. An allocation has the same address in every bank.
struct MapBlock {
    uint64_t address = 0;
    uint64_t bytes = 0;  // per bank
    bool is_free = false;
    // Absent for free blocks:
    std::optional<uint64_t> requested;  // in all banks; of a circular buffer: on one core
    std::optional<uint64_t> used;       // in all banks; of a circular buffer: on all its cores
    std::optional<uint64_t> owner;      // the runtime's id of the buffer or program
    std::optional<uint64_t> age_ns;
    std::optional<std::string> name;  // absent, too, if it has none
    // In a map of L1: the number of circular buffers that occupy the block. Programs share addresses, so there is one
    // block for all that overlap. Its owner, age and name are those of the buffer that ends highest.
    uint64_t circular_buffers = 0;

    bool operator==(const MapBlock&) const = default;
};

// The circular buffers of one program on one core.
struct CoreProgram {
    std::optional<uint64_t> program;  // the runtime's id; absent: not reported
    std::string name;                 // the name of its highest circular buffer
    uint64_t count = 0;
    uint64_t bytes = 0;  // on the core
    uint64_t top = 0;    // the end address of the highest one

    bool operator==(const CoreProgram&) const = default;
};

// The core that a map of L1 or of circular buffers shows.
struct MapCore {
    // The core that the query asks for, else the one with the highest circular buffer. Absent: there is no circular
    // buffer, or none whose cores are known.
    std::optional<Core> core;
    bool is_asked = false;                  // the query asks for it
    uint64_t bytes = 0;                     // circular buffers on the core, outside of L1 buffers
    std::optional<uint64_t> cb_top;         // the end address of the circular buffers; absent: none
    std::optional<uint64_t> lowest_buffer;  // the lowest L1 buffer of the process; absent: none
    std::optional<int64_t>
        headroom;                 // from cb_top to lowest_buffer or to the end of L1; negative for a clash
    uint64_t without_cores = 0;   // circular buffers on unknown cores: shown as if they were on this one
    uint64_t on_other_cores = 0;  // circular buffers that are not on this core
    std::vector<CoreProgram> programs;  // by top, descending
    uint64_t programs_left_out = 0;     // beyond the limit

    bool operator==(const MapCore&) const = default;
};

// The pool of one allocator on a requested device, or the circular buffers of one of its programs.
struct AddressMap {
    uint32_t device = 0;  // the requested device
    uint32_t pid = 0;
    std::string set;
    std::vector<uint32_t> devices;  // the devices that it keeps in lockstep
    Kind kind = Kind::dram;
    // Without banks the geometry is not known, and the map has no free blocks. For circular buffers: the part of L1
    // below the lowest buffer.
    Bank bank;
    std::optional<MapCore> core;  // of L1 and of circular buffers
    uint64_t used = 0;            // bytes per bank, without what circular buffers occupy in a map of L1
    std::optional<uint64_t> free;
    std::optional<uint64_t> largest_free;
    std::optional<uint64_t> largest_free_address;  // of the lowest of that size; absent: nothing is free
    std::vector<MapBlock> blocks;                  // by address
    // Live blocks of the window beyond the limit. The free blocks between them are left out too.
    uint64_t left_out = 0;

    bool operator==(const AddressMap&) const = default;
};

// The addresses that a map shows. Its figures are of the whole bank.
struct AddressWindow {
    std::optional<uint64_t> from;  // absent: the begin of the bank
    std::optional<uint64_t> to;    // the first address behind it; absent: the end of the bank

    bool overlaps(uint64_t begin, uint64_t end) const {
        return (!from || end > *from) && (!to || begin < *to);
    }
    bool operator==(const AddressWindow&) const = default;
};

struct MapQuery {
    std::string device = {};  // several as in split_device_list()
    std::optional<uint32_t> pid = {};
    // Kinds that have a pool, or circular buffers alone; empty: all pools that hold something.
    KindSet kind = {};
    std::string core = {};  // "x,y": only L1, or circular buffers, of this core; empty: of the fullest
    uint64_t limit = 0;     // live blocks per pool, and programs; 0: all
    AddressWindow window = {};

    bool operator==(const MapQuery&) const = default;
};

// The maximum number of live blocks of one process that a pass keeps. Further ones are left out.
constexpr uint64_t kMostMapBlocks = 250'000;

// The maximum number of live blocks in all maps of an answer whose query has a limit.
constexpr uint64_t kMostShownBlocks = 20'000;

// The core of a query: "3,4"; empty for any other text.
std::optional<Core> parse_core(std::string_view text);

struct DeviceMaps {
    // By device. Circular buffers: the program that reaches highest comes first.
    std::vector<AddressMap> maps;
    uint64_t left_out = 0;    // programs beyond the limit
    uint64_t left_aside = 0;  // circular buffers in no program, because there are too many
};

// Returns an error if a device, the process or the core does not exist, or if the kinds can't be shown together.
base::Expected<DeviceMaps> map_addresses(const Census& census, const MapQuery& asked);

}  // namespace ttmem::census
