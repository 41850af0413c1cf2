// SPDX-License-Identifier: Apache-2.0
#include "access/follow.hpp"
#include "cli/commands/commands.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct EventOptions : CommonOptions {
    std::optional<std::string> device;
    std::optional<uint32_t> pid;
    std::optional<census::Kind> kind;
    uint64_t limit = kDefaultLimit;
    bool follow = false;
};

void declare_event_options(CLI::App& command, EventOptions& options) {
    add_json_and_bytes(command, options);
    command.add_flag("-f,--follow", options.follow, "Continue with new events until Ctrl-C");
    add_device(command, options.device);
    add_pid(command, options.pid);
    add_kind(command, options.kind);
    add_limit(command, options.limit);
}

int print_events(const view::EventsView& view, const EventOptions& options) {
    if (!options.json) {
        return print(view::events_text(view, style_of_output(options.bytes)));
    }
    std::string text;
    for (const view::EventView& event : view.events) {
        text += view::to_json(event) + "\n";
    }
    return print(text);
}

// Prints each event as it happens, until nobody reads the output any more.
int follow_events(const EventOptions& options, view::EventQuery query) {
    int code = 0;
    const auto take = [&](uint64_t missed, const view::EventView* event) {
        view::EventsView view;
        view.missed = missed;
        if (event != nullptr) {
            view.events.push_back(*event);
        }
        code = print_events(view, options);
        return code == 0;
    };
    const base::Descriptor end = watch_reader();
    const auto ended = access::follow_events(query, take, end.get());
    return ended ? code : fail(ended.error().text);
}

int show_events(const EventOptions& options) {
    const auto device = device_number(options.device);
    if (!device) {
        return fail(device.error().text);
    }
    view::EventQuery query{.device = *device, .pid = options.pid, .kind = options.kind};
    if (options.limit != 0) {
        query.last = options.limit;
    }
    const auto events = access::ask<view::Events>(query);
    if (!events) {
        return fail(events.error().text);
    }
    // Without filters the screen itself says that there are no events.
    const bool has_filter = options.device || options.pid || options.kind;
    const int code = has_filter && events->view.events.empty() && !options.json
                         ? print("No matching events.\n")
                         : print_events(events->view, options);
    if (code != 0 || !options.follow) {
        return code;
    }
    query.last.reset();
    query.since = events->view.next;
    return follow_events(options, query);
}

}  // namespace

void add_events(CLI::App& app, Action& chosen) {
    add_command<EventOptions>(app, chosen, "events",
                              "Allocations, frees, failures and deaths as they happened",
                              declare_event_options, show_events)
        ->footer(
            "Needs a running daemon (ttmemd). It keeps the last 65,536 events. With --json,\n"
            "prints one event per line.\n\n"
            "Examples:\n  ttmem events --limit 20\n  ttmem events --follow --json | jq -c 'select(.what == "
            "\"failure\")'");
}

}  // namespace ttmem::cli
