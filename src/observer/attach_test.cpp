// SPDX-License-Identifier: Apache-2.0
//
// An observer accepts only a runtime that it understands. It detects missing or moved parts before it reads anything
// through them.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "observer/device_slots.hpp"
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

TEST_F(Attaching, UnderstandsTheSimulatedRuntimeWithoutItsHeaders) {
    EXPECT_EQ(look_up(LyingRuntime::runtime(), metal_), nullptr);
    EXPECT_TRUE(metal_.places.device.has_value());
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

// A vtable of twelve functions, with the six that are needed at given places.
class Searching : public ::testing::Test {
protected:
    static constexpr std::array kNames = {"4arch",
                                          "2id",
                                          "16l1_size_per_core",
                                          "30compute_with_storage_grid_size",
                                          "9allocator",
                                          "34lowest_occupied_compute_l1_address"};
    static std::string symbol(size_t function) {
        return std::string("_ZNK2tt8tt_metal11distributed10MeshDevice") + kNames[function] + "Ev";
    }

    void place(const std::array<size_t, 6>& places) {
        for (size_t i = 0; i < table_.size(); ++i) {
            table_[i] = &code_[i];
        }
        for (size_t function = 0; function < places.size(); ++function) {
            LyingRuntime::lies()[symbol(function)] = &code_[places[function]];
        }
    }
    const char* search() {
        return find_device_slots(LyingRuntime::runtime(), {table_.data(), table_.size()}, slots_);
    }

    std::array<char, 12> code_{};
    std::array<void*, 12> table_{};
    std::optional<DeviceSlots> slots_;
};

TEST_F(Searching, FindsFunctionsWhereverTheyAre) {
    place({1, 2, 4, 7, 9, 11});
    ASSERT_EQ(search(), nullptr);
    EXPECT_EQ(slots_->arch, 1u);
    EXPECT_EQ(slots_->allocator, 9u);
    EXPECT_EQ(slots_->lowest_l1_address, 11u);
}

TEST_F(Searching, UsesTheOrderWhereEqualFunctionsWereFoldedIntoOne) {
    place({1, 2, 4, 7, 9, 11});
    table_[3] = table_[1];  // arch() at two places, of which the second is behind id()
    ASSERT_EQ(search(), nullptr);
    EXPECT_EQ(slots_->arch, 1u);
    EXPECT_EQ(slots_->id, 2u);
}

TEST_F(Searching, RefusesAFunctionWithTwoPossiblePlaces) {
    place({1, 2, 4, 7, 9, 11});
    table_[3] = table_[2];
    EXPECT_EQ(std::string(search()), symbol(1));
    EXPECT_FALSE(slots_);
}

TEST_F(Searching, RefusesAFunctionWithoutAPlaceOrInAnotherOrder) {
    place({1, 2, 4, 7, 9, 11});
    table_[4] = nullptr;
    EXPECT_EQ(std::string(search()), symbol(2));
    place({2, 1, 4, 7, 9, 11});
    EXPECT_NE(search(), nullptr);
}

TEST_F(Searching, ChecksPlacesThatHeadersGave) {
    place({1, 2, 4, 7, 9, 11});
    ASSERT_EQ(search(), nullptr);
    ASSERT_EQ(search(), nullptr);  // now given
    slots_->compute_grid = 8;
    EXPECT_EQ(std::string(search()), symbol(3));
    slots_->compute_grid = 12;  // beyond the table
    EXPECT_EQ(std::string(search()), symbol(3));
}

// A buffer of another version: its fields are elsewhere, and the values here may not be addresses.
TEST_F(Attaching, RefusesABufferThatIsLaidOutOtherwiseAndReadsNothingThatIsNotThere) {
    ASSERT_EQ(look_up(LyingRuntime::runtime(), metal_), nullptr);
    metal_.buffer_page_size = [](const metal::Buffer*) -> uint64_t { return 2048; };
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
        std::array<std::uintptr_t, 64> memory{};
        memory.fill(word);
        EXPECT_NE(difference_in(metal_, reinterpret_cast<const metal::Buffer*>(memory.data())), nullptr)
            << word;
    }
    munmap(not_there, 4096);
}

// A device of the right class, and one field after another that differs from what the runtime reports.
TEST_F(Attaching, SaysWhichFieldOfABufferDiffers) {
    ASSERT_EQ(look_up(LyingRuntime::runtime(), metal_), nullptr);
    metal_.buffer_page_size = [](const metal::Buffer*) -> uint64_t { return 2048; };
    metal_.buffer_num_pages = [](const metal::Buffer*) -> uint32_t { return 4; };
    metal_.buffer_is_l1 = [](const metal::Buffer*) { return true; };
    const void* device[] = {metal_.chip_vtable};
    std::array<std::uintptr_t, 12> memory{};
    memory[2] = reinterpret_cast<std::uintptr_t>(&device);
    memory[3] = 8192;
    memory[4] = 1;
    const auto difference = [&] {
        const char* text = difference_in(metal_, reinterpret_cast<const metal::Buffer*>(memory.data()));
        return std::string(text != nullptr ? text : "nothing");
    };
    EXPECT_EQ(difference(), "nothing");
    memory[4] = 0;
    EXPECT_NE(difference().find("kind"), std::string::npos) << difference();
    memory[4] = 1;
    memory[3] = 4096;
    EXPECT_NE(difference().find("size"), std::string::npos) << difference();
    device[0] = &memory;
    EXPECT_NE(difference().find("device"), std::string::npos) << difference();
}

}  // namespace
}  // namespace ttmem::observer
