// SPDX-License-Identifier: Apache-2.0

// Whole programs from start to exit, with the static and with the shared library.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "tests/support/child.hpp"

namespace {

using namespace ttmem::test;

// The output of a program on both streams, and its exit code.
std::string said_by(const std::string& program) {
    set_environment("TT_ALLOC_TRACKING_ENABLED", "1");
    set_environment("TTMEM_RUNTIME_DIR", "/nonexistent");
    FILE* pipe = popen(("'" TTMEM_TEST_BIN_DIR "/" + program + "' 2>&1").c_str(), "r");
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

[[maybe_unused]] bool is_mapped(const std::string& name) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find(name) != std::string::npos) {
            return true;
        }
    }
    return false;
}

// The thread ends after the code of the client was unmapped, so nothing may call into it.
TRACKED_TEST(Plugin, WithAStaticCopyOfTheClientCanBeUnloadedWhileItsThreadsLive) {
    void* plugin = dlopen(TTMEM_TEST_BIN_DIR "/proofs_plugin.so", RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(plugin, nullptr) << dlerror();
    using Report = uint64_t (*)();
    const auto report = reinterpret_cast<Report>(dlsym(plugin, "plugin_report"));
    ASSERT_NE(report, nullptr);
    std::thread([&] {
        EXPECT_NE(report(), 0u);
        dlclose(plugin);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers keep it mapped
        EXPECT_FALSE(is_mapped("proofs_plugin")) << "it was not unloaded, so nothing was shown";
#endif
    }).join();
}

}  // namespace
