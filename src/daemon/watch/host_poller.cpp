// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/host_poller.hpp"

#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace ttmem::daemon {

namespace {

constexpr auto kReadInterval = std::chrono::milliseconds(1500);
constexpr auto kTimeout = std::chrono::seconds(2);

}  // namespace

struct HostPoller::SharedState {
    SharedState(ProcessTable& table, ReadHost read) : process_table(table), read_host(std::move(read)) {}

    void run() {
        std::unique_lock lock(mutex);
        while (!stopping) {
            lock.unlock();
            sources::HostFacts facts = read_host();
            lock.lock();
            if (stopping) {
                break;
            }
            process_table.set_host(std::move(facts));
            has_read = true;
            changed.notify_all();
            changed.wait_for(lock, kReadInterval, [&] { return stopping; });
        }
        has_ended = true;
        changed.notify_all();
    }

    ProcessTable& process_table;  // valid until `stopping`
    const ReadHost read_host;
    std::mutex mutex;
    std::condition_variable changed;
    bool has_read = false;
    bool stopping = false;
    bool has_ended = true;
};

HostPoller::HostPoller(ProcessTable& process_table)
    : HostPoller(
          process_table, [host = std::make_shared<sources::HostReader>()] { return host->read(); },
          kTimeout) {}

HostPoller::HostPoller(ProcessTable& process_table, ReadHost read_host, std::chrono::milliseconds timeout)
    : timeout_(timeout), shared_(std::make_shared<SharedState>(process_table, std::move(read_host))) {}

HostPoller::~HostPoller() { stop(); }

void HostPoller::start() {
    std::unique_lock lock(shared_->mutex);
    assert(shared_->read_host && shared_->has_ended && !shared_->stopping);
    shared_->has_ended = false;
    std::thread([shared = shared_] { shared->run(); }).detach();
    shared_->changed.wait_for(lock, timeout_, [&] { return shared_->has_read; });
}

void HostPoller::stop() {
    std::unique_lock lock(shared_->mutex);
    shared_->stopping = true;
    shared_->changed.notify_all();
    shared_->changed.wait_for(lock, timeout_, [&] { return shared_->has_ended; });
}

}  // namespace ttmem::daemon
