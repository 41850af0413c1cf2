// SPDX-License-Identifier: Apache-2.0
#include "tui/ui.hpp"

#include <signal.h>

#include <algorithm>

namespace ttmem::tui {

const std::array<NamedSignal, 5> kSignals = {{{SIGTERM, "SIGTERM"},
                                              {SIGINT, "SIGINT"},
                                              {SIGKILL, "SIGKILL"},
                                              {SIGSTOP, "SIGSTOP"},
                                              {SIGCONT, "SIGCONT"}}};

std::string_view name_of(Order order) {
    constexpr std::array<std::string_view, kOrders> kNames = {"used", "pid", "dram", "l1",
                                                              "cb",   "age", "user", "command"};
    return kNames[static_cast<size_t>(order)];
}

const census::DeviceFigures* chosen_device(const Model& model, const Ui& ui) {
    if (!model.status() || model.status()->figures.devices.empty()) {
        return nullptr;
    }
    const auto& devices = model.status()->figures.devices;
    const auto found = std::find_if(devices.begin(), devices.end(),
                                    [&](const census::DeviceFigures& one) { return one.id == ui.device; });
    return found == devices.end() ? &devices.front() : &*found;
}

namespace {

constexpr uint64_t kMostRows = 1000;    // of a list that is scrolled through
constexpr uint64_t kMostBlocks = 4096;  // of a map
constexpr uint64_t kMostFailures = 50;

Question about_allocations(const Ui& ui, const std::optional<std::string>& device, uint64_t rows) {
    Question question;
    question.about = ui.group ? Question::About::groups : Question::About::allocations;
    census::AllocationQuery& query = question.allocations;
    query.device = device;
    query.pid = ui.pid;
    query.name = ui.filter;
    query.since = ui.mark_ns;
    query.sort = ui.sort;
    query.group = ui.group;
    query.limit = std::min(ui.scroll + rows, kMostRows);
    return question;
}

// Of those that the charts show, the first whose past has not been asked for yet.
std::optional<uint32_t> device_without_past(const Model& model, const Ui& ui) {
    constexpr size_t kMostAtOnce = 16;
    const census::DeviceFigures* device = chosen_device(model, ui);
    if (device == nullptr || model.link() != Link::daemon) {
        return std::nullopt;
    }
    const auto& devices = model.status()->figures.devices;
    const auto first = static_cast<size_t>(device - devices.data());
    for (size_t i = 0; i < (ui.all_devices ? std::min(devices.size(), kMostAtOnce) : 1); ++i) {
        const uint32_t id = devices[(first + i) % devices.size()].id;
        if (!model.knows_past_of(id)) {
            return id;
        }
    }
    return std::nullopt;
}

}  // namespace

Question question_of(const Model& model, const Ui& ui, int rows) {
    const census::DeviceFigures* device = chosen_device(model, ui);
    const std::optional<std::string> name =
        device != nullptr && !ui.all_devices ? std::optional(std::to_string(device->id)) : std::nullopt;
    Question question;
    switch (ui.screen) {
        case Screen::allocations:
            return about_allocations(ui, name, static_cast<uint64_t>(std::max(rows, 1)));
        case Screen::map:
            if (device != nullptr) {
                question.about = Question::About::map;
                question.map.device = std::to_string(device->id);
                question.map.limit = kMostBlocks;
                question.pool = ui.pool;
            }
            return question;
        case Screen::events:
            question.about = Question::About::events;
            return question;
        case Screen::charts:
            if (const auto without = device_without_past(model, ui)) {
                question.about = Question::About::past;
                question.id = *without;
                question.since = model.now_ns() - std::min(model.now_ns(), kHourNs);
                return question;
            }
            question.about = Question::About::failures;  // for the marks
            question.limit = kMostFailures;
            return question;
        case Screen::failures:
            question.about = ui.post_mortems ? Question::About::post_mortems : Question::About::failures;
            question.device = name;
            question.limit = kMostFailures;
            if (ui.post_mortems && ui.open_post_mortem) {
                question.about = Question::About::post_mortem;
                question.id = *ui.open_post_mortem;
            }
            return question;
        case Screen::breakdown:
            if (device != nullptr) {
                question.about = Question::About::cores;
                question.id = device->id;
            }
            return question;
        case Screen::overview:
        case Screen::telemetry:
            return question;
    }
    return question;
}

}  // namespace ttmem::tui
