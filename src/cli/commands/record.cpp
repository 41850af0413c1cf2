// SPDX-License-Identifier: Apache-2.0
#include "access/record.hpp"

#include <fmt/format.h>
#include <string.h>

#include <cerrno>
#include <cmath>

#include "cli/commands/commands.hpp"
#include "cli/observer.hpp"
#include "view/text/format.hpp"

namespace ttmem::cli {

namespace {

struct RecordOptions {
    std::string output;
    bool force = false;
    std::optional<uint32_t> pid;
    std::vector<std::string> devices;
    std::optional<double> seconds;
    std::string max_bytes;
    bool direct = false;
    bool from_start = false;
    bool bytes = false;
    std::vector<std::string> command;
};

std::string check_positive_seconds(const std::string& text) {
    char* end = nullptr;
    const double seconds = strtod(text.c_str(), &end);
    return end != text.c_str() && *end == 0 && seconds > 0 && seconds <= 1e9
               ? ""
               : "'" + text + "': must be seconds, more than 0";
}

std::string check_max_bytes(const std::string& text) {
    return parse_size(text).value_or(0) >= recording::kLeastMaxBytes
               ? ""
               : "'" + text + "': must be a size of at least 1MiB, such as 512MiB";
}

void print_totals(const RecordOptions& options, const recording::RecorderTotals& totals) {
    std::string text =
        fmt::format("recorded {} of {} into {} ({})", view::format_count(totals.events, "event", "events"),
                    view::format_count(totals.processes, "process", "processes"), options.output,
                    view::format_bytes(totals.bytes, options.bytes));
    if (totals.lost != 0) {
        text += fmt::format("; {} lost", view::format_count(totals.lost, "event was", "events were"));
    }
    print_error(text);
}

int record_command(const access::RecordSettings& settings, const RecordOptions& options) {
    access::RunSettings run{
        .command = options.command, .observer = find_observer(), .names = false, .limits = {}};
    if (!run.observer) {
        print_error(
            "the observer library is not installed: only a tt-metal that reports to ttmem itself is tracked");
    }
    const auto recorded = access::record_run(settings, std::move(run));
    if (!recorded) {
        return fail(recorded.error());
    }
    if (recorded->end.start_error != 0) {
        print_error("can't start '" + options.command.front() + "': " + strerror(recorded->end.start_error));
        return recorded->end.start_error == ENOENT ? 127 : 126;
    }
    print_totals(options, recorded->totals);
    const view::RunView& view = recorded->end.view;
    return view.signal ? 128 + *view.signal : view.exit_code.value_or(0);
}

int run_record(const RecordOptions& options) {
    access::RecordSettings settings;
    settings.file = {options.output, options.force,
                     options.max_bytes.empty() ? 0 : parse_size(options.max_bytes).value_or(0)};
    settings.pid = options.pid;
    if (options.seconds) {
        settings.time_ns = static_cast<uint64_t>(std::llround(*options.seconds * 1e9));
    }
    if (options.from_start != !options.command.empty()) {
        print_error(options.from_start ? "record: --from-start needs a command: -- COMMAND"
                                       : "record: a command needs --from-start before it");
        return kUsageError;
    }
    if (options.from_start && (options.pid || !options.devices.empty())) {
        print_error("record: --from-start records the processes of its command: leave out " +
                    std::string(options.pid ? "--pid" : "--device"));
        return kUsageError;
    }
    if (options.from_start) {
        return record_command(settings, options);
    }
    const access::ReadMode mode = options.direct ? access::ReadMode::direct : access::ReadMode::daemon_first;
    for (const std::string& name : options.devices) {
        const auto number = find_device_number(name, mode);
        if (!number) {
            return fail(number.error());
        }
        settings.devices.add(*number);
    }
    const auto totals = access::record(settings, mode);
    if (!totals) {
        return fail(totals.error());
    }
    print_totals(options, *totals);
    return 0;
}

}  // namespace

void add_record(CLI::App& app, Action& chosen) {
    add_command<RecordOptions>(
        app, chosen, "record", "Record what processes hold and do into a file",
        [](CLI::App& command, RecordOptions& options) {
            command.add_option("-o,--output", options.output, "The recording")->type_name("FILE")->required();
            command.add_flag("--force", options.force, "Replace an existing file");
            add_pid(command, options.pid);
            add_devices(command, options.devices);
            command.add_option("--seconds", options.seconds, "Stop after this time; default: at Ctrl-C")
                ->type_name("N")
                ->check(check_positive_seconds);
            command.add_option("--max-bytes", options.max_bytes, "Keep the last part, in FILE and FILE.1")
                ->type_name("SIZE")
                ->check(check_max_bytes);
            command.add_flag("--direct", options.direct, "Bypass the daemon");
            command.add_flag("--from-start", options.from_start,
                             "Run a command and record it from its start");
            command.add_flag("--bytes", options.bytes, "Print plain bytes instead of KiB, MiB, GiB");
            command.add_option("command", options.command, "The command and its options")->type_name("...");
            command.positionals_at_end();  // what follows belongs to the command
        },
        run_record)
        ->footer(
            "Records every allocation and free of this user's processes and the totals of\n"
            "others, as the daemon shows them; without a daemon the processes that this user\n"
            "may read. The file is for this user only. Ctrl-C ends the recording. After a\n"
            "crash, what was recorded before it can be read. Show a moment with\n"
            "--recording FILE --at TIME of status, ps, allocations, map, cores, programs,\n"
            "why, leaks, advise, history and events. With --from-start the exit code is that\n"
            "of the command; --seconds ends the recording, and the command goes on.\n\n"
            "Examples:\n"
            "  ttmem record -o run.ttmem --seconds 0.5\n"
            "  ttmem record -o run2.ttmem --from-start -- ttmem sim matmul-single-core\n"
            "  ttmem status --recording run.ttmem --at +0.2s");
}

}  // namespace ttmem::cli
