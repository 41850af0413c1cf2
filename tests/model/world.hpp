// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/model/choices.hpp"
#include "tests/model/explore.hpp"
#include "tests/model/fibre.hpp"
#include "tests/model/memory.hpp"
#include "tests/model/trace.hpp"

namespace ttmem::model {

enum class Fate : std::uint8_t { lives, may_be_killed };

/// Thrown through the program when its execution ends early. Never thrown through a thread of the model.
struct ExecutionOver {};

/// One execution: the memory, the threads, and the scheduler. Every operation on an Atomic is a scheduling point.
///
/// Threads share only atomics. Each may write its own variables, which the program reads after run(). Objects that own
/// resources must not be on a thread's stack: a thread that is killed or abandoned is never unwound.
class World {
public:
    World(const Options& options, ChoiceStack& choices);

    /// Adds a thread. A thread that may be killed stops, in some executions, before any one of its operations or at its
    /// end. Its earlier stores remain.
    ThreadId thread(std::string name, std::function<void()> body, Fate fate = Fate::lives);

    /// Adds a thread that only loads (a store is a failure). It can't affect the others, so it is enough to run it
    /// after them: a late load may read everything that an early one could.
    ThreadId reader(std::string name, std::function<void()> body);

    /// Runs all threads to their end. Afterwards the program sees all their stores, as after a join.
    void run();

    bool was_killed(ThreadId thread) const { return threads_[thread].killed; }

    /// Returns one of 0 .. options-1, all of which are explored.
    std::size_t choose(std::size_t options);

    std::vector<std::uint64_t> history(LocationId location) const { return memory_.history(location); }

    // For Atomic and explore().
    static World* current();
    LocationId add_location(std::uint64_t initial);
    void name_location(LocationId location, const std::string& name) { locations_[location] = name; }
    Outcome perform(const Operation& op);
    void fail(std::string what);
    void execute(const std::function<void(World&)>& program, Result& result);

private:
    enum class State : std::uint8_t { running, complete, failed, pruned, truncated };

    struct Thread {
        std::string name;
        std::function<void()> body;
        Fate fate = Fate::lives;
        bool reads_only = false;
        bool finished = false;
        bool killed = false;
        // The next operation of a sleeping thread is explored elsewhere for all messages older than `covered`.
        bool asleep = false;
        MessageId covered = 0;
        Operation pending;
        View view;
    };

    static constexpr ThreadId kMain = 0;
    static constexpr int kNobody = -1;

    ThreadId add(Thread thread);
    void start(ThreadId thread);
    void arrive();
    void yield_to_next();
    void finish();
    bool dies_now();
    int next_thread();
    int next_reduced();
    int next_of_all();
    bool is_awake(const Thread& thread);
    Outcome step(Thread& thread, const Operation& op);
    [[noreturn]] void leave(State state);
    void switch_to(int thread);

    const Options& options_;
    ChoiceStack& choices_;
    Memory memory_;
    std::vector<Thread> threads_;  // the first is the program itself
    std::vector<std::string> locations_;
    std::vector<std::unique_ptr<Fibre>> fibres_;
    std::vector<Step> steps_;
    std::vector<Candidate> candidates_;
    std::vector<ThreadId> eligible_;
    ThreadId running_ = kMain;
    int last_ = kNobody;  // the thread that made the last step
    bool starting_ = false;
    unsigned kills_ = 0;
    unsigned spurious_ = 0;
    unsigned preemptions_ = 0;
    State state_ = State::running;
    std::string failure_;
};

}  // namespace ttmem::model
