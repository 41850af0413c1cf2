// SPDX-License-Identifier: Apache-2.0
#include "daemon/host_watch.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace ttmem::daemon {

namespace {

constexpr auto kLookAtHostEvery = std::chrono::milliseconds(1500);
constexpr auto kPatience = std::chrono::seconds(2);

}  // namespace

struct HostWatch::Shared {
    Shared(Roster& of, Look how) : roster(of), look(std::move(how)) {}

    void run() {
        std::unique_lock lock(mutex);
        while (!stopping) {
            lock.unlock();
            sources::HostFacts facts = look();
            lock.lock();
            if (stopping) {
                break;
            }
            roster.set_host(std::move(facts));
            has_looked = true;
            changed.notify_all();
            changed.wait_for(lock, kLookAtHostEvery, [&] { return stopping; });
        }
        has_ended = true;
        changed.notify_all();
    }

    Roster& roster;  // until `stopping`
    const Look look;
    std::mutex mutex;
    std::condition_variable changed;
    bool has_looked = false;
    bool stopping = false;
    bool has_ended = true;
};

HostWatch::HostWatch(Roster& roster)
    : HostWatch(
          roster, [host = std::make_shared<sources::Host>()] { return host->look(); }, kPatience) {}

HostWatch::HostWatch(Roster& roster, Look look, std::chrono::milliseconds patience)
    : patience_(patience), shared_(std::make_shared<Shared>(roster, std::move(look))) {}

HostWatch::~HostWatch() { stop(); }

void HostWatch::start() {
    std::unique_lock lock(shared_->mutex);
    shared_->has_ended = false;
    std::thread([shared = shared_] { shared->run(); }).detach();
    shared_->changed.wait_for(lock, patience_, [&] { return shared_->has_looked; });
}

void HostWatch::stop() {
    std::unique_lock lock(shared_->mutex);
    shared_->stopping = true;
    shared_->changed.notify_all();
    shared_->changed.wait_for(lock, patience_, [&] { return shared_->has_ended; });
}

}  // namespace ttmem::daemon
