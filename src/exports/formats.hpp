// SPDX-License-Identifier: Apache-2.0
#pragma once

// The formats, one file each. Each takes a model and returns sentences about what it leaves out.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/named_enum.hpp"
#include "exports/model.hpp"
#include "exports/output.hpp"

namespace ttmem::exports {

enum class Format : uint8_t { csv, html, jsonl, memory_viz, perfetto, pprof, ttnn_visualizer };
constexpr auto enum_names(Format /*of*/) {
    return std::to_array<std::string_view>(
        {"csv", "html", "jsonl", "memory-viz", "perfetto", "pprof", "ttnn-visualizer"});
}
using base::name_of;

using Notes = std::vector<std::string>;

Notes write_csv(const ExportModel& model, Output& to);
Notes write_jsonl(const ExportModel& model, Output& to);
Notes write_pprof(const ExportModel& model, Output& to);

// The most allocations that have a slice: those with the most bytes times time.
constexpr size_t kMostSlices = 100'000;
Notes write_perfetto(const ExportModel& model, Output& to, size_t most_slices = kMostSlices);

enum class SnapshotForm : uint8_t { json, pickle };
Notes write_memory_viz(const ExportModel& model, SnapshotForm form, Output& to);

// What a report of the visualizer has at most, so that its viewer stays usable.
struct ReportLimits {
    size_t moments = 2'000;
    uint64_t buffer_rows = 5'000'000;
};

// A folder with db.sqlite and config.json.
base::Expected<Notes> write_ttnn_visualizer(const ExportModel& model, const std::string& folder, bool force,
                                            const ReportLimits& limits = {});

// How many freed allocations an export has, unless the user says otherwise.
uint64_t default_allocations(Format format);

struct ExportTarget {
    Format format = Format::csv;
    std::string path;  // "-": standard output
    bool force = false;
};

// All formats but html, which asks questions (exports/html.hpp).
base::Expected<Notes> write_export(const ExportModel& model, const ExportTarget& target);

}  // namespace ttmem::exports
