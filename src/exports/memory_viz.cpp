// SPDX-License-Identifier: Apache-2.0
//
// A memory snapshot for pytorch.org/memory_viz. That viewer knows devices with one address space each. So there is one index per
// chip, pool and allocator that holds something in it, and sizes are those in one bank.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/text.hpp"
#include "exports/formats.hpp"
#include "exports/value_writer.hpp"

namespace ttmem::exports {

namespace {

// One address space: a pool of a chip, as one allocator gives it away.
struct AddressSpace {
    uint32_t set = 0;  // the allocator
    uint32_t device = 0;
    census::Kind kind = census::Kind::dram;
    std::vector<uint32_t> spans;
};

class SnapshotWriter {
public:
    SnapshotWriter(const ExportModel& model, ValueWriter& to) : model_(model), to_(to) { find_spaces(); }

    Notes write() {
        to_.begin_dict();
        to_.key("segments");
        to_.begin_list();
        for (size_t i = 0; i < spaces_.size(); ++i) {
            write_segment(i);
        }
        to_.end_list();
        to_.key("device_traces");
        to_.begin_list();
        for (const AddressSpace& space : spaces_) {
            write_trace(space);
        }
        to_.end_list();
        write_settings();
        to_.end_dict();
        to_.finish();
        Notes notes;
        if (outside_ != 0) {
            notes.push_back(base::format_count(outside_, "live allocation is", "live allocations are") +
                            " left out: it overlaps another, or lies outside of its bank");
        }
        if (no_bank_ != 0) {
            notes.push_back(base::format_count(no_bank_, "allocation is", "allocations are") +
                            " left out: no bank is known");
        }
        return notes;
    }

private:
    void find_spaces() {
        std::map<std::tuple<uint32_t, census::Kind, uint32_t>, AddressSpace> spaces;
        for (uint32_t i = 0; i < model_.spans.size(); ++i) {
            const AllocationSpan& span = model_.spans[i];
            if (census::index_of(span.kind) >= census::kPoolKinds || !span.adds_bytes()) {
                continue;  // circular buffers, kernels and views are in no pool
            }
            for (const uint32_t device : model_.sets[span.set].devices) {
                if (!bank_of(device, span.kind).is_known()) {
                    ++no_bank_;
                    continue;
                }
                AddressSpace& space = spaces[{device, span.kind, span.set}];
                space.device = device;
                space.kind = span.kind;
                space.set = span.set;
                space.spans.push_back(i);
            }
        }
        for (auto& [key, space] : spaces) {
            spaces_.push_back(std::move(space));
        }
    }

    const census::Bank& bank_of(uint32_t device, census::Kind kind) const {
        return model_.devices[device].banks[census::index_of(kind)];
    }

    uint64_t requested_per_bank(const AllocationSpan& span, const census::Bank& bank) const {
        return census::in_one_bank(span.allocation.requested, bank);
    }

    void write_frames(const AllocationSpan& span) {
        to_.key("frames");
        to_.begin_list();
        std::vector<std::string> scopes = scopes_of(model_.names[span.name]);
        std::reverse(scopes.begin(), scopes.end());  // the innermost first
        scopes.push_back(model_.processes[span.process].title());
        for (const std::string& scope : scopes) {
            to_.begin_dict();
            to_.field("filename", name_of(span.kind));
            to_.field("line", 0);
            to_.field("name", scope);
            to_.end_dict();
        }
        to_.end_list();
    }

    void write_block(uint64_t address, uint64_t size, const AllocationSpan* span, const census::Bank& bank) {
        to_.begin_dict();
        to_.field("address", address);
        to_.field("size", size);
        to_.field("requested_size", span == nullptr ? 0 : std::min(size, requested_per_bank(*span, bank)));
        to_.field("state", span == nullptr ? "inactive" : "active_allocated");
        if (span != nullptr) {
            write_frames(*span);
        } else {
            to_.key("frames");
            to_.begin_list();
            to_.end_list();
        }
        to_.end_dict();
    }

    // The viewer wants blocks in the order of addresses that cover the segment without a gap.
    std::vector<const AllocationSpan*> live_blocks(const AddressSpace& space, const census::Bank& bank) {
        std::vector<const AllocationSpan*> live;
        for (const uint32_t i : space.spans) {
            if (!model_.spans[i].end_ns) {
                live.push_back(&model_.spans[i]);
            }
        }
        std::sort(live.begin(), live.end(),
                  [](const auto* a, const auto* b) { return a->allocation.address < b->allocation.address; });
        uint64_t end = bank.base;
        std::erase_if(live, [&](const AllocationSpan* span) {
            const uint64_t address = span->allocation.address;
            const uint64_t size = model_.per_bank(*span, space.device);
            const bool fits = address >= end && size <= bank.size && address - bank.base <= bank.size - size;
            end = fits ? address + size : end;
            outside_ += fits ? 0 : 1;
            return !fits;
        });
        return live;
    }

    void write_segment(size_t index) {
        const AddressSpace& space = spaces_[index];
        const census::Bank& bank = bank_of(space.device, space.kind);
        const std::vector<const AllocationSpan*> live = live_blocks(space, bank);
        uint64_t used = 0;
        for (const AllocationSpan* span : live) {
            used += model_.per_bank(*span, space.device);
        }
        to_.begin_dict();
        to_.field("device", index);
        to_.field("address", bank.base);
        to_.field("total_size", bank.size);
        to_.field("allocated_size", used);
        to_.field("active_size", used);
        to_.field("stream", 0);
        to_.field("segment_type", "large");
        to_.key("segment_pool_id");
        to_.begin_list();
        to_.number(0);
        to_.number(0);
        to_.end_list();
        to_.key("is_expandable");
        to_.boolean(false);
        to_.key("frames");
        to_.begin_list();
        to_.end_list();
        to_.key("blocks");
        to_.begin_list();
        uint64_t end = bank.base;
        for (const AllocationSpan* span : live) {
            const uint64_t size = model_.per_bank(*span, space.device);
            if (span->allocation.address > end) {
                write_block(end, span->allocation.address - end, nullptr, bank);
            }
            if (size != 0) {
                write_block(span->allocation.address, size, span, bank);
            }
            end = span->allocation.address + size;
        }
        if (end < bank.base + bank.size) {
            write_block(end, bank.base + bank.size - end, nullptr, bank);
        }
        to_.end_list();
        to_.end_dict();
    }

