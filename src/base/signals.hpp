// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include <initializer_list>
#include <optional>

#include "base/descriptor.hpp"

namespace ttmem::base {

// Blocks signals for the calling thread and delivers them through a descriptor to poll. The destructor restores the mask.
class SignalDescriptor {
public:
    SignalDescriptor(std::initializer_list<int> signals);
    SignalDescriptor(const SignalDescriptor&) = delete;
    SignalDescriptor& operator=(const SignalDescriptor&) = delete;
    ~SignalDescriptor() { restore_mask(); }

    int get() const { return descriptor_.get(); }

    // Nothing if none is pending.
    std::optional<signalfd_siginfo> next() const;

    // For a child process before exec(): its program starts with the mask of before.
    void restore_mask() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
    Descriptor descriptor_;
};

}  // namespace ttmem::base
