// SPDX-License-Identifier: Apache-2.0
#include "history/set_versions.hpp"

#include <algorithm>

namespace ttmem::history {

namespace {

constexpr uint64_t kLostTicks = 15;  // the time of an event lacks its lowest four bits

}  // namespace

void SetVersions::update(const segment::Reader& reader) {
    for (const segment::SetTotals& set : reader.sets()) {
        if (set.index >= by_index_.size()) {
            by_index_.resize(set.index + 1);
        }
        std::vector<uint32_t>& numbers = by_index_[set.index];
        const Version* newest = numbers.empty() ? nullptr : at(numbers.back());
        if (newest && newest->opened_ticks == set.set.opened_ticks) {
            continue;
        }
        if (entries_.size() == kMostVersions) {
            std::vector<uint32_t>& oldest = by_index_[entries_.front().index];
            oldest.erase(std::remove(oldest.begin(), oldest.end(), first_number_), oldest.end());
            entries_.pop_front();
            ++first_number_;
        }
        numbers.push_back(first_number_ + static_cast<uint32_t>(entries_.size()));
        entries_.push_back(
            {static_cast<uint8_t>(set.index), {set.set.members, set.set.opened_ticks, set.set.label}});
    }
}

uint32_t SetVersions::find(uint8_t index, uint64_t ticks) const {
    if (index >= by_index_.size()) {
        return 0;
    }
    // Returns the newest version that was open at that time. An event of a set that was never read would map to the
    // version before it, if there is one. A set is opened before its events and closed after them, so only a version
    // between two reads can be missing.
    const std::vector<uint32_t>& numbers = by_index_[index];
    for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
        if (const Version* known = at(*number); known && known->opened_ticks <= (ticks | kLostTicks)) {
            return *number;
        }
    }
    return 0;
}

std::optional<SetVersions::Version> SetVersions::version(uint32_t number) const {
    const Version* known = at(number);
    return known ? std::optional(*known) : std::nullopt;
}

const SetVersions::Version* SetVersions::at(uint32_t number) const {
    const bool is_known = number >= first_number_ && number - first_number_ < entries_.size();
    return is_known ? &entries_[number - first_number_].version : nullptr;
}

}  // namespace ttmem::history
