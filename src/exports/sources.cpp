// SPDX-License-Identifier: Apache-2.0
#include "exports/sources.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "base/time.hpp"
#include "census/device_admission.hpp"
#include "exports/model_builder.hpp"
#include "recording/failures.hpp"
#include "recording/marks.hpp"
#include "recording/moment.hpp"
#include "recording/replay.hpp"

namespace ttmem::exports {

namespace {

using recording::Replay;
using segment::EventType;

// "1 process of another user is left out: ...".
void add_note(ExportModel& model, uint64_t processes, const std::string& one, const std::string& several) {
    if (processes != 0) {
        model.notes.push_back(processes == 1 ? "1 process " + one
                                             : std::to_string(processes) + " processes " + several);
    }
}

// Follows the replay of one process.
struct ReplayedProcess {
    SpanTracker* tracker = nullptr;
    uint64_t ledgers = 0;  // that were applied when the tracker last saw them
};

class RecordingModel {
public:
    RecordingModel(std::shared_ptr<const recording::Recording> from, uint64_t until_ns, uint64_t most)
        : recording_(std::move(from)),
          until_ns_(until_ns),
          replay_(recording_, segment::kMinRingRecords),
          builder_(replay_.device_ids(), driver_of(*recording_), most) {
        ExportModel& model = builder_.model();
        model.host = recording_->host().host;
        model.source = "recording";
        model.begin_ns = recording_->first_ns();
        model.end_ns = until_ns;
        model.epoch_offset_ns = recording_->epoch_ns(0);
        model.notes = recording_->problems();
    }

    base::Expected<ExportModel> read() {
        while (true) {
            const auto next_ns = replay_.next_ns();
            if (!next_ns || *next_ns > until_ns_) {
                break;
            }
            if (auto taken = take(*replay_.step()); !taken) {
                return tl::unexpected(std::move(taken.error()));
            }
        }
        if (auto finished = finish_processes(); !finished) {
            return tl::unexpected(std::move(finished.error()));
        }
        if (recording_->lost() != 0) {
            builder_.model().notes.push_back(
                base::format_count(recording_->lost(), "event of the recording was",
                                   "events of the recording were") +
                " lost: nearby allocations may be missing, or begin or end at the wrong time");
        }
        uint64_t with_totals = 0;
        for (const recording::RecordedProcess& process : recording_->processes()) {
            with_totals += process.facts.has_only_totals && process.first_ns <= until_ns_ ? 1u : 0u;
        }
        add_note(builder_.model(), with_totals,
                 "of another user is left out: the recording has only its totals",
                 "of other users are left out: the recording has only their totals");
        return builder_.finish(find_moments());
    }

private:
    RecordedMoments find_moments() {
        RecordedMoments moments;
        moments.first_ns = recording_->first_ns();
        for (recording::RecordedMark& mark : recording::find_marks(*recording_)) {
            const auto followed = followed_.find(mark.process);
            if (mark.time_ns <= until_ns_ && followed != followed_.end()) {
                moments.marks.push_back(
                    {mark.time_ns, followed->second.tracker->number(), std::move(mark.name)});
            }
        }
        for (const recording::RecordedFailure& failure : recording::find_failures(*recording_)) {
            moments.failures += failure.time_ns <= until_ns_ ? 1u : 0u;
        }
        return moments;
    }

    static std::shared_ptr<const census::Driver> driver_of(const recording::Recording& recording) {
        if (!recording.host().has_driver) {
            return nullptr;
        }
        auto driver = std::make_shared<census::Driver>();
        driver->devices = recording.host().devices;
        return driver;
    }

    base::Expected<ReplayedProcess*> follow(const recording::ProcessReplay& replay) {
        ReplayedProcess& followed = followed_[replay.process().number];
        if (followed.tracker == nullptr) {
            auto reader = replay.image()->reader(until_ns_);
            if (!reader) {
                return tl::unexpected(std::move(reader.error()));
            }
            followed.tracker = &builder_.add(
                {replay.process().facts.identity, census::ProcessState::live, std::move(*reader)});
        }
        return &followed;
    }

