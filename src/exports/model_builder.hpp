// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a model: notes the beginning and the end of each allocation, and resolves names, sets and devices.

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "census/census.hpp"
#include "exports/model.hpp"
#include "segment/reader.hpp"

namespace ttmem::exports {

class ModelBuilder;

// The allocations of one process.
class SpanTracker {
public:
    SpanTracker(ModelBuilder& builder, const census::Process& process);

    void begin(uint32_t slot, const segment::Allocation& allocation, uint64_t time_ns);
    void end(uint32_t slot, uint64_t time_ns);
    void end_all(uint64_t time_ns);
    // A set was opened: what was known about this number is another one's.
    void forget_set(uint8_t set) { sets_[set].reset(); }
    // Begins what the ledger has and is not known, and ends what it lacks. Events until the time of the ledger may come after it.
    void reconcile(const segment::Reader& ledger, uint64_t time_ns);

    // From now on names, failures and marks come from this ledger of the same process.
    void read_from(segment::Reader ledger) {
        process_.ledger = std::make_shared<const segment::Reader>(std::move(ledger));
    }

    const census::Process& process() const { return process_; }
    uint32_t number() const { return number_; }  // of the process in the model

private:
    friend class ModelBuilder;

    uint32_t set_of(uint8_t set);
    uint32_t name_of(uint32_t name);
    uint32_t cores_of(uint16_t core_set);

    ModelBuilder* builder_;
    census::Process process_;
    uint32_t number_;
    std::unordered_map<uint32_t, AllocationSpan> live_;  // by slot
    std::unordered_set<uint32_t> in_ledger_;             // slots that are as in the last ledger
    std::unordered_map<uint32_t, uint32_t> names_;
    std::unordered_map<uint32_t, uint32_t> cores_;
    std::array<std::optional<uint32_t>, 256> sets_;
};

// Of a recording: what its processes, which keep only some of them, had in its time.
struct RecordedMoments {
    std::vector<ExportedMark> marks;
    uint64_t first_ns = 0;  // of the recording
    uint64_t failures = 0;
};

class ModelBuilder {
public:
    // Beyond `most` allocations that are freed, the export begins later: the oldest are left out.
    ModelBuilder(std::shared_ptr<census::DeviceIds> ids, std::shared_ptr<const census::Driver> driver,
                 uint64_t most)
        : ids_(std::move(ids)), driver_(std::move(driver)), most_(most) {}

    // The tracker lives as long as this.
    SpanTracker& add(const census::Process& process);
    ExportModel& model() { return model_; }
    // Moves all allocations into the model, and adds failures and marks of all processes. Without a recording the marks are those
    // that the processes keep.
    ExportModel finish(std::optional<RecordedMoments> recorded = std::nullopt);

private:
    friend class SpanTracker;

    uint32_t add_name(const std::string& name);
    uint32_t device_with(uint32_t id, const ttmem_device_info& info);
    void keep(const AllocationSpan& span);
    void add_failures(const std::optional<RecordedMoments>& recorded);
    void add_kept_marks();
    void sort_devices();

    std::shared_ptr<census::DeviceIds> ids_;
    std::shared_ptr<const census::Driver> driver_;
    uint64_t most_;
    ExportModel model_;
    std::deque<SpanTracker> trackers_;
    std::deque<AllocationSpan> ended_;  // by end
    uint64_t left_out_ = 0;
    std::unordered_map<std::string, uint32_t> names_;
    std::map<uint32_t, uint32_t> devices_;  // index by id
};

}  // namespace ttmem::exports
