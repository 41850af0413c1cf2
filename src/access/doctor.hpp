// SPDX-License-Identifier: Apache-2.0
#pragma once

// What this host has, what of it can be tracked, and what is in the way. Opens no device.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "view/doctor.hpp"

namespace ttmem::access {

struct DoctorSettings {
    std::optional<std::string> library;   // the tt-metal to look at; absent: those that are found
    std::optional<std::string> observer;  // absent: it is not installed
    // Loads a tt-metal in a process of its own and asks the observer about it: true and which one fits, or false and why none does.
    std::function<std::pair<bool, std::string>(const std::string& library)> probe;
};

view::DoctorView examine_host(const DoctorSettings& settings);

// The libraries of tt-metal that a program of this user would find, the likeliest first.
std::vector<std::string> find_metal_libraries();

}  // namespace ttmem::access
