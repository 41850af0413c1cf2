// SPDX-License-Identifier: Apache-2.0
#pragma once

// The card of a failure: what the bank that refused a request held at that moment. Its process wrote it before anything was
// unwound, so it also holds after the process has freed all of it, and after its death. Ages are relative to the failure.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/named_enum.hpp"
#include "census/address_map.hpp"
#include "census/card_ways.hpp"
#include "census/figures.hpp"
#include "census/kind.hpp"
#include "census/ways_out.hpp"
#include "segment/layout.hpp"

namespace ttmem::segment {

constexpr auto enum_names(NoCard /*of*/) {
    return std::to_array<std::string_view>({"not_written", "too_soon", "no_host_memory", "too_many"});
}

}  // namespace ttmem::segment

namespace ttmem::census {

using segment::NoCard;

struct SelectedLedger;

enum class PlacementDirection : uint8_t { bottom_up, top_down };
constexpr auto enum_names(PlacementDirection /*of*/) {
    return std::to_array<std::string_view>({"bottom_up", "top_down"});
}

// What was asked for. Unreported values are absent.
struct CardRequest {
    uint64_t requested = 0;             // bytes on one device; of a clash on one core
    std::optional<uint64_t> needed;     // bytes in one bank
    std::optional<uint64_t> page;       // bytes of a page
    std::optional<uint64_t> banks;      // over which the pages were to be spread
    std::optional<uint64_t> alignment;  // of a page in its bank
    std::optional<PlacementDirection> direction;

    bool operator==(const CardRequest&) const = default;
};

// One bank of the allocator that refused, of L1 for a clash.
struct CardBank {
    Kind kind = Kind::dram;
    Bank bank;          // without banks: the geometry is not known
    uint64_t used = 0;  // by the allocations of the card, without circular buffers
    uint64_t free = 0;  // as the allocator said
    std::optional<uint64_t> largest_free;
    uint64_t allocations = 0;  // live in it, also those that the card lacks

    bool operator==(const CardBank&) const = default;
};

struct CardHolder {
    std::string name;   // empty: it has none
    uint64_t used = 0;  // bytes in all banks
    uint64_t count = 0;

    bool operator==(const CardHolder&) const = default;
};

// The program whose circular buffers clash.
struct CardProgram {
    std::string name;  // of its highest circular buffer
    std::optional<Core> core;
    std::vector<MapBlock> circular_buffers;  // on that core, by address
    std::vector<Core> cores;                 // where its circular buffers reach into L1 buffers
    std::optional<MapBlock> blocker;         // the buffer in the way

    bool operator==(const CardProgram&) const = default;
};

enum class CardEventType : uint8_t { allocation, free, set_opened, set_closed, failure };
constexpr auto enum_names(CardEventType /*of*/) {
    return std::to_array<std::string_view>({"allocation", "free", "set_opened", "set_closed", "failure"});
}
using base::name_of;

struct CardEvent {
    CardEventType type = CardEventType::allocation;
    uint64_t age_ns = 0;  // before the failure
    std::optional<Kind> kind;
    std::optional<uint64_t> address;
    std::optional<uint64_t> requested;
    std::string name;

    bool operator==(const CardEvent&) const = default;
};

struct FailureCard {
    uint64_t number = 0;  // of the cards of its process
    // False: the process had more than 4,096 allocations in the bank. The card has the blocks around the largest free
    // ones, the largest and the youngest.
    bool is_complete = true;
    CardRequest request;
    CardBank bank;
    std::optional<CardProgram> program;  // of a clash
    std::vector<CardHolder> holders;     // the names that held most
    std::vector<MapBlock> youngest;
    std::vector<MapBlock> around;   // the map around the largest free block, or around the buffer in the way
    std::vector<CardEvent> events;  // the last ones of the thread, the oldest first
    std::optional<WaysOut>
        fix;             // what would have made the request fit; of part of the map if `is_complete` is false
    std::string no_fix;  // why nothing can be proposed
    std::vector<MapBlock> blocks;  // by address, with the free ones
    uint64_t blocks_left_out = 0;

    bool operator==(const FailureCard&) const = default;
};

// Lists at most `most_blocks` blocks.
FailureCard describe_card(const segment::CardContents& card, const SelectedLedger& ledger,
                          const OtherPools& others, uint64_t most_blocks);

// A core of a clash; absent: not known.
std::optional<Core> core_of(const segment::Failure& failure);

}  // namespace ttmem::census
