// SPDX-License-Identifier: Apache-2.0
#pragma once

// Answers to queries on the classic wire. They cover the whole host, classic clients and all other processes, in requested
// bytes, as classic clients expect.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "census/census.hpp"
#include "census/device_table.hpp"
#include "census/figures.hpp"
#include "sources/classic_wire/message.hpp"

namespace ttmem::daemon {

// Answers from one census, so that many queries in one batch cost one computation.
class ClassicAnswers {
public:
    using MessageType = sources::classic_wire::MessageType;
    using WireAnswer = sources::classic_wire::WireAnswer;
    using WireRequest = sources::classic_wire::WireRequest;

    explicit ClassicAnswers(census::Census census) : census_(std::move(census)) {}

    // Computes what an answer to a question of that type needs. Its time depends on the processes of all users.
    void prepare(MessageType question);

    // The same within about a millisecond. False if that does not suffice; then nothing is prepared.
    bool prepare_quickly(MessageType question);
    static constexpr size_t kQuickProcesses = 64;  // more are never quick
    bool is_prepared(MessageType question) const;

    // The answer to a question, which is prepared if necessary. For a query: bytes on the device of the request; -1 means all
    // devices. For a device_info_query: properties of the device of the request, which is available if its capacity is known;
    // -1 asks for the number of devices (the highest number below kMostDevices, plus one).
    WireAnswer answer(const WireRequest& question);

private:
    // Requested bytes on a device.
    struct DeviceBytes {
        uint32_t id = 0;
        uint64_t dram = 0, l1 = 0, l1_small = 0, trace = 0, cb = 0, kernel = 0;

        void add_to(WireAnswer& answer) const;
    };
    struct DeviceProperties {
        uint32_t id = 0;
        uint64_t total_dram = 0, total_l1 = 0;
        uint32_t arch = 0, dram_channels = 0, dram_per_channel = 0, l1_per_core = 0;
    };

    // From the headers of the segments alone.
    bool is_quick() const;
    // Each returns false if the budgets of the census did not suffice to read all of it.
    bool compute(MessageType question);
    bool compute_bytes();
    bool compute_properties();
    void add_bytes(const WireRequest& question, WireAnswer& answer) const;
    void add_properties(const WireRequest& question, WireAnswer& answer) const;

    census::Census census_;
    // By id, so that an answer takes no more time on a host with many devices.
    std::optional<std::vector<DeviceBytes>> bytes_;
    DeviceBytes all_bytes_;  // on all devices
    std::optional<std::vector<DeviceProperties>> properties_;
};

// The lines of the dumps. They scan the ledgers within the shares of their users. Each kind has at most kMaxDumpLines of them.
constexpr uint64_t kMaxDumpLines = 10'000;
std::vector<std::string> dump_buffers(census::Census census);
std::vector<std::string> dump_kernels(census::Census census);

}  // namespace ttmem::daemon
