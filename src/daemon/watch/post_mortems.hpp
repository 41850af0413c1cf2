// SPDX-License-Identifier: Apache-2.0
#pragma once

// The last ledgers of processes that have ended: the segments themselves, not copies. Bounded in number and in bytes, with a fair
// share per user. Any thread may use it.

#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "census/post_mortem.hpp"

namespace ttmem::daemon {

struct PostMortemCapacity {
    size_t number = 64;
    uint64_t bytes = uint64_t{96} << 20;  // of the host's memory
};

// Of all that were ever added, dropped or not.
struct DeathCounts {
    uint64_t all = 0;             // processes, however many segments they had
    uint64_t holding_memory = 0;  // that had not freed everything
    uint64_t replaced = 0;        // processes that executed another program; no deaths
};

class PostMortems {
public:
    PostMortems() : PostMortems(PostMortemCapacity{}) {}
    explicit PostMortems(PostMortemCapacity limits) : capacity_(limits) {}

    // A process with several sources is kept once, by its best source. Beyond the capacity the user who has most loses one: first
    // those that held nothing, then the oldest. A segment that alone exceeds the capacity is not kept.
    void add(census::DeadProcess dead);

    // Another process may still write to the segment of a dead one and make it larger. Measures all, and drops what is too much.
    void measure();

    std::vector<census::DeadProcess> newest_first() const;
    size_t size() const;

    DeathCounts deaths() const;
    uint64_t dropped() const;

private:
    struct StoredPostMortem {
        census::DeadProcess dead;
        uint64_t bytes = 0;
        bool held_memory = false;

        uint32_t uid() const { return dead.process.identity.uid; }
    };
    using Stored = std::deque<StoredPostMortem>;
    using Dropped =
        std::vector<StoredPostMortem>;  // destroyed after the lock is released: unmapping takes time

    void count(const StoredPostMortem& added);
    void remove(const Stored::iterator& one, Dropped& out);
    void drop_excess(Dropped& out);
    uint32_t user_with_most(bool by_bytes) const;

    const PostMortemCapacity capacity_;
    mutable std::mutex mutex_;
    Stored stored_;  // oldest first
    uint64_t bytes_ = 0;
    uint64_t dropped_ = 0;
    DeathCounts deaths_;
    // Processes that were counted, the last few thousand: the segments of one process end one after another.
    using CountedProcess = std::pair<uint32_t, uint64_t>;  // pid and start time
    static constexpr size_t kMostCounted = 4096;
    std::set<CountedProcess> counted_;
    std::set<CountedProcess> counted_holding_;
    std::deque<CountedProcess> counted_order_;
};

}  // namespace ttmem::daemon
