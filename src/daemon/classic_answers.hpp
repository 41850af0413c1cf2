// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the classic wire answers, from the census of the whole host: what its own clients hold and what everyone else does, in
// requested bytes, as those who ask expect it.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "census/figures.hpp"
#include "census/report.hpp"
#include "sources/classic_wire/message.hpp"

namespace ttmem::daemon {

// The answers of one moment: many questions at a time cost one look at the host.
class ClassicAnswers {
public:
    using Answer = sources::classic_wire::Answer;
    using Request = sources::classic_wire::Request;

    explicit ClassicAnswers(census::Census census) : census_(std::move(census)) {}

    // What is held on the device that was asked about, or with device -1 on all.
    Answer query(const Request& request);

    // What the device is; with device -1, how many there are (the highest number and one).
    Answer device_info(const Request& request);

private:
    census::Census census_;
    std::optional<census::Figures> figures_;
    std::optional<std::vector<census::DeviceTable::Device>> devices_;
};

// The dumps, line by line. They take a scan of all ledgers.
std::vector<std::string> dump_buffers(const census::Census& census);
std::vector<std::string> dump_kernels(const census::Census& census);

}  // namespace ttmem::daemon
