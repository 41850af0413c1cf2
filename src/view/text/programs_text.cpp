// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <numeric>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"

namespace ttmem::view {

namespace {

using census::ProgramFigures;

uint64_t kernel_bytes(const ProgramFigures& program) {
    return std::accumulate(program.kernel_by_type.begin(), program.kernel_by_type.end(), uint64_t{0});
}

// The kernel types other than the application's own.
std::string kernel_types(const ProgramFigures& program) {
    std::string text;
    for (size_t i = 1; i < program.kernel_by_type.size(); ++i) {
        if (program.kernel_by_type[i] != 0) {
            text += fmt::format("{}{}", text.empty() ? "" : ", ", census::kKernelTypes[i]);
        }
    }
    return text.empty() ? text : fmt::format("({})", text);
}

std::string name_text(const ProgramFigures& program) {
    const std::string types = kernel_types(program);
    if (program.name.empty()) {
        return types.empty() ? "-" : types;
    }
    return program.name + (types.empty() ? "" : " " + types);
}

}  // namespace

Text programs_text(const ProgramView& view, const Style& style) {
    if (view.processes == 0) {
        return no_process_text(view.origin, view.inexact, view.hidden, style.bytes);
    }
    Text text;
    text.add(headline(view.origin, format_count(view.total, "program", "programs"), view.is_exact())).blank();
    if (view.programs.empty()) {
        return text.add("No matching programs.").add(end_of_list(view, style.bytes));
    }
    Table table({{"PROGRAM", kRight, 0, 7, Column::KeptPart::end},
                 bytes_column("CB", 0, style),
                 bytes_column("CB/CORE", 3, style),
                 {"CBS", kRight, 2},
                 {"CB TOP", kRight, 0, 0, Column::KeptPart::beginning, 8},
                 {"CORE", kRight, 4, 0, Column::KeptPart::beginning, 5},
                 bytes_column("KERNEL", 0, style),
                 {"DEV", kLeft, 0, 7},
                 pid_column(),
                 age_column("AGE", 5),
                 {"SET", kLeft, 6, 8},
                 {"NAME", kLeft, 0, 18, Column::KeptPart::end}});
    for (const ProgramFigures& program : view.programs) {
        table.add(
            {program.program ? std::to_string(*program.program) : "-",
             format_bytes(program.cb_used, style.bytes), format_bytes(program.cb_requested, style.bytes),
             std::to_string(program.cb_count), program.cb_top ? fmt::format("{:#x}", *program.cb_top) : "-",
             program.cb_top_core ? fmt::format("{},{}", program.cb_top_core->x, program.cb_top_core->y) : "-",
             format_bytes(kernel_bytes(program), style.bytes), format_ids(program.devices),
             std::to_string(program.pid), format_age(program.age_ns), program.set.empty() ? "-" : program.set,
             name_text(program)});
    }
    text.add(table.text(style));
    if (view.left_out() != 0) {
        text.add(fmt::format("... and {}, none larger ('--limit 0' shows all)",
                             format_count(view.left_out(), "more program", "more programs")));
    }
    if (view.left_aside != 0) {
        text.add(fmt::format("... and {} of further programs: too many to list separately",
                             format_count(view.left_aside, "allocation", "allocations")));
    }
    text.add(
        Text("\nBytes per device; CB: all cores together. CB TOP: end address of the highest\n"
             "circular buffer. Programs share addresses, so their sum may exceed L1.\n"));
    return text.add(end_of_list(view, style.bytes));
}

}  // namespace ttmem::view
