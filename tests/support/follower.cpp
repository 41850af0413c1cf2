// SPDX-License-Identifier: Apache-2.0
#include "tests/support/follower.hpp"

#include <algorithm>
#include <set>

namespace ttmem::test {

using segment::Allocation;
using segment::Event;
using segment::EventType;
using segment::SlotRef;

Follower::Follower(const segment::Reader& reader, Start start) {
    // Take the cursor before the scan. An event in between is then in both the scan and the events, and its generation
    // resolves the duplicate. In the opposite order it would be in neither.
    if (start == Start::from_now) {
        cursor_ = reader.cursor_at_end();
        for (const segment::RingPosition& ring : cursor_.rings) {
            before_ += ring.next;
        }
    }
    scan(reader);
}

void Follower::follow(const segment::Reader& reader) {
    const uint64_t lost = cursor_.lost();
    reader.follow(cursor_, [&](uint32_t line, const Event& event) {
        if (on_event) {
            on_event(line, event);
        }
        apply(event);
    });
    if (cursor_.lost() != lost) {
        scan(reader);
    }
}

void Follower::scan(const segment::Reader& reader) {
    ++scans_;
    std::set<uint32_t> seen;
    reader.for_each_live([&](SlotRef ref, const Allocation& a) {
        seen.insert(ref.slot);
        Slot& slot = slots_[ref.slot];
        if (ref.generation > slot.generation) {
            slot = {ref.generation, {a.set, a.kind, a.address, a.requested}};
        }
        return true;
    });
    // A slot that was live and is not found at that generation has been freed at least once.
    for (auto& [index, slot] : slots_) {
        if (segment::is_live(slot.generation) && !seen.contains(index)) {
            ++slot.generation;
        }
    }
}

void Follower::apply(const Event& event) {
    if (event.type != EventType::allocate && event.type != EventType::free) {
        return;
    }
    Slot& slot = slots_[event.slot.slot];
    if (event.slot.generation > slot.generation) {
        slot = {event.slot.generation, {event.set, event.kind, event.address, event.requested}};
    }
}

std::vector<Follower::KnownAllocation> Follower::live() const {
    std::vector<KnownAllocation> result;
    for (const auto& [index, slot] : slots_) {
        if (segment::is_live(slot.generation)) {
            result.push_back(slot.known);
        }
    }
    std::sort(result.begin(), result.end());
    return result;
}

std::vector<Follower::KnownAllocation> Follower::known_of(const std::vector<Live>& live) {
    std::vector<KnownAllocation> result;
    result.reserve(live.size());
    for (const Live& a : live) {
        result.emplace_back(a.set, a.kind, a.address, a.requested);
    }
    std::sort(result.begin(), result.end());
    return result;
}

}  // namespace ttmem::test
