// SPDX-License-Identifier: Apache-2.0
#include "exports/model_builder.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "census/device_facts.hpp"
#include "census/device_table.hpp"

namespace ttmem::exports {

namespace {

// The details of an allocation may be read later than its event, so times are not compared.
bool is_same(const segment::Allocation& a, const segment::Allocation& b) {
    return a.address == b.address && a.requested == b.requested && a.kind == b.kind && a.set == b.set;
}

std::string counted(uint64_t count, const char* one, const char* many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace

SpanTracker::SpanTracker(ModelBuilder& builder, const census::Process& process)
    : builder_(&builder), process_(process), number_(static_cast<uint32_t>(builder.model_.processes.size())) {
    builder.model_.processes.push_back(
        {process.identity.pid, process.identity.user, base::printable(process.identity.comm)});
}

uint32_t SpanTracker::name_of(uint32_t name) {
    const auto [place, is_new] = names_.try_emplace(name, 0);
    if (is_new) {
        place->second = builder_->add_name(process_.ledger->name(name));
        if (place->second == 0 && name != 0) {
            names_.erase(place);  // not written yet
            return 0;
        }
    }
    return place->second;
}

uint32_t SpanTracker::cores_of(uint16_t core_set) {
    if (core_set == 0) {
        return 0;
    }
    const auto [place, is_new] = cores_.try_emplace(core_set, 0);
    if (is_new) {
        if (const auto mask = process_.ledger->cores(core_set)) {
            std::vector<segment::CoreMask>& all = builder_->model_.cores;
            place->second = static_cast<uint32_t>(std::find(all.begin() + 1, all.end(), *mask) - all.begin());
            if (place->second == all.size()) {
                all.push_back(*mask);
            }
        }
    }
    return place->second;
}

uint32_t SpanTracker::set_of(uint8_t set) {
    if (sets_[set]) {
        return *sets_[set];
    }
    ExportedSet found{number_, "", {}};
    const auto infos = process_.ledger->devices();
    const auto numbers = census::number_devices(infos, process_.identity.uid, *builder_->ids_);
    for (const segment::SetTotals& one : process_.ledger->sets()) {
        if (one.index != set) {
            continue;
        }
        found.label = process_.ledger->name(one.set.label);
        for (size_t entry = 0; entry < infos.size(); ++entry) {
            if ((one.set.members >> entry & 1) != 0 && numbers[entry]) {
                found.devices.push_back(builder_->device_with(numbers[entry]->id, *infos[entry]));
            }
        }
    }
    std::vector<ExportedSet>& all = builder_->model_.sets;
    const auto known = std::find(all.begin(), all.end(), found);
    sets_[set] = static_cast<uint32_t>(known - all.begin());
    if (known == all.end()) {
        all.push_back(std::move(found));
    }
    return *sets_[set];
}

void SpanTracker::begin(uint32_t slot, const segment::Allocation& allocation, uint64_t time_ns) {
    const auto kind = census::kind_of(allocation.kind);
    if (!kind) {
        return;
    }
    if (const auto known = live_.find(slot); in_ledger_.erase(slot) != 0 && known != live_.end() &&
                                             is_same(known->second.allocation, allocation)) {
        return;  // the ledger was read after this event
    }
    end(slot, time_ns);  // its own end was lost
    AllocationSpan span;
    span.allocation = allocation;
    span.kind = *kind;
    span.process = number_;
    span.set = set_of(allocation.set);
    span.name = name_of(allocation.name);
    span.cores = cores_of(allocation.core_set);
    span.begin_ns = time_ns;
    live_.emplace(slot, span);
}

void SpanTracker::end(uint32_t slot, uint64_t time_ns) {
    const auto found = live_.find(slot);
    if (found != live_.end() && in_ledger_.contains(slot) && time_ns < found->second.begin_ns) {
        return;  // the end of an earlier one, before the ledger was read
    }
    in_ledger_.erase(slot);
    if (found != live_.end()) {
        found->second.end_ns = std::max(time_ns, found->second.begin_ns);
        builder_->keep(found->second);
        live_.erase(found);
    }
}

void SpanTracker::end_all(uint64_t time_ns) {
    while (!live_.empty()) {
        end(live_.begin()->first, time_ns);
    }
}

void SpanTracker::reconcile(const segment::Reader& ledger, uint64_t time_ns) {
    const segment::Clock clock = ledger.clock();
    std::unordered_map<uint32_t, segment::Allocation> now;
    ledger.for_each_live([&](segment::SlotRef slot, const segment::Allocation& a) {
        now.emplace(slot.slot, a);
        return true;
    });
    sets_.fill(std::nullopt);
    std::vector<uint32_t> gone;
    for (const auto& [slot, span] : live_) {
        const auto found = now.find(slot);
        if (found == now.end() || !is_same(found->second, span.allocation)) {
            gone.push_back(slot);
        }
    }
    for (const uint32_t slot : gone) {
        end(slot, time_ns);
    }
    in_ledger_.clear();
    for (const auto& [slot, allocation] : now) {
        const auto known = live_.find(slot);
        if (known == live_.end()) {
            begin(slot, allocation, clock.monotonic_ns(allocation.ticks));
        } else {
            known->second.allocation = allocation;  // a tag may have come later
            known->second.name = name_of(allocation.name);
        }
        in_ledger_.insert(slot);
    }
}

SpanTracker& ModelBuilder::add(const census::Process& process) {
    return trackers_.emplace_back(*this, process);
}

uint32_t ModelBuilder::add_name(const std::string& name) {
    if (name.empty()) {
        return 0;
    }
    const auto [place, is_new] = names_.try_emplace(name, static_cast<uint32_t>(model_.names.size()));
    if (is_new) {
        model_.names.push_back(name);
    }
    return place->second;
}

uint32_t ModelBuilder::device_with(uint32_t id, const ttmem_device_info& info) {
    const auto [place, is_new] = devices_.try_emplace(id, static_cast<uint32_t>(model_.devices.size()));
    if (!is_new) {
        return place->second;
    }
    census::DeviceTable::Device device{id, info, nullptr, {}};
    for (size_t i = 0; driver_ && i < driver_->devices.size(); ++i) {
        const bool is_it = driver_->devices[i].asic_id == info.asic_id && info.asic_id != 0;
        device.driver = is_it ? &driver_->devices[i] : device.driver;
    }
    const census::DeviceFigures figures = census::describe(device);
    ExportedDevice exported{id,
                            figures.arch.value_or(""),
                            figures.board.value_or(""),
                            figures.asic_id,
                            info.grid_x,
                            info.grid_y,
                            {},
                            {}};
    for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
        exported.capacity[kind] = figures.memory[kind].capacity;
        if (kind < census::kPoolKinds) {
            exported.banks[kind] = census::bank_of(info, static_cast<census::Kind>(kind));
        }
    }
    model_.devices.push_back(std::move(exported));
    return place->second;
}

void ModelBuilder::keep(const AllocationSpan& span) {
    ended_.push_back(span);
    if (ended_.size() > most_) {
        model_.begin_ns = std::max(model_.begin_ns, *ended_.front().end_ns);
        ended_.pop_front();
        ++left_out_;
    }
}

void ModelBuilder::add_failures(const std::optional<RecordedMoments>& recorded) {
    uint64_t total = recorded ? recorded->failures : 0;
    for (const SpanTracker& tracker : trackers_) {
        census::Census alone;
        alone.processes.push_back(tracker.process());
        alone.device_ids = ids_;
        const auto page = census::list_failures(alone, {.brief = true});
        if (!page) {
            continue;
        }
        for (const census::FailureCounts& counts : page->counts) {
            total += recorded ? 0 : counts.sum();
        }
        for (const census::FailureFigures& figures : page->failures) {
            const uint64_t time_ns = model_.end_ns - std::min(model_.end_ns, figures.age_ns);
            if (!recorded || time_ns >= recorded->first_ns) {
                model_.failures.push_back({time_ns, tracker.number_, figures});
            }
        }
    }
    const uint64_t missing = total - std::min<uint64_t>(total, model_.failures.size());
    std::stable_sort(model_.failures.begin(), model_.failures.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    if (missing != 0) {
        model_.notes.push_back(counted(missing, "failure is", "failures are") +
                               " left out: a process keeps the first and the last of each type");
    }
}

void ModelBuilder::add_kept_marks() {
    uint64_t missing = 0;
    for (const SpanTracker& tracker : trackers_) {
        const segment::Reader& ledger = *tracker.process_.ledger;
        const segment::Clock clock = ledger.clock();
        const std::vector<segment::MarkContents> kept = ledger.marks();
        const uint64_t made = ledger.mark_count();
        missing += made - std::min<uint64_t>(made, kept.size());
        for (const segment::MarkContents& mark : kept) {
            model_.marks.push_back(
                {clock.monotonic_ns(mark.head.ticks), tracker.number_, ledger.name(mark.head.name)});
        }
    }
    std::stable_sort(model_.marks.begin(), model_.marks.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    if (missing != 0) {
        model_.notes.push_back(counted(missing, "mark is", "marks are") +
                               " left out: a process keeps the first and the last (a recording has all)");
    }
}

void ModelBuilder::sort_devices() {
    std::vector<ExportedDevice> sorted;
    std::vector<uint32_t> places(model_.devices.size());
    for (auto& [id, place] : devices_) {
        places[place] = static_cast<uint32_t>(sorted.size());
        sorted.push_back(std::move(model_.devices[place]));
    }
    model_.devices = std::move(sorted);
    for (ExportedSet& set : model_.sets) {
        for (uint32_t& device : set.devices) {
            device = places[device];
        }
        std::sort(set.devices.begin(), set.devices.end());
    }
}

ExportModel ModelBuilder::finish(std::optional<RecordedMoments> recorded) {
    std::vector<AllocationSpan>& spans = model_.spans;
    for (const AllocationSpan& span : ended_) {
        if (left_out_ == 0 || *span.end_ns > model_.begin_ns) {
            spans.push_back(span);
        } else {
            ++left_out_;  // it ended at the same time as one that is left out
        }
    }
    ended_.clear();
    for (const SpanTracker& tracker : trackers_) {
        for (const auto& [slot, span] : tracker.live_) {
            spans.push_back(span);
        }
    }
    std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
        return std::tuple(a.begin_ns, a.process, a.allocation.address, a.kind) <
               std::tuple(b.begin_ns, b.process, b.allocation.address, b.kind);
    });
    if (left_out_ != 0) {
        model_.notes.push_back(counted(left_out_, "allocation is", "allocations are") +
                               " left out: freed until " + utc_text(model_.epoch_ns(model_.begin_ns)) +
                               " (--max-allocations raises the limit)");
    }
    add_failures(recorded);
    if (recorded) {
        model_.marks = std::move(recorded->marks);
    } else {
        add_kept_marks();
    }
    sort_devices();
    return std::move(model_);
}

}  // namespace ttmem::exports
