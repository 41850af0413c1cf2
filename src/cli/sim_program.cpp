// SPDX-License-Identifier: Apache-2.0
#include "cli/sim_program.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/output.hpp"

namespace ttmem::cli {

int run_sim_program(const std::vector<std::string>& arguments) {
    std::error_code problem;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", problem);
    const std::string program = self.parent_path() / "ttmem-sim";
    std::string name = "ttmem sim";
    std::vector<std::string> copy = arguments;
    std::vector<char*> argv = {name.data()};
    for (std::string& argument : copy) {
        argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    signal(SIGPIPE, SIG_DFL);
    execv(program.c_str(), argv.data());
    print_error("can't start the simulated runtime " + program + ": " + strerror(errno) +
                (errno == ENOENT ? " (build and install it together with ttmem)" : ""));
    return 1;
}

}  // namespace ttmem::cli
