// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a daemon keeps on disk about the past, or a recording has of it, beside used bytes.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/named_enum.hpp"
#include "census/failures.hpp"
#include "census/kind.hpp"
#include "census/post_mortem.hpp"

namespace ttmem::view {

enum class PastMomentType : uint8_t { failure, mark, death };
constexpr auto enum_names(PastMomentType /*of*/) {
    return std::to_array<std::string_view>({"failure", "mark", "death"});
}

// Something that happened to a process. What its type does not have is absent.
struct PastMoment {
    uint64_t time_ns = 0;  // since the epoch
    PastMomentType type = PastMomentType::failure;
    uint32_t pid = 0;
    std::string comm;
    uint32_t uid = 0;
    std::string user;
    std::string name;  // where in the program; of a mark, its name
    std::optional<census::FailureType> failure;
    std::optional<census::Kind> kind;
    std::optional<uint64_t> requested;
    std::optional<uint64_t> card;  // the number of its failure card, if one was written
    std::optional<census::Ending> ending;

    bool operator==(const PastMoment&) const = default;
};

// A time without a daemon, of which nothing is known.
struct Downtime {
    uint64_t from_ns = 0;
    uint64_t to_ns = 0;

    bool operator==(const Downtime&) const = default;
};

// In one answer.
constexpr size_t kMostPastMoments = 1000;

struct KeptPast {
    std::vector<Downtime> downtimes;  // the oldest first
    std::vector<PastMoment> moments;  // the last of those that the asker may see, the oldest first
    uint64_t moments_left_out = 0;    // earlier ones
    uint64_t hidden_moments = 0;      // of other users' processes
    std::string problem;  // why the past is not kept now, or not all of it is read yet; empty: it is
    uint64_t lost = 0;    // what could not be written, since the daemon started

    bool operator==(const KeptPast&) const = default;
};

enum class HistoryState : uint8_t {
    off,      // by the configuration
    opening,  // the file is being checked
    kept,     // what happens is written
    stopped,  // it can't be written
};
constexpr auto enum_names(HistoryState /*of*/) {
    return std::to_array<std::string_view>({"off", "opening", "kept", "stopped"});
}
using base::name_of;

// The file in which a daemon keeps history.
struct HistoryFile {
    HistoryState state = HistoryState::off;
    std::string path;
    std::string problem;      // why it is stopped
    uint64_t bytes = 0;       // of the file and its log
    uint64_t most_bytes = 0;  // the limit
    uint64_t oldest_ns = 0;   // the beginning of the oldest run that it has, since the epoch; 0: none
    uint64_t lost = 0;      // samples, failures, marks and deaths that could not be written, since the start
    std::string set_aside;  // where a damaged file was put; empty: there was none

    bool operator==(const HistoryFile&) const = default;
};

}  // namespace ttmem::view
