// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads what the kernel driver reports about this host without opening a device: /sys/class/tenstorrent, the folders
// that it links to, and the processes that have devices open.
//
//   files       reads one value from a file
//   devices     properties and sensors of each device
//   heartbeats  whether the firmware is alive, which takes two reads
//   holders     the processes that have a device open

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "census/driver.hpp"
#include "sources/driver/heartbeats.hpp"
#include "sources/proc.hpp"

namespace ttmem::sources::driver {

struct Roots {
    std::string sys = "/sys";
    std::string proc = "/proc";
    std::string dev = "/dev";
};

// Remembers heartbeats between reads. Never opens a device. Not thread-safe.
class DriverTree {
public:
    using TimeFunction = std::function<Heartbeats::Time()>;

    explicit DriverTree(Roots roots = {}, TimeFunction clock = std::chrono::steady_clock::now);

    // Returns null if no driver is loaded.
    std::shared_ptr<const census::Driver> read();

private:
    Roots roots_;
    TimeFunction clock_;
    Proc proc_;
    Heartbeats heartbeats_;
};

}  // namespace ttmem::sources::driver
