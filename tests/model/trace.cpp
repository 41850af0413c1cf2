// SPDX-License-Identifier: Apache-2.0
#include "tests/model/trace.hpp"

#include <algorithm>
#include <cstdio>

namespace ttmem::model {

namespace {

const char* order_name(std::memory_order order) {
    switch (order) {
        case std::memory_order_relaxed:
            return "relaxed";
        case std::memory_order_consume:
            return "consume";
        case std::memory_order_acquire:
            return "acquire";
        case std::memory_order_release:
            return "release";
        case std::memory_order_acq_rel:
            return "acq_rel";
        case std::memory_order_seq_cst:
            return "seq_cst";
    }
    return "?";
}

const char* action_name(Action action) {
    switch (action) {
        case Action::load:
            return "load";
        case Action::store:
            return "store";
        case Action::exchange:
            return "exchange";
        case Action::add:
            return "fetch_add";
        case Action::subtract:
            return "fetch_sub";
        case Action::bit_and:
            return "fetch_and";
        case Action::bit_or:
            return "fetch_or";
        case Action::bit_xor:
            return "fetch_xor";
        case Action::compare_exchange:
            return "compare_exchange_strong";
        case Action::compare_exchange_weak:
            return "compare_exchange_weak";
    }
    return "?";
}

std::string number(std::uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, value < 4096 ? "%llu" : "0x%llx",
                  static_cast<unsigned long long>(value));
    return text;
}

std::string describe(const Step& step, const std::vector<std::string>& threads,
                     const std::vector<std::string>& locations) {
    if (step.kind == StepKind::killed) {
        return "killed here";
    }
    if (step.kind == StepKind::choice) {
        return "chose " + number(step.chosen);
    }
    const Operation& op = step.operation;
    const Outcome& out = step.outcome;
    const bool compares = op.action == Action::compare_exchange || op.action == Action::compare_exchange_weak;
    const bool failed = compares && out.effect == Effect::read;
    std::string text = locations[op.location] + "." + action_name(op.action) + "(";
    text += compares ? number(op.expected) + ", " + number(op.operand) + ", " : "";
    text += std::string(order_name(failed ? op.failure_order : op.order)) + ")";
    text += out.effect != Effect::insert ? " -> " + number(out.value_read) : "";
    text += out.effect != Effect::read ? " <- " + number(out.value_written) : "";
    text += failed ? (out.value_read == op.expected ? " failed spuriously" : " failed") : "";
    text.resize(std::max<std::size_t>(text.size() + 2, 44), ' ');
    if (out.effect != Effect::insert) {
        text += "read message " + number(out.read_from) + " of " + threads[out.read_author];
    }
    if (out.effect == Effect::modify) {
        text += ", ";
    }
    if (out.effect != Effect::read) {
        text += "wrote message " + number(out.wrote);
    }
    if (out.newer > 0) {
        text += " (" + number(out.newer) + " newer)";
    }
    return text;
}

}  // namespace

std::string render(const std::vector<Step>& steps, const std::vector<std::string>& threads,
                   const std::vector<std::string>& locations) {
    std::size_t width = 0;
    for (const std::string& name : threads) {
        width = std::max(width, name.size());
    }
    std::string text;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        std::string name = threads[steps[i].thread];
        name.resize(width + 2, ' ');
        char head[32];
        std::snprintf(head, sizeof head, "#%-4zu", i);
        text += head + name + describe(steps[i], threads, locations) + "\n";
    }
    return text;
}

}  // namespace ttmem::model
