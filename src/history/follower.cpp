// SPDX-License-Identifier: Apache-2.0
#include "history/follower.hpp"

#include <optional>

namespace ttmem::history {

namespace {

std::optional<RecordType> type_of(segment::EventType type) {
    switch (type) {
        case segment::EventType::allocate:
            return RecordType::allocation;
        case segment::EventType::free:
            return RecordType::free;
        case segment::EventType::open_set:
            return RecordType::set_opened;
        case segment::EventType::close_set:
            return RecordType::set_closed;
        case segment::EventType::failure:
            return RecordType::failure;
    }
    return std::nullopt;  // from a newer writer, or corrupt
}

}  // namespace

Follower::Follower(const segment::Reader& reader, uint32_t process, StartPosition from)
    : process_(process),
      cursor_(from == StartPosition::present ? reader.cursor_at_end() : segment::Cursor{}) {
    sets_.update(reader);
}

uint64_t Follower::follow(const segment::Reader& reader, Log& log, uint64_t most) {
    const uint64_t lost_before = lost();
    const uint64_t followed_before = followed();
    const segment::Clock clock = reader.clock();
    uint64_t sets_seen_at = 0;  // ticks of the newest event for which the sets were read
    reader.follow(
        cursor_,
        [&](uint32_t, const segment::Event& event) {
            const auto type = type_of(event.type);
            if (!type) {
                return;
            }
            uint32_t set = sets_.find(event.set, event.ticks);
            if ((set == 0 || event.type == segment::EventType::open_set) && event.ticks > sets_seen_at) {
                sets_.update(reader);
                sets_seen_at = event.ticks;
                set = sets_.find(event.set, event.ticks);
            }
            Record& record = log.add();
            record.process = process_;
            record.set = set;
            record.type = *type;
            record.monotonic_ns = clock.monotonic_ns(event.ticks);
            record.event = event;
        },
        most);
    if (lost() != lost_before) {
        Record& gap = log.add();
        gap.process = process_;
        gap.type = RecordType::gap;
        gap.monotonic_ns = segment::monotonic_now();
        gap.count = lost() - lost_before;
    }
    return followed() - followed_before;
}

}  // namespace ttmem::history
