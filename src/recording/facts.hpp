// SPDX-License-Identifier: Apache-2.0
#pragma once

// The payloads of host and process blocks. A newer recorder may append to them.

#include <cstdint>
#include <string>
#include <vector>

#include "census/census.hpp"
#include "recording/byte_stream.hpp"

namespace ttmem::recording {

struct HostFactsRecord {
    std::string host;
    std::string program;  // "ttmem 0.1.0"
    uint32_t uid = 0;     // of the recorder
    std::vector<census::DeviceNumber> numbers = {};
    bool has_driver = false;
    std::vector<census::DriverDevice> devices = {};  // without telemetry

    bool operator==(const HostFactsRecord&) const = default;
};

struct ProcessFactsRecord {
    census::Identity identity;
    census::ProcessSource source = census::ProcessSource::segment;
    bool is_older_than_ledger = false;
    bool has_changed_user = false;
    bool is_from_start = false;    // its ledger was empty when the recording of it began
    bool has_only_totals = false;  // it is another user's
    uint32_t slots = 0;            // its ledger never has more
};

void write_facts(const HostFactsRecord& facts, ByteWriter& to);
void write_facts(const ProcessFactsRecord& facts, ByteWriter& to);
// Unknown values are empty: is_good() of the reader tells.
HostFactsRecord read_host_facts(ByteReader& from);
ProcessFactsRecord read_process_facts(ByteReader& from);

}  // namespace ttmem::recording
