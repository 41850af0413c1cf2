// SPDX-License-Identifier: Apache-2.0
//
// An observer accepts only the runtime that it was compiled for. It detects missing or moved parts before it reads
// anything through them.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "observer/metal.hpp"

namespace ttmem::observer {
namespace {

// The simulated runtime, with some symbols replaced.
class LyingRuntime {
public:
    static std::map<std::string, void*>& lies() {
        static std::map<std::string, void*> symbols;
        return symbols;
    }
    static void* library() {
        static void* const loaded = dlopen(TTMEM_LIB_DIR "/libttmem_sim_metal.so", RTLD_NOW | RTLD_LOCAL);
        return loaded;
    }
    static void* find(const char* symbol) {
        const auto lie = lies().find(symbol);
        return lie != lies().end() ? lie->second : dlsym(library(), symbol);
    }
    static Runtime runtime() { return {find, {}}; }
};

class Attaching : public ::testing::Test {
protected:
    void SetUp() override {
        LyingRuntime::lies().clear();
        ASSERT_NE(LyingRuntime::library(), nullptr) << dlerror();
    }
    Metal metal_;
};

TEST_F(Attaching, TakesTheRuntimeItWasCompiledFor) {
    EXPECT_EQ(look_up(LyingRuntime::runtime(), metal_), nullptr);
    EXPECT_FALSE(metal_.processor_vtable.empty());
}

TEST_F(Attaching, NamesTheSymbolThatIsMissing) {
    for (const char* symbol : {"_ZNK2tt8tt_metal6Buffer7addressEv",
                               "_ZNK2tt8tt_metal9Allocator14get_statisticsERKNS0_10BufferTypeE"}) {
        LyingRuntime::lies() = {{symbol, nullptr}};
        const char* problem = look_up(LyingRuntime::runtime(), metal_);
        ASSERT_NE(problem, nullptr);
        EXPECT_EQ(std::string(problem), std::string("it has no ") + symbol);
    }
}

TEST_F(Attaching, RefusesDevicesWithOtherVirtualFunctions) {
    constexpr char kMesh[] = "_ZTVN2tt8tt_metal11distributed10MeshDeviceE";
    for (void* vtable : {LyingRuntime::find("_ZTVN2tt8tt_metal6DeviceE"), static_cast<void*>(nullptr)}) {
        LyingRuntime::lies() = {{kMesh, vtable}};
        const char* problem = look_up(LyingRuntime::runtime(), metal_);
        ASSERT_NE(problem, nullptr);
        EXPECT_NE(std::string(problem).find("devices"), std::string::npos) << problem;
    }
}

TEST_F(Attaching, GoesWithoutNamesWhereProcessorsAreOthers) {
    LyingRuntime::lies() = {
        {"_ZTVN2tt8tt_metal15IGraphProcessorE", LyingRuntime::find("_ZTVN2tt8tt_metal6DeviceE")}};
    EXPECT_EQ(look_up(LyingRuntime::runtime(), metal_), nullptr);
    EXPECT_TRUE(metal_.processor_vtable.empty());
}

// A buffer of another version: its fields are elsewhere, and the values here may not be addresses.
TEST_F(Attaching, RefusesABufferThatIsLaidOutOtherwiseAndReadsNothingThatIsNotThere) {
    ASSERT_EQ(look_up(LyingRuntime::runtime(), metal_), nullptr);
    metal_.buffer_page_size = [](const metal::Buffer*) -> metal::DeviceAddr { return 2048; };
    metal_.buffer_num_pages = [](const metal::Buffer*) -> uint32_t { return 4; };
    metal_.buffer_is_l1 = [](const metal::Buffer*) { return false; };
    void* not_there = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const std::uintptr_t words[] = {0,
                                    8,
                                    4096,
                                    UINTPTR_MAX,
                                    reinterpret_cast<std::uintptr_t>(not_there),
                                    reinterpret_cast<std::uintptr_t>(&words)};
    for (const std::uintptr_t word : words) {
        alignas(metal::Buffer) unsigned char memory[sizeof(metal::Buffer)];
        for (size_t at = 0; at + sizeof word <= sizeof memory; at += sizeof word) {
            memcpy(memory + at, &word, sizeof word);
        }
        EXPECT_FALSE(is_laid_out_as_expected(metal_, reinterpret_cast<const metal::Buffer*>(memory))) << word;
    }
    munmap(not_there, 4096);
}

}  // namespace
}  // namespace ttmem::observer
