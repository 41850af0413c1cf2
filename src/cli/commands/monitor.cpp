// SPDX-License-Identifier: Apache-2.0
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/commands/commands.hpp"
#include "cli/host_view.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct MonitorOptions : CommonOptions {
    bool all = false;
    std::vector<std::string> devices;
    uint64_t interval_ms = 1000;
    uint64_t count = 0;
};

void declare_monitor_options(CLI::App& command, MonitorOptions& options) {
    add_json_and_bytes(command, options);
    add_direct(command, options);
    CLI::Option* all = command.add_flag("-a,--all", options.all, "All devices (the default)");
    command.add_option("-d,--device", options.devices, "Only these devices")->type_name("ID")->excludes(all);
    command.add_option("-r,--refresh", options.interval_ms, "Milliseconds between samples (default: 1000)")
        ->check(check_interval(1))
        ->type_name("MS");
    command.add_option("-n,--count", options.count, "Stop after N samples (default: at Ctrl-C)")
        ->check(check_number)
        ->type_name("N");
}

// Overwrites the previous screen line by line, so that it never flickers. Cuts the text to the height of the window, because a longer
// one would scroll.
std::string redraw(const std::string& text) {
    winsize size{};
    const size_t rows =
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1 ? size.ws_row - 1U : 0;
    std::string screen = "\033[H";
    size_t lines = 0;
    for (size_t start = 0; start < text.size();) {
        const size_t end = std::min(text.find('\n', start), text.size());
        if (rows != 0 && ++lines == rows && end + 1 < text.size()) {
            screen += "(window too small: make it taller, or choose devices with -d)\033[K\n";
            break;
        }
        screen += text.substr(start, end - start) + "\033[K\n";
        start = end + 1;
    }
    return screen + "\033[J";
}

int monitor(const MonitorOptions& options) {
    const bool is_terminal = isatty(STDOUT_FILENO) != 0 && !options.json;
    for (uint64_t sample = 1; true; ++sample) {
        const auto reply = read_host(options.devices, options.mode);
        if (!reply) {
            return fail(reply.error().text);
        }
        const view::Style style = style_of_output(options.bytes);
        std::string text = options.json ? view::to_json(reply->view)
                                        : render_ansi(view::breakdown_text(reply->view, style).blank(),
                                                      wants_colour(STDOUT_FILENO));
        for (const std::string& notice : reply->notices) {
            is_terminal ? void(text += notice + "\n") : print_error(notice);
        }
        if (print(is_terminal ? redraw(text) : text) != 0) {
            return 1;
        }
        if (sample == options.count || !wait_for_reader(std::chrono::milliseconds(options.interval_ms))) {
            return 0;
        }
    }
}

}  // namespace

void add_monitor(CLI::App& app, Action& chosen) {
    add_command<MonitorOptions>(app, chosen, "monitor", "Memory of each device, repeatedly",
                                declare_monitor_options, monitor)
        ->footer(
            "Redraws the screen on a terminal; in a pipe, prints one block per sample.\n\n"
            "Examples:\n  ttmem monitor -a -r 500\n  ttmem monitor -d 0 -d 1 -n 10 > log.txt");
}

}  // namespace ttmem::cli
