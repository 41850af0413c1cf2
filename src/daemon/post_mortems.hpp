// SPDX-License-Identifier: Apache-2.0
#pragma once

// The last ledgers of processes that have ended, as they left them: the segments themselves, and no copies. Bounded in number
// and in bytes. Any thread may ask.

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "census/post_mortem.hpp"

namespace ttmem::daemon {

class PostMortems {
public:
    struct Limits {
        size_t number = 64;
        uint64_t bytes = uint64_t{512} << 20;  // of the host's memory
    };

    PostMortems() : PostMortems(Limits{}) {}
    explicit PostMortems(Limits limits) : limits_(limits) {}

    // One that several sources knew is kept once, as the first of them knew it. What is too much goes: first those that held nothing when they ended, then the oldest. The newest stays in any case.
    void add(census::Dead dead);

    std::vector<census::Dead> newest_first() const;
    size_t size() const;

    // That were ever added, kept or not.
    struct Deaths {
        uint64_t all = 0;
        uint64_t holding_memory = 0;  // with something not freed
    };
    Deaths deaths() const;
    uint64_t dropped() const;

private:
    struct Kept {
        census::Dead dead;
        uint64_t bytes = 0;
        bool held_something = false;
    };

    void take_out(const std::deque<Kept>::iterator& one, std::vector<Kept>& out);

    const Limits limits_;
    mutable std::mutex mutex_;
    std::deque<Kept> kept_;  // oldest first
    uint64_t bytes_ = 0;
    uint64_t dropped_ = 0;
    Deaths deaths_;
};

}  // namespace ttmem::daemon
