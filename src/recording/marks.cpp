// SPDX-License-Identifier: Apache-2.0
#include "recording/marks.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "recording/tables.hpp"
#include "segment/limits.hpp"

namespace ttmem::recording {

namespace {

struct NamePart {
    uint32_t parent = 0;
    std::string text;
};

using NameParts = std::map<uint32_t, NamePart>;

std::string full_name(const NameParts& parts, uint32_t name) {
    std::string path;
    for (uint32_t depth = 0; name != 0 && depth < segment::kMaxScopeDepth; ++depth) {
        const auto part = parts.find(name);
        if (part == parts.end()) {
            break;
        }
        std::string text = base::printable(part->second.text);
        path = path.empty() ? std::move(text) : std::move(text.append(1, '/').append(path));
        name = part->second.parent < name ? part->second.parent : 0;  // only a hostile file has a circle
    }
    return path;
}

void read_marks(const RecordedProcess& process, std::vector<RecordedMark>& to) {
    NameParts names;
    std::map<uint32_t, std::pair<uint64_t, uint32_t>> marks;  // by number: time and name
    for (const BlockPlace& place : process.blocks) {
        // A ledger has all names; after a loss of blocks it may have new ones.
        const bool says_nothing_new = place.summary != nullptr && !place.summary->has_marks &&
                                      place.missing_before == 0 && &place != &process.blocks.front();
        if (says_nothing_new) {
            continue;
        }
        const auto payload = place.read();
        if (!payload) {
            continue;
        }
        ByteReader from(*payload);
        for (const TableEntry& entry : read_tables(from)) {
            if (entry.table == TableId::names) {
                ByteReader name(entry.bytes);
                const auto parent = static_cast<uint32_t>(name.number());
                names[entry.index] = {parent, entry.bytes.substr(entry.bytes.size() - name.left())};
            } else if (entry.table == TableId::marks) {
                const segment::MarkHead head = mark_from_bytes(entry.bytes).head;
                marks.try_emplace(entry.index, head.ticks, head.name);
            }
        }
    }
    for (const auto& [number, mark] : marks) {
        if (mark.first < process.first_ns) {
            continue;  // older than the recording
        }
        to.push_back({mark.first, process.number, full_name(names, mark.second)});
    }
}

}  // namespace

std::vector<RecordedMark> find_marks(const Recording& recording) {
    std::vector<RecordedMark> marks;
    for (const RecordedProcess& process : recording.processes()) {
        read_marks(process, marks);
    }
    std::stable_sort(marks.begin(), marks.end(),
                     [](const RecordedMark& a, const RecordedMark& b) { return a.time_ns < b.time_ns; });
    return marks;
}

}  // namespace ttmem::recording
