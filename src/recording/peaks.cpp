// SPDX-License-Identifier: Apache-2.0
#include "recording/peaks.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "recording/replay.hpp"
#include "recording/tables.hpp"

namespace ttmem::recording {

using census::Kind;
using census::KindSet;
using segment::AllocationKind;

namespace {

constexpr uint64_t kUnknown = UINT64_MAX;

uint64_t sum_of(uint64_t a, uint64_t b) { return a > kUnknown - b ? kUnknown : a + b; }

// What a process used from one moment to another.
struct UsageSpan {
    uint64_t from_ns = 0;
    uint64_t to_ns = 0;                     // including
    const BlockSummary* summary = nullptr;  // null: not known
};

struct ProcessUsage {
    uint64_t from_ns = 0;
    uint64_t until_ns = kUnknown;
    std::vector<UsageSpan> spans;
};

// What a process can have used in a part of the recording in which it begins and ends no block.
struct UsageBound {
    uint64_t most = 0;
    bool is_constant = true;
    std::optional<uint64_t> highest_ns;  // the first moment with `most`, if it is known and in this part
};

// A part of the recording in which no process begins or ends a block.
struct Stretch {
    uint64_t from_ns = 0;
    uint64_t until_ns = 0;
    std::array<uint64_t, census::kKinds> most = {};
};

BlockSummary summary_of_totals(const BlockPlace& place) {
    BlockSummary summary;
    const auto payload = place.read();
    if (!payload) {
        return summary;
    }
    std::array<uint64_t, census::kKinds> used = {};
    ByteReader from(*payload);
    for (const TableEntry& entry : read_tables(from)) {
        const auto kind = census::kind_of(static_cast<AllocationKind>(entry.index % segment::kKindsPerSet));
        if (entry.table == TableId::pool_totals && kind) {
            used[index_of(*kind)] += totals_from_bytes(entry.bytes).used;
        }
    }
    for (size_t i = 0; i < used.size(); ++i) {
        summary.kinds.push_back({static_cast<Kind>(i), used[i], used[i], 0, used[i]});
    }
    return summary;
}

class PeakFinder {
public:
    PeakFinder(const std::shared_ptr<const Recording>& recording, KindSet wanted,
               const std::function<bool()>& goes_on)
        : recording_(recording), wanted_(wanted), goes_on_(goes_on) {
        for (RecordedPeak& peak : peaks_) {
            peak.time_ns = recording->first_ns();
        }
        for (const RecordedProcess& process : recording->processes()) {
            add(process);
        }
        count_events();
        bounds_.push_back(recording->first_ns());
        bounds_.push_back(recording->last_ns() + 1);
        std::sort(bounds_.begin(), bounds_.end());
        bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
    }

    base::Expected<RecordedPeaks> find() {
        // What is exactly known sets a bar for the rest.
        sweep([&](const Stretch& stretch, Kind kind, const std::vector<UsageBound>& bounds) {
            take_known(stretch, kind, bounds);
        });
        std::vector<Stretch> open;
        sweep([&](const Stretch& stretch, Kind kind, const std::vector<UsageBound>&) {
            if (!may_have_peak(stretch, kind)) {
                return;
            }
            if (open.empty() || open.back().from_ns != stretch.from_ns) {
                open.push_back({stretch.from_ns, stretch.until_ns, {}});
            }
            open.back().most[index_of(kind)] = stretch.most[index_of(kind)];
        });
        if (auto replayed = replay_highest(open); !replayed) {
            return tl::unexpected(std::move(replayed.error()));
        }
        for (const Stretch& stretch : open) {
            if (auto replayed = replay(stretch); !replayed) {
                return tl::unexpected(std::move(replayed.error()));
            }
        }
        return peaks_;
    }

private:
    static constexpr size_t kMostChosen = 3;
    static constexpr uint64_t kStepsPerQuestion = 4096;
    // A ledger is nearer than this many events.
    static constexpr uint64_t kMostEventsToPass = 2'000'000;

