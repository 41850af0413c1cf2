// SPDX-License-Identifier: Apache-2.0
#include "sources/driver/tree_test_support.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace ttmem::sources::driver {

namespace fs = std::filesystem;

namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

std::string id_text(uint64_t value) {
    std::array<char, 32> text{};
    const int length =
        std::snprintf(text.data(), text.size(), "%016llX", static_cast<unsigned long long>(value));
    return {text.data(), static_cast<size_t>(length)};
}

std::string bdf(uint32_t id) {
    std::array<char, 32> text{};
    const int length = std::snprintf(text.data(), text.size(), "0000:%02x:00.0", id + 1);
    return {text.data(), static_cast<size_t>(length)};
}

void write_values(const fs::path& folder, const Values& values) {
    for (const auto& [name, value] : values) {
        write_file(folder / name, value + "\n");
    }
}

struct Make {
    Tree tree;
    fs::path folder;

    // The files that both architectures have. Ids are unique within a host.
    void add_device(uint32_t id, const std::string& card, uint64_t serial, uint32_t numa_node) const {
        const std::string number = std::to_string(id);
        fs::create_directories(tree.pci(id));
        write_values(tree.pci(id), {{"vendor", "0x1e52"},
                                    {"numa_node", std::to_string(numa_node)},
                                    {"current_link_width", "16"},
                                    {"max_link_width", "16"}});
        write_values(tree.attributes(id), {{"tt_card_type", card},
                                           {"tt_serial", id_text(serial)},
                                           {"tt_asic_id", id_text(0xa51c'0000'0000'0001 + id)},
                                           {"tt_heartbeat", "1000"},
                                           {"tt_axiclk", "900"},
                                           {"tt_arcclk", "540"}});
        fs::create_directory_symlink("../../../" + bdf(id), tree.attributes(id) / "device");
        fs::create_directories(tree.sensors(id));
        fs::create_directory_symlink("../../../" + bdf(id), tree.sensors(id) / "device");

        const fs::path all = folder / "sys/class";
        fs::create_directories(all / "tenstorrent");
        fs::create_directories(all / "hwmon");
        const fs::path place = fs::path("../../devices/pci0000:00") / bdf(id);
        fs::create_directory_symlink(place / "tenstorrent" / ("tenstorrent!" + number),
                                     all / "tenstorrent" / ("tenstorrent!" + number));
        fs::create_directory_symlink(place / "hwmon" / ("hwmon" + number),
                                     all / "hwmon" / ("hwmon" + number));

        write_file(tree.pids(id), "");
        write_file(tree.node(id), "");
    }

    void add_wormhole(uint32_t id, const std::string& card, uint64_t serial, uint32_t numa_node = 0) const {
        add_device(id, card, serial, numa_node);
        write_values(tree.pci(id), {{"device", "0x401e"},
                                    {"current_link_speed", "16.0 GT/s PCIe"},
                                    {"max_link_speed", "16.0 GT/s PCIe"}});
        write_values(tree.attributes(id), {{"tt_aiclk", "1000"}, {"tt_fw_bundle_ver", "18.10.0.0"}});
        write_values(tree.sensors(id), {{"name", "wormhole"},
                                        {"temp1_input", "48312"},
                                        {"temp1_max", "75000"},
                                        {"in0_input", "720"},
                                        {"in0_max", "950"},
                                        {"curr1_input", "23000"},
                                        {"curr1_max", "160000"},
                                        {"power1_input", "17000000"},
                                        {"power1_max", "85000000"}});
    }

    void add_blackhole(uint32_t id, const std::string& card, uint64_t serial) const {
        add_device(id, card, serial, 1);
        write_values(tree.pci(id), {{"device", "0xb140"},
                                    {"current_link_speed", "16.0 GT/s PCIe"},
                                    {"max_link_speed", "32.0 GT/s PCIe"}});
        write_values(tree.attributes(id),
                     {{"tt_aiclk", "1350"}, {"tt_fw_bundle_ver", "18.12.1"}, {"tt_therm_trip_count", "0"}});
        write_values(tree.sensors(id), {{"name", "blackhole"},
                                        {"temp1_input", "51250"},
                                        {"temp1_max", "90000"},
                                        {"in0_input", "845"},
                                        {"in0_max", "900"},
                                        {"curr1_input", "61000"},
                                        {"curr1_max", "300000"},
                                        {"power1_input", "52000000"},
                                        {"power1_max", "300000000"},
                                        {"fan1_input", "1830"}});
    }
};

}  // namespace

TemporaryFolder::TemporaryFolder() {
    std::string name = fs::temp_directory_path() / "ttmem-driver-XXXXXX";
    path = mkdtemp(name.data()) != nullptr ? name : "";
    if (path.empty()) {
        std::abort();  // later files would be created in the current folder
    }
}

TemporaryFolder::~TemporaryFolder() { fs::remove_all(path); }

OpenWatch::OpenWatch(const fs::path& file) : events_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    if (inotify_add_watch(events_.get(), file.c_str(), IN_OPEN) < 0) {
        std::abort();  // the watch would never detect anything
    }
}

