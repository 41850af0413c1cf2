// SPDX-License-Identifier: Apache-2.0
#include "sim/metal/thread_pool.hpp"

#include <utility>

namespace tt::tt_metal {

ThreadPool::~ThreadPool() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

void ThreadPool::enqueue(std::function<void()>&& task) {
    {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
        if (threads_.size() < wanted_threads_) {
            threads_.emplace_back([this] { work(); });
        }
    }
    changed_.notify_all();
}

void ThreadPool::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return tasks_.empty() && running_ == 0; });
    if (const std::exception_ptr failure = std::exchange(failure_, nullptr)) {
        std::rethrow_exception(failure);
    }
}

void ThreadPool::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
        if (tasks_.empty()) {
            return;
        }
        const std::function<void()> task = std::move(tasks_.front());
        tasks_.pop_front();
        ++running_;
        lock.unlock();
        std::exception_ptr failure;
        try {
            task();
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        --running_;
        if (failure != nullptr && failure_ == nullptr) {
            failure_ = failure;
        }
        changed_.notify_all();
    }
}

}  // namespace tt::tt_metal
