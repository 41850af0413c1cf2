// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include "access/access.hpp"
#include "cli/demo.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/sim.hpp"
#include "view/json.hpp"
#include "view/text.hpp"

namespace ttmem::cli {
namespace {

// Prints a view, as JSON or by `as_text`, and the notices that came with it.
template <class View>
int show(const base::Expected<access::Answer<View>>& answer, const Options& options,
         std::string (*as_text)(const View&, const view::Style&)) {
    if (!answer) {
        complain(answer.error().text);
        return 1;
    }
    for (const std::string& notice : answer->notices) {
        complain(notice);
    }
    return print(options.json ? view::to_json(answer->view)
                              : as_text(answer->view, style_of_output(options.bytes)));
}

int run(const Options& options) {
    switch (options.command) {
        case Command::status:
            return show(access::status(options.way), options, view::status_text);
        case Command::ps:
            return show(access::status(options.way), options, view::ps_text);
        case Command::allocations:
            return options.query.group
                       ? show(access::groups(options.query, options.way), options, view::groups_text)
                       : show(access::allocations(options.query, options.way), options,
                              view::allocations_text);
        case Command::post_mortem:
            return options.query.pid ? show(access::post_mortem(*options.query.pid, options.query.limit),
                                            options, view::post_mortem_text)
                                     : show(access::post_mortems(), options, view::post_mortems_text);
        case Command::demo:
            return run_demo(options.bytes);
        case Command::sim:
            return run_sim(options.sim_arguments);
    }
    return 1;
}

}  // namespace
}  // namespace ttmem::cli

int main(int argument_count, char** arguments) {
    signal(SIGPIPE, SIG_IGN);  // a closed pipe is then an error of write(), and print() knows it
    const ttmem::cli::Parsed parsed = ttmem::cli::parse(argument_count, arguments);
    return parsed.options ? ttmem::cli::run(*parsed.options) : parsed.exit_code;
}
