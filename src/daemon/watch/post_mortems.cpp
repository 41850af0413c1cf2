// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/post_mortems.hpp"

#include <algorithm>
#include <cassert>
#include <map>

namespace ttmem::daemon {

namespace {

// Enough for hundreds of threads, and little time: this runs on the loop.
constexpr uint64_t kWork = 4096;

// Reads the counters only: a scan of a large ledger would block the loop.
bool holds_memory(const segment::Reader& ledger) {
    uint64_t work = kWork;
    const segment::Totals totals = ledger.totals(work);
    for (const segment::SetTotals& set : totals.sets) {
        for (const segment::PoolTotals& pool : set.pools) {
            if ((pool.used | pool.count | pool.planned | pool.views) != 0) {
                return true;
            }
        }
    }
    return totals.is_cut;
}

}  // namespace

void PostMortems::count(const StoredPostMortem& added) {
    const census::Identity& identity = added.dead.process.identity;
    if (added.dead.ending == census::Ending::exec) {
        ++deaths_.replaced;
        return;
    }
    const CountedProcess key(identity.pid, identity.start_time);
    if (counted_.insert(key).second) {
        ++deaths_.all;
        counted_order_.push_back(key);
    }
    if (added.held_memory && counted_holding_.insert(key).second) {
        ++deaths_.holding_memory;
    }
    for (; counted_order_.size() > kMostCounted; counted_order_.pop_front()) {
        counted_.erase(counted_order_.front());
        counted_holding_.erase(counted_order_.front());
    }
}

void PostMortems::add(census::DeadProcess dead) {
    assert(dead.process.ledger && dead.process.state == census::ProcessState::dead);
    StoredPostMortem added{std::move(dead), 0, false};
    added.bytes = added.dead.process.ledger->resident_bytes();
    added.held_memory = holds_memory(*added.dead.process.ledger);
    Dropped dropped;
    const std::lock_guard lock(mutex_);
    count(added);
    const census::Process& process = added.dead.process;
    const auto same = std::find_if(stored_.begin(), stored_.end(), [&](const StoredPostMortem& one) {
        return one.dead.process.identity.is_same_process(process.identity) &&
               one.dead.process.source != process.source;
    });
    if (same != stored_.end() && same->dead.process.source < process.source) {
        return;
    }
    if (same != stored_.end()) {
        remove(same, dropped);
    }
    bytes_ += added.bytes;
    stored_.push_back(std::move(added));
    drop_excess(dropped);
}

void PostMortems::measure() {
    Dropped dropped;
    const std::lock_guard lock(mutex_);
    bytes_ = 0;
    for (StoredPostMortem& one : stored_) {
        one.bytes = one.dead.process.ledger->resident_bytes();
        bytes_ += one.bytes;
    }
    drop_excess(dropped);
}

uint32_t PostMortems::user_with_most(bool by_bytes) const {
    std::map<uint32_t, uint64_t> shares;
    for (const StoredPostMortem& one : stored_) {
        shares[one.uid()] += by_bytes ? one.bytes : 1;
    }
    return std::max_element(shares.begin(), shares.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

void PostMortems::drop_excess(Dropped& out) {
    while (stored_.size() > capacity_.number || bytes_ > capacity_.bytes) {
        assert(!stored_.empty());
        const uint32_t user = user_with_most(bytes_ > capacity_.bytes);
        const auto find = [&](bool also_holding) {
            return std::find_if(stored_.begin(), stored_.end(), [&](const StoredPostMortem& one) {
                return one.uid() == user && (also_holding || !one.held_memory);
            });
        };
        const auto holding_nothing = find(false);
        // The newest stays if an older one can go.
        remove(holding_nothing == stored_.end() || holding_nothing == stored_.end() - 1 ? find(true)
                                                                                        : holding_nothing,
               out);
        ++dropped_;
    }
}

void PostMortems::remove(const Stored::iterator& one, Dropped& out) {
    assert(one != stored_.end() && bytes_ >= one->bytes);
    bytes_ -= one->bytes;
    out.push_back(std::move(*one));
    stored_.erase(one);
}

std::vector<census::DeadProcess> PostMortems::newest_first() const {
    const std::lock_guard lock(mutex_);
    std::vector<census::DeadProcess> result;
    for (auto one = stored_.rbegin(); one != stored_.rend(); ++one) {
        result.push_back(one->dead);
    }
    return result;
}

uint64_t PostMortems::dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
}

DeathCounts PostMortems::deaths() const {
    const std::lock_guard lock(mutex_);
    return deaths_;
}

size_t PostMortems::size() const {
    const std::lock_guard lock(mutex_);
    return stored_.size();
}

}  // namespace ttmem::daemon
