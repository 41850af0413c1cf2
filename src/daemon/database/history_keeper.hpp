// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps history on disk, on its own thread: used bytes every ten seconds; failures, marks and deaths once per second. It reads the
// segments itself, so nothing waits for it, and what could not be written yet is read again. Samples alone are lost meanwhile.

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "daemon/database/history_database.hpp"
#include "daemon/database/history_reader.hpp"
#include "daemon/database/history_sampler.hpp"
#include "daemon/watch/post_mortems.hpp"
#include "daemon/watch/process_table.hpp"
#include "view/model/past.hpp"

namespace ttmem::daemon {

struct HistorySettings {
    std::filesystem::path state;  // the state folder; empty if there is none
    HistoryLimits limits;
    std::string version;
    std::chrono::milliseconds sample_interval{10'000};
    std::chrono::milliseconds retry_interval{10'000};  // after a problem
};

class HistoryKeeper {
public:
    // The table and the post-mortems must outlive it. `note` gets a line when the state changes.
    HistoryKeeper(HistorySettings settings, const ProcessTable& process_table,
                  const PostMortems& post_mortems, std::function<void(const std::string&)> note);
    ~HistoryKeeper() { stop(); }
    HistoryKeeper(const HistoryKeeper&) = delete;
    HistoryKeeper& operator=(const HistoryKeeper&) = delete;

    void start();
    // Writes what has happened before it returns.
    void stop();

    // Any thread.
    void add_sample(const census::Census& census, const census::Figures& figures,
                    const history::Samples& samples);
    // A process has ended.
    void wake();
    // Calls `use` unless there is nothing to read. False then, or if the file can't be read.
    bool read(const std::function<void(HistoryReader& reader)>& use) const;
    view::HistoryFile status() const;
    // Why answers lack a part of the past; empty: they don't.
    std::string problem() const;

private:
    using SteadyClock = std::chrono::steady_clock;
    using DeathKey = std::tuple<uint32_t, uint64_t, uint64_t>;  // also when it died

    bool is_on() const { return settings_.limits.bytes != 0; }
    void run();
    void round();
    bool is_open();
    void set_state(view::HistoryState state, const std::string& problem);
    void collect(HistoryBatch& batch);
    void collect_moments(const census::Process& process, HistoryBatch& batch);
    void collect_deaths(HistoryBatch& batch);
    void add_failures(const census::Process& process, const SeenCounts& seen, const SeenCounts& now,
                      HistoryBatch& batch);
    void add_marks(const census::Process& process, uint64_t seen, HistoryBatch& batch);
    // Whether a user may have so much written now.
    bool spend(uint32_t uid);
    void written();
    void failed(const HistoryBatch& batch, const base::Error& problem);

    const HistorySettings settings_;
    const std::filesystem::path file_;
    const ProcessTable& process_table_;
    const PostMortems& post_mortems_;
    const std::function<void(const std::string&)> note_;
    HistorySampler sampler_;

    // Of the thread.
    std::unique_ptr<HistoryDatabase> database_;
    SteadyClock::time_point next_try_;  // after a problem
    SteadyClock::time_point next_sample_;
    std::map<ProcessStart, SeenCounts> seen_;
    std::map<DeathKey, bool> deaths_;          // that are written, and whether it is known how they ended
    std::set<ProcessStart> present_;           // in the last round
    std::map<DeathKey, bool> pending_deaths_;  // as deaths_ is after the write of this round
    std::map<uint32_t, double> allowances_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool is_stopping_ = false;
    bool is_woken_ = false;
    view::HistoryFile status_;
    uint64_t opened_ = 0;  // how often; readers of an earlier file are closed
    bool is_readable_ = false;
    mutable bool is_damaged_ = false;  // a reader found it
    mutable std::vector<std::pair<uint64_t, std::unique_ptr<HistoryReader>>> idle_;
    std::thread thread_;
};

}  // namespace ttmem::daemon
