// SPDX-License-Identifier: Apache-2.0
#include "base/signals.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

namespace ttmem::base {
namespace {

TEST(SignalDescriptor, DeliversASignalAndRestoresTheMask) {
    {
        const SignalDescriptor signals{SIGUSR1};
        EXPECT_FALSE(signals.next());
        kill(getpid(), SIGUSR1);
        const auto info = signals.next();
        ASSERT_TRUE(info);
        EXPECT_EQ(info->ssi_signo, static_cast<uint32_t>(SIGUSR1));
        EXPECT_FALSE(signals.next());
    }
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    EXPECT_EQ(sigismember(&mask, SIGUSR1), 0);
}

}  // namespace
}  // namespace ttmem::base
