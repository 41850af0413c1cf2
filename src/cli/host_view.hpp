// SPDX-License-Identifier: Apache-2.0
#pragma once

// What commands that show the whole host share: status, ps, monitor and query.

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "view/model/devices.hpp"

namespace ttmem::cli {

struct HostOptions : CommonOptions {
    std::vector<std::string> devices;
};

inline void declare_host_options(CLI::App& command, HostOptions& options) {
    add_list_options(command, options);
    add_direct(command, options);
    add_recording(command, options);
    add_columns(command, options);
    add_devices(command, options.devices);
}

// The host, or only these devices of it.
inline base::Expected<access::Reply<view::View>> read_host(const std::vector<std::string>& devices,
                                                           access::ReadMode mode,
                                                           const view::StatusQuery& query = {}) {
    auto reply = access::ask<view::Status>(query, mode);
    if (reply && !devices.empty()) {
        if (const auto problem = view::keep_devices(reply->view, devices)) {
            return base::error(base::Error::Code::not_found, *problem);
        }
    }
    return reply;
}

inline base::Expected<access::Reply<view::View>> read_host(const HostOptions& options,
                                                           const view::StatusQuery& query = {}) {
    return read_host(options.devices, options.mode, query);
}

}  // namespace ttmem::cli
