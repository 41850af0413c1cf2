// SPDX-License-Identifier: Apache-2.0

// For who looks again and again: a monitor for people, a query for scripts, and what the daemon itself costs.

#include <sys/ioctl.h>
#include <unistd.h>

#include <vector>

#include "cli/command.hpp"
#include "view/chronicle_text.hpp"
#include "view/devices.hpp"
#include "view/query.hpp"
#include "view/text.hpp"

namespace ttmem::cli {

namespace {

struct MonitorOptions : Common {
    bool all = false;
    std::vector<std::string> devices;
    uint64_t every_ms = 1000;
    uint64_t count = 0;
};

// Over what stood there before, without a moment of an empty screen; no more lines than the window has, since more would scroll.
std::string redrawn(const std::string& text) {
    winsize size{};
    const size_t rows =
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1 ? size.ws_row - 1U : 0;
    std::string screen = "\033[H";
    size_t lines = 0;
    for (size_t start = 0; start < text.size();) {
        const size_t end = std::min(text.find('\n', start), text.size());
        if (rows != 0 && ++lines == rows && end + 1 < text.size()) {
            screen += "(more than the window shows: make it taller, or choose with -d)\033[K\n";
            break;
        }
        screen += text.substr(start, end - start) + "\033[K\n";
        start = end + 1;
    }
    return screen + "\033[J";
}

int monitor(const MonitorOptions& options) {
    const bool is_terminal = isatty(STDOUT_FILENO) != 0 && !options.json;
    for (uint64_t tick = 1; true; ++tick) {
        auto answer = access::status(options.way);
        if (!answer) {
            complain(answer.error().text);
            return 1;
        }
        if (!options.devices.empty()) {
            if (const auto problem = view::keep_devices(answer->view, options.devices)) {
                complain(*problem);
                return 1;
            }
        }
        const view::Style style = style_of_output(options.bytes);
        std::string text =
            options.json ? view::to_json(answer->view) : view::breakdown_text(answer->view, style) + "\n";
        for (const std::string& notice : answer->notices) {
            is_terminal ? void(text += notice + "\n") : complain(notice);
        }
        if (print(is_terminal ? redrawn(text) : text) != 0) {
            return 1;
        }
        if (tick == options.count || !wait_for_reader(std::chrono::milliseconds(options.every_ms))) {
            return 0;
        }
    }
}

void add_monitor(CLI::App& app, Run& chosen) {
    add_command<MonitorOptions>(
        app, chosen, "monitor", "The memory of each device, again and again",
        [](CLI::App& command, MonitorOptions& options) {
            add_json_and_bytes(command, options);
            add_direct(command, options);
            CLI::Option* all = command.add_flag("-a,--all", options.all, "All devices (the default)");
            command.add_option("-d,--device", options.devices, "Only these")->type_name("ID")->excludes(all);
            command
                .add_option("-r,--refresh", options.every_ms,
                            "Milliseconds between two looks (default: 1000)")
                ->check(refuse_what_is_no_interval(1))
                ->type_name("MS");
            command.add_option("-n,--count", options.count, "End after so many looks (default: at Ctrl-C)")
                ->check(refuse_what_is_no_number)
                ->type_name("COUNT");
        },
        monitor)
        ->footer(
            "Redrawn on a terminal; in a pipe one block a look.\n\n"
            "Examples:\n  ttmem monitor -a -r 500\n  ttmem monitor -d 0 -d 1 -n 10 > log.txt");
}

struct QueryOptions : Common {
    std::string fields = "device,board,dram.used,dram.capacity,l1.used,l1.capacity,cb.used,processes";
    std::string format = "csv";
    std::optional<std::string> device;
    uint64_t loop_ms = 0;
    bool list = false;
};

std::string list_of_fields() {
    std::string text;
    for (const view::QueryField& field : view::query_fields()) {
        std::string name = field.name + (field.unit.empty() ? "" : " [" + field.unit + "]");
        name.resize(std::max<size_t>(name.size() + 2, 28), ' ');
        text += name + field.about + "\n";
    }
    return text;
}

base::Expected<view::QueryFormat> format_of(const std::string& text) {
    view::QueryFormat format;
    size_t start = 0;
    for (bool is_first = true; start <= text.size(); is_first = false) {
        const size_t end = std::min(text.find(',', start), text.size());
        const std::string word = text.substr(start, end - start);
        if (is_first ? word != "csv" : word != "noheader" && word != "nounits") {
            return base::error(
                base::Error::Code::refused,
                "there is no format '" + text + "' (csv, then ,noheader and ,nounits as wanted)");
        }
        format.header = format.header && word != "noheader";
        format.units = format.units && word != "nounits";
        start = end + 1;
    }
    return format;
}

int run_query(const QueryOptions& options) {
    if (options.list) {
        return print(list_of_fields());
    }
    const auto query = view::Query::parse(options.fields);
    const auto format = format_of(options.format);
    if (!query || !format) {
        complain((!query ? query.error() : format.error()).text);
        return kUsageError;
    }
    for (bool is_first = true; true; is_first = false) {
        auto answer = access::status(options.way);
        if (!answer) {
            complain(answer.error().text);
            return 1;
        }
        if (options.device) {
            if (const auto problem = view::keep_devices(answer->view, {*options.device})) {
                complain(*problem);
                return 1;
            }
        }
        if (answer->view.figures.devices.empty()) {
            complain("there are no devices here yet ('ttmem status' says more)");
        }
        if (print((is_first ? query->header(*format) : "") + query->lines(answer->view, *format)) != 0) {
            return 1;
        }
        if (options.loop_ms == 0 || !wait_for_reader(std::chrono::milliseconds(options.loop_ms))) {
            return 0;
        }
    }
}

void add_query(CLI::App& app, Run& chosen) {
    add_command<QueryOptions>(
        app, chosen, "query", "Chosen figures of each device as comma-separated values",
        [](CLI::App& command, QueryOptions& options) {
            add_direct(command, options);
            add_device(command, options.device);
            command
                .add_option("--fields", options.fields, "Which, and in which order (default: the usual ones)")
                ->type_name("NAME,...");
            command.add_option("--format", options.format, "csv, then ,noheader and ,nounits as wanted")
                ->type_name("FORMAT");
            command.add_option("--loop-ms", options.loop_ms, "Again and again, so many milliseconds apart")
                ->check(refuse_what_is_no_interval(1))
                ->type_name("N");
            command.add_flag("--list", options.list, "List the fields that there are");
        },
        run_query)
        ->footer(
            "What is not known is empty, and never 0.\n\n"
            "Example:\n  ttmem query --fields=device,dram.used,temperature --format=csv,noheader");
}

void add_self(CLI::App& app, Run& chosen) {
    add_command<Common>(app, chosen, "self", "What the daemon itself costs, and whether it keeps up",
                        add_json_and_bytes,
                        [](const Common& options) { return show(access::self(), options, view::self_text); })
        ->footer("Example:\n  ttmem self --json | jq .events.lost");
}

}  // namespace

void add_watch(CLI::App& app, Run& chosen) {
    add_monitor(app, chosen);
    add_query(app, chosen);
    add_self(app, chosen);
}

}  // namespace ttmem::cli
