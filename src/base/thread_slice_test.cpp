// SPDX-License-Identifier: Apache-2.0
#include "base/thread_slice.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace ttmem::base {
namespace {

// In a thread of its own, because there is no way back.
TEST(ThreadSlice, IsShorterForTheThreadThatAsksAndForNoThreadOfIt) {
    const auto of_kernel = slice_ns();
    if (!of_kernel) {
        GTEST_SKIP() << "this kernel has one slice for all threads";
    }
    std::thread([&] {
        ASSERT_TRUE(use_short_slice());
        EXPECT_LT(*slice_ns(), *of_kernel);
        std::thread([&] { EXPECT_EQ(slice_ns(), of_kernel); }).join();
    }).join();
    EXPECT_EQ(slice_ns(), of_kernel);
}

}  // namespace
}  // namespace ttmem::base
