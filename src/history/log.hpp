// SPDX-License-Identifier: Apache-2.0
#pragma once

// The last things that happened on this host, numbered without holes. Bounded: the oldest go first. Who reads by number
// knows from the numbers what he missed.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "history/record.hpp"

namespace ttmem::history {

class Log {
public:
    explicit Log(size_t capacity) : records_(capacity) {}

    // Numbers the record and keeps it.
    void add(const Record& record) {
        Record& kept = records_[++newest_ % records_.size()];
        kept = record;
        kept.sequence = newest_;
    }

    uint64_t newest() const { return newest_; }
    uint64_t oldest() const { return newest_ < records_.size() ? 1 : newest_ - records_.size() + 1; }

    // The record of that number, or null where it is not there (any more).
    const Record* at(uint64_t sequence) const {
        return sequence < oldest() || sequence > newest_ ? nullptr : &records_[sequence % records_.size()];
    }

private:
    std::vector<Record> records_;
    uint64_t newest_ = 0;
};

}  // namespace ttmem::history
