// SPDX-License-Identifier: Apache-2.0
#include "cli/mark.hpp"

#include <fstream>

#include "base/atomic_file.hpp"
#include "base/environment.hpp"
#include "base/time.hpp"

namespace ttmem::cli {

using base::Error;

namespace {

std::string boot_id() {
    std::string id;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
    return id;
}

}  // namespace

base::Expected<std::string> mark_path() {
    const char* state = base::environment("XDG_STATE_HOME");
    const char* home = base::environment("HOME");
    if (state == nullptr && home == nullptr) {
        return base::error(Error::Code::failed, "can't store a mark: neither XDG_STATE_HOME nor HOME is set");
    }
    return (state != nullptr ? std::string(state) : std::string(home) + "/.local/state") + "/ttmem/mark";
}

base::Expected<uint64_t> set_mark() {
    const auto path = mark_path();
    if (!path) {
        return tl::unexpected(path.error());
    }
    const uint64_t moment = base::monotonic_ns();
    if (!base::write_file_atomically(*path, boot_id() + " " + std::to_string(moment) + "\n")) {
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
    if (boot != boot_id() || mark.monotonic_ns > base::monotonic_ns()) {
        return base::error(Error::Code::gone,
                           "the mark is from before the last boot (set a new one with 'ttmem mark')");
    }
    mark.age_ns = base::monotonic_ns() - mark.monotonic_ns;
    return mark;
}

}  // namespace ttmem::cli
