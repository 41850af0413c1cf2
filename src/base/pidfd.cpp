// SPDX-License-Identifier: Apache-2.0
#include "base/pidfd.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace ttmem::base {

Descriptor open_process(pid_t pid) { return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

bool has_ended(const Descriptor& process) {
    pollfd state{process.get(), POLLIN, 0};
    return poll(&state, 1, 0) == 1 && (state.revents & POLLIN) != 0;
}

namespace {

// struct pidfd_info of linux/pidfd.h, which is newer than the headers of many hosts. The kernel fills in as much as it is asked for.
struct PidfdInfo {
    uint64_t mask;
    uint64_t cgroup;
    uint32_t ids[11];
    int32_t exit_code;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr uint64_t kInfoExit = 1 << 3;  // PIDFD_INFO_EXIT
constexpr unsigned long kGetInfo = _IOWR(0xff, 11, PidfdInfo);

}  // namespace

std::optional<int> exit_status(const Descriptor& process) {
    PidfdInfo info{};
    info.mask = kInfoExit;
    const bool is_told = ioctl(process.get(), kGetInfo, &info) == 0 && (info.mask & kInfoExit) != 0;
    return is_told ? std::optional<int>(info.exit_code) : std::nullopt;
}

}  // namespace ttmem::base
