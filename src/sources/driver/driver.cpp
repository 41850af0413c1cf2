// SPDX-License-Identifier: Apache-2.0
#include "sources/driver/driver.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sources/driver/devices.hpp"
#include "sources/driver/holders.hpp"

namespace ttmem::sources::driver {

namespace {

// An ASIC id that two devices report identifies neither of them, so both lose it.
void drop_shared_asic_ids(std::vector<census::DriverDevice>& devices) {
    std::map<uint64_t, size_t> owners;
    for (const census::DriverDevice& device : devices) {
        owners[device.asic_id.value_or(0)] += 1;
    }
    for (census::DriverDevice& device : devices) {
        if (owners[device.asic_id.value_or(0)] > 1) {
            device.asic_id.reset();
        }
    }
}

}  // namespace

DriverTree::DriverTree(Roots roots, TimeFunction clock)
    : roots_(std::move(roots)), clock_(std::move(clock)), proc_(roots_.proc) {}

std::shared_ptr<const census::Driver> DriverTree::read() {
    const Heartbeats::Time began = clock_();
    auto readings = read_devices(roots_.sys);
    heartbeats_.start_read(began, clock_());
    if (!readings) {
        return nullptr;
    }
    auto driver = std::make_shared<census::Driver>();
    for (DeviceReading& reading : *readings) {
        reading.device.telemetry.is_alive = heartbeats_.update(reading.device.id, reading.heartbeat);
        driver->devices.push_back(std::move(reading.device));
    }
    drop_shared_asic_ids(driver->devices);
    find_holders(*driver, proc_, roots_.proc, roots_.dev);
    return driver;
}

}  // namespace ttmem::sources::driver
