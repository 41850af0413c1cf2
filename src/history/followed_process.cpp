// SPDX-License-Identifier: Apache-2.0
#include "history/followed_process.hpp"

#include <algorithm>
#include <cassert>

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
        device_ids_ = census::device_ids_of(ledger_->devices(), identity_.uid, device_ids);
    }
    return events;
}

void FollowedProcess::add_record(Log& log, RecordType type) {
    Record record;
    record.process = number_;
    record.type = type;
    record.monotonic_ns = segment::monotonic_now();
    log.add(record);
    last_sequence_ = log.newest();
}

std::optional<Difference> FollowedProcess::audit() {
    assert(is_followed());
    const auto difference = audit_.compare(*ledger_);
    has_defect_ = has_defect_ || difference;
    return difference;
}

std::vector<uint32_t> FollowedProcess::devices_of(const Record& record) const {
    std::vector<uint32_t> result;
    const auto version = follower_.sets().version(record.set);
    for (size_t entry = 0; version && entry < device_ids_.size(); ++entry) {
        if ((version->members >> entry & 1) != 0 && device_ids_[entry]) {
            result.push_back(*device_ids_[entry]);
        }
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
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
