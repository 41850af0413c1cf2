// SPDX-License-Identifier: Apache-2.0
#include "sources/driver/heartbeats.hpp"

#include <cassert>
#include <utility>

namespace ttmem::sources::driver {

void Heartbeats::start_read(Time began, Time ended) {
    assert(began <= ended);
    began_ = began;
    ended_ = ended;
    before_ = std::exchange(hearts_, {});
}

std::optional<bool> Heartbeats::update(uint32_t device, std::optional<uint32_t> counter) {
    if (!counter) {
        return std::nullopt;
    }
    Heart heart{*counter, ended_, std::nullopt};
    if (const auto before = before_.find(device); before != before_.end()) {
        if (before->second.counter != *counter) {
            heart.is_alive = true;
        } else {
            heart = before->second;
            heart.is_alive = began_ - heart.since >= kStuckAfter ? std::optional(false) : heart.is_alive;
        }
    }
    return hearts_.insert_or_assign(device, heart).first->second.is_alive;
}

}  // namespace ttmem::sources::driver