    void add(const RecordedProcess& process) {
        ProcessUsage usage{process.first_ns, process.ended_ns.value_or(kUnknown), {}};
        bounds_.insert(bounds_.end(), {usage.from_ns, usage.until_ns});
        for (const BlockPlace& place : process.blocks) {
            UsageSpan span{place.header().first_ns, place.header().last_ns, place.summary};
            const bool is_first = usage.spans.empty();
            if (place.type() == BlockType::totals) {
                totals_.push_back(std::make_unique<BlockSummary>(summary_of_totals(place)));
                span.summary = totals_.back().get();
            }
            if (place.type() == BlockType::ledger) {
                // Another one says nothing that the events before it do not say.
                if (!is_first && span.summary != nullptr && !span.summary->is_state) {
                    continue;
                }
                if (!is_first && span.summary == nullptr && usage.spans.back().summary == nullptr) {
                    continue;
                }
            }
            if (place.type() != BlockType::events) {
                span.from_ns = span.to_ns;
            }
            span.to_ns = std::max(span.from_ns, span.to_ns);
            bounds_.insert(bounds_.end(), {span.from_ns, span.to_ns + 1});
            usage.spans.push_back(span);
        }
        processes_.push_back(std::move(usage));
    }

    // `next` is the first span of the process that does not end before the stretch.
    static UsageBound bound_of(const ProcessUsage& process, size_t next, Kind kind, const Stretch& stretch) {
        UsageBound bound;
        if (stretch.from_ns < process.from_ns || stretch.from_ns >= process.until_ns) {
            return bound;
        }
        size_t inside = 0;
        for (size_t i = next; i < process.spans.size() && process.spans[i].from_ns < stretch.until_ns; ++i) {
            const UsageSpan& span = process.spans[i];
            ++inside;
            if (span.summary == nullptr) {
                return {kUnknown, false, std::nullopt};
            }
            const KindUsage usage = span.summary->usage_of(kind);
            const uint64_t highest_ns = span.from_ns + usage.highest_after_ns;
            uint64_t most = usage.highest;
            if (highest_ns >= stretch.until_ns && usage.highest > usage.start) {
                --most;  // before it is so high for the first time
            } else if (highest_ns >= stretch.from_ns && highest_ns < stretch.until_ns && inside == 1) {
                bound.highest_ns = highest_ns;
            }
            bound.most = std::max(bound.most, most);
            bound.is_constant =
                bound.is_constant && usage.start == usage.highest && usage.end == usage.highest;
        }
        if (inside > 1) {
            return {bound.most, false, std::nullopt};
        }
        if (inside == 0 && next != 0) {
            const BlockSummary* before = process.spans[next - 1].summary;
            const bool is_known = before != nullptr;
            return {is_known ? before->usage_of(kind).end : kUnknown, is_known, std::nullopt};
        }
        return bound;
    }

    template <class Visit>
    void sweep(const Visit& visit) {
        std::vector<size_t> next(processes_.size());
        std::vector<UsageBound> bounds(processes_.size());
        for (size_t i = 0; i + 1 < bounds_.size(); ++i) {
            Stretch stretch{bounds_[i], bounds_[i + 1], {}};
            if (stretch.from_ns < recording_->first_ns() || stretch.from_ns > recording_->last_ns()) {
                continue;
            }
            for (size_t p = 0; p < processes_.size(); ++p) {
                const std::vector<UsageSpan>& spans = processes_[p].spans;
                while (next[p] < spans.size() && spans[next[p]].to_ns < stretch.from_ns) {
                    ++next[p];
                }
            }
            for (size_t k = 0; k < census::kKinds; ++k) {
                const auto kind = static_cast<Kind>(k);
                if (!wanted_.selects(kind)) {
                    continue;
                }
                for (size_t p = 0; p < processes_.size(); ++p) {
                    bounds[p] = bound_of(processes_[p], next[p], kind, stretch);
                    stretch.most[k] = sum_of(stretch.most[k], bounds[p].most);
                }
                visit(stretch, kind, bounds);
            }
        }
    }

    void take(Kind kind, uint64_t used, uint64_t time_ns) {
        RecordedPeak& peak = peaks_[index_of(kind)];
        if (used > peak.used || (used == peak.used && used != 0 && time_ns < peak.time_ns)) {
            peak = {time_ns, used};
        }
    }

    // Where at most one process changes, and the moment of its highest use is here, the sum is exact.
    void take_known(const Stretch& stretch, Kind kind, const std::vector<UsageBound>& bounds) {
        const UsageBound* changing = nullptr;
        for (const UsageBound& bound : bounds) {
            if (!bound.is_constant && std::exchange(changing, &bound) != nullptr) {
                return;
            }
        }
        if (stretch.most[index_of(kind)] == kUnknown || (changing != nullptr && !changing->highest_ns)) {
            return;
        }
        take(kind, stretch.most[index_of(kind)],
             changing != nullptr ? *changing->highest_ns : stretch.from_ns);
    }

