// SPDX-License-Identifier: Apache-2.0
#pragma once

// The event log on standard output: selects events and writes their lines.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "census/device_ids.hpp"
#include "census/figures.hpp"
#include "daemon/log/event_lines.hpp"
#include "daemon/log/log_writer.hpp"
#include "history/record.hpp"

namespace ttmem::daemon {

// summary: starts and ends of processes, failures, gaps, defects. all: every event.
enum class EventLogLevel : uint8_t { off, summary, all };

class EventLog {
public:
    EventLog(LogWriter& output, EventLogLevel level) : output_(output), level_(level) {}

    bool includes(history::RecordType type) const;

    // Writes one line, or one line per device.
    void write(const history::Record& record, const census::Identity& process,
               const std::vector<census::NumberedDevice>& devices, const std::string& name);

    // The statistics of the earlier server, with one line per device, if every event is logged. Those of now are written at most
    // every kStatisticsNs, and only if they have changed.
    static constexpr uint64_t kStatisticsNs = 10 * base::kNsPerSecond;
    void write_statistics(const census::Figures& figures, uint64_t now_ns);
    void write_last_statistics(const census::Figures& figures);

    // Writes a line that is not an event.
    void write_note(const std::string& line);

    // Counts lines of events that left the history before they were written.
    void count_lost(uint64_t lines) { output_.count_lost(lines); }
    uint64_t lost() const { return output_.lost(); }

    // Sets the running totals from current figures. Needed at the start, after a gap and after the end of a process.
    void reset_totals(const census::Figures& figures);

private:
    struct RunningTotals {
        uint64_t cb = 0;
        uint64_t kernel = 0;
    };
    uint64_t total_after(const history::Record& record, uint32_t device);

    LogWriter& output_;
    const EventLogLevel level_;
    std::map<uint32_t, RunningTotals> totals_;  // by device; requested bytes
    std::vector<std::string> statistics_;       // the lines that were written last
    std::optional<uint64_t> statistics_ns_;     // and when
};

}  // namespace ttmem::daemon
