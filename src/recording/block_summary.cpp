// SPDX-License-Identifier: Apache-2.0
#include "recording/block_summary.hpp"

#include <algorithm>

namespace ttmem::recording {

using census::Kind;
using segment::AllocationKind;
using segment::EventType;

namespace {

constexpr uint64_t kHasMarks = 1;
constexpr uint64_t kIsState = 2;

// In a slot.
constexpr unsigned kKindBits = 3;
constexpr uint64_t kKindMask = (1u << kKindBits) - 1;
static_assert(census::kKinds <= kKindMask);

// Kernels of all types are one kind.
constexpr std::array<AllocationKind, census::kKinds> kNumbers = {
    AllocationKind::dram,         AllocationKind::l1, AllocationKind::l1_small,
    AllocationKind::trace,        AllocationKind::cb, AllocationKind::kernel_application,
    AllocationKind::system_memory};

}  // namespace

KindUsage BlockSummary::usage_of(Kind kind) const {
    const auto found =
        std::find_if(kinds.begin(), kinds.end(), [&](const KindUsage& usage) { return usage.kind == kind; });
    return found != kinds.end() ? *found : KindUsage{.kind = kind};
}

void write_summaries(const std::vector<BlockSummary>& summaries, ByteWriter& to) {
    to.number(summaries.size());
    for (const BlockSummary& summary : summaries) {
        to.number(summary.sequence);
        to.number((summary.has_marks ? kHasMarks : 0) | (summary.is_state ? kIsState : 0));
        to.number(summary.failures);
        to.number(summary.kinds.size());
        for (const KindUsage& usage : summary.kinds) {
            to.number(static_cast<uint8_t>(kNumbers[index_of(usage.kind)]));
            to.number(usage.start);
            to.number(usage.highest);
            to.number(usage.highest_after_ns);
            to.number(usage.end);
        }
    }
}

std::vector<BlockSummary> read_summaries(ByteReader& from) {
    std::vector<BlockSummary> summaries;
    for (uint64_t left = from.number(); left != 0 && from.is_good(); --left) {
        BlockSummary summary;
        summary.sequence = static_cast<uint32_t>(from.number());
        const uint64_t flags = from.number();
        summary.has_marks = (flags & kHasMarks) != 0;
        summary.is_state = (flags & kIsState) != 0;
        summary.failures = from.number();
        for (uint64_t kinds = from.number(); kinds != 0 && from.is_good(); --kinds) {
            const auto kind = census::kind_of(static_cast<AllocationKind>(from.number() & 15));
            KindUsage usage;
            usage.start = from.number();
            usage.highest = from.number();
            usage.highest_after_ns = from.number();
            usage.end = from.number();
            if (kind) {
                usage.kind = *kind;
                summary.kinds.push_back(usage);
            }
        }
        if (from.is_good()) {
            summaries.push_back(std::move(summary));
        }
    }
    return summaries;
}

bool has_names_or_marks(const std::vector<TableEntry>& entries) {
    return std::any_of(entries.begin(), entries.end(), [](const TableEntry& entry) {
        return entry.table == TableId::names || entry.table == TableId::marks;
    });
}

void UsageTracker::begin_block(uint64_t first_ns) {
    first_ns_ = first_ns;
    failures_ = 0;
    for (Usage& usage : usage_) {
        usage = {usage.now, usage.now, first_ns, usage.now};
    }
}

void UsageTracker::free(uint32_t slot) {
    uint64_t& used = slots_[slot];
    usage_[used & kKindMask].now -= used >> kKindBits;
    used = 0;
}

void UsageTracker::apply(const RecordedEvent& event, uint64_t time_ns) {
    if (event.type == EventType::failure) {
        ++failures_;
    }
    const bool is_about_slot = event.type == EventType::allocate || event.type == EventType::free;
    if (event.is_late || !is_about_slot) {
        return;
    }
    if (event.slot >= slots_.size()) {
        slots_.resize(std::max<size_t>(size_t{event.slot} + 1, slots_.size() * 2));
    }
    free(event.slot);  // of an allocation too: its own free may have been lost
    const auto kind = census::kind_of(event.allocation.kind);
    if (event.type == EventType::free || !kind) {
        return;
    }
    slots_[event.slot] = event.allocation.used() << kKindBits | index_of(*kind);
    Usage& usage = usage_[index_of(*kind)];
    usage.now += event.allocation.used();
    if (usage.now > usage.highest) {
        usage.highest = usage.now;
        usage.highest_ns = time_ns;
    }
}

BlockSummary UsageTracker::summary(uint32_t sequence) const {
    BlockSummary summary;
    summary.sequence = sequence;
    summary.failures = failures_;
    for (size_t i = 0; i < usage_.size(); ++i) {
        const Usage& usage = usage_[i];
        if (usage.highest != 0) {
            summary.kinds.push_back(
                {static_cast<Kind>(i), usage.start, usage.highest, usage.highest_ns - first_ns_, usage.now});
        }
    }
    return summary;
}

}  // namespace ttmem::recording
