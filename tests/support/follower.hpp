// SPDX-License-Identifier: Apache-2.0
#pragma once

// A follower of the rings that keeps state, as a recording would. It starts from a scan of the ledger, applies an event
// only if its generation is newer than the known one, and scans again after a gap. It may start late, be slow, or
// pause. Once the segment is quiet and it has read again, its state equals the ledger.

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "segment/reader.hpp"
#include "tests/support/oracle.hpp"

namespace ttmem::test {

class Follower {
public:
    enum class Start { from_the_beginning, from_now };
    Follower(const segment::Reader& reader, Start start);

    // Processes all events since the last call.
    void follow(const segment::Reader& reader);

    // Events that existed before it started, which are neither kept nor lost.
    uint64_t before() const { return before_; }
    uint64_t kept() const { return cursor_.kept(); }
    uint64_t lost() const { return cursor_.lost(); }
    uint64_t scans() const { return scans_; }

    // The facts that an event has about an allocation: set, kind, address, requested.
    using KnownAllocation = std::tuple<uint8_t, segment::AllocationKind, uint64_t, uint64_t>;
    std::vector<KnownAllocation> live() const;
    static std::vector<KnownAllocation> known_of(const std::vector<Live>& live);

    // Called for each kept event.
    std::function<void(uint32_t line, const segment::Event&)> on_event;

private:
    struct Slot {
        uint64_t generation = 0;
        KnownAllocation known;
    };
    void scan(const segment::Reader& reader);
    void apply(const segment::Event& event);

    segment::Cursor cursor_;
    std::map<uint32_t, Slot> slots_;
    uint64_t before_ = 0;
    uint64_t scans_ = 0;
};

}  // namespace ttmem::test
