// SPDX-License-Identifier: Apache-2.0
#pragma once

// A list of events as columns, one per field, each as differences from a similar event. Columns compress far better than rows:
// most differences of a real program are 0. A ledger is such a list too: one allocation per live slot.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "recording/byte_stream.hpp"
#include "segment/layout.hpp"

namespace ttmem::recording {

struct RecordedEvent {
    segment::EventType type = segment::EventType::allocate;
    uint64_t time_ns = 0;  // monotonic; a multiple of kTimeUnitNs after the first time of the block
    uint32_t slot = 0;     // of an allocation or free; of a failure its entry
    // It was read after a newer event of the same slot: it happened, and has no effect on the state.
    bool is_late = false;
    // Of an allocation: only what a ring record has is known. The reserved bytes are the requested ones.
    bool lacks_details = false;
    // Of an allocation; of a set its number; of a failure kind, set, name and requested bytes. `ticks` is not used.
    segment::Allocation allocation;
    segment::FailureType failure = segment::FailureType::out_of_memory;
};

// Appends events and writes them all at once. Order is kept.
class ColumnWriter {
public:
    explicit ColumnWriter(uint64_t first_ns) : last_time_(first_ns) {}

    void add(const RecordedEvent& event);
    uint64_t count() const { return count_; }
    // The time of the last event as a reader sees it.
    uint64_t last_ns() const { return last_time_; }
    void write(ByteWriter& to) const;

private:
    // The fields that allocations of one place in a program have in common.
    struct AllocationTemplate {
        uint64_t key[2] = {};

        bool operator==(const AllocationTemplate&) const = default;
    };
    struct TemplateHash {
        size_t operator()(const AllocationTemplate& one) const {
            return (one.key[0] * 0x9e37'79b9'7f4a'7c15 ^ one.key[1]) * 0xff51'afd7'ed55'8ccd >> 17;
        }
    };
    struct Previous {
        uint64_t requested = 0;
        uint64_t rounding = 0;  // reserved minus requested
        uint64_t address = 0;
    };

    void add_allocation(const RecordedEvent& event);

    uint64_t count_ = 0;
    uint64_t last_time_;
    uint32_t last_slot_ = 0;
    uint64_t last_owner_ = 0;
    std::unordered_map<AllocationTemplate, uint32_t, TemplateHash> templates_;
    std::vector<Previous> previous_;  // by template
    ByteWriter types_, times_, slots_, template_numbers_, template_fields_, requested_, rounding_, addresses_,
        owners_, others_;
};

// Reads hostile bytes. Call next() until it returns false; is_good() then says whether that was the end.
class ColumnReader {
public:
    ColumnReader(ByteReader& from, uint64_t first_ns);

    // Fills in the next event. The allocation of a free is empty: the state before it has it.
    bool next(RecordedEvent& event);
    bool is_good() const;
    uint64_t count() const { return count_; }

private:
    bool read_allocation(RecordedEvent& event);

    uint64_t count_ = 0;
    uint64_t left_ = 0;
    uint64_t last_time_;
    uint32_t last_slot_ = 0;
    uint64_t last_owner_ = 0;
    bool is_good_ = true;
    std::vector<segment::Allocation> previous_;  // by template
    ByteReader types_, times_, slots_, template_numbers_, template_fields_, requested_, rounding_, addresses_,
        owners_, others_;
};

}  // namespace ttmem::recording
