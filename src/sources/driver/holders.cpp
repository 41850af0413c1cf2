// SPDX-License-Identifier: Apache-2.0
#include "sources/driver/holders.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "sources/driver/files.hpp"

namespace ttmem::sources::driver {

namespace {

constexpr size_t kMostOfAList = size_t{4} << 20;  // room for half a million descriptors

// Maps each process to the devices that it has open.
using DevicesByProcess = std::map<uint32_t, std::set<uint32_t>>;

// The number that the driver writes for a process outside this pid namespace.
constexpr uint32_t kOutside = 0;

// Returns false if the driver does not list the holders of the device.
bool add_from_driver(uint32_t device, const Folder& driver, DevicesByProcess& open) {
    const auto list = driver.read(std::to_string(device) + "/pids", kMostOfAList);
    std::string_view rest = list ? std::string_view(*list) : std::string_view();
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        if (const auto pid = parse_number<uint32_t>(line)) {
            open[*pid].insert(device);
        }
    }
    return list.has_value();
}

void add_from_descriptors(const std::set<uint32_t>& devices, const Proc& proc, const std::string& dev_root,
                          DevicesByProcess& open) {
    const std::string prefix = dev_root + "/tenstorrent/";
    for (const uint32_t pid : proc.pids()) {
        const auto folder = proc.open(pid);
        for (const uint32_t number : folder ? folder->numbers_in("fd") : std::vector<uint32_t>()) {
            const auto link = folder->read_link("fd/" + std::to_string(number));
            if (!link || !link->starts_with(prefix)) {
                continue;
            }
            const auto device = parse_number<uint32_t>(std::string_view(*link).substr(prefix.size()));
            if (device && devices.contains(*device)) {
                open[pid].insert(*device);
            }
        }
    }
}

}  // namespace

void find_holders(census::Driver& driver, const Proc& proc, const std::string& proc_root,
                  const std::string& dev_root) {
    DevicesByProcess open;
    std::set<uint32_t> unlisted;
    const auto lists = Folder::open(proc_root + "/driver/tenstorrent");
    for (const census::DriverDevice& device : driver.devices) {
        if (!lists || !add_from_driver(device.id, *lists, open)) {
            unlisted.insert(device.id);
        }
    }
    driver.lists_holders = unlisted.empty();
    if (!unlisted.empty()) {
        add_from_descriptors(unlisted, proc, dev_root, open);
    }
    for (const auto& [pid, held] : open) {
        const auto folder = pid == kOutside ? std::nullopt : proc.open(pid);
        auto identity = folder ? proc.identify(pid, *folder) : std::nullopt;
        if (identity) {
            driver.holders.push_back({std::move(*identity), {held.begin(), held.end()}});
        } else if (pid == kOutside) {
            ++driver.unseen_holders;  // one or more: they all have this number
        }
    }
}

}  // namespace ttmem::sources::driver
