// SPDX-License-Identifier: Apache-2.0
#pragma once

// Threads that share their time between users. The tasks of one user run in order of arrival; users take turns. So a user with
// many or long tasks delays the next user by at most one task.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "daemon/budgets.hpp"

namespace ttmem::daemon {

// The daemon's own work, such as streams that all users share.
constexpr User kDaemonItself = -2;

class FairWorkers {
public:
    using Task = std::function<void()>;

    explicit FairWorkers(size_t threads);
    ~FairWorkers();
    FairWorkers(const FairWorkers&) = delete;
    FairWorkers& operator=(const FairWorkers&) = delete;

    // Runs `task` later. Any thread may call it. An exception of the task ends the task and is counted.
    void post(User user, Task task);

    // Destroys the tasks that have not begun and waits for those that have. Later tasks are not run.
    void stop();

    uint64_t failed_tasks() const;

private:
    struct Queue {
        std::deque<Task> tasks;
        size_t running = 0;
    };

    void run();
    // The user whose turn it is, or the end.
    std::map<User, Queue>::iterator next_queue();
    bool may_run(const Queue& queue) const;

    const size_t thread_count_;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::map<User, Queue> queues_;  // of users with waiting or running tasks
    User last_ = kDaemonItself;     // whose turn was the last
    size_t running_ = 0;
    uint64_t failed_ = 0;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace ttmem::daemon