    bool may_have_peak(const Stretch& stretch, Kind kind) const {
        const uint64_t most = stretch.most[index_of(kind)];
        const RecordedPeak& peak = peaks_[index_of(kind)];
        return most > peak.used || (most != 0 && most == peak.used && stretch.from_ns < peak.time_ns);
    }

    bool may_have_peak(const Stretch& stretch) const {
        for (size_t k = 0; k < census::kKinds; ++k) {
            if (may_have_peak(stretch, static_cast<Kind>(k))) {
                return true;
            }
        }
        return false;
    }

    // A peak is mostly where the most is possible. Known first, it leaves less of the rest.
    base::Expected<void> replay_highest(const std::vector<Stretch>& open) {
        for (size_t k = 0; k < census::kKinds; ++k) {
            for (size_t i = 0; i < kMostChosen; ++i) {
                const Stretch* highest = nullptr;
                for (const Stretch& stretch : open) {
                    const bool is_higher = highest == nullptr || stretch.most[k] > highest->most[k];
                    if (stretch.most[k] != kUnknown && stretch.most[k] > peaks_[k].used && is_higher) {
                        highest = &stretch;
                    }
                }
                if (highest == nullptr) {
                    break;
                }
                if (auto replayed = replay(*highest); !replayed) {
                    return replayed;
                }
            }
        }
        return {};
    }

    // Those of the blocks that begin before a moment.
    uint64_t events_before(uint64_t time_ns) const {
        const auto after = std::lower_bound(events_.begin(), events_.end(), std::pair(time_ns, uint64_t{0}));
        return after == events_.begin() ? 0 : std::prev(after)->second;
    }

    void count_events() {
        for (const RecordedProcess& process : recording_->processes()) {
            for (const BlockPlace& place : process.blocks) {
                if (place.type() == BlockType::events) {
                    events_.emplace_back(place.header().first_ns, place.header().events);
                }
            }
        }
        std::sort(events_.begin(), events_.end());
        uint64_t sum = 0;
        for (auto& [time_ns, events] : events_) {
            events = sum = sum_of(sum, events);
        }
    }

    base::Expected<void> replay(const Stretch& stretch) {
        if (!may_have_peak(stretch) || is_stopped_) {
            return {};
        }
        if (!replay_ || replay_->now_ns() > stretch.from_ns ||
            events_before(stretch.from_ns) - events_before(replay_->now_ns()) > kMostEventsToPass) {
            replay_.emplace(recording_, segment::kMinRingRecords);
        }
        if (auto moved = replay_->move_to(stretch.from_ns); !moved) {
            return moved;
        }
        for (size_t k = 0; k < census::kKinds; ++k) {
            take_replayed(static_cast<Kind>(k), stretch.from_ns);
        }
        for (auto next_ns = replay_->next_ns(); next_ns && *next_ns < stretch.until_ns;
             next_ns = replay_->next_ns()) {
            if (++steps_ % kStepsPerQuestion == 0 && !goes_on_()) {
                is_stopped_ = true;
                return {};
            }
            const auto step = *replay_->step();
            const auto kind = census::kind_of(step.event.allocation.kind);
            if (step.event.type == segment::EventType::allocate && kind) {
                take_replayed(*kind, step.time_ns);
            }
        }
        return {};
    }

    void take_replayed(Kind kind, uint64_t time_ns) {
        if (!wanted_.selects(kind)) {
            return;
        }
        uint64_t used = 0;
        for (uint32_t i = 0; i < segment::kKinds; ++i) {
            const auto part = static_cast<AllocationKind>(i);
            used += census::kind_of(part) == kind ? replay_->used(part) : 0;
        }
        take(kind, used, time_ns);
    }

    const std::shared_ptr<const Recording> recording_;
    const KindSet wanted_;
    const std::function<bool()>& goes_on_;
    std::vector<ProcessUsage> processes_;
    std::vector<std::unique_ptr<BlockSummary>> totals_;
    std::vector<uint64_t> bounds_;                       // of the stretches
    std::vector<std::pair<uint64_t, uint64_t>> events_;  // by the beginnings of blocks: all until its end
    RecordedPeaks peaks_;
    std::optional<Replay> replay_;
    uint64_t steps_ = 0;
    bool is_stopped_ = false;
};

}  // namespace

base::Expected<RecordedPeaks> find_peaks(const std::shared_ptr<const Recording>& recording, KindSet wanted,
                                         const std::function<bool()>& goes_on) {
    return PeakFinder(recording, wanted, goes_on).find();
}

}  // namespace ttmem::recording
