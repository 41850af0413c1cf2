// SPDX-License-Identifier: Apache-2.0
#include "base/thread_slice.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace ttmem::base {

namespace {

// struct sched_attr of linux/sched/types.h, which cannot be included beside <sched.h>. The first version of it suffices.
struct SchedulerAttributes {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns;
    uint64_t deadline_ns;
    uint64_t period_ns;
};
static_assert(sizeof(SchedulerAttributes) == 48);

constexpr uint64_t kResetOnFork = 1;         // SCHED_FLAG_RESET_ON_FORK: new threads have the kernel's slice
constexpr uint64_t kShortSliceNs = 100'000;  // the shortest that the kernel takes

bool read_attributes(SchedulerAttributes& attributes) {
    return syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0;
}

}  // namespace

bool use_short_slice() {
    SchedulerAttributes attributes{};
    if (!read_attributes(attributes)) {
        return false;
    }
    attributes.flags |= kResetOnFork;
    attributes.runtime_ns = kShortSliceNs;
    return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0 && slice_ns() == kShortSliceNs;
}

std::optional<uint64_t> slice_ns() {
    SchedulerAttributes attributes{};
    const bool is_read = read_attributes(attributes);
    return is_read && attributes.runtime_ns != 0 ? std::optional(attributes.runtime_ns) : std::nullopt;
}

}  // namespace ttmem::base
