// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "cli/completion_scripts.hpp"

namespace ttmem::cli {

namespace {

struct CompletionOptions {
    std::string shell;
};

int print_script(const CompletionOptions& options) {
    return print(options.shell == "bash"  ? bash_completion()
                 : options.shell == "zsh" ? zsh_completion()
                                          : fish_completion());
}

}  // namespace

void add_completion(CLI::App& app, Action& chosen) {
    add_command<CompletionOptions>(
        app, chosen, "completion", "Print the completion script of a shell",
        [](CLI::App& command, CompletionOptions& options) {
            command.add_option("shell", options.shell, "bash, zsh or fish")
                ->required()
                ->check(check_choice({"bash", "zsh", "fish"}))
                ->type_name("SHELL");
        },
        print_script)
        ->footer(
            "Bash and zsh read the script with 'source', fish from ~/.config/fish/completions.\n\n"
            "Examples:\n"
            "  ttmem completion bash > ttmem.bash\n"
            "  ttmem completion fish > ttmem.fish");
}

}  // namespace ttmem::cli
