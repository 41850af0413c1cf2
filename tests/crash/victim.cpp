// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/victim.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "client/test_points.hpp"
#include "tests/support/child.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/own_segment.hpp"
#include "tests/support/wait.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::crash {

using segment::AllocationKind;

namespace {

constexpr size_t kMostLive = 200;
constexpr uint64_t kOperationsOfShortThread = 300;
constexpr const char* kPaths[kPathCount][2] = {{nullptr, nullptr},
                                               {"decoder.0", nullptr},
                                               {"decoder.0", "ttnn::matmul"},
                                               {"decoder.1", "ttnn::softmax"}};

struct Owned {
    uint32_t entry;
    ttmem_handle handle;
};

Plan g_plan;
thread_local uint32_t t_worker = 0;

void at_point(const char* name) { g_plan.at_point(t_worker, name); }

// Allocations that a worker leaves for other workers to free.
std::mutex g_exchange_mutex;
std::vector<Owned> g_exchange;

class Worker {
public:
    Worker(SharedLog& log, uint32_t number, ttmem_set shared, ttmem_device device)
        : log_(log),
          mine_(log.thread[number]),
          number_(number),
          shared_(shared),
          device_(device),
          rng_(g_plan.seed * kMostThreads + number),
          next_entry_(number * kEntriesPerThread) {}

    // Returns false if the log is full.
    bool work(uint64_t operations);

private:
    Entry& begin(AllocationKind kind, ttmem_set set);
    void end(Entry& entry, uint64_t events);
    void finish(uint64_t events);
    void allocate();
    void allocate_of_program();
    void free_one();
    void exchange();
    void free_again();
    void end_program();
    void recycle_set();
    template <class Call>
    void end_all(std::vector<Owned>& items, uint64_t more_events, Call&& call);
    void free_owned(const Owned& owned);

