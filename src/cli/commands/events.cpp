// SPDX-License-Identifier: Apache-2.0
#include "access/follow.hpp"

#include <utility>

#include "cli/commands/commands.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct EventOptions : CommonOptions {
    std::vector<std::string> devices;
    std::optional<uint32_t> pid;
    census::KindSet kinds;
    uint64_t limit = kDefaultLimit;
    bool follow = false;
};

void declare_event_options(CLI::App& command, EventOptions& options) {
    add_list_options(command, options);
    add_columns(command, options);
    add_recording(command, options);
    command.add_flag("-f,--follow", options.follow, "Continue with new events until Ctrl-C")
        ->excludes(command.get_option("--watch"))
        ->excludes(command.get_option("--recording"));
    add_devices(command, options.devices);
    add_pid(command, options.pid);
    add_kinds(command, options.kinds);
    add_limit(command, options.limit);
}

// Events that were missed, as the gap that they are.
std::string gap_line(const view::EventsView& view) {
    view::EventView gap;
    gap.sequence = view.next;
    gap.time_ns = view::read_here().time_ns;
    gap.type = history::RecordType::gap;
    gap.count = view.missed;
    return view::to_json(gap) + "\n";
}

std::string json_lines(const std::vector<view::EventView>& events) {
    std::string text;
    for (const view::EventView& event : events) {
        text += view::to_json(event) + "\n";
    }
    return text;
}

// `as_text` is events_text, or event_lines where the titles are there already.
int print_text(const view::EventsView& view, const EventOptions& options,
               view::Text (*as_text)(const view::EventsView&, const view::Style&)) {
    // A pager would keep new events back.
    return print_screen(
        options, view.origin.host, [&](const view::Style& style) { return as_text(view, style); },
        options.follow ? Paging::never : Paging::allowed);
}

// Prints each event as it happens, until nobody reads the output any more.
int follow_events(const EventOptions& options, view::EventQuery query, bool has_titles) {
    int code = 0;
    const auto take = [&](view::EventsView recent) {
        // The list before has said that other users have events too.
        const bool is_only_hidden = recent.hidden_events != 0 && recent.events.empty();
        recent.hidden_events = 0;
        if (options.json) {
            code = print((recent.missed != 0 ? gap_line(recent) : "") + json_lines(recent.events));
        } else if (!is_only_hidden) {
            code = print_text(recent, options, has_titles ? view::event_lines : view::events_text);
            has_titles = true;
        }
        return code == 0;
    };
    const base::Descriptor end = watch_reader();
    const auto ended = access::follow_events(std::move(query), take, end.get());
    return ended ? code : fail(ended.error());
}

int print_events(const view::EventsView& view, const EventOptions& options) {
    if (!options.json) {
        // Without filters the screen itself says that there are no events.
        const bool has_filter = !options.devices.empty() || options.pid || !options.kinds.empty();
        return has_filter && view.events.empty()
                   ? print(view::empty_list_text("No matching events.",
                                                 view::hidden_events_line(view.hidden_events)))
                   : print_text(view, options, view::events_text);
    }
    return print(options.follow ? json_lines(view.events) : view::to_json(view));
}

int show_events(const EventOptions& options) {
    const auto devices = device_numbers(options.devices);
    if (!devices) {
        return fail(devices.error());
    }
    view::EventQuery query{.device = *devices, .pid = options.pid, .kind = options.kinds};
    if (options.limit != 0) {
        query.last = options.limit;
    }
    const auto events = access::ask<view::Events>(query);
    if (!events) {
        return fail(events.error());
    }
    const int code = print_events(events->view, options);
    if (code != 0 || !options.follow) {
        return code;
    }
    query.last.reset();
    query.since = events->view.next;
    return follow_events(options, query, !events->view.events.empty());
}

}  // namespace

void add_events(CLI::App& app, Action& chosen) {
    add_command<EventOptions>(app, chosen, "events",
                              "Allocations, frees, failures and deaths as they happened",
                              declare_event_options, show_events)
        ->footer(
            "Needs a running daemon (ttmemd), or a recording. Both have the last 65,536\n"
            "events. With --json and --follow, prints one event per line.\n\n"
            "Examples:\n  ttmem events --limit 20\n  ttmem events --follow --json | jq -c 'select(.what == "
            "\"failure\")'");
}

}  // namespace ttmem::cli
