// SPDX-License-Identifier: Apache-2.0
#pragma once

// The event log on standard output: which events become lines, and what they say.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "census/figures.hpp"
#include "daemon/event_lines.hpp"
#include "daemon/output.hpp"
#include "history/record.hpp"

namespace ttmem::daemon {

// summary: processes that come and go, failures, gaps, defects. all: every event.
enum class LogEvents : uint8_t { off, summary, all };

class EventLog {
public:
    EventLog(Output& output, LogEvents level) : output_(output), level_(level) {}

    bool wants(history::What what) const;

    // One line, or one for each device.
    void write(const history::Record& record, const census::Identity& who,
               const std::vector<uint32_t>& devices, const std::string& name);

    // Something to tell that is no event.
    void note(const std::string& line);

    // So many lines could not be made, because events went by too fast.
    void lost(uint64_t lines) { output_.count_lost(lines); }
    uint64_t lost() const { return output_.lost(); }

    // Running totals start from what is there: at the beginning, and after a gap.
    void start_totals(const census::Figures& figures);

private:
    struct Totals {
        uint64_t cb = 0;
        uint64_t kernel = 0;
    };
    uint64_t total_after(const history::Record& record, uint32_t device);

    Output& output_;
    const LogEvents level_;
    std::map<uint32_t, Totals> totals_;  // by device; requested bytes
};

}  // namespace ttmem::daemon
