// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the kernel driver tells about this host without any device being opened: /sys/class/tenstorrent and what
// it leads to, and who holds the devices.
//
//   files       a value out of a file, or nothing
//   devices     what each device is, and what its sensors say
//   heartbeats  whether its firmware lives, which takes two looks
//   holders     the processes that have it open

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

// Remembers heartbeats from look to look. Never opens a device. One thread at a time.
class DriverTree {
public:
    using Clock = std::function<Heartbeats::Time()>;

    explicit DriverTree(Roots roots = {}, Clock clock = std::chrono::steady_clock::now);

    // Nothing where no driver is loaded.
    std::shared_ptr<const census::Driver> read();

private:
    Roots roots_;
    Clock clock_;
    Proc proc_;
    Heartbeats heartbeats_;
};

}  // namespace ttmem::sources::driver
