// SPDX-License-Identifier: Apache-2.0
#include "access/timeline.hpp"

#include <algorithm>
#include <utility>

#include "census/figures.hpp"
#include "recording/failures.hpp"
#include "recording/marks.hpp"
#include "recording/peaks.hpp"
#include "recording/replay.hpp"

namespace ttmem::access {

using census::Kind;
using recording::Recording;
using segment::AllocationKind;

namespace {

class TimelineReader {
public:
    TimelineReader(const std::shared_ptr<const Recording>& recording, size_t part_count)
        : shared_(recording),
          recording_(*recording),
          replay_(recording, segment::kMinRingRecords),
          timeline_(empty_timeline(*recording, part_count)),
          seen_gaps_(recording->processes().size()) {}

    base::Expected<Timeline> read(const std::function<bool(const Timeline&)>& more) {
        if (auto moved = replay_.move_to(timeline_.first_ns); !moved) {
            return tl::unexpected(std::move(moved.error()));
        }
        highest_ = replay_.used(AllocationKind::dram);
        add_marks_and_processes();
        add_failures();
        // A recording without summaries is searched from its beginning to its end.
        auto peaks = recording::find_peaks(shared_, {}, [&] { return more(timeline_); });
        if (!peaks) {
            return tl::unexpected(std::move(peaks.error()));
        }
        timeline_.peaks = *peaks;
        timeline_.has_moments = true;
        bool goes_on = more(timeline_);
        while (goes_on && !timeline_.is_complete()) {
            const uint64_t end = timeline_.end_of(timeline_.parts.size());
            const auto next = replay_.next_ns();
            if (next && *next <= end) {
                replay_.step();
                highest_ = std::max(highest_, replay_.used(AllocationKind::dram));
                continue;
            }
            if (auto closed = close_part(end); !closed) {
                return tl::unexpected(std::move(closed.error()));
            }
            goes_on = more(timeline_);
        }
        return std::move(timeline_);
    }

private:
    void add_point(TimelinePoint point) {
        const auto after =
            std::upper_bound(timeline_.points.begin(), timeline_.points.end(), point,
                             [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
        timeline_.points.insert(after, std::move(point));
    }

    void add_marks_and_processes() {
        for (const recording::RecordedProcess& process : recording_.processes()) {
            const uint32_t pid = process.facts.identity.pid;
            add_point({TimelinePoint::PointType::start, process.first_ns, pid, ""});
            if (process.ended_ns) {
                add_point({TimelinePoint::PointType::end, *process.ended_ns, pid, ""});
            }
        }
        for (const recording::RecordedMark& mark : recording::find_marks(recording_)) {
            add_point({TimelinePoint::PointType::mark,
                       std::clamp(mark.time_ns, timeline_.first_ns, timeline_.last_ns), pid_of(mark.process),
                       mark.name});
        }
    }

    uint32_t pid_of(uint32_t number) const {
        const auto process = std::find_if(recording_.processes().begin(), recording_.processes().end(),
                                          [&](const auto& one) { return one.number == number; });
        return process->facts.identity.pid;
    }

    void add_failures() {
        for (const recording::RecordedFailure& failure : recording::find_failures(recording_)) {
            const Kind kind = census::kind_of(failure.kind).value_or(Kind::dram);
            add_point({TimelinePoint::PointType::failure, failure.time_ns, pid_of(failure.process),
                       std::string(census::name_of(kind))});
        }
    }

    base::Expected<void> close_part(uint64_t end_ns) {
        if (auto moved = replay_.move_to(end_ns); !moved) {
            return moved;
        }
        const uint64_t now = replay_.used(AllocationKind::dram);
        TimelinePart part{std::max(highest_, now), {}};
        highest_ = now;
        const auto census = replay_.census();
        if (!census) {
            return tl::unexpected(census.error());
        }
        census::Figures figures = census::compute_figures(*census, census::Depth::pools);
        uint64_t live = 0;
        for (const census::DeviceFigures& device : figures.devices) {
            for (const census::MemoryFigures& memory : device.memory) {
                live += memory.count;
            }
        }
        const bool is_scanned = live <= kMostScanned;
        figures = is_scanned ? census::compute_figures(*census) : std::move(figures);
        for (const census::DeviceFigures& device : figures.devices) {
            part.devices.push_back({device.id, device.memory[index_of(Kind::dram)].used,
                                    is_scanned ? device.l1_worst_core.used : std::nullopt});
        }
        timeline_.parts.push_back(std::move(part));
        for (size_t i = 0; i < replay_.processes().size(); ++i) {
            const recording::ProcessReplay& process = replay_.processes()[i];
            for (; seen_gaps_[i] < process.gaps().size(); ++seen_gaps_[i]) {
                add_point({TimelinePoint::PointType::gap, process.gaps()[seen_gaps_[i]].time_ns,
                           process.process().facts.identity.pid, ""});
            }
        }
        return {};
    }

    const std::shared_ptr<const Recording> shared_;
    const Recording& recording_;
    recording::Replay replay_;
    Timeline timeline_;
    std::vector<size_t> seen_gaps_;  // by process
    uint64_t highest_ = 0;           // of the part that is being read
};

}  // namespace

uint64_t Timeline::end_of(size_t part) const {
    const auto share = static_cast<long double>(part + 1) / static_cast<long double>(part_count);
    return part + 1 == part_count
               ? last_ns
               : first_ns + static_cast<uint64_t>(share * static_cast<long double>(length_ns()));
}

Timeline empty_timeline(const Recording& recording, size_t part_count) {
    Timeline timeline;
    timeline.first_ns = recording.first_ns();
    timeline.last_ns = recording.last_ns();
    timeline.epoch_offset_ns = recording.epoch_ns(0);
    timeline.part_count = part_count;
    return timeline;
}

base::Expected<Timeline> read_timeline(const std::shared_ptr<const Recording>& recording, size_t part_count,
                                       const std::function<bool(const Timeline&)>& more) {
    return TimelineReader(recording, part_count).read(more);
}

}  // namespace ttmem::access
