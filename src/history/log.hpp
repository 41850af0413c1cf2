// SPDX-License-Identifier: Apache-2.0
#pragma once

// The last events of this host, with consecutive sequence numbers. The log is bounded and drops the oldest records.
// Readers detect missed records from gaps in the sequence numbers.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "history/record.hpp"

namespace ttmem::history {

class Log {
public:
    explicit Log(size_t capacity) : records_(capacity) {}

    // Assigns the next sequence number to the record.
    void add(const Record& record) {
        Record& kept = records_[++newest_ % records_.size()];
        kept = record;
        kept.sequence = newest_;
    }

    uint64_t newest() const { return newest_; }
    uint64_t oldest() const { return newest_ < records_.size() ? 1 : newest_ - records_.size() + 1; }

    // The record with that number, or null if it does not exist or was dropped.
    const Record* at(uint64_t sequence) const {
        return sequence < oldest() || sequence > newest_ ? nullptr : &records_[sequence % records_.size()];
    }

private:
    std::vector<Record> records_;
    uint64_t newest_ = 0;
};

}  // namespace ttmem::history
