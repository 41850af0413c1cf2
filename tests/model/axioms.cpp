// SPDX-License-Identifier: Apache-2.0
#include "tests/model/axioms.hpp"

#include <algorithm>
#include <numeric>

namespace ttmem::model {

namespace {

struct Event {
    Operation op;
    bool is_initial = false;
    bool reads = false;
    bool writes = false;
    std::memory_order order = std::memory_order_relaxed;
    std::uint64_t value_written = 0;
    std::size_t source = 0;
};

/// A relation between at most 32 events, with one row of bits per event.
class Relation {
public:
    explicit Relation(std::size_t size) : rows_(size, 0) {}

    void add(std::size_t from, std::size_t to) { rows_[from] |= std::uint32_t{1} << to; }
    bool has(std::size_t from, std::size_t to) const { return ((rows_[from] >> to) & 1U) != 0; }

    Relation& close() {
        for (std::size_t via = 0; via < rows_.size(); ++via) {
            for (std::size_t from = 0; from < rows_.size(); ++from) {
                rows_[from] |= has(from, via) ? rows_[via] : 0;
            }
        }
        return *this;
    }

    bool is_cyclic() const {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (has(i, i)) {
                return true;
            }
        }
        return false;
    }

private:
    std::vector<std::uint32_t> rows_;
};

class Enumeration {
public:
    explicit Enumeration(const StraightProgram& program) : program_(program), in_order_(count(program)) {
        for (std::size_t location = 0; location < program.locations; ++location) {
            Event initial;
            initial.is_initial = true;
            initial.op.location = static_cast<LocationId>(location);
            initial.writes = true;
            events_.push_back(initial);
        }
        for (const auto& thread : program.threads) {
            for (std::size_t i = 0; i < thread.size(); ++i) {
                for (std::size_t before = events_.size() - i; before < events_.size(); ++before) {
                    in_order_.add(before, events_.size());
                }
                Event event;
                event.op = thread[i];
                events_.push_back(event);
            }
        }
        // The initial values precede all other events.
        for (std::size_t i = 0; i < program.locations; ++i) {
            for (std::size_t j = program.locations; j < events_.size(); ++j) {
                in_order_.add(i, j);
            }
        }
        choose_source(program.locations);
    }

    std::set<StraightOutcome> outcomes;

private:
    static std::size_t count(const StraightProgram& program) {
        std::size_t size = program.locations;
        for (const auto& thread : program.threads) {
            size += thread.size();
        }
        return size;
    }

    static bool compares(const Event& event) { return event.op.action == Action::compare_exchange; }

    std::uint64_t value_read(const Event& event) const { return events_[event.source].op.operand; }

    void choose_source(std::size_t index) {
        if (index == events_.size()) {
            classify();
            return;
        }
        if (events_[index].op.action == Action::store) {
            choose_source(index + 1);
            return;
        }
        for (std::size_t source = 0; source < events_.size(); ++source) {
            const bool could_write = events_[source].is_initial || events_[source].op.action != Action::load;
            if (source != index && could_write && events_[source].op.location == events_[index].op.location) {
                events_[index].source = source;
                choose_source(index + 1);
            }
        }
    }

    // Once the sources are known, so is the success of each compare-and-swap.
    void classify() {
        for (Event& event : events_) {
            if (event.is_initial) {
                continue;
            }
            event.reads = event.op.action != Action::store;
            const bool fails = compares(event) && value_read(event) != event.op.expected;
            event.writes = event.op.action != Action::load && !fails;
            event.order = fails ? event.op.failure_order : event.op.order;
            event.value_written = event.op.operand;
        }
        Relation causes = in_order_;
        for (std::size_t i = 0; i < events_.size(); ++i) {
            if (events_[i].reads && !events_[events_[i].source].writes) {
                return;
            }
            if (events_[i].reads) {
                causes.add(events_[i].source, i);
            }
        }
        if (causes.close().is_cyclic()) {
            return;
        }
        order_.assign(program_.locations, {});
        for (std::size_t i = 0; i < events_.size(); ++i) {
            if (events_[i].writes) {
                order_[events_[i].op.location].push_back(i);
            }
        }
        choose_order(0);
    }

    void choose_order(std::size_t location) {
        if (location == order_.size()) {
            judge();
            return;
        }
        auto& writes = order_[location];
        std::sort(writes.begin(), writes.end());
        do {
            choose_order(location + 1);
        } while (std::next_permutation(writes.begin() + 1, writes.end()));
    }

    void judge() {
        if (is_consistent()) {
            StraightOutcome outcome;
            for (std::size_t i = program_.locations; i < events_.size(); ++i) {
                outcome.push_back(events_[i].reads ? value_read(events_[i]) : 0);
            }
            for (const auto& writes : order_) {
                outcome.push_back(writes.size());
                for (const std::size_t write : writes) {
                    outcome.push_back(events_[write].value_written);
                }
            }
            outcomes.insert(outcome);
        }
    }

    bool is_consistent() const {
        Relation happens_before = in_order_;
        Relation coherent(events_.size());
        for (const auto& writes : order_) {
            for (std::size_t i = 0; i < writes.size(); ++i) {
                for (std::size_t j = i + 1; j < writes.size(); ++j) {
                    coherent.add(writes[i], writes[j]);
                }
            }
        }
        const Relation modified_before = coherent;
        for (std::size_t i = 0; i < events_.size(); ++i) {
            if (!events_[i].reads) {
                continue;
            }
            const std::size_t source = events_[i].source;
            const auto& writes = order_[events_[i].op.location];
            if (events_[i].writes && *(std::find(writes.begin(), writes.end(), i) - 1) != source) {
                return false;
            }
            coherent.add(source, i);
            for (std::size_t later = 0; later < events_.size(); ++later) {
                if (later != i && modified_before.has(source, later)) {
                    coherent.add(i, later);
                }
            }
            synchronise(i, happens_before);
        }
        if (happens_before.close().is_cyclic() || coherent.close().is_cyclic()) {
            return false;
        }
        for (std::size_t i = 0; i < events_.size(); ++i) {
            for (std::size_t j = 0; j < events_.size(); ++j) {
                if (happens_before.has(i, j) && coherent.has(j, i)) {
                    return false;
                }
            }
        }
        return true;
    }

    // An acquire read synchronises with every release whose release sequence it reads from.
    void synchronise(std::size_t read, Relation& happens_before) const {
        if (!is_acquire(events_[read].order)) {
            return;
        }
        std::size_t write = events_[read].source;
        for (std::size_t length = 0; length < events_.size(); ++length) {
            if (is_release(events_[write].order)) {
                happens_before.add(write, read);
            }
            if (!events_[write].reads) {
                return;
            }
            write = events_[write].source;
        }
    }

    const StraightProgram& program_;
    Relation in_order_;
    std::vector<Event> events_;
    std::vector<std::vector<std::size_t>> order_;
};

}  // namespace

std::set<StraightOutcome> allowed_outcomes(const StraightProgram& program) {
    return Enumeration(program).outcomes;
}

}  // namespace ttmem::model
