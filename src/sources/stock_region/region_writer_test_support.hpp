// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes regions as stock tt-metal does, including its failures.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "sources/stock_region/layout.hpp"

namespace ttmem::sources::stock_region {

class RegionWriter {
public:
    explicit RegionWriter(uint64_t asic_id, uint32_t version = layout::kVersion3) {
        raw.version = version;
        raw.asic_id = asic_id;
        raw.init_state = version == layout::kVersion4 ? layout::kReady : 0;
        for (layout::Chip& chip : raw.chips) {
            chip.id = layout::kUnusedChip;
        }
    }

    layout::SlotLayout& add(int32_t pid, uint64_t last_update_ns, layout::SlotFigures figures = {},
                            std::string_view name = "python3") {
        layout::SlotLayout& slot = raw.slots[raw.active_processes];
        ++raw.active_processes;
        ++raw.references;
        slot.pid = pid;
        slot.figures = figures;
        slot.last_update_ns = last_update_ns;
        std::memcpy(slot.name, name.data(), std::min(name.size(), sizeof slot.name));
        return slot;
    }

    std::vector<unsigned char> bytes() const {
        std::vector<unsigned char> result(sizeof raw);
        std::memcpy(result.data(), &raw, sizeof raw);
        return result;
    }

    layout::RegionLayout raw{};
};

// A simulated folder of regions and a simulated /proc.
class MadeUpHost : public testing::Test {
protected:
    static constexpr uint64_t kSecond = 1'000'000'000;
    static constexpr uint64_t kBoot = 1000;  // seconds since the epoch

    void SetUp() override {
        char folder[] = "/tmp/ttmem-stock-XXXXXX";
        ASSERT_NE(mkdtemp(folder), nullptr);
        root_ = folder;
        ASSERT_EQ(chmod(folder, 0755), 0);
        std::filesystem::create_directories(shm());
        write_text("stat", "cpu 1 2\nbtime " + std::to_string(kBoot) + "\n");
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    std::string shm() const { return root_ / "shm"; }
    std::string proc() const { return root_ / "proc"; }
    std::filesystem::path region_path(uint64_t asic_id) const {
        return root_ / "shm" / ("tt_device_" + std::to_string(asic_id) + "_memory");
    }

    void write_text(const std::string& path, const std::string& text) const {
        const auto whole = root_ / "proc" / path;
        std::filesystem::create_directories(whole.parent_path());
        std::ofstream(whole) << text;
    }

    struct Someone {
        uint64_t start_seconds = 10;  // after boot
        std::string state = "S";
        uint32_t threads = 1;
        uint32_t uid = geteuid();  // as the owner of the regions that a test writes
        uint32_t inner_pid = 0;    // 0: the same as the pid
        uint32_t flags = 0;
    };

    void write_process(uint32_t pid, const Someone& who) const {
        const std::string folder = std::to_string(pid) + "/";
        const std::string uid = std::to_string(who.uid);
        const std::string inner_pid = std::to_string(who.inner_pid == 0 ? pid : who.inner_pid);
        const auto ticks = who.start_seconds * static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
        write_text(folder + "stat", std::to_string(pid) + " (py) Z 1) " + who.state + " 1 1 1 0 -1 " +
                                        std::to_string(who.flags) + " 10 11 12 13 14 15 16 17 18 19 " +
                                        std::to_string(who.threads) + " 0 " + std::to_string(ticks) +
                                        " 23 24\n");
        write_text(folder + "status", "Name:\tpy\nUid:\t" + uid + "\t" + uid + "\t" + uid + "\t" + uid +
                                          "\nNSpid:\t" + std::to_string(pid) + "\t" + inner_pid + "\n");
        write_text(folder + "comm", "py\n");
    }
    void write_process(uint32_t pid) const { write_process(pid, Someone{}); }

    static void write_bytes(const std::filesystem::path& path, const std::vector<unsigned char>& bytes) {
        std::ofstream file(path, std::ios::binary);
        file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        ASSERT_TRUE(file.flush()) << path;
        ASSERT_EQ(chmod(path.c_str(), 0600), 0);
    }
    void write_region(const RegionWriter& writer) const {
        write_bytes(region_path(writer.raw.asic_id), writer.bytes());
    }

    // Converts seconds after boot to the time format of a slot.
    static uint64_t at(uint64_t seconds) { return (kBoot + seconds) * kSecond; }

    std::filesystem::path root_;
};

}  // namespace ttmem::sources::stock_region
