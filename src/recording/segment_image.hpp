// SPDX-License-Identifier: Apache-2.0
#pragma once

// A segment that shows a past moment of a process. Everything that reads the segment of a living process reads it too: totals,
// lists, maps, failures and rings. Times in it are nanoseconds of the monotonic clock of the recorded host.

#include <cstdint>
#include <memory>
#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "recording/columns.hpp"
#include "recording/tables.hpp"
#include "segment/reader.hpp"
#include "segment/segment_writer.hpp"
#include "segment/writer.hpp"

namespace ttmem::recording {

class SegmentImage {
public:
    // An empty one. Its ring has the last `ring_records` events that were applied.
    static base::Expected<SegmentImage> make(uint32_t pid, uint64_t start_time, uint32_t slots,
                                             uint32_t ring_records);

    // Events of unknown slots and sets are ignored.
    void apply(const RecordedEvent& event);
    void apply(const TableEntry& entry);

    // Makes the ledger that of a block: all allocations of the block and no others. No ring has events of it.
    class LedgerUpdate;

    // The highest used bytes of a pool: what the process counted.
    void set_peak(uint32_t pool, uint64_t bytes);

    // Makes the counters of all pools 0. For a process of which only totals are recorded: entries of totals set them.
    void clear_totals();

    bool has_device(uint32_t index);

    // Used bytes of a kind over all sets.
    uint64_t used(segment::AllocationKind kind) const;

    // A reader of this segment at a moment. It may outlive the image.
    base::Expected<segment::Reader> reader(uint64_t now_ns) const;

private:
    using LoudWriter = segment::BasicEventWriter<segment::OneWriterTraits>;
    using QuietWriter = segment::BasicEventWriter<segment::QuietTraits>;

    SegmentImage(base::Descriptor file, std::shared_ptr<void> mapping, const segment::Sizes& sizes,
                 uint32_t pid, uint64_t start_time);

    bool use_slot(uint32_t slot);
    template <class Writer>
    void allocate(Writer& writer, const RecordedEvent& event);
    template <class Writer>
    void free(Writer& writer, uint32_t slot, uint64_t time_ns);
    void set_totals(uint32_t pool, const segment::PoolTotals& totals);
    void apply_card(const TableEntry& entry);
    void apply_mark(const TableEntry& entry);

    base::Descriptor file_;
    std::shared_ptr<void> mapping_;
    segment::Sizes sizes_;
    segment::SegmentWriter writer_;
    LoudWriter loud_;
    QuietWriter quiet_;
};

class SegmentImage::LedgerUpdate {
public:
    explicit LedgerUpdate(SegmentImage& image) : image_(image) {}

    // In the order of the slots.
    void add(const RecordedEvent& allocation);
    void finish();

private:
    void free_until(uint32_t slot);

    SegmentImage& image_;
    uint32_t next_ = 0;
};

}  // namespace ttmem::recording
