// SPDX-License-Identifier: Apache-2.0

// What has happened: failures, deaths, values over time, events.

#include <algorithm>
#include <iterator>

#include "cli/command.hpp"
#include "view/chronicle_text.hpp"
#include "view/text.hpp"

namespace ttmem::cli {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr std::chrono::milliseconds kEventsTick(250);
constexpr uint64_t kMostEventsAtOnce = 10'000;

struct WhyOptions : Common {
    census::FailureQuery query{.limit = 10};
};

void add_why(CLI::App& app, Run& chosen) {
    add_command<WhyOptions>(
        app, chosen, "why", "What failed, by how many bytes, and who is in the way",
        [](CLI::App& command, WhyOptions& options) {
            add_json_and_bytes(command, options);
            add_direct(command, options);
            add_device(command, options.query.device);
            add_pid(command, options.query.pid);
            command
                .add_option_function<std::string>(
                    "--type",
                    [&options](const std::string& name) {
                        options.query.type = census::failure_type_by_name(name);
                    },
                    "Only out_of_memory, cb_clash or unknown_free")
                ->check([](const std::string& name) {
                    return census::failure_type_by_name(name)
                               ? std::string()
                               : "there are no failures of type '" + name + "'";
                })
                ->type_name("TYPE");
            command
                .add_option("--limit,--top", options.query.limit, "At most so many; 0 for all (default: 10)")
                ->check(refuse_what_is_no_number)
                ->type_name("N");
        },
        [](const WhyOptions& options) {
            return show(access::why(options.query, options.way), options, view::why_text);
        })
        ->footer(
            "The verdict: too big (more than a bank has), not enough (more than is free),\n"
            "fragmented (enough is free, but not in one block), clash (circular buffers\n"
            "reach into L1 buffers). A process keeps the first and the last few of each.\n\n"
            "Example:\n  ttmem why --device 0");
}

struct PostMortemOptions : Common {
    std::optional<std::string> device;
    std::optional<uint32_t> pid;
    uint64_t limit = kDefaultLimit;
};

int show_post_mortems(const PostMortemOptions& options) {
    if (options.pid) {
        return show(access::post_mortem(*options.pid, options.limit), options, view::post_mortem_text);
    }
    const auto device = number_even_if_gone(options.device);
    if (!device) {
        complain(device.error().text);
        return 1;
    }
    auto answer = access::post_mortems();
    if (answer && *device) {
        std::erase_if(answer->view.post_mortems, [&](const census::PostMortemSummary& one) {
            const auto is_it = [&](const auto& held) { return held.id == **device; };
            return std::none_of(one.process.devices.begin(), one.process.devices.end(), is_it);
        });
        if (answer->view.post_mortems.empty() && !options.json) {
            return print("None of the processes whose end was seen held that device.\n");
        }
    }
    return show(answer, options, view::post_mortems_text);
}

void add_post_mortem(CLI::App& app, Run& chosen) {
    add_command<PostMortemOptions>(
        app, chosen, "post-mortem", "What processes held when they died",
        [](CLI::App& command, PostMortemOptions& options) {
            add_json_and_bytes(command, options);
            command
                .add_option_function<uint32_t>(
                    "PID", [&options](uint32_t pid) { options.pid = pid; },
                    "All about the last one of this number")
                ->check(refuse_what_is_no_number);
            add_device(command, options.device);
            add_limit(command, options.limit);
        },
        show_post_mortems)
        ->footer(
            "A daemon (ttmemd) keeps the last ledger of each process whose end it saw.\n\n"
            "Examples:\n  ttmem post-mortem\n  ttmem post-mortem 4711 --json | jq '.post_mortem.by_name[0]'");
}

struct HistoryOptions : Common {
    std::optional<std::string> device;
    std::optional<census::Kind> kind;
    uint64_t seconds = 600;
};

int chart(const HistoryOptions& options) {
    std::optional<uint32_t> device;
    if (options.device) {
        const auto number = number_of_device(*options.device);
        if (!number) {
            complain(number.error().text);
            return 1;
        }
        device = *number;
    }
    const uint64_t now = view::read_here().time_ns;
    const uint64_t span = std::min<uint64_t>(options.seconds, now / kSecond) * kSecond;
    return show(access::history(device, options.kind, now - span), options, view::history_text);
}

void add_history(CLI::App& app, Run& chosen) {
    add_command<HistoryOptions>(
        app, chosen, "history", "Used bytes over time: a small chart for each device and kind",
        [](CLI::App& command, HistoryOptions& options) {
            add_json_and_bytes(command, options);
            add_device(command, options.device);
            add_kind(command, options.kind);
            command.add_option("--seconds", options.seconds, "How far back (default: 600)")
                ->check(refuse_what_is_no_number)
                ->type_name("N");
        },
        chart)
        ->footer(
            "A daemon (ttmemd) keeps a value a second for an hour, and one a minute for a\n"
            "day. Each column shows the highest value of its time.\n\n"
            "Example:\n  ttmem history --device 0 --seconds 3600");
}

struct EventOptions : Common {
    std::optional<std::string> device;
    std::optional<uint32_t> pid;
    std::optional<census::Kind> kind;
    uint64_t limit = kDefaultLimit;
    bool follow = false;
};

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

// All from `since` on.
base::Expected<view::EventsView> read_events(uint64_t since) {
    auto page = access::events(since, kMostEventsAtOnce);
    if (!page) {
        return tl::unexpected(page.error());
    }
    view::EventsView all = std::move(page->view);
    size_t got = all.events.size();
    while (got == kMostEventsAtOnce) {
        page = access::events(all.next, kMostEventsAtOnce);
        if (!page) {
            return tl::unexpected(page.error());
        }
        got = page->view.events.size();
        all.next = page->view.next;
        all.events.insert(all.events.end(), std::make_move_iterator(page->view.events.begin()),
                          std::make_move_iterator(page->view.events.end()));
    }
    return all;
}

// Leaves those that were asked for. What is of no device or kind, a death or a gap, may concern each.
void choose(view::EventsView& view, const EventOptions& options, const std::optional<uint32_t>& device) {
    std::erase_if(view.events, [&](const view::EventView& event) {
        const bool is_elsewhere =
            device && !event.devices.empty() &&
            std::find(event.devices.begin(), event.devices.end(), *device) == event.devices.end();
        return is_elsewhere || (options.pid && event.pid != *options.pid) ||
               (options.kind && event.kind && event.kind != options.kind);
    });
}

void keep_the_last(view::EventsView& view, uint64_t limit) {
    if (limit != 0 && view.events.size() > limit) {
        view.events.erase(view.events.begin(), view.events.end() - static_cast<ptrdiff_t>(limit));
        view.missed = 0;  // those before were not asked for
    }
}

int show_events(const EventOptions& options) {
    const auto device = number_even_if_gone(options.device);
    if (!device) {
        complain(device.error().text);
        return 1;
    }
    auto events = read_events(0);
    bool is_first = true;
    if (events && !events->events.empty()) {
        choose(*events, options, *device);
        keep_the_last(*events, options.limit);
        if (events->events.empty() && !options.json) {
            is_first = false;
            print("None of the events that the daemon still has is of that.\n");
        }
    }
    while (events) {
        const bool has_words = is_first || !events->events.empty();
        if (has_words && print_events(*events, options) != 0) {
            return 1;
        }
        if (!options.follow || !wait_for_reader(kEventsTick)) {
            return 0;
        }
        is_first = false;
        events = read_events(events->next);
        if (events) {
            choose(*events, options, *device);
        }
    }
    complain(events.error().text);
    return 1;
}

void add_events(CLI::App& app, Run& chosen) {
    add_command<EventOptions>(
        app, chosen, "events", "What happened: allocations, frees, failures, deaths",
        [](CLI::App& command, EventOptions& options) {
            add_json_and_bytes(command, options);
            command.add_flag("-f,--follow", options.follow, "Go on with what comes, until Ctrl-C");
            add_device(command, options.device);
            add_pid(command, options.pid);
            add_kind(command, options.kind);
            add_limit(command, options.limit);
        },
        show_events)
        ->footer(
            "A daemon (ttmemd) keeps the last 65,536 events. With --json one event a line.\n\n"
            "Examples:\n  ttmem events --limit 20\n  ttmem events --follow --json | jq -c 'select(.what == "
            "\"failure\")'");
}

}  // namespace

void add_past(CLI::App& app, Run& chosen) {
    add_why(app, chosen);
    add_post_mortem(app, chosen);
    add_history(app, chosen);
    add_events(app, chosen);
}

}  // namespace ttmem::cli
