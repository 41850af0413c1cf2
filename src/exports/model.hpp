// SPDX-License-Identifier: Apache-2.0
#pragma once

// What all formats are written from: allocations with their beginning and end, failures and marks, from one moment to another. A
// moment of the living host is the same, with only live allocations. Times are nanoseconds of the monotonic clock of that host.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "census/failures.hpp"
#include "census/figures.hpp"
#include "census/free_space.hpp"
#include "census/kind.hpp"
#include "segment/reader.hpp"

namespace ttmem::exports {

struct ExportedDevice {
    uint32_t id = 0;
    std::string arch;   // empty: unknown
    std::string board;  // empty: unknown
    std::optional<uint64_t> asic_id;
    uint32_t grid_x = 0, grid_y = 0;  // 0: unknown
    std::array<census::Bank, census::kPoolKinds> banks = {};
    std::array<std::optional<uint64_t>, census::kDeviceKinds> capacity = {};

    std::string title() const;  // "device 0 (n300)"
};

struct ExportedProcess {
    uint32_t pid = 0;
    std::string user;
    std::string command;

    std::string title() const { return command + " (" + std::to_string(pid) + ")"; }
};

// The devices of one allocator of one process.
struct ExportedSet {
    uint32_t process = 0;
    std::string label;
    std::vector<uint32_t> devices;  // indexes

    bool operator==(const ExportedSet&) const = default;
};

struct AllocationSpan {
    segment::Allocation allocation;  // its name, set and core set are those of the process: use the following
    census::Kind kind = census::Kind::dram;
    uint32_t process = 0;  // all indexes into the model
    uint32_t set = 0;
    uint32_t name = 0;
    uint32_t cores = 0;  // 0: none or unknown
    uint64_t begin_ns = 0;
    std::optional<uint64_t> end_ns;  // absent: live at the end of the export

    uint64_t used() const { return allocation.used(); }
    bool adds_bytes() const { return segment::adds_bytes(allocation.flags); }
    bool has(segment::AllocationFlag flag) const { return allocation.flags.has(flag); }
};

struct ExportedMark {
    uint64_t time_ns = 0;
    uint32_t process = 0;
    std::string name;
};

struct ExportedFailure {
    uint64_t time_ns = 0;
    uint32_t process = 0;
    census::FailureFigures figures;

    // "out of memory: dram, 64 bytes requested, not enough: 64 bytes per bank needed, 0 free, largest block 0".
    std::string text() const;
};

struct ExportModel {
    std::string host;
    std::string source;  // "recording" or "direct"
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;
    uint64_t epoch_offset_ns = 0;         // a time since the epoch is the time plus this, modulo 2^64
    std::vector<ExportedDevice> devices;  // by id
    std::vector<ExportedProcess> processes;
    std::vector<ExportedSet> sets;
    std::vector<std::string> names = {""};
    std::vector<segment::CoreMask> cores = {{}};
    std::vector<AllocationSpan> spans;  // by beginning
    std::vector<ExportedFailure> failures;
    std::vector<ExportedMark> marks;
    // Sentences about what is missing or not exact.
    std::vector<std::string> notes;

    bool is_moment() const { return begin_ns == end_ns; }
    uint64_t epoch_ns(uint64_t time_ns) const { return time_ns + epoch_offset_ns; }
    // A time of an allocation, which may have begun before the export.
    uint64_t clamp(uint64_t time_ns) const { return time_ns < begin_ns ? begin_ns : time_ns; }
    // The bytes of an allocation in each bank of its kind; all of them where there are no banks.
    uint64_t per_bank(const AllocationSpan& span, uint32_t device) const;
    std::optional<uint64_t> address_of(const AllocationSpan& span) const;
};

// A beginning or an end of an allocation.
struct SpanChange {
    uint64_t time_ns = 0;
    uint32_t span = 0;
    bool is_end = false;
};

// All of them in the order of time. What ended and what began at the same time were not there together.
std::vector<SpanChange> changes_of(const ExportModel& model);

// "2026-05-01T13:05:20.123456789Z".
std::string utc_text(uint64_t epoch_ns);

// The parts of a name, the outermost first: "decoder.3", "ttnn::matmul" of "decoder.3/ttnn::matmul".
std::vector<std::string> scopes_of(const std::string& name);

}  // namespace ttmem::exports
