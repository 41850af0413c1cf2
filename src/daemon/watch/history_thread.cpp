// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/history_thread.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cassert>
#include <chrono>
#include <future>
#include <optional>

#include "base/time.hpp"
#include "census/scan_shares.hpp"
#include "history/pace.hpp"

namespace ttmem::daemon {

using history::RecordType;

namespace {

constexpr uint64_t kSecond = 1'000'000'000;

// After an audit the next one waits this many times as long as it took, so that large ledgers are audited less often.
constexpr uint64_t kAuditPause = 50;

bool has_logged_name(RecordType type) {
    return type == RecordType::set_opened || type == RecordType::set_closed || type == RecordType::failure;
}

}  // namespace

HistoryThread::HistoryThread(boost::asio::any_io_executor thread, history::EventHistory& history,
                             const ProcessTable& process_table, EventLog& event_log, HistoryKeeper& kept)
    : thread_(std::move(thread)),
      history_(history),
      process_table_(process_table),
      event_log_(event_log),
      kept_(kept),
      timer_(thread_) {}

void HistoryThread::start() {
    boost::asio::post(thread_, [this] { tick(); });
}

void HistoryThread::stop() {
    std::promise<void> done;
    boost::asio::post(thread_, [&] {
        stopping_ = true;
        timer_.cancel();
        history_.follow();
        write_event_log();
        if (event_log_.includes(RecordType::allocation)) {
            event_log_.write_last_statistics(
                census::compute_figures(process_table_.census(), census::Depth::pools));
        }
        done.set_value();
    });
    done.get_future().wait();
}

void HistoryThread::process_attached(const AttachedProcess& attached, history::Follower::StartPosition from) {
    boost::asio::post(thread_, [this, attached, from] {
        if (history_.add(attached.number, attached.process, from) && !stopping_) {
            timer_.expires_after(std::chrono::milliseconds(0));
            tick();
        }
    });
}

void HistoryThread::process_ended(uint32_t number) {
    boost::asio::post(thread_, [this, number] {
        if (history_.end(number)) {
            write_event_log();
            reset_log_totals();
        }
    });
}

void HistoryThread::tick() {
    if (stopping_) {
        return;
    }
    const uint64_t next_ns = history_.follow_due(segment::monotonic_now());
    write_event_log();
    sample();
    audit();
    history_.forget_ended();
    const uint64_t now_ns = segment::monotonic_now();
    timer_.expires_after(std::clamp<std::chrono::nanoseconds>(
        std::chrono::nanoseconds(std::min<uint64_t>(next_ns - std::min(next_ns, now_ns), kSecond)),
        history::Pace::kShortest, history::Pace::kLongest));
    timer_.async_wait([this](boost::system::error_code error) {
        if (!error) {
            tick();
        }
    });
}

void HistoryThread::reset_log_totals() {
    event_log_.reset_totals(census::compute_figures(process_table_.census(), census::Depth::pools));
}

void HistoryThread::write_event_log() {
    const history::Log& log = history_.log();
    assert(written_ <= log.newest());
    if (written_ + 1 < log.oldest()) {
        event_log_.count_lost(log.oldest() - written_ - 1);
        written_ = log.oldest() - 1;
    }
    for (; written_ < log.newest(); ++written_) {
        const history::Record& record = *log.at(written_ + 1);
        const history::FollowedProcess* process =
            event_log_.includes(record.type) ? history_.find(record.process) : nullptr;
        if (process == nullptr) {
            continue;
        }
        const auto name = has_logged_name(record.type) ? process->name_of(record) : std::nullopt;
        event_log_.write(record, process->identity(), process->devices_of(record), name.value_or(""));
        if (record.type == RecordType::gap) {
            reset_log_totals();
        }
    }
}

void HistoryThread::sample() {
    const uint64_t now = segment::monotonic_now();
    if (now < next_sample_ns_) {
        return;
    }
    census::Census census = process_table_.census();
    census::share_scans(census, std::nullopt);
    const uint64_t time = base::realtime_ns();
    const census::Figures figures = census::compute_figures(census, census::Depth::pools);
    history_.add_sample(now, time, figures);
    history_.read_samples([&](const history::Samples& samples) {
        kept_.add_sample(census, figures, samples);
        return 0;
    });
    history_.name_samples().add(time, census.processes);
    event_log_.write_statistics(figures, now);
    next_sample_ns_ = now + kSecond;
}

void HistoryThread::audit() {
    const uint64_t begin = segment::monotonic_now();
    if (begin < next_audit_ns_ || history_.is_empty()) {
        return;
    }
    if (const auto defect = history_.audit_next()) {
        const history::Difference& difference = defect->difference;
        event_log_.write_note("! [PID " + std::to_string(defect->pid) +
                              "] defect: the counters of a pool differ from its ledger (set " +
                              std::to_string(difference.set) + ", " +
                              std::to_string(difference.counters.used) + " counted, " +
                              std::to_string(difference.ledger.used) + " live); please report it");
    }
    const uint64_t end = segment::monotonic_now();
    next_audit_ns_ = std::max(begin + kSecond, end + (end - begin) * kAuditPause);
}

}  // namespace ttmem::daemon
