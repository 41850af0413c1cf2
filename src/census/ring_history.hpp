// SPDX-License-Identifier: Apache-2.0
#pragma once

// All rings of a segment, read to the present once or several times, and the time since when no record is missing.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "segment/reader.hpp"

namespace ttmem::census {

class RingHistory {
public:
    // At most half of `most` are records that exist now. The rest is for those that are written meanwhile.
    RingHistory(const segment::Reader& ledger, uint64_t most);

    template <class Take>  // void(const segment::Event&)
    void read(const Take& take) {
        const uint64_t kept = cursor_.kept();
        ledger_.follow(
            cursor_,
            [&](uint32_t line, const segment::Event& event) {
                note(line, event.ticks);
                take(event);
            },
            left_);
        left_ -= std::min(left_, cursor_.kept() - kept);
    }

    // Marks what an earlier look at the writers has and read() has not reached.
    void expect(const std::vector<segment::WriterState>& writers);

    uint64_t missing() const;

    // All records after this time are known; absent if none is missing. A missing record may be as old as the oldest known one.
    std::optional<uint64_t> reach() const;

private:
    struct RingCoverage {
        uint64_t skipped = 0;
        uint64_t unread = 0;
        uint64_t lost = 0;                    // when `oldest` was read
        std::optional<uint64_t> oldest = {};  // ticks of the oldest record after the last gap
    };

    RingCoverage& coverage(uint32_t line);
    void note(uint32_t line, uint64_t ticks);

    const segment::Reader& ledger_;
    uint64_t left_;
    segment::Cursor cursor_;
    std::vector<RingCoverage> lines_;
};

}  // namespace ttmem::census
