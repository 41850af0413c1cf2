// SPDX-License-Identifier: Apache-2.0

#include "access/run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>

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
    bool fail_on_failure = false;
    bool require_tracked = false;
    bool allow_untracked = false;
    bool bytes = false;
    bool names = false;
    std::vector<std::string> max_peaks;
    std::optional<std::string> min_headroom;
    std::optional<std::string> baseline;
    std::string tolerance = "0%";
    std::optional<std::string> report;
    std::optional<std::string> junit;
    std::optional<std::string> markdown;
    std::vector<std::string> command;
};

std::optional<view::PeakLimit> parse_limit(const std::string& text) {
    const size_t equals = text.find('=');
    const auto kind = base::by_name<census::Kind>(text.substr(0, equals));
    const auto bytes =
        equals == std::string::npos ? std::nullopt : parse_size(std::string_view(text).substr(equals + 1));
    if (!kind || *kind == census::Kind::system_memory || !bytes) {
        return std::nullopt;
    }
    return view::PeakLimit{*kind, *bytes};
}

std::string check_limit(const std::string& text) {
    return parse_limit(text) ? ""
                             : "'" + text +
                                   "': must be KIND=SIZE, such as dram=8GiB; KIND is dram, l1, l1_small, "
                                   "trace, cb or kernel";
}

