// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/card_keeper.hpp"

#include <chrono>
#include <iterator>
#include <set>
#include <utility>

#include "census/failures.hpp"

namespace ttmem::daemon {

namespace {

constexpr auto kInterval = std::chrono::seconds(1);
constexpr uint32_t kCardsPerRound = 2 * segment::kCards;  // of one user
constexpr size_t kMostEnded = 64;  // that wait for the thread; each keeps its segment mapped

}  // namespace

void CardKeeper::start() {
    thread_ = std::thread([this] { run(); });
}

void CardKeeper::stop() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
        do {
            keep_new_cards();
        } while (!ended_.empty());
    }
}

void CardKeeper::process_ended(census::Process process) {
    if (!process.ledger || process.ledger->card_count() == 0) {
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        if (ended_.size() < kMostEnded) {
            ended_.push_back(std::move(process));
        } else {
            store_.lose_card("too many processes with cards ended at once");
        }
    }
    changed_.notify_all();
}

void CardKeeper::run() {
    std::unique_lock lock(mutex_);
    while (!is_stopping_) {
        lock.unlock();
        keep_new_cards();
        lock.lock();
        changed_.wait_for(lock, kInterval, [this] { return is_stopping_ || ended_.size() > left_over_; });
    }
}

void CardKeeper::keep_new_cards() {
    std::vector<census::Process> ended;
    {
        const std::lock_guard lock(mutex_);
        ended.swap(ended_);
    }
    std::map<uint32_t, uint32_t> shares;
    std::set<std::pair<uint32_t, uint64_t>> living;
    for (const AttachedProcess& member : process_table_.members()) {
        living.emplace(member.process.identity.pid, member.process.identity.start_time);
        keep(member.process, shares);
    }
    std::erase_if(ended, [&](const census::Process& process) { return keep(process, shares); });
    {
        const std::lock_guard lock(mutex_);
        left_over_ = ended.size();
        ended_.insert(ended_.begin(), std::make_move_iterator(ended.begin()),
                      std::make_move_iterator(ended.end()));
    }
    std::erase_if(seen_, [&](const auto& each) { return living.count(each.first) == 0; });
}

bool CardKeeper::keep(const census::Process& process, std::map<uint32_t, uint32_t>& shares) {
    const census::Identity& identity = process.identity;
    const uint64_t count = process.ledger ? process.ledger->card_count() : 0;
    if (count == 0) {
        return true;
    }
    uint64_t& seen = seen_[{identity.pid, identity.start_time}];
    if (count == seen) {
        return true;
    }
    uint32_t& share = shares[identity.uid];
    // A hostile process may claim new cards at every round.
    if (share >= kCardsPerRound) {
        return false;
    }
    census::Census census = process_table_.census();
    census.processes = {process};
    census.totals_only.clear();
    const auto page = census::list_failures(census, {});
    for (const census::FailureFigures& failure :
         page ? page->failures : std::vector<census::FailureFigures>()) {
        if (!failure.card ||
            store_.has({identity.pid, identity.start_time, failure.card->number}, failure.time_ns)) {
            continue;
        }
        if (share >= kCardsPerRound) {
            return false;
        }
        ++share;
        store_.add(
            {identity.pid, identity.start_time_ns, identity.comm, identity.uid, identity.user, failure},
            identity.start_time);
    }
    seen = count;
    return true;
}

}  // namespace ttmem::daemon