    void write_event(const char* action, const AllocationSpan& span, const AddressSpace& space,
                     uint64_t time_ns) {
        to_.begin_dict();
        to_.field("action", action);
        to_.field("addr", span.allocation.address);
        to_.field("size", model_.per_bank(span, space.device));
        to_.field("stream", 0);
        to_.field("time_us", model_.epoch_ns(time_ns) / 1000);
        to_.field("user_metadata", "pid " + std::to_string(model_.processes[span.process].pid) +
                                       ", requested " + std::to_string(span.allocation.requested) +
                                       " bytes, used " + std::to_string(span.used()) + " bytes in all banks");
        write_frames(span);
        to_.end_dict();
    }

    void write_failure(const ExportedFailure& failure) {
        to_.begin_dict();
        to_.field("action", "oom");
        to_.field("addr", 0);
        to_.field("size", failure.figures.needed.value_or(failure.figures.requested.value_or(0)));
        to_.field("device_free", failure.figures.free.value_or(0));
        to_.field("stream", 0);
        to_.field("time_us", model_.epoch_ns(failure.time_ns) / 1000);
        to_.field("user_metadata", failure.text());
        to_.key("frames");
        to_.begin_list();
        to_.begin_dict();
        to_.field("filename", "failure");
        to_.field("line", 0);
        to_.field("name", failure.text());
        to_.end_dict();
        to_.end_list();
        to_.end_dict();
    }

    bool concerns(const ExportedFailure& failure, const AddressSpace& space) const {
        const std::vector<uint32_t>& devices = failure.figures.devices;
        return failure.figures.type == census::FailureType::out_of_memory &&
               failure.process == model_.sets[space.set].process && failure.figures.kind == space.kind &&
               failure.figures.set == model_.sets[space.set].label &&
               std::find(devices.begin(), devices.end(), model_.devices[space.device].id) != devices.end();
    }

    void write_trace(const AddressSpace& space) {
        struct TraceEntry {
            uint64_t time_ns;
            int order;  // at the same time: ends, beginnings, ends of what began then, failures
            uint32_t index;
        };
        std::vector<TraceEntry> entries;
        for (const uint32_t i : space.spans) {
            const AllocationSpan& span = model_.spans[i];
            if (span.begin_ns >= model_.begin_ns && !model_.is_moment()) {
                entries.push_back({span.begin_ns, 1, i});
            }
            if (span.end_ns) {
                entries.push_back({*span.end_ns, *span.end_ns == span.begin_ns ? 2 : 0, i});
            }
        }
        for (uint32_t i = 0; i < model_.failures.size(); ++i) {
            if (concerns(model_.failures[i], space)) {
                entries.push_back({model_.failures[i].time_ns, 3, i});
            }
        }
        std::sort(entries.begin(), entries.end(), [](const TraceEntry& a, const TraceEntry& b) {
            return std::tie(a.time_ns, a.order, a.index) < std::tie(b.time_ns, b.order, b.index);
        });
        to_.begin_list();
        for (const TraceEntry& entry : entries) {
            if (entry.order == 3) {
                write_failure(model_.failures[entry.index]);
            } else if (entry.order == 1) {
                write_event("alloc", model_.spans[entry.index], space, entry.time_ns);
            } else {
                write_event("free_requested", model_.spans[entry.index], space, entry.time_ns);
                write_event("free_completed", model_.spans[entry.index], space, entry.time_ns);
            }
        }
        to_.end_list();
    }

    // Shown as text by the viewer.
    void write_settings() {
        to_.key("allocator_settings");
        to_.begin_dict();
        to_.field("host", model_.host);
        to_.field("begin", utc_text(model_.epoch_ns(model_.begin_ns)));
        to_.field("end", utc_text(model_.epoch_ns(model_.end_ns)));
        for (size_t i = 0; i < spaces_.size(); ++i) {
            const AddressSpace& space = spaces_[i];
            const ExportedSet& set = model_.sets[space.set];
            const census::Bank& bank = bank_of(space.device, space.kind);
            to_.field("device " + std::to_string(i),
                      std::string(name_of(space.kind)) + " of " + model_.devices[space.device].title() +
                          ", one of " + std::to_string(bank.banks) + " banks, allocator " + set.label +
                          " of " + model_.processes[set.process].title());
        }
        for (size_t i = 0; i < model_.notes.size(); ++i) {
            to_.field("note " + std::to_string(i + 1), model_.notes[i]);
        }
        to_.end_dict();
    }

    const ExportModel& model_;
    ValueWriter& to_;
    std::vector<AddressSpace> spaces_;
    uint64_t outside_ = 0;
    uint64_t no_bank_ = 0;
};

}  // namespace

Notes write_memory_viz(const ExportModel& model, SnapshotForm form, Output& to) {
    const auto writer = form == SnapshotForm::json ? json_value_writer(to) : pickle_value_writer(to);
    return SnapshotWriter(model, *writer).write();
}

}  // namespace ttmem::exports
