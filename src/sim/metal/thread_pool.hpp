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

// A few threads that a mesh compiles on. They start with the first task: most meshes never need them.
class ThreadPool {
public:
    explicit ThreadPool(std::size_t threads) : wanted_threads_(threads) {}
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    void enqueue(std::function<void()>&& task);

    // Until every task is done; then throws what the first failed one threw.
    void wait();

private:
    void work();

    const std::size_t wanted_threads_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> tasks_;
    std::size_t running_ = 0;
    bool stopping_ = false;
    std::exception_ptr failure_;
    std::vector<std::thread> threads_;
};

}  // namespace tt::tt_metal
