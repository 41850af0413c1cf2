// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/commands/commands.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {
namespace {

int usage_error(const CLI::App& app, const std::string& problem, int code = kUsageError) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    const std::string command = chosen.empty() ? "ttmem" : "ttmem " + chosen.front()->get_name();
    print_error(problem + "\nusage: " + command + (chosen.empty() ? " [command]" : "") + " [options]; '" +
                command + " --help' lists them");
    return code;
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) {
        names.push_back(command->get_name());
    }
    return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    return names;
}

// Names the first option that the command does not have, or else the first argument. CLI11 lists all of them together.
int reject_unknown_argument(const CLI::App& app) {
    const std::vector<std::string> extras = app.remaining(true);
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    const auto option = std::find_if(extras.begin(), extras.end(),
                                     [](const std::string& word) { return word.starts_with("-"); });
    if (option != extras.end()) {
        const std::string name = option->substr(0, option->find('='));
        return usage_error(app, "unknown option " + *option +
                                    suggestion(name, option_names(chosen.empty() ? app : *chosen.front())));
    }
    const std::string first = extras.empty() ? "" : extras.front();
    return chosen.empty()
               ? usage_error(app, "unknown command '" + first + "'" + suggestion(first, command_names(app)),
                             kUnknownCommand)
               : usage_error(app, "unexpected argument '" + first + "'");
}

// An option before the command, which would have no effect. --color has one.
std::optional<std::string> misplaced_option(const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
        if (!app.get_subcommands().empty() && option->count() != 0 && !option->check_lname("color")) {
            return option->get_name();
        }
    }
    return std::nullopt;
}

bool is_typed(const std::string& name, const std::string& word) {
    const bool is_short = !name.starts_with("--");  // its value may follow at once: -n3
    return word == name || word.starts_with(name + "=") || (is_short && word.starts_with(name));
}

// The name of an option as it stands on the command line, or else its first name.
std::string typed_name(const CLI::Option& option, const std::vector<std::string>& words) {
    std::vector<std::string> names;
    for (const std::string& name : option.get_lnames()) {
        names.push_back("--" + name);
    }
    for (const std::string& name : option.get_snames()) {
        names.push_back("-" + name);
    }
    for (const std::string& word : words) {
        const auto name =
            std::find_if(names.begin(), names.end(), [&](const auto& one) { return is_typed(one, word); });
        if (name != names.end()) {
            return *name;
        }
    }
    return option.get_name();
}

// CLI11 calls each option by its first name. Replaces it by the name that the user typed.
std::string with_typed_names(const CLI::App& app, std::string problem,
                             const std::vector<std::string>& words) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    for (const CLI::Option* option : (chosen.empty() ? app : *chosen.front()).get_options()) {
        const std::string first = option->get_name();
        const std::string typed = typed_name(*option, words);
        const size_t place = problem.find(first);
        const size_t end = place + first.size();
        const bool is_whole =
            place != std::string::npos &&
            (end == problem.size() || (problem[end] != '-' && std::isalnum(problem[end]) == 0));
        if (is_whole) {
            problem.replace(place, first.size(), typed);
        }
    }
    return problem;
}

bool erase_words(std::vector<std::string>& words, std::initializer_list<std::string_view> options) {
    return std::erase_if(words, [&](const std::string& word) {
               return std::find(options.begin(), options.end(), word) != options.end();
           }) != 0;
}

// tt_smi_umd: the dashboard on a terminal; one print in a pipe, with -s, or with options of 'status'. Nothing here opens a
// device, which is what its option --sysfs is for.
void translate_smi(std::vector<std::string>& words) {
    const auto has = [&](const std::string& option) {
        return std::any_of(words.begin(), words.end(),
                           [&](const std::string& word) { return is_typed(option, word); });
    };
    const bool is_terminal = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
    const bool is_once =
        erase_words(words, {"-s", "--snapshot"}) || !is_terminal || has("--json") || has("--bytes");
    erase_words(words, {"-w", "--watch", "--sysfs"});
    for (const std::string option : {"-r", "--refresh"}) {
        const auto place = std::find(words.begin(), words.end(), option);
        if (is_once && place != words.end()) {
            words.erase(place, place + std::min<std::ptrdiff_t>(2, words.end() - place));
        }
    }
    words.insert(words.begin(), is_once ? "status" : "top");
}

// This program also has the names of the earlier allocation server's programs. Translates their command lines, and
// 'help COMMAND'.
std::vector<std::string> translate_arguments(int argument_count, const char* const* arguments) {
    std::vector<std::string> words(arguments + std::min(argument_count, 1), arguments + argument_count);
    const std::string name =
        argument_count > 0 ? std::filesystem::path(arguments[0]).filename().string() : "";
    if (name == "allocation_monitor_client") {
        words.insert(words.begin(), "monitor");
    } else if (name == "tt_smi_umd") {
        translate_smi(words);
    } else if (!words.empty() && words.front() == "help") {
        words.erase(words.begin());
        words.emplace_back("--help");
    }
    return words;
}

int run(const std::vector<std::string>& words) {
    CLI::App app("What holds the device memory of this Tenstorrent host, since when, and why.", "ttmem");
    app.set_version_flag("-V,--version", "ttmem " TTMEM_VERSION, "Print the version");
    app.require_subcommand(0, 1);
    app.get_formatter()->column_width(20);
    CommonOptions common;
    add_list_options(app, common);
    add_direct(app, common);
    add_columns(app, common);
    Action chosen = [&common] {
        return watch(common, [&common] {
            return show(access::ask<view::Status>({}, common.mode), common, view::status_text);
        });
    };
    for (const auto add :
         {add_status,  add_ps,          add_programs, add_map,         add_fit,     add_cores,
          add_top,     add_allocations, add_mark,     add_diff,        add_growth,  add_leaks,
          add_peak,    add_why,         add_advise,   add_post_mortem, add_history, add_events,
          add_monitor, add_query,       add_self,     add_web,         add_run,     add_record,
          add_export,  add_doctor,      add_observer, add_completion,  add_demo,    add_sim}) {
        add(app, chosen);
    }
    app.footer(
        "Example:\n  ttmem run -- python3 model.py &\n  ttmem status\n\n"
        "'ttmem help COMMAND' describes a command.");
    try {
        // CLI11 expects the last word first.
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::CallForHelp&) {
        // CLI11 handles --help before unknown commands.
        return app.remaining(true).empty() ? print(app.help()) : reject_unknown_argument(app);
    } catch (const CLI::CallForVersion& version) {
        return print(std::string(version.what()) + "\n");
    } catch (const CLI::ExtrasError&) {
        return reject_unknown_argument(app);
    } catch (const CLI::ParseError& problem) {
        return usage_error(app, with_typed_names(app, problem.what(), words));
    }
    if (const auto option = misplaced_option(app)) {
        return usage_error(app, *option + " must follow the command");
    }
    return chosen();
}

}  // namespace
}  // namespace ttmem::cli

int main(int argument_count, char** arguments) {
    signal(SIGPIPE, SIG_IGN);  // write() then reports a closed pipe, which print() handles
    return ttmem::cli::run(ttmem::cli::translate_arguments(argument_count, arguments));
}