std::string check_size(const std::string& text) {
    return parse_size(text) ? "" : "'" + text + "': must be a size, such as 64KiB";
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

// "2%" or "2".
std::optional<double> parse_tolerance(const std::string& text) {
    char* end = nullptr;
    const double percent = strtod(text.c_str(), &end);
    const bool is_whole = end != text.c_str() && (*end == '\0' || strcmp(end, "%") == 0);
    return is_whole && percent >= 0 && percent <= 1000 ? std::optional(percent / 100) : std::nullopt;
}

std::string check_tolerance(const std::string& text) {
    return parse_tolerance(text) ? "" : "'" + text + "': must be a part in percent, such as 2%";
}

base::Expected<view::RunView> read_baseline(const std::string& path) {
    std::ifstream file(path);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    auto view =
        file ? view::from_json<view::RunView>(text) : base::error(base::Error::Code::failed, strerror(errno));
    if (!view || view->command.empty()) {
        return base::error(base::Error::Code::failed,
                           "can't read the baseline " + path + ": " +
                               (view ? "it is not a report of 'ttmem run --report'" : view.error().text));
    }
    return view;
}

// A file that is opened before the command runs, so that a wrong path is found at once.
struct ReportFile {
    std::string path;
    base::Descriptor file;
    std::string (*text)(const view::RunView& view);
};

// The exit code of a failed command takes precedence over the checks of its memory.
int exit_code_of(const view::RunView& view) {
    if (view.exit_code.value_or(0) != 0) {
        return *view.exit_code;
    }
    int code = 0;
    for (const view::GateResult& gate : view.gates) {
        if (!gate.passed) {
            print_error("--" + gate.name + ": " + gate.text);
            code = kAssertionFailed;
        }
    }
    return code;
}

base::Expected<std::vector<ReportFile>> open_reports(const RunOptions& options) {
    std::vector<ReportFile> files;
    const auto add = [&](const std::optional<std::string>& path, std::string (*text)(const view::RunView&)) {
        if (path) {
            files.push_back(
                {*path, base::Descriptor(open(path->c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)),
                 text});
        }
        return !path || files.back().file;
    };
    if (add(options.report, view::to_json<view::RunView>) && add(options.junit, view::run_junit) &&
        add(options.markdown, view::run_markdown)) {
        return files;
    }
    return base::error(base::Error::Code::failed,
                       "can't write the report " + files.back().path + ": " + strerror(errno));
}

int run_command(const RunOptions& options) {
    access::RunSettings settings{.command = options.command,
                                 .observer = find_observer(),
                                 .names = options.names,
                                 .limits = {},
                                 .headroom = options.min_headroom || options.report || options.baseline};
    if (!settings.observer) {
        print_error(
            "the observer library is not installed: only a tt-metal that reports to ttmem itself is tracked");
    }
    for (const std::string& limit : options.max_peaks) {
        settings.limits.push_back(*parse_limit(limit));
    }
    view::RunGates gates{
        .fail_on_leak = options.fail_on_leak,
        .fail_on_failure = options.fail_on_failure,
        .require_tracked = options.require_tracked,
        .allow_untracked = options.allow_untracked,
        .max_peaks = settings.limits,
        .min_headroom = options.min_headroom ? parse_size(*options.min_headroom) : std::nullopt,
        .baseline = {},
        .tolerance = *parse_tolerance(options.tolerance)};
    if (options.baseline) {
        auto baseline = read_baseline(*options.baseline);
        if (!baseline) {
            return fail(baseline.error());
        }
        gates.baseline = std::move(*baseline);
    }
    const auto reports = open_reports(options);
    if (!reports) {
        return fail(reports.error());
    }
    auto end = access::run(settings);
    if (!end) {
        return fail(end.error());
    }
    if (end->start_error != 0) {
        return not_started(settings.command.front(), end->start_error);
    }
    end->view.gates = view::check_gates(end->view, gates);
    std::string text = render_ansi(view::run_text(end->view, style_of(STDERR_FILENO, options.bytes)),
                                   wants_colour(STDERR_FILENO));
    text.pop_back();  // print_error() adds the last newline
    print_error(text);
    for (const ReportFile& report : *reports) {
        if (!write_report(report.file, report.text(end->view))) {
            return fail("can't write the report " + report.path + ": " + strerror(errno));
        }
    }
    if (end->view.signal) {
        end_by(*end->view.signal);
    }
    return exit_code_of(end->view);
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
    add_command<RunOptions>(
        app, chosen, "run", "Run a command and report the memory it used",
        [](CLI::App& command, RunOptions& options) {
            command.add_flag("--fail-on-leak", options.fail_on_leak,
                             "Exit with 97 if buffers are left at the end");
            command.add_flag("--fail-on-failure", options.fail_on_failure,
                             "Exit with 97 if an allocation failed or CBs clashed");
            auto* require = command.add_flag("--require-tracked", options.require_tracked,
                                             "Exit with 97 if no process was tracked; any check does that");
            command
                .add_flag("--allow-untracked", options.allow_untracked,
                          "Pass the checks if no process was tracked")
                ->excludes(require);
            command
                .add_option("--max-peak", options.max_peaks, "Exit with 97 if a device used more: dram=8GiB")
                ->type_name("KIND=SIZE")
                ->expected(1)
                ->allow_extra_args(false)
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                ->check(check_limit);
            command
                .add_option("--min-headroom", options.min_headroom,
                            "Exit with 97 if an L1 core had less room for CBs: 64KiB")
                ->type_name("SIZE")
                ->check(check_size);
            command.add_flag("--names", options.names,
                             "Let tt-metal name what it keeps in caches and traces");
            auto* baseline = command
                                 .add_option("--baseline", options.baseline,
                                             "Exit with 97 if a peak is above that of an earlier report")
                                 ->type_name("FILE");
            command.add_option("--tolerance", options.tolerance, "How far above the baseline a peak may be")
                ->type_name("PERCENT")
                ->capture_default_str()
                ->check(check_tolerance)
                ->needs(baseline);
            command.add_option("--report", options.report, "Write the report as JSON")->type_name("FILE");
            command.add_option("--junit", options.junit, "Write the checks as JUnit XML")->type_name("FILE");
            command.add_option("--markdown", options.markdown, "Write peaks and checks as Markdown")
                ->type_name("FILE");
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
            "  ttmem run --fail-on-leak --max-peak dram=8GiB -- pytest tests/\n"
            "  ttmem run --report good.json -- python3 model.py\n"
            "  ttmem run --baseline good.json --tolerance 2% -- python3 model.py");
}

}  // namespace ttmem::cli
