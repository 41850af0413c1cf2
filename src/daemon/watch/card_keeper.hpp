// SPDX-License-Identifier: Apache-2.0
#pragma once

// Moves failure cards from the segments of processes to the disk, on its own thread: once per second those of living processes, and
// those of a process that has ended at once.

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "census/census.hpp"
#include "daemon/watch/card_store.hpp"
#include "daemon/watch/process_table.hpp"

namespace ttmem::daemon {

class CardKeeper {
public:
    // Both must outlive it.
    CardKeeper(const ProcessTable& process_table, CardStore& store)
        : process_table_(process_table), store_(store) {}
    ~CardKeeper() { stop(); }
    CardKeeper(const CardKeeper&) = delete;
    CardKeeper& operator=(const CardKeeper&) = delete;

    void start();
    // Keeps the cards of the processes that have ended before it returns.
    void stop();

    void process_ended(census::Process process);

    // One round; the thread calls it. Of each user a few cards per round.
    void keep_new_cards();

private:
    void run();
    // False: the share of its user is used up, and cards are left for the next round.
    bool keep(const census::Process& process, std::map<uint32_t, uint32_t>& shares);

    const ProcessTable& process_table_;
    CardStore& store_;
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> seen_;  // cards of a process when it was last read
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<census::Process> ended_;
    size_t left_over_ = 0;  // of those: they wait for the next interval
    bool is_stopping_ = false;
    std::thread thread_;
};

}  // namespace ttmem::daemon
