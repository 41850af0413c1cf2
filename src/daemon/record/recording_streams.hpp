// SPDX-License-Identifier: Apache-2.0
#pragma once

// Recordings that clients download while they are made (/v1/recording). Each has its own thread, which never waits for its client:
// what a slow client does not take in time is lost, and is a gap in its recording.

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "daemon/api/permissions.hpp"
#include "daemon/budgets.hpp"
#include "daemon/http/message.hpp"
#include "daemon/watch/process_table.hpp"
#include "view/questions/routes.hpp"

namespace ttmem::daemon {

class RecordingStreams {
public:
    // The table must outlive it.
    RecordingStreams(const ProcessTable& process_table, std::shared_ptr<Budgets> budgets)
        : process_table_(process_table), budgets_(std::move(budgets)) {}
    ~RecordingStreams() { stop(); }
    RecordingStreams(const RecordingStreams&) = delete;
    RecordingStreams& operator=(const RecordingStreams&) = delete;

    // On the loop. The recording has the details that `permissions` allow, and totals of all other processes.
    void begin(std::shared_ptr<http::Responder> responder, User user, const Permissions& permissions,
               const view::RecordingQuery& query);
    // Ends all recordings, without their last ledgers.
    void stop();

private:
    struct RecordingTask {
        std::shared_ptr<http::Responder> responder;  // until the stream begins
        User user = kUnknownUser;
        Permissions permissions;
        view::RecordingQuery query;
        bool is_done = false;
        std::thread thread;
    };

    void run(RecordingTask& task);
    base::Expected<void> record(RecordingTask& task);
    // False: the daemon stops.
    bool wait_ms(uint64_t time);
    void join_ended();

    const ProcessTable& process_table_;
    const std::shared_ptr<Budgets> budgets_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_stopping_ = false;
    std::list<RecordingTask> tasks_;  // the loop's; `is_done` is under the mutex
};

}  // namespace ttmem::daemon
