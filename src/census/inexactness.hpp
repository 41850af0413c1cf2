// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reasons for which a figure is not exact. Decisions and metric labels use the code. Every interface shows the
// sentence of text_of().

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/named_enum.hpp"
#include "segment/layout.hpp"

namespace ttmem::census {

enum class Reason : uint8_t {
    // Counters of a segment, in the order of segment::Inexact.
    ledger_full,
    sets_full,
    devices_full,
    names_full,
    core_sets_full,
    threads_share_ring,
    implausible_size,
    unknown_set,
    unknown_kind,
    reentered,
    unknown_free,
    double_free,
    ambiguous_free,
    name_cut,
    scope_too_deep,
    no_host_memory,
    unknown_device,
    stopped,
    // Found by the reader of a segment.
    settling,
    reserved_unknown,
    negative_pool,
    event_in_flight,
    counters_differ,
    started_before_ledger,
    changed_user,
    work_limit,
    list_limit,
    // Processes that the figures cover partly or not at all.
    totals_only,
    untracked,
    not_listed,
    unreadable,
    processes_unreadable,
    segment_skipped,
    too_many_segments,
    too_many_processes,
    too_many_devices,
    scan_running,
    scan_incomplete,
    // Found on the host.
    no_asic_id,
    device_disputed,
    ambiguous_number,
    numbers_may_differ,
    stock_region,
    claimed,
    // What lists of the past lack.
    events_hidden,
    events_lost,
    events_not_kept,
    records_contradict,
    sets_not_kept,
    post_mortems_hidden,
    post_mortems_not_kept,
    series_not_kept,
    processes_missed,
    history_not_kept,
    // From a daemon that is newer than this program. Its message contains the sentence.
    other,
};

constexpr auto enum_names(Reason /*of*/) {
    return std::to_array<std::string_view>({
        "ledger_full",
        "sets_full",
        "devices_full",
        "names_full",
        "core_sets_full",
        "threads_share_ring",
        "implausible_size",
        "unknown_set",
        "unknown_kind",
        "reentered",
        "unknown_free",
        "double_free",
        "ambiguous_free",
        "name_cut",
        "scope_too_deep",
        "no_host_memory",
        "unknown_device",
        "stopped",
        "settling",
        "reserved_unknown",
        "negative_pool",
        "event_in_flight",
        "counters_differ",
        "started_before_ledger",
        "changed_user",
        "work_limit",
        "list_limit",
        "totals_only",
        "untracked",
        "not_listed",
        "unreadable",
        "processes_unreadable",
        "segment_skipped",
        "too_many_segments",
        "too_many_processes",
        "too_many_devices",
        "scan_running",
        "scan_incomplete",
        "no_asic_id",
        "device_disputed",
        "ambiguous_number",
        "numbers_may_differ",
        "stock_region",
        "claimed",
        "events_hidden",
        "events_lost",
        "events_not_kept",
        "records_contradict",
        "sets_not_kept",
        "post_mortems_hidden",
        "post_mortems_not_kept",
        "series_not_kept",
        "processes_missed",
        "history_not_kept",
        "other",
    });
}
using base::name_of;

constexpr Reason reason_of(segment::Inexact counter) { return static_cast<Reason>(counter); }
static_assert(reason_of(segment::Inexact::stopped) == Reason::stopped);
static_assert(static_cast<uint32_t>(Reason::settling) == segment::kInexactCounters);

struct Inexactness {
    uint32_t pid = 0;  // 0: the host
    Reason reason = Reason::settling;
    uint64_t count = 0;
    // The variable part of the sentence. Most reasons have none.
    std::string detail = {};

    // The figures lack the whole process.
    bool is_skipped() const;

    bool operator==(const Inexactness&) const = default;
};

// The sentence, without the process and the count: "ledger full: allocations not recorded".
std::string text_of(const Inexactness& inexactness);

}  // namespace ttmem::census
