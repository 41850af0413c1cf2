// SPDX-License-Identifier: Apache-2.0

// A command, tracked from its start to its end.

#include "access/run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "base/descriptor.hpp"
#include "cli/command.hpp"
#include "cli/observer.hpp"
#include "view/run.hpp"

namespace ttmem::cli {

namespace {

constexpr int kAssertionFailed = 97;
constexpr int kCannotBeRun = 126;
constexpr int kNotFound = 127;

struct RunOptions {
    bool fail_on_leak = false;
    bool bytes = false;
    std::vector<std::string> max_peaks;
    std::optional<std::string> report;
    std::vector<std::string> command;
};

// "8GiB", "512M", "4096"; a thousand is 1024 everywhere.
std::optional<uint64_t> parse_size(std::string_view text) {
    uint64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc()) {
        return std::nullopt;
    }
    const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
    constexpr std::string_view kUnits[] = {"", "K", "M", "G", "T"};
    for (unsigned power = 0; power < std::size(kUnits); ++power) {
        const std::string letter(kUnits[power]);
        const bool is_this =
            unit == letter || (power == 0 ? unit == "B" : unit == letter + "iB" || unit == letter + "B");
        if (is_this) {
            const uint64_t factor = uint64_t{1} << (10 * power);
            return number > UINT64_MAX / factor ? std::nullopt : std::optional(number * factor);
        }
    }
    return std::nullopt;
}

std::optional<access::PeakLimit> parse_limit(const std::string& text) {
    const size_t equals = text.find('=');
    const auto kind = census::kind_by_name(text.substr(0, equals));
    const auto bytes =
        equals == std::string::npos ? std::nullopt : parse_size(std::string_view(text).substr(equals + 1));
    if (!kind || *kind == census::Kind::system_memory || !bytes) {
        return std::nullopt;
    }
    return access::PeakLimit{*kind, *bytes};
}

std::string check_limit(const std::string& text) {
    return parse_limit(text)
               ? ""
               : "'" + text +
                     "' is no limit: it is kind=SIZE, as in dram=8GiB, with one of dram, l1, l1_small, "
                     "trace, cb, kernel";
}

bool write_report(const base::Descriptor& file, const std::string& text) {
    size_t written = 0;
    while (written < text.size()) {
        const ssize_t more = write(file.get(), text.data() + written, text.size() - written);
        if (more < 0 && errno != EINTR) {
            return false;
        }
        written += static_cast<size_t>(more < 0 ? 0 : more);
    }
    return true;
}

// Ends as the command did, so that whoever waits for this sees what he would have seen. There is one dump of memory already.
[[noreturn]] void end_by(int number) {
    const rlimit no_dump{0, 0};
    setrlimit(RLIMIT_CORE, &no_dump);
    signal(number, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    sigprocmask(SIG_UNBLOCK, &only, nullptr);
    raise(number);
    _exit(128 + number);
}

int not_started(const std::string& command, int error) {
    complain("can't start '" + command + "': " + strerror(error));
    return error == ENOENT ? kNotFound : kCannotBeRun;
}

// The command's own word counts first: who failed by himself is not asked about memory.
int exit_code_of(const view::RunView& view, const RunOptions& options) {
    if (view.exit_code.value_or(0) != 0) {
        return *view.exit_code;
    }
    const bool is_leak = options.fail_on_leak && view.has_leak();
    if (is_leak) {
        complain("memory was left allocated at the end, which --fail-on-leak does not allow");
    }
    return is_leak || !view.exceeded.empty() ? kAssertionFailed : 0;
}

int run_command(const RunOptions& options) {
    access::RunSettings settings{.command = options.command, .observer = find_observer(), .limits = {}};
    if (!settings.observer) {
        complain(
            "the observer is not installed beside this program: only a tt-metal that reports by itself is "
            "tracked");
    }
    for (const std::string& limit : options.max_peaks) {
        settings.limits.push_back(*parse_limit(limit));
    }
    base::Descriptor report;
    if (options.report) {
        report =
            base::Descriptor(open(options.report->c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
        if (!report) {
            complain("can't write the report " + *options.report + ": " + strerror(errno));
            return 1;
        }
    }
    const auto end = access::run(settings);
    if (!end) {
        complain(end.error().text);
        return 1;
    }
    if (end->start_error != 0) {
        return not_started(settings.command.front(), end->start_error);
    }
    std::string text = view::run_text(end->view, style_of(STDERR_FILENO, options.bytes));
    text.pop_back();  // the end of its last line
    complain(text);
    if (report && !write_report(report, view::to_json(end->view))) {
        complain("can't write the report " + *options.report + ": " + strerror(errno));
        return 1;
    }
    if (end->view.signal) {
        end_by(*end->view.signal);
    }
    return exit_code_of(end->view, options);
}

}  // namespace

void add_run(CLI::App& app, Run& chosen) {
    add_command<RunOptions>(
        app, chosen, "run", "Run a command, and tell what memory it had",
        [](CLI::App& command, RunOptions& options) {
            command.add_flag("--fail-on-leak", options.fail_on_leak,
                             "Exit with 97 where buffers are left at the end");
            command
                .add_option("--max-peak", options.max_peaks,
                            "Exit with 97 where a device had more: dram=8GiB")
                ->type_name("KIND=SIZE")
                ->expected(1)
                ->allow_extra_args(false)
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                ->check(check_limit);
            command.add_option("--report", options.report, "Write what there is to tell as JSON")
                ->type_name("FILE");
            command.add_flag("--bytes", options.bytes, "Print plain bytes instead of KiB, MiB, GiB");
            command.add_option("command", options.command, "The command, with options of its own")
                ->type_name("...")
                ->required();
            command.positionals_at_end();  // what follows it is the command's
        },
        run_command)
        ->footer(
            "Works with an unmodified tt-metal, in C++ and in Python, and without a daemon.\n"
            "Signals go to the command, and its exit code comes back; 97 is this program's\n"
            "own, 127 a command that is not there, 126 one that can't be run. What there is\n"
            "to tell goes to standard error.\n\n"
            "Examples:\n"
            "  ttmem run -- python3 model.py\n"
            "  ttmem run --fail-on-leak --max-peak dram=8GiB -- pytest tests/");
}

}  // namespace ttmem::cli
