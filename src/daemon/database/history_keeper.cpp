// SPDX-License-Identifier: Apache-2.0
#include "daemon/database/history_keeper.hpp"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "base/time.hpp"

namespace ttmem::daemon {

namespace {

constexpr auto kRound = std::chrono::seconds(1);
constexpr auto kShortestPause = std::chrono::milliseconds(50);  // between two rounds
constexpr size_t kMostIdleReaders = 4;

}  // namespace

HistoryKeeper::HistoryKeeper(HistorySettings settings, const ProcessTable& process_table,
                             const PostMortems& post_mortems, std::function<void(const std::string&)> note)
    : settings_(std::move(settings)),
      file_(settings_.state.empty() ? std::filesystem::path() : settings_.state / "history" / "history.db"),
      process_table_(process_table),
      post_mortems_(post_mortems),
      note_(std::move(note)) {
    status_.state = is_on() ? view::HistoryState::opening : view::HistoryState::off;
    status_.path = is_on() ? file_.string() : "";
    status_.most_bytes = settings_.limits.bytes;
}

void HistoryKeeper::start() {
    if (is_on()) {
        thread_ = std::thread([this] { run(); });
    }
}

void HistoryKeeper::stop() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
        next_sample_ = {};
        next_try_ = {};
        if (database_) {
            round();
        }
        const std::lock_guard lock(mutex_);
        is_readable_ = false;
        idle_.clear();
        database_.reset();
    }
}

void HistoryKeeper::add_sample(const census::Census& census, const census::Figures& figures,
                               const history::Samples& samples) {
    if (is_on()) {
        sampler_.add(TwoClocks::now().boot_ns, census, figures, samples);
    }
}

void HistoryKeeper::wake() {
    {
        const std::lock_guard lock(mutex_);
        is_woken_ = true;
    }
    changed_.notify_all();
}

void HistoryKeeper::run() {
    pthread_setname_np(pthread_self(), "history-file");
    next_sample_ = SteadyClock::now() + settings_.sample_interval;
    std::unique_lock lock(mutex_);
    while (!is_stopping_) {
        lock.unlock();
        try {
            round();
        } catch (const std::exception& problem) {  // because memory ran out: the next round may have some
            set_state(view::HistoryState::stopped, problem.what());
        }
        lock.lock();
        changed_.wait_for(lock, kShortestPause, [this] { return is_stopping_; });
        changed_.wait_for(lock, std::min<SteadyClock::duration>(kRound, settings_.sample_interval),
                          [this] { return is_stopping_ || is_woken_; });
        is_woken_ = false;
    }
}

// True if the file can be written.
bool HistoryKeeper::is_open() {
    bool is_damaged = false;
    {
        const std::lock_guard lock(mutex_);
        is_damaged = std::exchange(is_damaged_, false);
    }
    if (is_damaged) {
        database_.reset();
    }
    if (database_) {
        return true;
    }
    next_try_ = SteadyClock::now() + settings_.retry_interval;
    std::string set_aside;
    auto opened =
        file_.empty()
            ? base::error(base::Error::Code::failed, "there is no state folder (set TTMEM_STATE_DIR)")
            : HistoryDatabase::open(file_, settings_.limits, settings_.version, TwoClocks::now(), set_aside);
    if (!set_aside.empty()) {
        note_("! " + file_.string() + " was damaged: it is now " + set_aside + ", and history begins anew");
        const std::lock_guard lock(mutex_);
        status_.set_aside = set_aside;
    }
    if (!opened) {
        set_state(view::HistoryState::stopped, opened.error().text);
        return false;
    }
    next_try_ = {};
    database_ = std::move(*opened);
    seen_.clear();
    deaths_.clear();
    {
        const std::lock_guard lock(mutex_);
        ++opened_;
        idle_.clear();
        is_readable_ = true;
    }
    set_state(view::HistoryState::kept, "");
    return true;
}

void HistoryKeeper::set_state(view::HistoryState state, const std::string& problem) {
    view::HistoryFile before;
    {
        const std::lock_guard lock(mutex_);
        before = status_;
        status_.state = state;
        status_.problem = problem;
        if (database_) {
            status_.bytes = database_->bytes();
            status_.oldest_ns = database_->oldest_ns();
        }
    }
    if (state == view::HistoryState::stopped && before.problem != problem) {
        note_("! history is not kept: " + problem);
    } else if (state == view::HistoryState::kept && before.state == view::HistoryState::stopped) {
        note_("history is kept again; " + base::format_count(before.lost, "sample is", "samples are") +
              " lost");
    }
}

void HistoryKeeper::round() {
    HistoryBatch batch;
    if (SteadyClock::now() >= next_sample_) {
        sampler_.take(batch);
        next_sample_ = SteadyClock::now() + settings_.sample_interval;
    }
    if (SteadyClock::now() < next_try_ || !is_open()) {
        const std::lock_guard lock(mutex_);
        status_.lost += batch.devices.size() + batch.processes.size();
        return;
    }
    collect(batch);
    if (batch.is_empty()) {
        written();
        return;
    }
    if (const auto done = database_->write(batch, TwoClocks::now())) {
        written();
        set_state(view::HistoryState::kept, "");
    } else {
        failed(batch, done.error());
    }
}

void HistoryKeeper::failed(const HistoryBatch& batch, const base::Error& problem) {
    // What was read of processes is read again.
    std::erase_if(seen_, [&](const auto& each) {
        return std::any_of(batch.seen.begin(), batch.seen.end(), [&](const SeenRow& row) {
            return ProcessStart(row.process.pid, row.process.start_time) == each.first;
        });
    });
    next_try_ = problem.code == base::Error::Code::refused ? SteadyClock::time_point()
                                                           : SteadyClock::now() + settings_.retry_interval;
    {
        const std::lock_guard lock(mutex_);
        status_.lost += batch.devices.size() + batch.processes.size();
        is_damaged_ = is_damaged_ || problem.code == base::Error::Code::refused;
    }
    set_state(view::HistoryState::stopped, problem.text);
}

bool HistoryKeeper::read(const std::function<void(HistoryReader& reader)>& use) const {
    std::unique_ptr<HistoryReader> reader;
    uint64_t of = 0;
    {
        const std::lock_guard lock(mutex_);
        if (!is_readable_) {
            return false;
        }
        of = opened_;
        if (!idle_.empty()) {
            reader = std::move(idle_.back().second);
            idle_.pop_back();
        }
    }
    if (!reader) {
        reader = std::make_unique<HistoryReader>(file_.string());
    }
    use(*reader);
    const bool is_good = !reader->connection().has_problem();
    const std::lock_guard lock(mutex_);
    is_damaged_ = is_damaged_ || (of == opened_ && reader->connection().is_damaged());
    if (is_good && of == opened_ && is_readable_ && idle_.size() < kMostIdleReaders) {
        idle_.emplace_back(of, std::move(reader));
    }
    return is_good;
}

view::HistoryFile HistoryKeeper::status() const {
    const std::lock_guard lock(mutex_);
    return status_;
}

std::string HistoryKeeper::problem() const {
    const view::HistoryFile now = status();
    return now.state == view::HistoryState::opening   ? "the file is being checked"
           : now.state == view::HistoryState::stopped ? now.problem
                                                      : "";
}

}  // namespace ttmem::daemon
