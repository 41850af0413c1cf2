// SPDX-License-Identifier: Apache-2.0
#include "recording/failures.hpp"

#include <algorithm>

#include "recording/columns.hpp"
#include "recording/tables.hpp"

namespace ttmem::recording {

std::vector<RecordedFailure> find_failures(const Recording& recording) {
    std::vector<RecordedFailure> failures;
    for (const RecordedProcess& process : recording.processes()) {
        for (const BlockPlace& place : process.blocks) {
            const bool has_none = place.summary != nullptr && place.summary->failures == 0;
            if (place.type() != BlockType::events || has_none) {
                continue;
            }
            const auto payload = place.read();
            if (!payload) {
                continue;  // damaged: its events are lost
            }
            ByteReader from(*payload);
            read_tables(from);
            ColumnReader columns(from, place.header().first_ns);
            for (RecordedEvent event; columns.next(event);) {
                if (event.type == segment::EventType::failure) {
                    // The time of an event is rounded down, that of the failure itself is not.
                    const uint64_t time_ns = std::min(event.time_ns + 4 * kTimeUnitNs, recording.last_ns());
                    failures.push_back({time_ns, process.number, event.allocation.kind});
                }
            }
        }
    }
    std::stable_sort(failures.begin(), failures.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    return failures;
}

}  // namespace ttmem::recording
