// SPDX-License-Identifier: Apache-2.0
#pragma once

// What goes into history.db.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "census/kind.hpp"
#include "census/post_mortem.hpp"
#include "census/process.hpp"
#include "view/model/past.hpp"

namespace ttmem::daemon {

constexpr int64_t kNobody = -1;  // in place of a uid

// The pid and the start time of a process.
using ProcessStart = std::pair<uint32_t, uint64_t>;

// Used bytes by kind; absent: nothing of the kind was ever used.
using KindValues = std::array<std::optional<uint64_t>, census::kDeviceKinds>;

struct DeviceRow {
    uint32_t device = 0;
    std::optional<uint64_t> asic_id;
    int64_t charged_to = kNobody;
    census::Kind kind = census::Kind::dram;
    uint64_t used = 0;
};

struct ProcessRow {
    census::Identity process;
    KindValues used;
};

struct MomentRow {
    census::Identity process;
    view::PastMoment moment;
};

// How much of a process was read: by type of failure, and marks.
using SeenCounts = std::array<uint64_t, 4>;

struct SeenRow {
    census::Identity process;
    SeenCounts seen{};
};

struct DeathRow {
    census::Identity process;
    census::PostMortem post_mortem;
    std::string document;
};

// How a process ended, as it is known later.
struct EndingRow {
    census::Identity process;
    census::Ending ending = census::Ending::not_known;
    std::optional<int> code;
};

struct HistoryBatch {
    std::vector<DeviceRow> devices;
    std::vector<ProcessRow> processes;
    std::vector<MomentRow> moments;
    std::vector<SeenRow> seen;
    std::vector<DeathRow> deaths;
    std::vector<EndingRow> endings;
    // When the time began whose highest values devices and processes have, on the clock of TwoClocks; absent: they have none.
    std::optional<uint64_t> sampled_boot_ns;

    bool is_empty() const {
        return moments.empty() && seen.empty() && deaths.empty() && endings.empty() && !sampled_boot_ns;
    }
};

// Two clocks read together.
struct TwoClocks {
    uint64_t boot_ns = 0;   // counts while the host sleeps, and never goes back
    uint64_t epoch_ns = 0;  // jumps if the wall clock is set

    static TwoClocks now();
};

}  // namespace ttmem::daemon
