// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports what this host has, what can be tracked, and what prevents tracking. Opens no device.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "view/model/doctor.hpp"

namespace ttmem::access {

struct DoctorSettings {
    std::optional<std::string> library;   // the tt-metal to check; absent: all that are found
    std::optional<std::string> observer;  // absent: not installed
    // Loads a tt-metal in a separate process and checks the observers with it. Returns true and the observer that
    // fits, or false and the reason.
    std::function<std::pair<bool, std::string>(const std::string& library)> probe;
};

view::DoctorView examine_host(const DoctorSettings& settings);

// The libraries of tt-metal that a program of this user would find, the most likely first.
std::vector<std::string> find_metal_libraries();

}  // namespace ttmem::access
