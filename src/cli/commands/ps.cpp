// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/commands/commands.hpp"
#include "cli/host_view.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

struct ProcessListOptions : HostOptions {
    std::string sort = "pid";
    std::vector<std::string> users;
};

// The kinds of memory, and what else a list of processes has.
std::vector<std::string> orders() {
    std::vector<std::string> names = {"pid", "age", "user", "command"};
    for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
        names.emplace_back(name_of(static_cast<census::Kind>(kind)));
    }
    return names;
}

void declare_process_list_options(CLI::App& command, ProcessListOptions& options) {
    declare_host_options(command, options);
    command.add_option("--sort", options.sort, "pid, dram, l1, cb, kernel, age, user or command")
        ->check(check_choice(orders()))
        ->type_name("ORDER");
    command.add_option("-u,--user", options.users, "Only processes of these users: names or numbers")
        ->delimiter(',')
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name("USER");
}

// On the device where it holds most.
uint64_t most_held(const census::ProcessFigures& process, census::Kind kind) {
    uint64_t most = 0;
    for (const census::DeviceHoldings& held : process.devices) {
        most = std::max(most, held.memory[census::index_of(kind)].used);
    }
    return most;
}

void sort_processes(std::vector<census::ProcessFigures>& processes, const std::string& order) {
    const auto kind = base::by_name<census::Kind>(order);
    std::stable_sort(processes.begin(), processes.end(), [&](const auto& a, const auto& b) {
        return kind                 ? most_held(a, *kind) > most_held(b, *kind)
               : order == "age"     ? a.start_time_ns < b.start_time_ns
               : order == "user"    ? a.user < b.user
               : order == "command" ? a.comm < b.comm
                                    : a.pid < b.pid;
    });
}

int show_processes(const ProcessListOptions& options) {
    auto reply = read_host(options, {.rss = true});
    if (reply) {
        auto& processes = reply->view.figures.processes;
        const bool has_processes = !processes.empty();
        std::erase_if(processes, [&](const census::ProcessFigures& process) {
            return !options.users.empty() &&
                   std::none_of(options.users.begin(), options.users.end(), [&](const std::string& user) {
                       return user == process.user || user == std::to_string(process.uid);
                   });
        });
        if (has_processes && processes.empty() && !options.json) {
            return print("No process of this user holds a device.\n");
        }
        sort_processes(processes, options.sort);
    }
    return show(reply, options, view::ps_text);
}

}  // namespace

void add_ps(CLI::App& app, Action& chosen) {
    add_command<ProcessListOptions>(app, chosen, "ps", "What each process holds, by device and kind",
                                    declare_process_list_options, show_processes)
        ->footer(
            "A process is untracked if it has a device open and reports nothing.\n"
            "'ttmem run -- COMMAND' tracks a command. Kinds of memory sort by the most that a\n"
            "process holds on one device. RSS is its host memory.\n\n"
            "Examples:\n  ttmem ps --bytes\n  ttmem ps --user alice --sort dram\n  ttmem ps --columns "
            "pid,dram,state,rss");
}

}  // namespace ttmem::cli
