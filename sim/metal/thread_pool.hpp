// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tt::tt_metal {

// A few threads on which a mesh compiles. They start with the first task, since most meshes never need them.
class ThreadPool {
public:
    explicit ThreadPool(size_t threads) : wanted_threads_(threads) {}
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    void enqueue(std::function<void()>&& task);

    // Waits until every task is done, then rethrows the first exception.
    void wait();

private:
    void work();

    const size_t wanted_threads_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> tasks_;
    size_t running_ = 0;
    bool stopping_ = false;
    std::exception_ptr failure_;
    std::vector<std::thread> threads_;
};

}  // namespace tt::tt_metal
