// SPDX-License-Identifier: Apache-2.0
#pragma once

// What commands that show the whole host share: status, ps, monitor and query.

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "view/model/devices.hpp"

namespace ttmem::cli {

struct HostOptions : CommonOptions {
    std::optional<std::string> device;
};

inline void declare_host_options(CLI::App& command, HostOptions& options) {
    add_json_and_bytes(command, options);
    add_direct(command, options);
    add_device(command, options.device);
}

// The host, or only these devices of it.
inline base::Expected<access::Reply<view::View>> read_host(const std::vector<std::string>& devices,
                                                           access::ReadMode mode) {
    auto reply = access::ask<view::Status>({}, mode);
    if (reply && !devices.empty()) {
        if (const auto problem = view::keep_devices(reply->view, devices)) {
            return base::error(base::Error::Code::gone, *problem);
        }
    }
    return reply;
}

inline base::Expected<access::Reply<view::View>> read_host(const HostOptions& options) {
    return read_host(options.device ? std::vector{*options.device} : std::vector<std::string>(),
                     options.mode);
}

}  // namespace ttmem::cli
