// SPDX-License-Identifier: Apache-2.0
#include "base/signals.hpp"

namespace ttmem::base {

SignalDescriptor::SignalDescriptor(std::initializer_list<int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : signals) {
        sigaddset(&set, number);
    }
    pthread_sigmask(SIG_BLOCK, &set, &before_);
    descriptor_ = Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::optional<signalfd_siginfo> SignalDescriptor::next() const {
    signalfd_siginfo info{};
    return read(descriptor_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)
               ? std::optional(info)
               : std::nullopt;
}

}  // namespace ttmem::base
