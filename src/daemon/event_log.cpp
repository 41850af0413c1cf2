// SPDX-License-Identifier: Apache-2.0
#include "daemon/event_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ttmem::daemon {

using history::What;

namespace {

std::string_view failure_name(uint64_t type) {
    switch (static_cast<segment::FailureType>(type)) {
        case segment::FailureType::out_of_memory:
            return "allocation failed";
        case segment::FailureType::cb_clash:
            return "circular buffers clash with L1 buffers";
        case segment::FailureType::unknown_free:
            return "free of something unknown";
    }
    return "failure";
}

}  // namespace

bool EventLog::wants(What what) const {
    switch (what) {
        case What::gap:
        case What::failure:
        case What::process_started:
        case What::process_died:
            return level_ != LogEvents::off;
        default:
            return level_ == LogEvents::all;
    }
}

void EventLog::note(const std::string& line) {
    if (level_ != LogEvents::off) {
        output_.line(line);
    }
}

void EventLog::start_totals(const census::Figures& figures) {
    totals_.clear();
    for (const census::DeviceFigures& device : figures.devices) {
        totals_[device.id] = {device.memory[census::index_of(census::Kind::cb)].requested,
                              device.memory[census::index_of(census::Kind::kernel)].requested};
    }
}

uint64_t EventLog::total_after(const history::Record& record, uint32_t device) {
    Totals& totals = totals_[device];
    uint64_t& total = segment::is_kernel(record.event.kind) ? totals.kernel : totals.cb;
    const uint64_t bytes = record.event.adds_bytes ? record.event.requested : 0;
    total = record.what == What::free ? total - std::min(total, bytes) : total + bytes;
    return total;
}

void EventLog::write(const history::Record& record, const census::Identity& who,
                     const std::vector<uint32_t>& devices, const std::string& name) {
    switch (record.what) {
        case What::allocation:
        case What::free: {
            const segment::Kind kind = record.event.kind;
            const bool has_total = segment::is_kernel(kind) || kind == segment::Kind::cb;
            for (const uint32_t device : devices) {
                output_.line(event_line({who.pid, device, record.what == What::free, record.event.adds_bytes,
                                         kind, record.event.requested, record.event.address,
                                         has_total ? total_after(record, device) : 0}));
            }
            return;
        }
        case What::set_opened:
        case What::set_closed:
            for (const uint32_t device : devices) {
                output_.line(fmt::format("{} [PID {}] {} device {}{}",
                                         record.what == What::set_opened ? "✓" : "✗", who.pid,
                                         record.what == What::set_opened ? "Opened" : "Closed", device,
                                         name.empty() ? "" : " (" + name + ")"));
            }
            return;
        case What::failure:
            output_.line(fmt::format("! [PID {}] {}: {} bytes requested{} (ttmem failures says why)", who.pid,
                                     failure_name(record.event.address), record.event.requested,
                                     name.empty() ? "" : " by " + name));
            return;
        case What::gap:
            output_.line(fmt::format("! [PID {}] gap: {} events were not seen (totals are exact)", who.pid,
                                     record.count));
            return;
        case What::process_started:
            output_.line(fmt::format("+ [PID {}] {} of {} is tracked", who.pid, who.comm, who.user));
            return;
        case What::process_died:
            output_.line(fmt::format("- [PID {}] {} of {} has ended", who.pid, who.comm, who.user));
            return;
    }
}

}  // namespace ttmem::daemon
