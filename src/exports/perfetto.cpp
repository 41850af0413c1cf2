// SPDX-License-Identifier: Apache-2.0
//
// A trace for ui.perfetto.dev (perfetto_trace.proto). Each device is a group of tracks: counters of used bytes and of capacity, and
// allocations as slices. Slices of one track must not overlap, so each kind has as many lanes as needed, which the viewer merges by
// their name. Each process is a group with counters, marks and failures.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <protozero/pbf_writer.hpp>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "exports/formats.hpp"

namespace ttmem::exports {

namespace {

using census::Kind;
using protozero::pbf_writer;

namespace packet {
constexpr protozero::pbf_tag_type kTimestamp = 8, kSequenceId = 10, kTrackEvent = 11, kInternedData = 12,
                                  kSequenceFlags = 13, kTrackDescriptor = 60, kFirstOnSequence = 87;
constexpr uint32_t kStateCleared = 1, kNeedsState = 2;
}  // namespace packet

namespace track {
constexpr protozero::pbf_tag_type kUuid = 1, kName = 2, kProcess = 3, kParent = 5, kCounter = 8, kOrder = 11,
                                  kRank = 12, kDescription = 14;
constexpr int32_t kExplicitOrder = 3;
}  // namespace track

namespace event {
constexpr protozero::pbf_tag_type kAnnotations = 4, kType = 9, kNameNumber = 10, kTrack = 11, kName = 23,
                                  kCounterValue = 30;
enum EventForm : int32_t { begin = 1, end = 2, instant = 3, counter = 4 };
}  // namespace event

class TraceWriter {
public:
    TraceWriter(const ExportModel& model, Output& to) : model_(model), to_(to) {}

    struct TrackSettings {
        std::string name = {};
        uint64_t parent = 0;  // 0: none
        const ExportedProcess* process = nullptr;
        bool is_counter = false;
        std::string share_key = {};  // counters with the same one have the same scale
        std::string description = {};
    };

    // Returns the number of the track.
    uint64_t add_track(const TrackSettings& settings) {
        const uint64_t uuid = ++last_track_;
        packet([&](pbf_writer& packet) {
            pbf_writer descriptor(packet, packet::kTrackDescriptor);
            descriptor.add_uint64(track::kUuid, uuid);
            if (settings.process != nullptr) {
                pbf_writer process(descriptor, track::kProcess);
                process.add_int32(1, static_cast<int32_t>(settings.process->pid));
                process.add_string(6, settings.process->command);
            } else {
                descriptor.add_string(track::kName, settings.name);
            }
            if (settings.parent != 0) {
                descriptor.add_uint64(track::kParent, settings.parent);
            }
            if (settings.is_counter) {
                pbf_writer counter(descriptor, track::kCounter);
                counter.add_int32(3, 3);  // bytes
                counter.add_string(7, settings.share_key);
            }
            descriptor.add_int32(track::kOrder, track::kExplicitOrder);
            descriptor.add_int32(track::kRank, static_cast<int32_t>(uuid));
            if (!settings.description.empty()) {
                descriptor.add_string(track::kDescription, settings.description);
            }
        });
        return uuid;
    }

    void count(uint64_t track, uint64_t time_ns, uint64_t value) {
        timed(time_ns, [&](pbf_writer& packet) {
            pbf_writer event(packet, packet::kTrackEvent);
            event.add_int32(event::kType, event::counter);
            event.add_uint64(event::kTrack, track);
            event.add_int64(event::kCounterValue, static_cast<int64_t>(value));
        });
    }

