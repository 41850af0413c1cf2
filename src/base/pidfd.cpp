// SPDX-License-Identifier: Apache-2.0
#include "base/pidfd.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ttmem::base {

Descriptor open_process(pid_t pid) { return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

bool has_ended(const Descriptor& process) {
    pollfd state{process.get(), POLLIN, 0};
    return poll(&state, 1, 0) == 1 && (state.revents & POLLIN) != 0;
}

}  // namespace ttmem::base
