// SPDX-License-Identifier: Apache-2.0
#include "exports/formats.hpp"

#include <utility>

namespace ttmem::exports {

namespace {

Notes write_stream(const ExportModel& model, const ExportTarget& target, Output& to) {
    switch (target.format) {
        case Format::csv:
            return write_csv(model, to);
        case Format::jsonl:
            return write_jsonl(model, to);
        case Format::perfetto:
            return write_perfetto(model, to);
        case Format::pprof:
            return write_pprof(model, to);
        case Format::html:
        case Format::memory_viz:
        case Format::ttnn_visualizer:
            break;
    }
    const bool is_pickle = target.path.ends_with(".pickle");
    return write_memory_viz(model, is_pickle ? SnapshotForm::pickle : SnapshotForm::json, to);
}

}  // namespace

uint64_t default_allocations(Format format) {
    // Its viewer becomes slow with more.
    return format == Format::memory_viz ? 200'000 : 1'000'000;
}

base::Expected<Notes> write_export(const ExportModel& model, const ExportTarget& target) {
    if (target.format == Format::ttnn_visualizer) {
        return write_ttnn_visualizer(model, target.path, target.force);
    }
    auto output = Output::create(target.path, target.force);
    if (!output) {
        return tl::unexpected(std::move(output.error()));
    }
    Notes notes = write_stream(model, target, *output);
    if (auto finished = output->finish(); !finished) {
        return tl::unexpected(std::move(finished.error()));
    }
    return notes;
}

}  // namespace ttmem::exports
