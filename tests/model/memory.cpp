// SPDX-License-Identifier: Apache-2.0
#include "tests/model/memory.hpp"

#include <cstdio>
#include <cstdlib>

namespace ttmem::model {

namespace {

// The distance between neighbours, so that a message can be inserted between them without renumbering the views.
constexpr Timestamp kGap = 1U << 16U;

[[noreturn]] void limit_reached(const char* what) {
    std::fprintf(stderr, "model: %s (raise the limit in tests/model/memory)\n", what);
    std::abort();
}

std::uint64_t modified(const Operation& op, std::uint64_t value) {
    switch (op.action) {
        case Action::add:
            return (value + op.operand) & op.mask;
        case Action::subtract:
            return (value - op.operand) & op.mask;
        case Action::bit_and:
            return value & op.operand;
        case Action::bit_or:
            return value | op.operand;
        case Action::bit_xor:
            return value ^ op.operand;
        default:
            return op.operand;
    }
}

}  // namespace

bool is_acquire(std::memory_order order) {
    return order == std::memory_order_acquire || order == std::memory_order_consume ||
           order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

bool is_release(std::memory_order order) {
    return order == std::memory_order_release || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
}

void Memory::clear() {
    for (std::size_t i = 0; i < locations_; ++i) {
        messages_[i].clear();
    }
    locations_ = 0;
    next_message_ = 0;
}

LocationId Memory::add_location(std::uint64_t initial, View& creator, ThreadId author) {
    if (locations_ == kMaxLocations) {
        limit_reached("too many atomics in one world");
    }
    if (locations_ == messages_.size()) {
        messages_.emplace_back();
    }
    const auto location = static_cast<LocationId>(locations_++);
    Message& first = insert(location, 0, initial, author);
    creator.at[location] = first.when;
    first.view = creator;
    return location;
}

bool Memory::is_taken(LocationId location, std::size_t index) const {
    const auto& order = messages_[location];
    return index + 1 < order.size() && order[index + 1].follows_its_source;
}

void Memory::collect(const Operation& op, const View& view, MessageId not_before, bool spurious,
                     std::vector<Candidate>& out) const {
    out.clear();
    const auto& order = messages_[op.location];
    const Timestamp oldest = view.at[op.location];
    for (std::size_t index = order.size(); index-- > 0 && order[index].when >= oldest;) {
        if (op.action == Action::store) {
            if (!is_taken(op.location, index)) {
                out.push_back({index + 1, Effect::insert, false});
            }
            continue;
        }
        if (order[index].id < not_before) {
            continue;
        }
        const bool compares =
            op.action == Action::compare_exchange || op.action == Action::compare_exchange_weak;
        if (op.action == Action::load || (compares && order[index].value != op.expected)) {
            out.push_back({index, Effect::read, false});
            continue;
        }
        if (!is_taken(op.location, index)) {
            out.push_back({index, Effect::modify, false});
        }
        if (spurious && op.action == Action::compare_exchange_weak) {
            out.push_back({index, Effect::read, true});
        }
    }
}

Message& Memory::insert(LocationId location, std::size_t index, std::uint64_t value, ThreadId author) {
    auto& order = messages_[location];
    Timestamp when = kGap;
    if (index == order.size()) {
        when = index == 0 ? kGap : order.back().when + kGap;
        if (index > 0 && when < order.back().when) {
            limit_reached("too many stores to one atomic");
        }
    } else {
        const Timestamp before = order[index - 1].when;
        when = before + (order[index].when - before) / 2;
        if (when == before) {
            limit_reached("too many stores between two others");
        }
    }
    auto position = order.emplace(order.begin() + static_cast<std::ptrdiff_t>(index));
    position->value = value;
    position->when = when;
    position->id = next_message_++;
    position->author = author;
    return *position;
}

Outcome Memory::apply(const Operation& op, const Candidate& candidate, View& view, ThreadId author) {
    auto& order = messages_[op.location];
    Outcome outcome;
    outcome.effect = candidate.effect;
    outcome.newer = static_cast<std::uint32_t>(order.size() - 1 - candidate.index);

    if (candidate.effect == Effect::insert) {
        Message& message = insert(op.location, candidate.index, op.operand, author);
        view.at[op.location] = message.when;
        if (is_release(op.order)) {
            message.view = view;
        } else {
            message.view.at[op.location] = message.when;
        }
        outcome.value_written = op.operand;
        outcome.wrote = message.id;
        outcome.newer = static_cast<std::uint32_t>(order.size() - 1 - candidate.index);
        return outcome;
    }

    const Message& source = order[candidate.index];
    const bool failed = candidate.effect == Effect::read && op.action != Action::load;
    outcome.value_read = source.value;
    outcome.read_from = source.id;
    outcome.read_author = source.author;
    view.at[op.location] = std::max(view.at[op.location], source.when);
    if (is_acquire(failed ? op.failure_order : op.order)) {
        view.join(source.view, locations_);
    }
    if (candidate.effect == Effect::read) {
        return outcome;
    }

    const View carried = source.view;
    outcome.value_written = modified(op, source.value);
    Message& message = insert(op.location, candidate.index + 1, outcome.value_written, author);
    message.follows_its_source = true;
    view.at[op.location] = message.when;
    message.view = carried;
    if (is_release(op.order)) {
        message.view.join(view, locations_);
    }
    message.view.at[op.location] = message.when;
    outcome.wrote = message.id;
    return outcome;
}

std::vector<std::uint64_t> Memory::history(LocationId location) const {
    std::vector<std::uint64_t> values;
    for (const Message& message : messages_[location]) {
        values.push_back(message.value);
    }
    return values;
}

}  // namespace ttmem::model
