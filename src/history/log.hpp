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

    // A new record with the next sequence number. The caller fills in the rest: a copy would cost more than all else.
    Record& add() {
        place_ = place_ + 1 == records_.size() ? 0 : place_ + 1;
        Record& kept = records_[place_];
        kept = Record();
        kept.sequence = ++newest_;
        return kept;
    }

    uint64_t newest() const { return newest_; }
    uint64_t oldest() const { return newest_ < records_.size() ? 1 : newest_ - records_.size() + 1; }

    // The record with that number, or null if it does not exist or was dropped.
    const Record* at(uint64_t sequence) const {
        if (sequence < oldest() || sequence > newest_) {
            return nullptr;
        }
        const uint64_t back = newest_ - sequence;
        return &records_[back <= place_ ? place_ - back : place_ + records_.size() - back];
    }

private:
    std::vector<Record> records_;
    size_t place_ = 0;  // of the newest record
    uint64_t newest_ = 0;
};

}  // namespace ttmem::history
