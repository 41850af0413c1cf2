// SPDX-License-Identifier: Apache-2.0
#include "census/device_claims.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <iterator>
#include <string_view>
#include <tuple>

#include "census/device_facts.hpp"

namespace ttmem::census {

namespace {

bool has_geometry(const ttmem_device_info& info) {
    return std::any_of(std::begin(info.memory), std::end(info.memory),
                       [](const auto& m) { return m.banks != 0; });
}

// A process that closed the device, or does not know its memory, has no say beside one that has it open and does.
auto weight_of(const DeviceClaim& claim) { return std::tuple(has_geometry(*claim.info), claim.is_open); }

bool is_older(const DeviceClaim& a, const DeviceClaim& b) {
    return std::tuple(a.start_time, a.pid) < std::tuple(b.start_time, b.pid);
}

std::string_view board_of(const ttmem_device_info& info) {
    return {info.board, strnlen(info.board, sizeof info.board)};
}

// An unknown value differs from none. The driver names the variant of a card ("p150a", "galaxy-wormhole"), a process
// perhaps only the card.
bool differs_from_driver(const ttmem_device_info& info, const DriverDevice* driver) {
    if (driver == nullptr) {
        return false;
    }
    const uint32_t arch = driver->arch ? arch_by_name(*driver->arch) : uint32_t{TTMEM_ARCH_UNKNOWN};
    const std::string_view board = board_of(info);
    return (info.arch != TTMEM_ARCH_UNKNOWN && arch != TTMEM_ARCH_UNKNOWN && info.arch != arch) ||
           (driver->board && !driver->board->starts_with(board) && !board.starts_with(*driver->board));
}

bool descriptions_differ(const ttmem_device_info& a, const ttmem_device_info& b) {
    bool result = (a.arch != TTMEM_ARCH_UNKNOWN && b.arch != TTMEM_ARCH_UNKNOWN && a.arch != b.arch) ||
                  (!board_of(a).empty() && !board_of(b).empty() && board_of(a) != board_of(b));
    for (size_t kind = 0; kind < kPoolKinds; ++kind) {
        const size_t index = memory_info_index(static_cast<Kind>(kind));
        const std::optional<uint64_t> one = capacity_of(a.memory[index]);
        const std::optional<uint64_t> other = capacity_of(b.memory[index]);
        result = result || (one && other && *one != *other);
    }
    return result;
}

// The oldest claim of each user among those with the most weight, the oldest first.
std::vector<DeviceClaim> one_per_user(const std::vector<DeviceClaim>& claims) {
    const auto heaviest = std::max_element(
        claims.begin(), claims.end(),
        [](const DeviceClaim& a, const DeviceClaim& b) { return weight_of(a) < weight_of(b); });
    std::vector<DeviceClaim> result;
    for (const DeviceClaim& claim : claims) {
        if (weight_of(claim) != weight_of(*heaviest)) {
            continue;
        }
        const auto same = std::find_if(result.begin(), result.end(),
                                       [&](const DeviceClaim& other) { return other.uid == claim.uid; });
        if (same == result.end()) {
            result.push_back(claim);
        } else if (is_older(claim, *same)) {
            *same = claim;
        }
    }
    std::sort(result.begin(), result.end(), is_older);
    return result;
}

// The first claim that most of the others agree with.
const DeviceClaim& most_agreed(const std::vector<DeviceClaim>& claims) {
    assert(!claims.empty());
    const DeviceClaim* best = nullptr;
    ptrdiff_t most = 0;
    for (const DeviceClaim& claim : claims) {
        const ptrdiff_t agreeing = std::count_if(claims.begin(), claims.end(), [&](const DeviceClaim& other) {
            return !descriptions_differ(*claim.info, *other.info);
        });
        if (agreeing > most) {
            best = &claim;
            most = agreeing;
        }
    }
    assert(best != nullptr);  // each claim agrees with itself
    return *best;
}

}  // namespace

DeviceDecision decide(const std::vector<DeviceClaim>& claims, const DriverDevice* driver) {
    if (claims.empty()) {
        return {};
    }
    const std::vector<DeviceClaim> users = one_per_user(claims);
    std::vector<DeviceClaim> confirmed;
    std::copy_if(users.begin(), users.end(), std::back_inserter(confirmed),
                 [&](const DeviceClaim& claim) { return !differs_from_driver(*claim.info, driver); });
    const DeviceClaim& chosen = most_agreed(confirmed.empty() ? users : confirmed);
    DeviceDecision decision{chosen.info, std::nullopt};
    for (const DeviceClaim& claim : users) {
        const bool is_with_driver = differs_from_driver(*claim.info, driver);
        if (!is_with_driver && !descriptions_differ(*claim.info, *chosen.info)) {
            continue;
        }
        if (!decision.dispute) {
            decision.dispute = DeviceDispute{claim.pid, is_with_driver, 0};
        }
        ++decision.dispute->users;
    }
    return decision;
}

}  // namespace ttmem::census
