// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <filesystem>
#include <vector>

#include "cli/command.hpp"
#include "view/text.hpp"

namespace ttmem::cli {
namespace {

int usage_error(const CLI::App& app, const std::string& problem) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    const std::string command = chosen.empty() ? "ttmem" : "ttmem " + chosen.front()->get_name();
    complain(problem + "\nusage: " + command + (chosen.empty() ? " [command]" : "") + " [options]; '" +
             command + " --help' lists them");
    return kUsageError;
}

// The programs of the earlier allocation server, by whose names this one is called too: what they took, in the words of this one.
std::vector<std::string> words_of(int argument_count, const char* const* arguments) {
    std::vector<std::string> words(arguments + std::min(argument_count, 1), arguments + argument_count);
    const std::string name =
        argument_count > 0 ? std::filesystem::path(arguments[0]).filename().string() : "";
    if (name == "allocation_monitor_client") {
        words.insert(words.begin(), "monitor");
    } else if (name == "tt_smi_umd") {
        // One picture, or the dashboard (-w, -r MS).
        const bool is_watch = std::find(words.begin(), words.end(), "-w") != words.end() ||
                              std::find(words.begin(), words.end(), "-r") != words.end();
        std::erase(words, "-w");
        words.insert(words.begin(), is_watch ? "top" : "status");
    }
    return words;
}

int run(std::vector<std::string> words) {
    CLI::App app("Who holds the device memory of this Tenstorrent host, since when, and why.", "ttmem");
    app.set_version_flag("--version", "ttmem " TTMEM_VERSION, "Print the version");
    app.require_subcommand(0, 1);
    app.get_formatter()->column_width(20);
    Common common;
    add_json_and_bytes(app, common);
    add_direct(app, common);
    Run chosen = [&common] { return show(access::status(common.way), common, view::status_text); };
    add_now(app, chosen);
    add_top(app, chosen);
    add_live(app, chosen);
    add_past(app, chosen);
    add_watch(app, chosen);
    add_run(app, chosen);
    add_doctor(app, chosen);
    add_runtime(app, chosen);
    app.footer(
        "Example:\n  TT_ALLOC_TRACKING_ENABLED=1 python3 model.py &\n  ttmem status\n\n"
        "'ttmem COMMAND --help' tells more about a command.");
    try {
        std::reverse(words.begin(), words.end());  // CLI11 takes them from the end
        app.parse(std::move(words));
    } catch (const CLI::CallForHelp&) {
        // CLI11 looks for --help before it notices a command that does not exist.
        const std::vector<std::string> unknown = app.remaining(true);
        return unknown.empty() ? print(app.help())
                               : usage_error(app, "there is no command or option '" + unknown.front() + "'");
    } catch (const CLI::CallForVersion& version) {
        return print(std::string(version.what()) + "\n");
    } catch (const CLI::ParseError& problem) {
        return usage_error(app, problem.what());
    }
    return chosen();
}

}  // namespace
}  // namespace ttmem::cli

int main(int argument_count, char** arguments) {
    signal(SIGPIPE, SIG_IGN);  // a closed pipe is then an error of write(), and print() knows it
    return ttmem::cli::run(ttmem::cli::words_of(argument_count, arguments));
}
