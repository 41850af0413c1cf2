// SPDX-License-Identifier: Apache-2.0

// Programs from their first line to their last, with the static and with the shared library.

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/support/child.hpp"

namespace {

using namespace ttmem::test;

// What a program says on both streams, and its exit code.
std::string said_by(const std::string& program) {
    set_environment("TT_ALLOC_TRACKING_ENABLED", "1");
    set_environment("TTMEM_RUNTIME_DIR", "/nonexistent");
    FILE* pipe = popen((std::string(TTMEM_TEST_BIN_DIR) + "/" + program + " 2>&1").c_str(), "r");
    std::string text;
    char buffer[1024];
    while (pipe != nullptr && fgets(buffer, sizeof buffer, pipe) != nullptr) {
        text += buffer;
    }
    const int status = pipe == nullptr ? -1 : pclose(pipe);
    return text + "status " + std::to_string(status);
}

TEST(StaticDestruction, ReportsOfEveryMomentOfTheEndAreRecorded) {
    EXPECT_EQ(said_by("farewell_static"), "5 reports, all there\nstatus 0");
}

TEST(StaticDestruction, ReportsOfEveryMomentOfTheEndAreRecordedByTheSharedLibrary) {
    EXPECT_EQ(said_by("farewell_shared"), "5 reports, all there\nstatus 0");
}

}  // namespace
