// SPDX-License-Identifier: Apache-2.0
#pragma once

// A follower of the rings that keeps state, as a recording would: it starts from a scan of the ledger, applies an event
// only if its generation is newer than what it knows, and scans again after a gap. It may be late, slow, or away for a
// while; once the segment is quiet and it has looked again, it knows the truth.

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

    // Takes in all events since the last look.
    void look(const segment::Reader& reader);

    // Events that were there when it began: neither kept nor lost.
    uint64_t before() const { return before_; }
    uint64_t kept() const { return cursor_.kept(); }
    uint64_t lost() const { return cursor_.lost(); }
    uint64_t scans() const { return scans_; }

    // What an event tells of an allocation: set, kind, address, requested.
    using Known = std::tuple<uint8_t, segment::Kind, uint64_t, uint64_t>;
    std::vector<Known> live() const;
    static std::vector<Known> known_of(const std::vector<Live>& live);

    // Called for each event that is kept.
    std::function<void(uint32_t line, const segment::Event&)> on_event;

private:
    struct Slot {
        uint64_t generation = 0;
        Known known;
    };
    void scan(const segment::Reader& reader);
    void apply(const segment::Event& event);

    segment::Cursor cursor_;
    std::map<uint32_t, Slot> slots_;
    uint64_t before_ = 0;
    uint64_t scans_ = 0;
};

}  // namespace ttmem::test
