// SPDX-License-Identifier: Apache-2.0

#include "access/run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptor.hpp"
#include "cli/commands/commands.hpp"
#include "cli/observer.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

constexpr int kAssertionFailed = 97;
constexpr int kCannotBeRun = 126;
constexpr int kNotFound = 127;

struct RunOptions {
    bool fail_on_leak = false;
    bool allow_untracked = false;
    bool bytes = false;
    bool names = false;
    std::vector<std::string> max_peaks;
    std::optional<std::string> report;
    std::vector<std::string> command;
};

std::optional<access::PeakLimit> parse_limit(const std::string& text) {
    const size_t equals = text.find('=');
    const auto kind = base::by_name<census::Kind>(text.substr(0, equals));
    const auto bytes =
        equals == std::string::npos ? std::nullopt : parse_size(std::string_view(text).substr(equals + 1));
    if (!kind || *kind == census::Kind::system_memory || !bytes) {
        return std::nullopt;
    }
    return access::PeakLimit{*kind, *bytes};
}

std::string check_limit(const std::string& text) {
    return parse_limit(text) ? ""
                             : "'" + text +
                                   "': must be KIND=SIZE, such as dram=8GiB; KIND is dram, l1, l1_small, "
                                   "trace, cb or kernel";
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

// Ends by the signal that ended the command, so that the parent sees the same status. The command has dumped core already.
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
    print_error("can't start '" + command + "': " + strerror(error));
    return error == ENOENT ? kNotFound : kCannotBeRun;
}

// The exit code of a failed command takes precedence over the checks of its memory.
int exit_code_of(const view::RunView& view, const RunOptions& options) {
    if (view.exit_code.value_or(0) != 0) {
        return *view.exit_code;
    }
    const bool has_check = options.fail_on_leak || !options.max_peaks.empty();
    if (has_check && !view.is_tracked() && !options.allow_untracked) {
        print_error(
            "nothing was tracked, so --max-peak and --fail-on-leak can't be checked (--allow-untracked "
            "accepts that)");
        return kAssertionFailed;
    }
    const bool is_leak = options.fail_on_leak && view.has_leak();
    if (is_leak) {
        print_error("memory was still allocated at the end (--fail-on-leak)");
    }
    if (!view.undecided.empty()) {
        print_error("a peak may have exceeded its limit, which counts as a failure (--max-peak)");
    }
    return is_leak || !view.exceeded.empty() || !view.undecided.empty() ? kAssertionFailed : 0;
}

int run_command(const RunOptions& options) {
    access::RunSettings settings{
        .command = options.command, .observer = find_observer(), .names = options.names, .limits = {}};
    if (!settings.observer) {
        print_error(
            "the observer library is not installed: only a tt-metal that reports to ttmem itself is tracked");
    }
    for (const std::string& limit : options.max_peaks) {
        settings.limits.push_back(*parse_limit(limit));
    }
    base::Descriptor report;
    if (options.report) {
        report =
            base::Descriptor(open(options.report->c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
        if (!report) {
            return fail("can't write the report " + *options.report + ": " + strerror(errno));
        }
    }
    const auto end = access::run(settings);
    if (!end) {
        return fail(end.error().text);
    }
    if (end->start_error != 0) {
        return not_started(settings.command.front(), end->start_error);
    }
    std::string text = render_ansi(view::run_text(end->view, style_of(STDERR_FILENO, options.bytes)),
                                   wants_colour(STDERR_FILENO));
    text.pop_back();  // print_error() adds the last newline
    print_error(text);
    if (report && !write_report(report, view::to_json(end->view))) {
        return fail("can't write the report " + *options.report + ": " + strerror(errno));
    }
    if (end->view.signal) {
        end_by(*end->view.signal);
    }
    return exit_code_of(end->view, options);
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
    add_command<RunOptions>(
        app, chosen, "run", "Run a command and report the memory it used",
        [](CLI::App& command, RunOptions& options) {
            command.add_flag("--fail-on-leak", options.fail_on_leak,
                             "Exit with 97 if buffers are left at the end");
            command.add_flag("--allow-untracked", options.allow_untracked,
                             "Pass the checks if no process was tracked");
            command
                .add_option("--max-peak", options.max_peaks, "Exit with 97 if a device used more: dram=8GiB")
                ->type_name("KIND=SIZE")
                ->expected(1)
                ->allow_extra_args(false)
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                ->check(check_limit);
            command.add_flag("--names", options.names,
                             "Let tt-metal name what it keeps in caches and traces");
            command.add_option("--report", options.report, "Write the report as JSON")->type_name("FILE");
            command.add_flag("--bytes", options.bytes, "Print plain bytes instead of KiB, MiB, GiB");
            command.add_option("command", options.command, "The command and its options")
                ->type_name("...")
                ->required();
            command.positionals_at_end();  // what follows belongs to the command
        },
        run_command)
        ->footer(
            "Works with an unmodified tt-metal, in C++ and in Python, and without a daemon.\n"
            "Signals are passed on to the command. The exit code is that of the command, or\n"
            "97 if a check failed or can't be decided, 127 if the command was not found, 126\n"
            "if it could not be run. The report goes to standard error. 1GB is 10^9 bytes,\n"
            "1GiB is 2^30.\n\n"
            "Examples:\n"
            "  ttmem run -- python3 model.py\n"
            "  ttmem run --fail-on-leak --max-peak dram=8GiB -- pytest tests/");
}

}  // namespace ttmem::cli
