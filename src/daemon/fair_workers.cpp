// SPDX-License-Identifier: Apache-2.0
#include "daemon/fair_workers.hpp"

#include <cassert>
#include <utility>

namespace ttmem::daemon {

FairWorkers::FairWorkers(size_t threads) : thread_count_(threads) {
    assert(threads != 0);
    threads_.reserve(threads);
    for (size_t i = 0; i < threads; ++i) {
        threads_.emplace_back([this] { run(); });
    }
}

FairWorkers::~FairWorkers() { stop(); }

void FairWorkers::post(User user, Task task) {
    {
        const std::lock_guard lock(mutex_);
        if (stopping_) {
            return;
        }
        queues_[user].tasks.push_back(std::move(task));
    }
    wake_.notify_one();
}

// A user may have a second thread only while another one is idle, so that there is one for a user who comes next.
bool FairWorkers::may_run(const Queue& queue) const {
    const size_t idle = thread_count_ - running_;
    return !queue.tasks.empty() && (queue.running == 0 || (queue.running == 1 && idle > 1));
}

std::map<User, FairWorkers::Queue>::iterator FairWorkers::next_queue() {
    const auto start = queues_.upper_bound(last_);
    for (auto queue = start; queue != queues_.end(); ++queue) {
        if (may_run(queue->second)) {
            return queue;
        }
    }
    for (auto queue = queues_.begin(); queue != start; ++queue) {
        if (may_run(queue->second)) {
            return queue;
        }
    }
    return queues_.end();
}

void FairWorkers::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        auto queue = queues_.end();
        wake_.wait(lock, [&] { return stopping_ || (queue = next_queue()) != queues_.end(); });
        if (stopping_) {
            return;
        }
        Task task = std::move(queue->second.tasks.front());
        queue->second.tasks.pop_front();
        ++queue->second.running;
        ++running_;
        last_ = queue->first;
        lock.unlock();
        bool has_failed = false;
        try {
            task();
        } catch (...) {
            has_failed = true;
        }
        task = nullptr;  // what it holds may take time to destroy, or post again
        lock.lock();
        failed_ += has_failed ? 1 : 0;
        --running_;
        --queue->second.running;  // valid: a queue with a running task is not erased
        if (queue->second.running == 0 && queue->second.tasks.empty()) {
            queues_.erase(queue);
        }
        wake_.notify_one();  // a task that had to wait for this thread's user may run now
    }
}

void FairWorkers::stop() {
    std::map<User, Queue> dropped;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        for (auto& [user, queue] : queues_) {
            dropped[user].tasks.swap(queue.tasks);
        }
    }
    wake_.notify_all();
    dropped.clear();
    for (std::thread& thread : std::exchange(threads_, {})) {
        thread.join();
    }
}

uint64_t FairWorkers::failed_tasks() const {
    const std::lock_guard lock(mutex_);
    return failed_;
}

}  // namespace ttmem::daemon
