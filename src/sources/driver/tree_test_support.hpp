// SPDX-License-Identifier: Apache-2.0
#pragma once

// File trees as the driver shows them for the existing boards: sys/, proc/ and dev/ below a folder.
//
//   sys/devices/pci0000:00/0000:01:00.0/            vendor, device, numa_node, current_link_speed, ...
//   sys/devices/pci0000:00/0000:01:00.0/hwmon/hwmon0/              name, temp1_input, ...
//   sys/devices/pci0000:00/0000:01:00.0/tenstorrent/tenstorrent!0/ tt_aiclk, ..., device -> the PCI device
//   sys/class/tenstorrent/tenstorrent!0, sys/class/hwmon/hwmon0    links to those
//   proc/driver/tenstorrent/0/pids
//   dev/tenstorrent/0                                              a plain file

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "sources/driver/driver.hpp"

namespace ttmem::sources::driver {

enum class Board : uint8_t {
    n150,
    n300,   // two chips, one of them on the bus
    t3000,  // four n300 cards
    p150,
    galaxy,  // 32 chips, all on the bus
};

class Tree {
public:
    explicit Tree(std::filesystem::path folder) : folder_(std::move(folder)) {}

    Roots roots() const { return {folder_ / "sys", folder_ / "proc", folder_ / "dev"}; }

    // The folders that hold the files of device `id`.
    std::filesystem::path attributes(uint32_t id) const;
    std::filesystem::path pci(uint32_t id) const;
    std::filesystem::path sensors(uint32_t id) const;
    std::filesystem::path pids(uint32_t id) const;
    std::filesystem::path node(uint32_t id) const;

    // Adds a process whose descriptors link to `links`.
    void add_process(uint32_t pid, const std::string& comm, const std::vector<std::string>& links = {}) const;

private:
    std::filesystem::path folder_;
};

Tree make_tree(const std::filesystem::path& folder, Board board);

struct TemporaryFolder {
    TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder();

    std::filesystem::path path;
};

// Detects that a file is opened.
class OpenWatch {
public:
    explicit OpenWatch(const std::filesystem::path& file);

    bool was_opened();  // since the last call

private:
    base::Descriptor events_;
};

void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace ttmem::sources::driver
