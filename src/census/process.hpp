// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/named_enum.hpp"
#include "census/ledger_scan.hpp"
#include "segment/reader.hpp"

namespace ttmem::census {

// The container of a process.
struct Container {
    std::string runtime;             // "docker", "containerd", "podman", "cri-o"; "" if unknown
    std::string id;                  // as the runtime writes it
    std::optional<std::string> pod;  // the Kubernetes uid of the pod

    bool operator==(const Container&) const = default;
};

// The identity of a process according to the kernel. No value comes from the process itself.
struct Identity {
    uint32_t pid = 0;        // in the pid namespace of this reader
    uint32_t inner_pid = 0;  // in the pid namespace of the process
    // Clock ticks since boot. The pid and the start time identify a process permanently.
    uint64_t start_time = 0;
    uint64_t start_time_ns = 0;  // nanoseconds since the epoch
    uint32_t uid = 0;            // effective
    std::string user;            // the uid if it has no name
    std::string comm;
    std::optional<Container> container = {};
    // Its real, effective and saved uids are the same. A set-user-id program has several.
    bool has_one_uid = true;

    bool is_same_process(const Identity& other) const {
        return pid == other.pid && start_time == other.start_time;
    }
};

enum class ProcessState : uint8_t {
    live,
    dead,
    untracked,  // has devices open but reports nothing
};
constexpr auto enum_names(ProcessState /*of*/) {
    return std::to_array<std::string_view>({"live", "dead", "untracked"});
}

// The source of a process's figures. A process with several sources counts once, by the first of these.
enum class ProcessSource : uint8_t { segment, classic, stock, driver };
constexpr auto enum_names(ProcessSource /*of*/) {
    return std::to_array<std::string_view>({"segment", "classic", "stock", "driver"});
}
using base::name_of;

// When a process was there, as places in one order of arrivals and ends. By default it was always there.
struct Lifetime {
    uint64_t arrived = 0;
    std::optional<uint64_t> ended = {};  // absent: it has not ended, or nobody knows when
};

// One process that reports its allocations. Copies share the ledger, which exists until the last copy is destroyed.
struct Process {
    Process(Identity who, ProcessState is, segment::Reader reader)
        : identity(std::move(who)),
          state(is),
          ledger(std::make_shared<const segment::Reader>(std::move(reader))),
          scan(std::make_shared<LedgerScan>()) {}

    Identity identity;
    ProcessState state = ProcessState::live;
    std::shared_ptr<const segment::Reader> ledger;
    std::shared_ptr<LedgerScan> scan;
    ProcessSource source = ProcessSource::segment;
    // It started before its ledger existed, so its earlier allocations are not known.
    bool is_older_than_ledger = false;
    // Root made its segment, and it has another user now.
    bool has_changed_user = false;
    // Its ledger is empty, because only its counters are known: a moment of a recording of another user's process.
    bool has_only_totals = false;
    // A process whose end is known here holds nothing any more: its memory is in no sum of a device.
    Lifetime lifetime = {};
    // The asker may not see its details: it counts in totals, and lists leave it out.
    bool is_hidden = false;
    // How much of its ledger lists read (census/scan_shares.hpp), and whether that is nothing because its user's share is used up.
    uint64_t slots_to_scan = UINT64_MAX;
    bool is_beyond_share = false;
};

}  // namespace ttmem::census
