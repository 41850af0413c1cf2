// SPDX-License-Identifier: Apache-2.0
#include "tests/model/world.hpp"

#include <utility>

namespace ttmem::model {

namespace {

constexpr std::size_t kStackBytes = std::size_t{256} * 1024;

World* current_world = nullptr;

bool writes(Action action) { return action != Action::load; }

bool is_valid(const Operation& op) {
    if (op.action == Action::load) {
        return !is_release(op.order) || op.order == std::memory_order_seq_cst;
    }
    if (op.action == Action::store) {
        return !is_acquire(op.order) || op.order == std::memory_order_seq_cst;
    }
    return !is_release(op.failure_order) || op.failure_order == std::memory_order_seq_cst;
}

}  // namespace

World::World(const Options& options, ChoiceStack& choices) : options_(options), choices_(choices) {
    fibres_.push_back(std::make_unique<Fibre>());
}

World* World::current() { return current_world; }

ThreadId World::add(Thread thread) {
    threads_.push_back(std::move(thread));
    if (fibres_.size() < threads_.size()) {
        fibres_.push_back(std::make_unique<Fibre>(kStackBytes));
    }
    return static_cast<ThreadId>(threads_.size() - 1);
}

ThreadId World::thread(std::string name, std::function<void()> body, Fate fate) {
    Thread thread;
    thread.name = std::move(name);
    thread.body = std::move(body);
    thread.fate = fate;
    return add(std::move(thread));
}

ThreadId World::reader(std::string name, std::function<void()> body) {
    Thread thread;
    thread.name = std::move(name);
    thread.body = std::move(body);
    thread.reads_only = true;
    return add(std::move(thread));
}

LocationId World::add_location(std::uint64_t initial) {
    const LocationId location = memory_.add_location(initial, threads_[running_].view, running_);
    locations_.push_back("x" + std::to_string(location));
    return location;
}

void World::execute(const std::function<void(World&)>& program, Result& result) {
    memory_.clear();
    threads_.clear();
    locations_.clear();
    steps_.clear();
    running_ = kMain;
    last_ = kNobody;
    kills_ = spurious_ = preemptions_ = 0;
    state_ = State::running;
    Thread main;
    main.name = "main";
    add(std::move(main));

    current_world = this;
    try {
        program(*this);
        state_ = State::complete;
    } catch (const ExecutionOver&) {
    }
    current_world = nullptr;

    switch (state_) {
        case State::pruned:
            ++result.pruned;
            return;
        case State::truncated:
            ++result.truncated;
            return;
        case State::failed:
            break;
        default:
            ++result.executions;
            return;
    }
    std::vector<std::string> names;
    for (const Thread& thread : threads_) {
        names.push_back(thread.name);
    }
    result.failure = Failure{failure_, render(steps_, names, locations_)};
}

void World::run() {
    starting_ = true;
    for (std::size_t i = 1; i < threads_.size(); ++i) {
        threads_[i].view = threads_[kMain].view;
        start(static_cast<ThreadId>(i));
    }
    starting_ = false;
    const int first = state_ == State::running ? next_thread() : kNobody;
    if (first != kNobody) {
        switch_to(first);
    }
    running_ = kMain;
    if (state_ != State::running) {
        throw ExecutionOver{};
    }
    for (const Thread& thread : threads_) {
        threads_[kMain].view.join(thread.view, memory_.locations());
    }
}

// Runs a thread up to its first operation.
void World::start(ThreadId thread) {
    if (state_ != State::running) {
        return;
    }
    fibres_[thread]->start([this, thread] {
        threads_[thread].body();
        finish();
    });
    switch_to(thread);
    running_ = kMain;
}

void World::switch_to(int thread) {
    const ThreadId from = running_;
    if (thread == from) {
        return;
    }
    running_ = static_cast<ThreadId>(thread);
    Fibre::switch_to(*fibres_[from], *fibres_[static_cast<std::size_t>(thread)]);
    running_ = from;
}

void World::finish() {
    threads_[running_].finished = true;
    for (;;) {
        const int next = starting_ || state_ != State::running ? kNobody : next_thread();
        switch_to(next == kNobody ? kMain : next);
    }
}

// Whether a thread dies is decided when it is about to act, not when it is scheduled. A death affects no other thread,
// so its moment makes no difference to them.
bool World::dies_now() {
    const Thread& self = threads_[running_];
    if (self.fate == Fate::lives || kills_ == options_.max_kills || choices_.choose(2) == 0) {
        return false;
    }
    ++kills_;
    Step step;
    step.kind = StepKind::killed;
    step.thread = running_;
    steps_.push_back(step);
    return true;
}

// The running thread waits here until its pending operation is scheduled.
void World::arrive() {
    if (dies_now()) {
        threads_[running_].killed = true;
        finish();
    }
    if (starting_) {
        switch_to(kMain);
        return;
    }
    const int next = next_thread();
    switch_to(next == kNobody ? kMain : next);
}

Outcome World::perform(const Operation& op) {
    if (!is_valid(op)) {
        fail("an operation has a memory order that it can't have");
    }
    if (running_ == kMain) {
        return step(threads_[kMain], op);
    }
    Thread& self = threads_[running_];
    if (self.reads_only && writes(op.action)) {
        fail("a thread added as a reader stores");
    }
    self.pending = op;
    arrive();
    return step(self, op);
}

Outcome World::step(Thread& thread, const Operation& op) {
    memory_.collect(op, thread.view, thread.covered, spurious_ < options_.max_spurious, candidates_);
    thread.asleep = false;
    thread.covered = 0;
    last_ = running_;
    const Candidate candidate = candidates_[choices_.choose(candidates_.size())];
    spurious_ += candidate.spurious ? 1 : 0;
    Step record;
    record.thread = running_;
    record.operation = op;
    record.outcome = memory_.apply(op, candidate, thread.view, running_);
    steps_.push_back(record);
    return record.outcome;
}

std::size_t World::choose(std::size_t options) {
    Step step;
    step.kind = StepKind::choice;
    step.thread = running_;
    step.chosen = choices_.choose(options);
    steps_.push_back(step);
    return step.chosen;
}

void World::fail(std::string what) {
    failure_ = std::move(what);
    leave(State::failed);
}

void World::leave(State state) {
    state_ = state;
    if (running_ == kMain) {
        throw ExecutionOver{};
    }
    for (;;) {
        switch_to(kMain);
    }
}

int World::next_thread() {
    const bool all = options_.preemptions.has_value() || options_.search == Search::every_interleaving;
    const int next = all ? next_of_all() : next_reduced();
    if (next != kNobody && steps_.size() >= options_.max_steps) {
        state_ = State::truncated;
        return kNobody;
    }
    return next;
}

int World::next_of_all() {
    eligible_.clear();
    const bool could_go_on =
        last_ != kNobody && last_ != kMain && !threads_[static_cast<std::size_t>(last_)].finished;
    if (could_go_on && options_.preemptions && preemptions_ == *options_.preemptions) {
        return last_;
    }
    for (std::size_t i = 1; i < threads_.size(); ++i) {
        if (!threads_[i].finished) {
            eligible_.push_back(static_cast<ThreadId>(i));
        }
    }
    if (eligible_.empty()) {
        return kNobody;
    }
    const int chosen = eligible_[choices_.choose(eligible_.size())];
    preemptions_ += could_go_on && chosen != last_ ? 1 : 0;
    return chosen;
}

bool World::is_awake(const Thread& thread) {
    if (!thread.asleep) {
        return true;
    }
    memory_.collect(thread.pending, thread.view, thread.covered, spurious_ < options_.max_spurious,
                    candidates_);
    return !candidates_.empty();
}

// README.md, "What is left out", gives the reason for each of these rules.
int World::next_reduced() {
    eligible_.clear();
    int waiting_reader = kNobody;
    bool unfinished = false;
    for (std::size_t i = 1; i < threads_.size(); ++i) {
        const Thread& thread = threads_[i];
        if (thread.finished) {
            continue;
        }
        if (thread.reads_only) {
            waiting_reader = waiting_reader == kNobody ? static_cast<int>(i) : waiting_reader;
            continue;
        }
        if (thread.pending.action == Action::store) {
            return static_cast<int>(i);
        }
        unfinished = true;
        if (is_awake(thread)) {
            eligible_.push_back(static_cast<ThreadId>(i));
        }
    }
    if (!unfinished) {
        return waiting_reader;
    }
    if (eligible_.empty()) {
        state_ = State::pruned;
        return kNobody;
    }
    const std::size_t chosen = choices_.choose(eligible_.size());
    for (std::size_t i = 0; i < chosen; ++i) {
        Thread& explored = threads_[eligible_[i]];
        explored.asleep = true;
        explored.covered = memory_.next_message();
    }
    return eligible_[chosen];
}

}  // namespace ttmem::model