bool OpenWatch::was_opened() {
    alignas(inotify_event) std::array<char, 4096> buffer{};
    return ::read(events_.get(), buffer.data(), buffer.size()) > 0;
}

void write_file(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

fs::path Tree::pci(uint32_t id) const { return folder_ / "sys/devices/pci0000:00" / bdf(id); }

fs::path Tree::attributes(uint32_t id) const {
    return pci(id) / "tenstorrent" / ("tenstorrent!" + std::to_string(id));
}

fs::path Tree::sensors(uint32_t id) const { return pci(id) / "hwmon" / ("hwmon" + std::to_string(id)); }

fs::path Tree::pids(uint32_t id) const {
    return folder_ / "proc/driver/tenstorrent" / std::to_string(id) / "pids";
}

fs::path Tree::node(uint32_t id) const { return folder_ / "dev/tenstorrent" / std::to_string(id); }

void Tree::add_process(uint32_t pid, const std::string& comm, const std::vector<std::string>& links) const {
    const std::string number = std::to_string(pid);
    const fs::path place = folder_ / "proc" / number;
    write_file(place / "stat",
               number + " (" + comm + ") S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 250 20 21\n");
    write_file(place / "status", "Name:\t" + comm + "\nUid:\t0\t0\t0\t0\nNSpid:\t" + number + "\t7\n");
    write_file(place / "comm", comm + "\n");
    write_file(place / "cgroup", "0::/user.slice\n");
    fs::create_directories(place / "fd");
    for (size_t i = 0; i < links.size(); ++i) {
        fs::create_symlink(links[i], place / "fd" / std::to_string(i));
    }
}

Tree make_tree(const fs::path& folder, Board board) {
    const Make make{Tree(folder), folder};
    write_file(folder / "proc/stat", "btime 1700000000\n");
    switch (board) {
        case Board::n150:
            make.add_wormhole(0, "n150", 0x0100'0188'1170'3001);
            break;
        case Board::n300:
            make.add_wormhole(0, "n300", 0x0100'0145'1170'2001);
            break;
        case Board::t3000:
            for (uint32_t id = 0; id < 4; ++id) {
                make.add_wormhole(id, "n300", 0x0100'0145'1170'2001 + id, id / 2);
            }
            break;
        case Board::p150:
            make.add_blackhole(0, "p150a", 0x0000'0401'3410'9001);
            break;
        case Board::galaxy:
            for (uint32_t id = 0; id < 32; ++id) {
                make.add_wormhole(id, "galaxy-wormhole", 0x0100'0351'0000'0001 + id, id / 16);
            }
            break;
    }
    return make.tree;
}

}  // namespace ttmem::sources::driver