    SharedLog& log_;
    ThreadLog& mine_;
    uint32_t number_;
    ttmem_set shared_;
    ttmem_device device_;
    ttmem_set own_ = 0;
    std::mt19937_64 rng_;
    uint32_t next_entry_;
    uint64_t program_ = 0;
    std::vector<Owned> live_, of_program_, in_own_;
    ttmem_handle freed_ = 0;
};

Entry& Worker::begin(AllocationKind kind, ttmem_set set) {
    Entry& entry = log_.entry[next_entry_];
    entry.by = number_;
    entry.path = static_cast<uint32_t>(rng_() % kPathCount);
    entry.set = static_cast<uint8_t>(set & 0xff);
    entry.kind = kind;
    entry.flags = {};
    entry.address = rng_() % (1 << 30);
    entry.requested = rng_() % (1 << 24);
    entry.reserved = entry.requested + rng_() % 4096;
    for (const char* scope : kPaths[entry.path]) {
        if (scope != nullptr) {
            ttmem_scope_push(scope);
        }
    }
    return entry;
}

// Call when the allocation has been recorded.
void Worker::end(Entry& entry, uint64_t events) {
    entry.step.store(Step::live, std::memory_order_release);
    for (const char* scope : kPaths[entry.path]) {
        if (scope != nullptr) {
            ttmem_scope_pop();
        }
    }
    ++next_entry_;
    finish(events);
}

// Plain stores in program order are enough, because a killed process leaves all stores that it made. A locked
// instruction per step would be so slow that few kills would hit an event.
void Worker::finish(uint64_t events) {
    mine_.events.store(mine_.events.load(std::memory_order_relaxed) + events, std::memory_order_release);
    mine_.operations.store(mine_.operations.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void Worker::allocate() {
    const bool own = own_ != 0 && rng_() % 2 == 0;
    const ttmem_set set = own ? own_ : shared_;
    Entry& entry = begin(static_cast<AllocationKind>(rng_() % 2), set);  // DRAM or L1
    const uint64_t sort = rng_() % 10;
    entry.flags = sort == 0   ? segment::AllocationFlag::planned
                  : sort == 1 ? segment::AllocationFlag::view
                              : segment::AllocationFlag::none;
    entry.step.store(Step::allocating, std::memory_order_release);
    const ttmem_handle handle =
        ttmem_allocate(set, static_cast<uint32_t>(entry.kind) | uint32_t{entry.flags.bits} << 8,
                       entry.address, entry.requested, entry.reserved, next_entry_);
    (own ? in_own_ : live_).push_back({next_entry_, handle});
    end(entry, 1);
}

// The id of a program is the index of its first entry, so that owners stay unique. Each program has one circular
// buffer.
void Worker::allocate_of_program() {
    if (!of_program_.empty()) {
        return end_program();
    }
    Entry& entry = begin(AllocationKind::cb, shared_);
    const ttmem_cores cores = test::rectangle(0, 0, 7, 7);
    entry.reserved = entry.requested * 64;
    program_ = next_entry_;
    entry.step.store(Step::allocating, std::memory_order_release);
    const ttmem_handle handle =
        ttmem_allocate_cb(shared_, program_, entry.address, entry.requested, &cores, 0);
    of_program_.push_back({next_entry_, handle});
    end(entry, 1);
}

void Worker::free_owned(const Owned& owned) {
    Entry& entry = log_.entry[owned.entry];
    entry.by = number_;
    entry.step.store(Step::freeing, std::memory_order_release);
    ttmem_free(owned.handle);
    entry.step.store(Step::freed, std::memory_order_release);
    freed_ = owned.handle;
    finish(1);
}

void Worker::free_one() {
    if (!live_.empty()) {
        std::swap(live_[rng_() % live_.size()], live_.back());
        const Owned owned = live_.back();
        live_.pop_back();
        free_owned(owned);
    }
}

void Worker::exchange() {
    Owned take{};
    {
        const std::lock_guard lock(g_exchange_mutex);
        if (!live_.empty()) {
            g_exchange.push_back(live_.back());
            live_.pop_back();
        }
        if (g_exchange.empty()) {
            return;
        }
        std::swap(g_exchange[rng_() % g_exchange.size()], g_exchange.back());
        take = g_exchange.back();
        g_exchange.pop_back();
    }
    free_owned(take);
}

void Worker::free_again() {
    mine_.bad_free.store(1, std::memory_order_release);
    ttmem_free(freed_);
    mine_.bad_free.store(0, std::memory_order_release);
    finish(0);
}

template <class Call>
void Worker::end_all(std::vector<Owned>& items, uint64_t more_events, Call&& call) {
    mine_.bulk.store(items.size() + more_events, std::memory_order_release);
    for (const Owned& owned : items) {
        log_.entry[owned.entry].by = number_;
        log_.entry[owned.entry].step.store(Step::freeing, std::memory_order_release);
    }
    call();
    for (const Owned& owned : items) {
        log_.entry[owned.entry].step.store(Step::freed, std::memory_order_release);
    }
    finish(items.size() + more_events);
    items.clear();
    mine_.bulk.store(0, std::memory_order_release);
}

void Worker::end_program() {
    end_all(of_program_, 0, [&] { ttmem_program_gone(program_); });
}

void Worker::recycle_set() {
    end_all(in_own_, own_ == 0 ? 1 : 2, [&] {
        ttmem_close_set(own_);
        own_ = ttmem_open_set(&device_, 1, "of one thread");
    });
}

bool Worker::work(uint64_t operations) {
    t_worker = number_;
    mine_.id.store(static_cast<uint32_t>(gettid()));
    for (uint64_t i = 0; i < operations; ++i) {
        if (next_entry_ == (number_ + 1) * kEntriesPerThread) {
            return false;
        }
        const uint64_t what = rng_() % 100;
        if (what < 45) {
            live_.size() < kMostLive ? allocate() : free_one();
        } else if (what < 80) {
            free_one();
        } else if (what < 86) {
            exchange();
        } else if (what < 89) {
            free_again();
        } else if (!g_plan.buffers_only) {
            what < 98 ? allocate_of_program() : recycle_set();
        }
    }
    return true;
}

void work_until_killed(SharedLog& log, uint32_t number, ttmem_set shared) {
    Worker worker(log, number, shared, test::make_device(10 + number));
    if (g_plan.short_threads) {
        for (bool room = true; room;) {
            std::thread([&] { room = worker.work(kOperationsOfShortThread); }).join();
        }
    } else {
        while (worker.work(kOperationsOfShortThread)) {
        }
    }
    for (;;) {
        pause();
    }
}

[[noreturn]] void live_and_die(SharedLog& log) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    test::set_environment("TT_ALLOC_TRACKING_ENABLED", "1");
    test::set_environment("TTMEM_RUNTIME_DIR", "/nonexistent");
    test::set_environment("TTMEM_RING_RECORDS", "64");
    const ttmem_set shared = test::make_set(0);
    log.ready.store(1);
    test::wait_until([&] { return log.go.load() != 0; });
    if (g_plan.at_point) {
        ttmem_test_point = at_point;
    }
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < g_plan.threads; ++i) {
        threads.emplace_back([&, i] { work_until_killed(log, i, shared); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    _exit(1);
}

}  // namespace

std::string path_name(uint32_t number) {
    std::string path;
    for (const char* scope : kPaths[number % kPathCount]) {
        if (scope != nullptr) {
            path += (path.empty() ? "" : "/") + std::string(scope);
        }
    }
    return path;
}

Victim::Victim(const Plan& plan, SharedLog& log) : log_(log) {
    g_plan = plan;
    pid_ = fork();
    if (pid_ == 0) {
        live_and_die(log);
    }
    test::wait_until([&] { return log.ready.load() != 0; });
    segment_ = test::open_segment_of(pid_);
}

Victim::~Victim() {
    if (pid_ > 0) {
        kill();
        signal();
    }
}

base::Descriptor Victim::segment() const {
    return base::Descriptor(fcntl(segment_.get(), F_DUPFD_CLOEXEC, 0));
}

bool Victim::run_until(uint64_t operations) {
    log_.go.store(1);
    return test::wait_until([&] {
        uint64_t sum = 0;
        for (const ThreadLog& thread : log_.thread) {
            sum += thread.operations.load(std::memory_order_relaxed);
        }
        return sum >= operations;
    });
}

void Victim::kill() { ::kill(pid_, SIGKILL); }

int Victim::signal() {
    const test::Outcome outcome = test::wait_for_child(pid_);
    pid_ = -1;
    return outcome.signal;
}

}  // namespace ttmem::crash
