// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "census/ledger_scan.hpp"
#include "segment/reader.hpp"

namespace ttmem::census {

// Where a process lives, if not on the host itself.
struct Container {
    std::string runtime;             // "docker", "containerd", "podman", "cri-o"; "" where it is not known
    std::string id;                  // as long as the runtime writes it
    std::optional<std::string> pod;  // the pod's uid in Kubernetes

    bool operator==(const Container&) const = default;
};

// Who a process is, in the kernel's words: nothing here comes from what the process wrote itself.
struct Identity {
    uint32_t pid = 0;            // as this reader's pid namespace counts
    uint32_t inner_pid = 0;      // as the process's own namespace counts
    uint64_t start_time = 0;     // clock ticks since boot; with the pid it names a process for good
    uint64_t start_time_ns = 0;  // the same since the epoch
    uint32_t uid = 0;
    std::string user;  // the number where it has no name
    std::string comm;
    std::optional<Container> container = {};

    bool is_same_process(const Identity& other) const {
        return pid == other.pid && start_time == other.start_time;
    }
};

enum class State : uint8_t { live, dead };

// Where the word about a process comes from. One that several sources know counts once, by the first of these.
enum class Source : uint8_t { segment, classic, stock, driver };

// One process that says what it holds. Copies are of the same ledger: who still reads keeps it, whoever else lets it go.
struct Process {
    Process(Identity who, State is, segment::Reader reader)
        : identity(std::move(who)),
          state(is),
          ledger(std::make_shared<const segment::Reader>(std::move(reader))),
          scan(std::make_shared<LedgerScan>()) {}

    Identity identity;
    State state = State::live;
    std::shared_ptr<const segment::Reader> ledger;
    std::shared_ptr<LedgerScan> scan;
    Source source = Source::segment;
    bool is_older_than_ledger =
        false;  // it began before anybody could write one for it: what it held then is not known
};

}  // namespace ttmem::census
