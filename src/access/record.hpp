// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records the processes of this host, or those of a command, into a file.

#include <cstdint>
#include <optional>
#include <string>

#include "access/access.hpp"
#include "access/run.hpp"
#include "base/error.hpp"
#include "recording/recording_writer.hpp"

namespace ttmem::access {

struct RecordSettings {
    recording::FileSettings file;
    std::optional<uint32_t> pid;      // only this process
    census::DeviceIdSet devices;      // only processes that use one of these; empty: all
    std::optional<uint64_t> time_ns;  // absent: until a signal
};

// Records until the time is over, or SIGINT, SIGTERM or SIGHUP arrives. A process that ends is in the recording until its end. With
// `daemon_first` the daemon records, with what it shows this user: the details of this user's processes and the totals of others.
base::Expected<recording::RecorderTotals> record(const RecordSettings& settings, ReadMode mode);

struct RecordedRun {
    RunEnd end;
    recording::RecorderTotals totals;
};

// Runs a command as run() does, and records its processes from their start.
base::Expected<RecordedRun> record_run(const RecordSettings& settings, RunSettings command);

}  // namespace ttmem::access