    void slice(uint64_t track, const AllocationSpan& span) {
        const std::string& full = model_.names[span.name];
        const auto [place, is_new] = names_.try_emplace(full, names_.size() + 1);
        const uint64_t number = place->second;
        timed(model_.clamp(span.begin_ns), [&, is_new = is_new](pbf_writer& packet) {
            if (is_new) {
                pbf_writer interned(packet, packet::kInternedData);
                pbf_writer name(interned, 2);
                name.add_uint64(1, number);
                name.add_string(2, full.empty() ? "(no name)" : full);
            }
            pbf_writer event(packet, packet::kTrackEvent);
            event.add_int32(event::kType, event::begin);
            event.add_uint64(event::kTrack, track);
            event.add_uint64(event::kNameNumber, number);
            annotate(event, "pid", model_.processes[span.process].pid);
            annotate(event, "requested", span.allocation.requested);
            annotate(event, "used", span.used());
            if (const auto address = model_.address_of(span)) {
                annotate(event, "address", *address);
            }
            annotate(event, "owner", span.allocation.owner);
            annotate(event, "thread", span.allocation.thread);
            if (span.begin_ns < model_.begin_ns) {
                annotate(event, "ns_before_the_trace", model_.begin_ns - span.begin_ns);
            }
        });
        if (span.end_ns) {
            timed(model_.clamp(*span.end_ns), [&](pbf_writer& packet) {
                pbf_writer event(packet, packet::kTrackEvent);
                event.add_int32(event::kType, event::end);
                event.add_uint64(event::kTrack, track);
            });
        }
    }

    void instant(uint64_t track, uint64_t time_ns, const std::string& name, const std::string& text) {
        timed(time_ns, [&](pbf_writer& packet) {
            pbf_writer event(packet, packet::kTrackEvent);
            event.add_int32(event::kType, event::instant);
            event.add_uint64(event::kTrack, track);
            event.add_string(event::kName, name);
            if (!text.empty()) {
                pbf_writer annotation(event, event::kAnnotations);
                annotation.add_string(10, "what");
                annotation.add_string(6, text);
            }
        });
    }

private:
    static void annotate(pbf_writer& event, const char* name, uint64_t value) {
        pbf_writer annotation(event, event::kAnnotations);
        annotation.add_string(10, name);
        annotation.add_uint64(3, value);
    }

    template <class Fill>
    void packet(const Fill& fill) {
        bytes_.clear();
        {
            pbf_writer trace(bytes_);
            pbf_writer packet(trace, 1);
            packet.add_uint32(packet::kSequenceId, 1);
            packet.add_uint32(packet::kSequenceFlags,
                              is_first_ ? packet::kStateCleared : packet::kNeedsState);
            if (is_first_) {
                packet.add_bool(packet::kFirstOnSequence, true);
            }
            fill(packet);
        }
        is_first_ = false;
        to_.append(bytes_);
    }

    template <class Fill>
    void timed(uint64_t time_ns, const Fill& fill) {
        packet([&](pbf_writer& packet) {
            packet.add_uint64(packet::kTimestamp, time_ns);
            fill(packet);
        });
    }

    const ExportModel& model_;
    Output& to_;
    std::string bytes_;
    bool is_first_ = true;
    uint64_t last_track_ = 0;
    std::unordered_map<std::string, uint64_t> names_;
};

// The counter of used bytes of one kind.
struct UsedCounter {
    uint64_t track = 0;
    uint64_t used = 0;
    uint64_t changed_ns = 0;
};

using CounterKey = std::pair<uint32_t, Kind>;  // device or process
using Counters = std::map<CounterKey, UsedCounter>;

// Kinds that the export has, of each device and of each process.
struct UsedKinds {
    std::map<uint32_t, std::array<bool, census::kKinds>> devices, processes;
};

UsedKinds kinds_of(const ExportModel& model) {
    UsedKinds kinds;
    for (const AllocationSpan& span : model.spans) {
        kinds.processes[span.process][census::index_of(span.kind)] = true;
        for (const uint32_t device : model.sets[span.set].devices) {
            kinds.devices[device][census::index_of(span.kind)] = true;
        }
    }
    return kinds;
}

// The spans and devices whose slices are written: those with the most bytes and time.
using SliceKey = std::pair<uint32_t, uint32_t>;  // span, device

std::vector<SliceKey> choose_slices(const ExportModel& model, size_t most, size_t& left_out) {
    std::vector<std::pair<double, SliceKey>> all;
    for (uint32_t i = 0; i < model.spans.size(); ++i) {
        const AllocationSpan& span = model.spans[i];
        const uint64_t until_ns = span.end_ns.value_or(model.end_ns);
        const uint64_t length_ns = until_ns - std::min(until_ns, model.clamp(span.begin_ns)) + 1;
        for (const uint32_t device : model.sets[span.set].devices) {
            all.push_back({static_cast<double>(span.used()) * static_cast<double>(length_ns), {i, device}});
        }
    }
    left_out = all.size() - std::min(all.size(), most);
    if (left_out != 0) {
        std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most), all.end(),
                         [](const auto& a, const auto& b) { return a.first > b.first; });
        all.resize(most);
    }
    std::vector<SliceKey> chosen;
    chosen.reserve(all.size());
    for (const auto& [weight, key] : all) {
        chosen.push_back(key);
    }
    std::sort(chosen.begin(), chosen.end());  // by beginning
    return chosen;
}

