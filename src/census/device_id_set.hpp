// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists of devices in queries.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ttmem::census {

// The longest range of numbers in a list of devices.
constexpr uint32_t kMostInDeviceRange = 64;

// The devices of a list that is separated by commas: "0-2,0x10" has the devices 0, 1, 2 and 0x10. A range that is too long or ends
// before it begins stays as it is, and no device has such a name.
std::vector<std::string> split_device_list(std::string_view text);

// The devices that a query selects by id. They need not exist: a history has devices that are gone. An empty set selects all.
class DeviceIdSet {
public:
    DeviceIdSet() = default;
    // A query mostly has one device or none.
    DeviceIdSet(uint32_t id) { add(id); }  // NOLINT(google-explicit-constructor)

    void add(uint32_t id) { ids_.insert(id); }
    bool selects(uint32_t id) const { return ids_.empty() || ids_.contains(id); }
    bool empty() const { return ids_.empty(); }
    size_t size() const { return ids_.size(); }
    // "0,3".
    std::string text() const;

    bool operator==(const DeviceIdSet&) const = default;

private:
    std::set<uint32_t> ids_;
};

}  // namespace ttmem::census
