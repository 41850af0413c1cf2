// SPDX-License-Identifier: Apache-2.0
#include "recording/marks.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "recording/recorded_names.hpp"
#include "recording/tables.hpp"

namespace ttmem::recording {

namespace {

void read_marks(const RecordedProcess& process, uint64_t last_ns, std::vector<RecordedMark>& to) {
    RecordedNames names;
    std::map<uint32_t, std::pair<uint64_t, uint32_t>> marks;  // by number: time and name
    for (const BlockPlace& place : process.blocks) {
        if (!may_have_new_names(process, place)) {
            continue;
        }
        const auto payload = place.read();
        if (!payload) {
            continue;
        }
        ByteReader from(*payload);
        const std::vector<TableEntry> entries = read_tables(from);
        names.add(entries);
        for (const TableEntry& entry : entries) {
            if (entry.table == TableId::marks) {
                const segment::MarkHead head = mark_from_bytes(entry.bytes).head;
                marks.try_emplace(entry.index, head.ticks, head.name);
            }
        }
    }
    for (const auto& [number, mark] : marks) {
        if (mark.first < process.first_ns) {
            continue;  // older than the recording
        }
        // It may be younger than the last event of its block.
        to.push_back({std::min(mark.first, last_ns), process.number, names.full_name(mark.second)});
    }
}

}  // namespace

std::vector<RecordedMark> find_marks(const Recording& recording) {
    std::vector<RecordedMark> marks;
    for (const RecordedProcess& process : recording.processes()) {
        read_marks(process, recording.last_ns(), marks);
    }
    std::stable_sort(marks.begin(), marks.end(),
                     [](const RecordedMark& a, const RecordedMark& b) { return a.time_ns < b.time_ns; });
    return marks;
}

}  // namespace ttmem::recording
