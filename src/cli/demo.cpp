// SPDX-License-Identifier: Apache-2.0
#include "cli/demo.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "access/access.hpp"
#include "cli/demo_host.hpp"
#include "cli/output.hpp"
#include "tui/app.hpp"
#include "view/text.hpp"

namespace ttmem::cli {

namespace {

constexpr char kBusiestStep[] = "decode 1";
constexpr int kStepMs = 1000;

int cant_start(const char* what) {
    complain(std::string("can't start ") + what + ": " + strerror(errno));
    return 1;
}

// The dashboard on a host of its own, where one step follows the other.
int show_live() {
    const auto daemon = PrivateDaemon::start();
    if (!daemon) {
        return cant_start("a daemon of its own (ttmemd, beside this program)");
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
        return cant_start("the simulated runtime");
    }
    const auto code = tui::run({});
    if (!code) {
        complain(code.error().text);
        return 1;
    }
    return *code;
}

}  // namespace

int run_demo(bool bytes) {
    if (isatty(STDOUT_FILENO) != 0 && isatty(STDIN_FILENO) != 0) {
        return show_live();
    }
    auto workload = Workload::start();
    if (!workload) {
        return cant_start("the simulated runtime");
    }
    while (const auto step = workload->step()) {
        if (*step == kBusiestStep) {
            const auto answer = access::status(access::Way::direct);
            if (!answer) {
                complain(answer.error().text);
                return 1;
            }
            return print(view::status_text(answer->view, style_of_output(bytes)));
        }
        workload->go_on();
    }
    complain("the simulated runtime ended before it was busy");
    return 1;
}

}  // namespace ttmem::cli
