// SPDX-License-Identifier: Apache-2.0

// The shared library as it is built: what it needs, what it shows, and that it stays once it is loaded.

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/child.hpp"
#include "tests/support/own_segment.hpp"
#include "ttmem/ttmem.h"

namespace {

using namespace ttmem;
using namespace ttmem::test;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kLibrary[] = TTMEM_LIB_DIR "/libttmem.so";
constexpr char kLibraryForShell[] = "'" TTMEM_LIB_DIR "/libttmem.so'";

std::vector<std::string> lines_of(const std::string& command) {
    std::vector<std::string> lines;
    FILE* pipe = popen(command.c_str(), "r");
    char buffer[4096];
    while (pipe != nullptr && fgets(buffer, sizeof buffer, pipe) != nullptr) {
        lines.emplace_back(buffer);
    }
    EXPECT_TRUE(pipe != nullptr && pclose(pipe) == 0) << command;
    return lines;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += line;
    }
    return text;
}

#if !defined(TTMEM_SANITIZED)
TEST(Library, NeedsLibcAndItsLoaderAndNothingElse) {
    std::vector<std::string> needed;
    for (const std::string& line : lines_of(std::string("readelf -dW ") + kLibraryForShell)) {
        if (line.find("(NEEDED)") != std::string::npos) {
            needed.push_back(line.substr(line.find('[') + 1, line.find(']') - line.find('[') - 1));
        }
    }
    EXPECT_THAT(needed, Contains("libc.so.6"));
    EXPECT_THAT(needed, Each(testing::AnyOf("libc.so.6", StartsWith("ld-linux"))));
}

TEST(Library, TakesNothingOfTheCxxRuntime) {
    for (const std::string& line : lines_of(std::string("nm -D --undefined-only ") + kLibraryForShell)) {
        EXPECT_THAT(line,
                    Not(AllOf(HasSubstr(" U "), testing::AnyOf(HasSubstr(" _Z"), HasSubstr("__cxa_throw"),
                                                               HasSubstr("__gxx"), HasSubstr("GLIBCXX")))));
    }
}
#endif

TEST(Library, StaysOnceItIsLoaded) {
    EXPECT_THAT(joined(lines_of(std::string("readelf -dW ") + kLibraryForShell)), HasSubstr("NODELETE"));
}

TEST(Library, ShowsItsApiAndNothingElse) {
    std::vector<std::string> names;
    for (const std::string& line : lines_of(std::string("nm -D --defined-only ") + kLibraryForShell)) {
        std::istringstream stream(line);
        std::string address;
        std::string type;
        std::string name;
        stream >> address >> type >> name;
        if (type != "A") {  // the name of the version itself
            names.push_back(name.substr(0, name.find('@')));
        }
    }
    EXPECT_THAT(names, Each(StartsWith("ttmem_")));
    for (const char* name : {"ttmem_allocate", "ttmem_free", "ttmem_maybe_enabled", "ttmem_decide_enabled",
                             "ttmem_report_allocation", "ttmem_program_gone"}) {
        EXPECT_THAT(names, Contains(name));
    }
    EXPECT_THAT(names, Not(Contains("ttmem_test_point")));
}

// Every function that the header declares is there: a program built against it will start.
TEST(Library, HasEveryFunctionOfItsHeader) {
    const std::vector<std::string> declared =
        lines_of("grep -oE '^[a-z_ ]+[ *](ttmem_[a-z_]+)\\(' '" TTMEM_SOURCE_DIR
                 "/include/ttmem/ttmem.h' | grep -v inline | "
                 "grep -oE 'ttmem_[a-z_]+\\(' | tr -d '('");
    EXPECT_GE(declared.size(), 20u);
    void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    for (std::string name : declared) {
        name.pop_back();
        EXPECT_NE(dlsym(library, name.c_str()), nullptr) << name;
    }
}

// The calls that the test makes, found in the library as a plug-in would.
struct Api {
    explicit Api(void* library)
        : register_device(find<decltype(register_device)>(library, "ttmem_register_device")),
          open_set(find<decltype(open_set)>(library, "ttmem_open_set")),
          allocate(find<decltype(allocate)>(library, "ttmem_allocate")),
          free(find<decltype(free)>(library, "ttmem_free")) {}

    decltype(&ttmem_register_device) register_device;
    decltype(&ttmem_open_set) open_set;
    decltype(&ttmem_allocate) allocate;
    decltype(&ttmem_free) free;

private:
    template <class Function>
    static Function find(void* library, const char* name) {
        return reinterpret_cast<Function>(dlsym(library, name));
    }
};

TRACKED_TEST(Library, ClosedAndOpenedAgainIsTheSameAndThreadsOfItEndInPeace) {
    void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const Api api(library);
    ttmem_device_info info{};
    const ttmem_device device = api.register_device(&info);
    const ttmem_set set = api.open_set(&device, 1, "plug-in");
    EXPECT_NE(set, 0u);
    ttmem_handle handle = 0;
    std::thread thread([&] {
        handle = api.allocate(set, TTMEM_DRAM, 1, 2, 3, 4);
        EXPECT_EQ(dlclose(library), 0);
    });  // and its end comes after the close
    thread.join();
    EXPECT_NE(handle, 0u);
    EXPECT_EQ(dlclose(dlopen(kLibrary, RTLD_NOW)), 0);

    void* again = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    EXPECT_EQ(reinterpret_cast<void*>(Api(again).free), reinterpret_cast<void*>(api.free));
    const segment::Reader reader = own_reader();
    const auto live = [&] {
        size_t count = 0;
        reader.for_each_live([&](segment::SlotRef, const segment::Allocation&) { return ++count != 0; });
        return count;
    };
    EXPECT_EQ(live(), 1u);
    Api(again).free(handle);
    EXPECT_EQ(live(), 0u);
    EXPECT_EQ(count_own_descriptors(), 1u);
}

TRACKED_TEST(Library, OpenedByAThreadThatEndsServesTheOthers) {
    ttmem_set set = 0;
    std::thread([&] {
        const Api api(dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL));
        ttmem_device_info info{};
        const ttmem_device device = api.register_device(&info);
        set = api.open_set(&device, 1, nullptr);
        api.free(api.allocate(set, TTMEM_DRAM, 1, 2, 3, 4));
    }).join();
    const Api api(dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL));
    EXPECT_NE(api.allocate(set, TTMEM_DRAM, 1, 2, 3, 4), 0u);
}

}  // namespace