class PerfettoExport {
public:
    PerfettoExport(const ExportModel& model, Output& to, size_t most_slices)
        : model_(model), trace_(model, to), most_slices_(most_slices) {}

    Notes write() {
        const UsedKinds kinds = kinds_of(model_);
        for (const auto& [device, used] : kinds.devices) {
            add_device(device, used);
        }
        for (uint32_t process = 0; process < model_.processes.size(); ++process) {
            const auto used = kinds.processes.find(process);
            add_process(process,
                        used == kinds.processes.end() ? std::array<bool, census::kKinds>{} : used->second);
        }
        write_counters();
        size_t left_out = 0;
        for (const auto& [span, device] : choose_slices(model_, most_slices_, left_out)) {
            write_slice(model_.spans[span], device);
        }
        for (const ExportedFailure& failure : model_.failures) {
            const uint64_t track = trace_.add_track({.name = "failures", .parent = groups_[failure.process]});
            trace_.instant(track, failure.time_ns, std::string(name_of(failure.figures.type)),
                           failure.text());
        }
        for (const ExportedMark& mark : model_.marks) {
            const uint64_t track = trace_.add_track({.name = "marks", .parent = groups_[mark.process]});
            trace_.instant(track, mark.time_ns, mark.name, "");
        }
        Notes own;
        if (left_out != 0) {
            own.push_back(base::format_count(left_out, "allocation has", "allocations have") +
                          " no slice: those with the most bytes and time have one (" +
                          std::to_string(most_slices_) + "); the counters have all of them");
        }
        write_notes(own);
        return own;
    }

private:
    void add_device(uint32_t device, const std::array<bool, census::kKinds>& used) {
        const ExportedDevice& of = model_.devices[device];
        const uint64_t group = trace_.add_track({.name = of.title(), .description = "host " + model_.host});
        device_groups_[device] = group;
        for (size_t kind = 0; kind < census::kKinds; ++kind) {
            if (!used[kind]) {
                continue;
            }
            const std::string name(name_of(static_cast<Kind>(kind)));
            const uint64_t track = trace_.add_track(
                {.name = name + " used", .parent = group, .is_counter = true, .share_key = name});
            devices_[{device, static_cast<Kind>(kind)}] = {track, 0, 0};
            trace_.count(track, model_.begin_ns, 0);
            if (kind < census::kDeviceKinds && of.capacity[kind]) {
                const uint64_t capacity = trace_.add_track(
                    {.name = name + " capacity", .parent = group, .is_counter = true, .share_key = name});
                trace_.count(capacity, model_.begin_ns, *of.capacity[kind]);
                trace_.count(capacity, model_.end_ns, *of.capacity[kind]);
            }
        }
    }

