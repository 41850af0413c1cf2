// SPDX-License-Identifier: Apache-2.0
#include "recording/recorded_names.hpp"

#include <utility>

#include "base/text.hpp"
#include "segment/limits.hpp"

namespace ttmem::recording {

void RecordedNames::add(const std::vector<TableEntry>& entries) {
    for (const TableEntry& entry : entries) {
        if (entry.table == TableId::names) {
            ByteReader name(entry.bytes);
            const auto parent = static_cast<uint32_t>(name.number());
            parts_[entry.index] = {parent, entry.bytes.substr(entry.bytes.size() - name.left())};
        }
    }
}

std::string RecordedNames::full_name(uint32_t name) const {
    std::string path;
    for (uint32_t depth = 0; name != 0 && depth < segment::kMaxScopeDepth; ++depth) {
        const auto part = parts_.find(name);
        if (part == parts_.end()) {
            break;
        }
        std::string text = base::printable(part->second.text);
        path = path.empty() ? std::move(text) : std::move(text.append(1, '/').append(path));
        name = part->second.parent < name ? part->second.parent : 0;  // only a hostile file has a circle
    }
    return path;
}

bool may_have_new_names(const RecordedProcess& process, const BlockPlace& place) {
    return place.summary == nullptr || place.summary->has_marks || place.missing_before != 0 ||
           &place == &process.blocks.front();
}

}  // namespace ttmem::recording
