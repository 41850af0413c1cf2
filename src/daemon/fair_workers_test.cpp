// SPDX-License-Identifier: Apache-2.0
#include "daemon/fair_workers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <new>
#include <string>

namespace ttmem::daemon {
namespace {

constexpr User kOneUser = 1000;
constexpr User kOtherUser = 1001;

// Blocks a worker until it is opened.
class Barrier {
public:
    void wait() { opened_.wait(); }
    void open() { open_.set_value(); }

private:
    std::promise<void> open_;
    std::shared_future<void> opened_ = open_.get_future().share();
};

// Waits until everything that the user posted before has begun. With a single thread, it has also ended.
void wait_for_all_of(FairWorkers& workers, User user) {
    std::promise<void> done;
    workers.post(user, [&] { done.set_value(); });
    done.get_future().wait();
}

TEST(FairWorkers, TasksOfOneUserRunInOrder) {
    std::string order;
    FairWorkers workers(1);
    for (const char name : {'a', 'b', 'c'}) {
        workers.post(kOneUser, [&order, name] { order += name; });
    }
    wait_for_all_of(workers, kOneUser);
    EXPECT_EQ(order, "abc");
}

TEST(FairWorkers, UsersTakeTurnsWhateverTheyPosted) {
    Barrier barrier;
    std::string order;
    FairWorkers workers(1);
    workers.post(kOneUser, [&] { barrier.wait(); });
    for (int i = 0; i < 3; ++i) {
        workers.post(kOneUser, [&] { order += 'a'; });
    }
    workers.post(kOtherUser, [&] { order += 'b'; });
    barrier.open();
    wait_for_all_of(workers, kOneUser);
    EXPECT_EQ(order, "baaa");
}

TEST(FairWorkers, OneUserNeverHasAllThreads) {
    Barrier barrier;
    std::atomic<int> running = 0;
    // Declared last, so that its threads end first: with two threads per user, the last task may outlive its successor.
    FairWorkers workers(3);
    for (int i = 0; i < 10; ++i) {
        workers.post(kOneUser, [&] {
            ++running;
            barrier.wait();
        });
    }
    wait_for_all_of(workers, kOtherUser);  // there was a thread for the other user
    EXPECT_LE(running, 2);
    barrier.open();
    wait_for_all_of(workers, kOneUser);
    workers.stop();
    EXPECT_EQ(running, 10);
}

TEST(FairWorkers, ATaskThatThrowsEndsAloneAndIsCounted) {
    FairWorkers workers(1);
    workers.post(kOneUser, [] { throw std::bad_alloc(); });
    wait_for_all_of(workers, kOneUser);
    EXPECT_EQ(workers.failed_tasks(), 1u);
}

TEST(FairWorkers, StopDestroysWaitingTasksAndWaitsForRunningOnes) {
    FairWorkers workers(1);
    Barrier begun;
    Barrier barrier;
    std::atomic<bool> has_ended = false;
    auto held = std::make_shared<int>(1);
    workers.post(kOneUser, [&] {
        begun.open();
        barrier.wait();
        has_ended = true;
    });
    workers.post(kOtherUser, [held] { ADD_FAILURE() << "it ran after stop()"; });
    begun.wait();
    std::thread stopper([&] { workers.stop(); });
    while (held.use_count() != 1) {
        std::this_thread::yield();
    }
    barrier.open();
    stopper.join();
    EXPECT_TRUE(has_ended);
    workers.post(kOtherUser, [held] { ADD_FAILURE() << "it was posted after stop()"; });
    EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace ttmem::daemon
