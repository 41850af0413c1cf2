// SPDX-License-Identifier: Apache-2.0
#include "cli/mark.hpp"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace ttmem::cli {

using base::Error;

namespace {

std::string boot_id() {
    std::string id;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
    return id;
}

uint64_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

base::Expected<std::string> mark_path() {
    const std::string state = variable("XDG_STATE_HOME");
    const std::string home = variable("HOME");
    if (state.empty() && home.empty()) {
        return base::error(Error::Code::failed,
                           "a mark needs a place: neither XDG_STATE_HOME nor HOME is set");
    }
    return (state.empty() ? home + "/.local/state" : state) + "/ttmem/mark";
}

base::Expected<uint64_t> set_mark() {
    const auto path = mark_path();
    if (!path) {
        return tl::unexpected(path.error());
    }
    std::error_code problem;
    std::filesystem::create_directories(std::filesystem::path(*path).parent_path(), problem);
    // Whole or not at all: a mark that is read meanwhile is the one before.
    const std::string beside = *path + ".new";
    std::ofstream file(beside);
    const uint64_t moment = now();
    file << boot_id() << ' ' << moment << '\n';
    file.close();
    if (file) {
        std::filesystem::rename(beside, *path, problem);
    }
    if (!file || problem) {
        return base::error(Error::Code::failed, "can't write the mark " + *path);
    }
    return moment;
}

base::Expected<Mark> read_mark() {
    const auto path = mark_path();
    if (!path) {
        return tl::unexpected(path.error());
    }
    std::ifstream file(*path);
    std::string boot;
    Mark mark;
    if (!(file >> boot >> mark.monotonic_ns)) {
        return base::error(Error::Code::gone, "there is no mark yet (set one with 'ttmem mark')");
    }
    if (boot != boot_id() || mark.monotonic_ns > now()) {
        return base::error(Error::Code::gone,
                           "the mark is from before the last boot (set a new one with 'ttmem mark')");
    }
    mark.age_ns = now() - mark.monotonic_ns;
    return mark;
}

}  // namespace ttmem::cli
