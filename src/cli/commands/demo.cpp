// SPDX-License-Identifier: Apache-2.0

// A transformer on a simulated T3000. On a terminal it shows the dashboard with a private daemon; elsewhere it prints one table of
// the busiest step.

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/commands/commands.hpp"
#include "cli/demo_host.hpp"
#include "cli/page_access.hpp"
#include "tui/app.hpp"
#include "view/text/screens.hpp"

namespace ttmem::cli {

namespace {

constexpr char kBusiestStep[] = "decode 1";
constexpr int kStepMs = 1000;

int cannot_start(const char* what) {
    return fail(std::string("can't start ") + what + ": " + strerror(errno));
}

int show_live() {
    const auto daemon = PrivateDaemon::start();
    if (!daemon) {
        return cannot_start("a private daemon (ttmemd, in the folder of this program)");
    }
    auto workload = Workload::start();
    const auto stepper = Child::start([&] {
        while (workload && workload->step()) {
            poll(nullptr, 0, kStepMs);
            workload->go_on();
        }
        return 0;
    });
    if (!workload || !stepper) {
        return cannot_start("the simulated runtime");
    }
    tui::DashboardOptions options;
    if (const auto page = ask_for_page_access(); page && page->is_built && !page->address.empty()) {
        options.page = page->url();
    }
    const auto code = tui::run(options);
    return code ? *code : fail(code.error());
}

int run_demo(const CommonOptions& options) {
    if (isatty(STDOUT_FILENO) != 0 && isatty(STDIN_FILENO) != 0) {
        return show_live();
    }
    auto workload = Workload::start();
    if (!workload) {
        return cannot_start("the simulated runtime");
    }
    while (const auto step = workload->step()) {
        if (*step == kBusiestStep) {
            const auto reply = access::ask<view::Status>({}, access::ReadMode::direct);
            return reply ? print(view::status_text(reply->view, style_of_output(options.bytes)))
                         : fail(reply.error());
        }
        workload->go_on();
    }
    return fail("the simulated runtime ended before its busiest step");
}

}  // namespace

void add_demo(CLI::App& app, Action& chosen) {
    add_command<CommonOptions>(
        app, chosen, "demo", "A simulated T3000 at work; needs no accelerator",
        [](CLI::App& command, CommonOptions& options) {
            command.add_flag("--bytes", options.bytes, "Print plain bytes instead of KiB, MiB, GiB");
        },
        run_demo)
        ->footer(
            "On a terminal it shows the dashboard ('ttmem top') with a private daemon until\n"
            "you press q; elsewhere it prints one table.\n\nExample:\n  ttmem demo");
}

}  // namespace ttmem::cli