    void add_process(uint32_t process, const std::array<bool, census::kKinds>& used) {
        const uint64_t group = trace_.add_track({.process = &model_.processes[process]});
        groups_.push_back(group);
        for (size_t kind = 0; kind < census::kKinds; ++kind) {
            if (used[kind]) {
                const std::string name(name_of(static_cast<Kind>(kind)));
                const uint64_t track = trace_.add_track({.name = name + " used, all devices",
                                                         .parent = group,
                                                         .is_counter = true,
                                                         .share_key = name});
                processes_[{process, static_cast<Kind>(kind)}] = {track, 0, 0};
            }
        }
    }

    // What is left out, where the trace begins.
    void write_notes(const Notes& own) {
        if (model_.notes.empty() && own.empty()) {
            return;
        }
        const uint64_t track = trace_.add_track({.name = "notes", .description = "host " + model_.host});
        for (const Notes* notes : {&model_.notes, &own}) {
            for (const std::string& note : *notes) {
                trace_.instant(track, model_.begin_ns, note, "");
            }
        }
    }

    // Writes a value when the next one has another time: a viewer shows one value per time.
    void change(UsedCounter& counter, uint64_t time_ns, uint64_t by) {
        if (time_ns != counter.changed_ns && counter.changed_ns != 0) {
            trace_.count(counter.track, counter.changed_ns, counter.used);
        }
        counter.changed_ns = time_ns;
        counter.used += by;  // modulo 2^64: an end adds its negative
    }

    void write_counters() {
        for (const SpanChange& change_of : changes_of(model_)) {
            const AllocationSpan& span = model_.spans[change_of.span];
            const uint64_t by = change_of.is_end ? 0 - span.used() : span.used();
            if (by == 0) {
                continue;
            }
            const std::vector<uint32_t>& devices = model_.sets[span.set].devices;
            for (const uint32_t device : devices) {
                change(devices_[{device, span.kind}], change_of.time_ns, by);
            }
            change(processes_[{span.process, span.kind}], change_of.time_ns, by * devices.size());
        }
        for (Counters* counters : {&devices_, &processes_}) {
            for (auto& [key, counter] : *counters) {
                if (counter.changed_ns != 0 && counter.changed_ns != model_.end_ns) {
                    trace_.count(counter.track, counter.changed_ns, counter.used);
                }
                trace_.count(counter.track, model_.end_ns, counter.used);  // the line goes to the end
            }
        }
    }

    // The first lane whose last slice has ended.
    void write_slice(const AllocationSpan& span, uint32_t device) {
        std::vector<std::pair<uint64_t, uint64_t>>& busy =
            lanes_[{device, span.kind}];  // a heap of end and track
        const uint64_t begin_ns = model_.clamp(span.begin_ns);
        const uint64_t end_ns = span.end_ns ? model_.clamp(*span.end_ns) : UINT64_MAX;
        uint64_t track = 0;
        if (!busy.empty() && busy.front().first <= begin_ns) {
            std::pop_heap(busy.begin(), busy.end(), std::greater<>());
            track = busy.back().second;
            busy.pop_back();
        } else {
            track = trace_.add_track(
                {.name = std::string(name_of(span.kind)) + " allocations", .parent = device_groups_[device]});
        }
        busy.emplace_back(end_ns, track);
        std::push_heap(busy.begin(), busy.end(), std::greater<>());
        trace_.slice(track, span);
    }

    const ExportModel& model_;
    TraceWriter trace_;
    const size_t most_slices_;
    std::map<uint32_t, uint64_t> device_groups_;  // tracks
    std::vector<uint64_t> groups_;                // of processes
    Counters devices_, processes_;
    std::map<CounterKey, std::vector<std::pair<uint64_t, uint64_t>>> lanes_;
};

}  // namespace

Notes write_perfetto(const ExportModel& model, Output& to, size_t most_slices) {
    return PerfettoExport(model, to, most_slices).write();
}

}  // namespace ttmem::exports
