// SPDX-License-Identifier: Apache-2.0
#include "daemon/log/event_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <string_view>

namespace ttmem::daemon {

using history::RecordType;

namespace {

std::string_view failure_name(segment::FailureType type) {
    switch (type) {
        case segment::FailureType::out_of_memory:
            return "allocation failed";
        case segment::FailureType::cb_clash:
            return "circular buffers clash with L1 buffers";
        case segment::FailureType::unknown_free:
            return "free of an unknown allocation";
    }
    return "failure";
}

std::vector<std::string> statistics_lines(const census::Figures& figures) {
    std::vector<std::string> lines;
    for (const census::DeviceFigures& device : figures.devices) {
        lines.push_back(statistics_line(device));
    }
    return lines;
}

}  // namespace

bool EventLog::includes(RecordType type) const {
    switch (type) {
        case RecordType::gap:
        case RecordType::failure:
        case RecordType::process_started:
        case RecordType::process_died:
            return level_ != EventLogLevel::off;
        default:
            return level_ == EventLogLevel::all;
    }
}

void EventLog::write_note(const std::string& line) {
    if (level_ != EventLogLevel::off) {
        output_.line(line);
    }
}

void EventLog::write_statistics(const census::Figures& figures, uint64_t now_ns) {
    if (level_ != EventLogLevel::all || (statistics_ns_ && now_ns - *statistics_ns_ < kStatisticsNs)) {
        return;
    }
    std::vector<std::string> lines = statistics_lines(figures);
    if (lines == statistics_) {
        return;
    }
    output_.line("Current Statistics:");
    for (const std::string& line : lines) {
        output_.line(line);
    }
    statistics_ = std::move(lines);
    statistics_ns_ = now_ns;
}

void EventLog::write_last_statistics(const census::Figures& figures) {
    if (level_ != EventLogLevel::all) {
        return;
    }
    output_.line("Final Statistics:");
    for (const std::string& line : statistics_lines(figures)) {
        output_.line(line);
    }
}

void EventLog::reset_totals(const census::Figures& figures) {
    totals_.clear();
    for (const census::DeviceFigures& device : figures.devices) {
        totals_[device.id] = {device.memory[census::index_of(census::Kind::cb)].requested,
                              device.memory[census::index_of(census::Kind::kernel)].requested};
    }
}

uint64_t EventLog::total_after(const history::Record& record, uint32_t device) {
    RunningTotals& totals = totals_[device];
    uint64_t& total = segment::is_kernel(record.event.kind) ? totals.kernel : totals.cb;
    const uint64_t bytes = record.event.adds_bytes ? record.event.requested : 0;
    total = record.type == RecordType::free ? total - std::min(total, bytes) : total + bytes;
    return total;
}

void EventLog::write(const history::Record& record, const census::Identity& process,
                     const std::vector<census::NumberedDevice>& devices, const std::string& name) {
    assert(includes(record.type));
    switch (record.type) {
        case RecordType::allocation:
        case RecordType::free: {
            const segment::AllocationKind kind = record.event.kind;
            const bool has_total = segment::is_kernel(kind) || kind == segment::AllocationKind::cb;
            for (const census::NumberedDevice& device : devices) {
                output_.line(
                    event_line({process.pid, device.id, record.type == RecordType::free,
                                record.event.adds_bytes, kind, record.event.requested, record.event.address,
                                has_total ? total_after(record, device.id) : 0, device.logical_id}));
            }
            return;
        }
        case RecordType::set_opened:
        case RecordType::set_closed:
            for (const census::NumberedDevice& device : devices) {
                const bool is_opened = record.type == RecordType::set_opened;
                const std::string note =
                    (name.empty() ? "" : ", " + name) + own_number(device.id, device.logical_id);
                output_.line(fmt::format("{} [PID {}] {} device {}{}", is_opened ? "✓" : "✗", process.pid,
                                         is_opened ? "Opened" : "Closed", device.id,
                                         note.empty() ? "" : " (" + note.substr(2) + ")"));
            }
            return;
        case RecordType::failure:
            output_.line(fmt::format("! [PID {}] {}: {} bytes requested{} (see 'ttmem why')", process.pid,
                                     failure_name(record.event.failure), record.event.requested,
                                     name.empty() ? "" : " by " + name));
            return;
        case RecordType::gap:
            output_.line(fmt::format("! [PID {}] gap: {} event{} lost (totals stay exact)", process.pid,
                                     record.count, record.count == 1 ? "" : "s"));
            return;
        case RecordType::process_started:
            output_.line(
                fmt::format("+ [PID {}] {} of {} is tracked", process.pid, process.comm, process.user));
            return;
        case RecordType::process_died:
            output_.line(
                fmt::format("- [PID {}] {} of {} has ended", process.pid, process.comm, process.user));
            return;
    }
}

}  // namespace ttmem::daemon
