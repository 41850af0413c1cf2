// SPDX-License-Identifier: Apache-2.0
#include "history/followed_process.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace ttmem::history {

FollowedProcess::FollowedProcess(uint32_t number, const census::Process& process,
                                 Follower::StartPosition from)
    : number_(number),
      identity_(process.identity),
      source_(process.source),
      ledger_(process.ledger),
      name_source_(process.ledger),
      follower_(*process.ledger, number, from) {}

uint64_t FollowedProcess::follow(Log& log, census::DeviceIds& device_ids, uint64_t max_events) {
    assert(is_followed());
    const uint64_t before = log.newest();
    const uint64_t events = follower_.follow(*ledger_, log, max_events);
    if (log.newest() != before) {
        last_sequence_ = log.newest();
        devices_ = census::number_devices(ledger_->devices(), identity_.uid, device_ids);
    }
    return events;
}

void FollowedProcess::add_record(Log& log, RecordType type, uint64_t now_ns) {
    Record& record = log.add();
    record.process = number_;
    record.type = type;
    record.monotonic_ns = now_ns;
    last_sequence_ = log.newest();
}

std::optional<Difference> FollowedProcess::audit() {
    assert(is_followed());
    const auto difference = audit_.compare(*ledger_);
    has_defect_ = has_defect_ || difference;
    return difference;
}

std::vector<census::NumberedDevice> FollowedProcess::devices_of(const Record& record) const {
    std::vector<census::NumberedDevice> result;
    const auto version = follower_.sets().version(record.set);
    for (size_t entry = 0; version && entry < devices_.size(); ++entry) {
        if ((version->members >> entry & 1) != 0 && devices_[entry]) {
            result.push_back(*devices_[entry]);
        }
    }
    std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
        return std::pair(a.id, a.logical_id) < std::pair(b.id, b.logical_id);
    });
    const auto has_same_id = [](const auto& a, const auto& b) { return a.id == b.id; };
    result.erase(std::unique(result.begin(), result.end(), has_same_id), result.end());
    return result;
}

std::optional<std::string> FollowedProcess::name_of(const Record& record) const {
    const auto ledger = name_source_.lock();
    if (!ledger) {
        return std::nullopt;
    }
    switch (record.type) {
        case RecordType::allocation:
        case RecordType::free:
        case RecordType::failure:
            return ledger->name(record.event.name);
        case RecordType::set_opened:
        case RecordType::set_closed: {
            const auto version = follower_.sets().version(record.set);
            return version ? std::optional(ledger->name(version->label)) : std::nullopt;
        }
        case RecordType::gap:
        case RecordType::process_started:
        case RecordType::process_died:
            break;
    }
    return std::nullopt;
}

}  // namespace ttmem::history
