// SPDX-License-Identifier: Apache-2.0
#include "cli/build_places.hpp"
#include "cli/commands/commands.hpp"

namespace ttmem::cli {

namespace {

struct ObserverOptions {
    std::string action;
    PlacesSettings settings;
};

int build(const ObserverOptions& options) {
    const auto path = build_places(options.settings);
    if (!path) {
        return fail(path.error());
    }
    return print("Made " + *path +
                 (options.settings.folder ? ".\n" : ". 'ttmem run' uses it from now on.\n") +
                 "'ttmem doctor LIBRARY' shows whether the observer fits with it.\n");
}

}  // namespace

void add_observer(CLI::App& app, Action& chosen) {
    add_command<ObserverOptions>(
        app, chosen, "observer", "Fit the observer to a tt-metal by its headers",
        [](CLI::App& command, ObserverOptions& options) {
            command.add_option("action", options.action, "build")
                ->type_name("")
                ->required()
                ->check(check_choice({"build"}));
            command
                .add_option("headers", options.settings.headers, "Where tt-metal is installed, or its source")
                ->type_name("FOLDER")
                ->required();
            command
                .add_option("-o,--output", options.settings.folder, "Write to this folder, not to your own")
                ->type_name("FOLDER");
            command
                .add_option("-I,--include", options.settings.includes, "More headers, such as those of fmt")
                ->type_name("FOLDER")
                ->expected(1)
                ->allow_extra_args(false)
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        },
        build)
        ->footer(
            "Only for a tt-metal whose parts are elsewhere than in all releases, as 'ttmem\n"
            "doctor' says. Compiles a small program with its headers (CXX names the compiler)\n"
            "and keeps the places that it prints in ~/.local/share/ttmem/observer. For all\n"
            "users write to the folder ttmem-observer beside libttmem_observer.so.\n\n"
            "Examples:\n"
            "  ttmem observer build $TT_METAL_HOME\n"
            "  ttmem observer build /opt/tt-metalium -o /usr/lib/ttmem-observer");
}

}  // namespace ttmem::cli
