// SPDX-License-Identifier: Apache-2.0
#include "daemon/post_mortems.hpp"

#include <algorithm>

namespace ttmem::daemon {

namespace {

// By the counters: a pass over a large ledger would keep the loop.
bool holds_something(const segment::Reader& ledger) {
    for (const segment::SetTotals& set : ledger.totals().sets) {
        for (const segment::PoolTotals& pool : set.pools) {
            if ((pool.used | pool.count | pool.planned | pool.views) != 0) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

void PostMortems::add(census::Dead dead) {
    Kept kept{std::move(dead), 0, false};
    kept.bytes = kept.dead.process.ledger->resident_bytes();
    kept.held_something = holds_something(*kept.dead.process.ledger);
    std::vector<Kept> dropped;  // unmapped when the lock is gone: that takes its time
    const std::lock_guard lock(mutex_);
    const census::Process& process = kept.dead.process;
    const auto same = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) {
        return one.dead.process.identity.is_same_process(process.identity) &&
               one.dead.process.source != process.source;
    });
    if (same != kept_.end() && same->dead.process.source < process.source) {
        return;
    }
    const bool is_new = same == kept_.end();
    const bool was_holding = !is_new && same->held_something;
    deaths_.all += is_new ? 1 : 0;
    deaths_.holding_memory += kept.held_something && !was_holding ? 1 : 0;
    if (!is_new) {
        take_out(same, dropped);
    }
    bytes_ += kept.bytes;
    kept_.push_back(std::move(kept));
    while (kept_.size() > 1 && (kept_.size() > limits_.number || bytes_ > limits_.bytes)) {
        const auto first =
            std::find_if(kept_.begin(), kept_.end() - 1, [](const Kept& one) { return !one.held_something; });
        take_out(first == kept_.end() - 1 ? kept_.begin() : first, dropped);
        ++dropped_;
    }
}

void PostMortems::take_out(const std::deque<Kept>::iterator& one, std::vector<Kept>& out) {
    bytes_ -= one->bytes;
    out.push_back(std::move(*one));
    kept_.erase(one);
}

std::vector<census::Dead> PostMortems::newest_first() const {
    const std::lock_guard lock(mutex_);
    std::vector<census::Dead> result;
    for (auto one = kept_.rbegin(); one != kept_.rend(); ++one) {
        result.push_back(one->dead);
    }
    return result;
}

uint64_t PostMortems::dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
}

PostMortems::Deaths PostMortems::deaths() const {
    const std::lock_guard lock(mutex_);
    return deaths_;
}

size_t PostMortems::size() const {
    const std::lock_guard lock(mutex_);
    return kept_.size();
}

}  // namespace ttmem::daemon
