// SPDX-License-Identifier: Apache-2.0
#include "daemon/log/event_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace ttmem::daemon {

namespace {

constexpr double kMegabyte = 1 << 20;

// The names that the earlier allocation server used.
std::string_view kind_name(segment::AllocationKind kind) {
    switch (kind) {
        case segment::AllocationKind::dram:
            return "DRAM";
        case segment::AllocationKind::l1:
            return "L1";
        case segment::AllocationKind::l1_small:
            return "L1_SMALL";
        case segment::AllocationKind::trace:
            return "TRACE";
        case segment::AllocationKind::system_memory:
            return "SYSTEM_MEMORY";
        default:
            return "UNKNOWN";
    }
}

std::string buffer_line(const EventLineFields& facts) {
    // A view of another allocation, or a planned one, is listed but takes no memory.
    const std::string_view note = facts.adds_bytes ? "" : ", adds 0";
    if (facts.is_free) {
        return fmt::format("✗ [PID {}] Freed buffer {} on device {} ({} bytes{}{})", facts.pid, facts.address,
                           facts.device, facts.bytes, note, own_number(facts.device, facts.logical_id));
    }
    return fmt::format("✓ [PID {}] Allocated {} bytes of {} on device {} (buffer_id={}{}{})", facts.pid,
                       facts.bytes, kind_name(facts.kind), facts.device, facts.address, note,
                       own_number(facts.device, facts.logical_id));
}

}  // namespace

std::string own_number(uint32_t device, std::optional<uint32_t> logical_id) {
    return logical_id.value_or(device) == device ? "" : fmt::format(", its device {}", *logical_id);
}

std::string format_megabytes(uint64_t bytes) {
    if (bytes == 0) {
        return "0";
    }
    const double megabytes = static_cast<double>(bytes) / kMegabyte;
    // Two digits, however small: 0.0039. Rounding first, so that 9.97 is 10 and not 10.0.
    const int exponent = static_cast<int>(std::floor(std::log10(megabytes)));
    const double unit = std::pow(10.0, exponent - 1);
    const double rounded = std::round(megabytes / unit) * unit;
    const int digits = std::max(0, 1 - static_cast<int>(std::floor(std::log10(rounded) + 1e-9)));
    return fmt::format("{:.{}f}", megabytes, digits);
}

std::string statistics_line(const census::DeviceFigures& device) {
    uint64_t buffers = 0;
    for (size_t kind = 0; kind < census::kPoolKinds; ++kind) {
        buffers += device.memory[kind].count;
    }
    return fmt::format("Device {}: Buffers: {}, DRAM: {} bytes, L1: {} bytes", device.id, buffers,
                       device.memory[census::index_of(census::Kind::dram)].requested,
                       device.memory[census::index_of(census::Kind::l1)].requested);
}

std::string event_line(const EventLineFields& facts) {
    const bool is_kernel = segment::is_kernel(facts.kind);
    if (!is_kernel && facts.kind != segment::AllocationKind::cb) {
        return buffer_line(facts);
    }
    const std::string_view what = is_kernel ? (facts.is_free ? "KERNEL_UNLOAD" : "KERNEL_LOAD")
                                            : (facts.is_free ? "CB_FREE" : "CB_ALLOC");
    return fmt::format("{} [{}] Device {}: {}{} MB (Total: {} MB{})", facts.is_free ? "✗" : "✓", what,
                       facts.device, facts.is_free ? "-" : "+",
                       format_megabytes(facts.adds_bytes ? facts.bytes : 0), format_megabytes(facts.total),
                       own_number(facts.device, facts.logical_id));
}

}  // namespace ttmem::daemon