    base::Expected<void> take(const Replay::ReplayStep& step) {
        const auto followed = follow(*step.process);
        if (!followed) {
            return tl::unexpected(followed.error());
        }
        SpanTracker& tracker = *(*followed)->tracker;
        if (std::exchange((*followed)->ledgers, step.process->ledgers()) != step.process->ledgers()) {
            tracker.reconcile(*tracker.process().ledger, step.time_ns);
            return {};  // the state has this event
        }
        const recording::RecordedEvent& event = step.event;
        if (event.is_late) {
            return {};
        }
        if (event.type == EventType::allocate) {
            tracker.begin(event.slot, event.allocation, event.time_ns);
        } else if (event.type == EventType::free) {
            tracker.end(event.slot, event.time_ns);
        } else if (event.type == EventType::open_set) {
            tracker.forget_set(event.allocation.set);
        }
        return {};
    }

    // What is live at the end comes from a replay of that moment: it also has what the events lack.
    base::Expected<void> finish_processes() {
        Replay end(recording_, segment::kMinRingRecords);
        if (auto moved = end.move_to(until_ns_); !moved) {
            return moved;
        }
        for (size_t i = 0; i < end.processes().size(); ++i) {
            const recording::ProcessReplay& present = end.processes()[i];
            const recording::ProcessReplay& past = replay_.processes()[i];
            const recording::RecordedProcess& process = present.process();
            if (process.first_ns > until_ns_ || past.image() == nullptr) {
                continue;
            }
            const auto followed = follow(past);
            if (!followed) {
                return tl::unexpected(followed.error());
            }
            SpanTracker& tracker = *(*followed)->tracker;
            if (present.is_present(until_ns_) && present.image() != nullptr) {
                auto reader = present.image()->reader(until_ns_);
                if (!reader) {
                    return tl::unexpected(std::move(reader.error()));
                }
                tracker.read_from(std::move(*reader));
                tracker.reconcile(*tracker.process().ledger, until_ns_);
            } else {
                if ((*followed)->ledgers != past.ledgers()) {
                    tracker.reconcile(*tracker.process().ledger, process.ended_ns.value_or(until_ns_));
                }
                tracker.end_all(process.ended_ns.value_or(until_ns_));
            }
        }
        return {};
    }

    std::shared_ptr<const recording::Recording> recording_;
    uint64_t until_ns_;
    Replay replay_;
    ModelBuilder builder_;
    std::map<uint32_t, ReplayedProcess> followed_;  // by number
};

// What the host has beside ledgers that can be read.
void note_omissions(const census::Census& census, ExportModel& model) {
    for (const census::Omission& omission : census.omissions) {
        const std::string whose = omission.pid == 0 ? "" : "process " + std::to_string(omission.pid) + "'s ";
        model.notes.push_back(whose + text_of(omission.inexactness()));
    }
    add_note(model, census.totals_only.size(),
             "of a tt-metal that reports to shared memory is left out: only its totals are known",
             "of a tt-metal that reports to shared memory are left out: only their totals are known");
    uint64_t silent = 0;
    for (const census::Holder& holder :
         census.driver ? census.driver->holders : std::vector<census::Holder>()) {
        const auto is_it = [&](const auto& one) { return one.identity.is_same_process(holder.identity); };
        silent += std::none_of(census.processes.begin(), census.processes.end(), is_it) &&
                          std::none_of(census.totals_only.begin(), census.totals_only.end(), is_it)
                      ? 1u
                      : 0u;
    }
    add_note(model, silent, "with an open device is left out: it reports nothing that this user may read",
             "with an open device are left out: they report nothing that this user may read");
}

}  // namespace

base::Expected<ExportModel> read_recording(const std::string& path, const std::optional<std::string>& at,
                                           uint64_t most) {
    auto opened = recording::open_moment(path, at);
    if (!opened) {
        return tl::unexpected(std::move(opened.error()));
    }
    const uint64_t until_ns = opened->time_ns.value_or(opened->recording->last_ns());
    return RecordingModel(std::move(opened->recording), until_ns, most).read();
}

ExportModel read_host(const census::Census& census, const std::string& host) {
    census::number_all_devices(census);
    ModelBuilder builder(census.device_ids, census.driver, UINT64_MAX);
    ExportModel& model = builder.model();
    model.host = host;
    model.source = "direct";
    model.begin_ns = model.end_ns = base::monotonic_ns();
    model.epoch_offset_ns = base::realtime_ns() - model.end_ns;
    for (const census::Process& process : census.processes) {
        builder.add(process).reconcile(*process.ledger, model.end_ns);
    }
    note_omissions(census, model);
    return builder.finish();
}

}  // namespace ttmem::exports
