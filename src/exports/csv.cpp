// SPDX-License-Identifier: Apache-2.0
//
// RFC 4180. One table: allocations, failures and marks in the order of time.

#include <string>
#include <string_view>

#include "exports/formats.hpp"

namespace ttmem::exports {

namespace {

// A spreadsheet computes a field that begins like a formula, also in quotes. An apostrophe keeps it text.
std::string as_field(std::string_view text) {
    const bool is_formula =
        !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
    if (!is_formula && text.find_first_of(",\"\n\r") == std::string_view::npos) {
        return std::string(text);
    }
    std::string field = is_formula ? "\"'" : "\"";
    for (const char c : text) {
        field += c == '"' ? "\"\"" : std::string(1, c);
    }
    return field + '"';
}

class RowWriter {
public:
    RowWriter(const ExportModel& model, Output& to) : model_(model), to_(to) {}

    void text(std::string_view value) { row_ += (row_.empty() ? "" : ",") + as_field(value); }
    void number(std::optional<uint64_t> value) { row_ += "," + (value ? std::to_string(*value) : ""); }
    void time(std::optional<uint64_t> time_ns) {
        row_ += "," + (time_ns ? utc_text(model_.epoch_ns(*time_ns)) : "");
    }
    void process(uint32_t index) {
        const ExportedProcess& process = model_.processes[index];
        number(process.pid);
        text(process.user);
        text(process.command);
    }
    void devices(const std::vector<uint32_t>& ids) {
        std::string list;
        for (const uint32_t id : ids) {
            list += (list.empty() ? "" : " ") + std::to_string(id);
        }
        text(list);
    }
    void end() {
        to_.append(row_ + "\r\n");
        row_.clear();
    }

private:
    const ExportModel& model_;
    Output& to_;
    std::string row_;
};

void write_span(const ExportModel& model, const AllocationSpan& span, RowWriter& row) {
    const ExportedSet& set = model.sets[span.set];
    std::vector<uint32_t> ids;
    for (const uint32_t device : set.devices) {
        ids.push_back(model.devices[device].id);
    }
    const bool is_known = !span.has(segment::AllocationFlag::reserved_unknown);
    row.text("allocation");
    row.time(span.begin_ns);
    row.time(span.end_ns);
    row.process(span.process);
    row.devices(ids);
    row.text(set.label);
    row.text(name_of(span.kind));
    row.text(model.names[span.name]);
    row.number(model.address_of(span));
    row.number(span.allocation.requested);
    row.number(span.used());
    row.number(is_known ? 1 : 0);
    row.text(span.has(segment::AllocationFlag::planned) ? "planned"
             : span.has(segment::AllocationFlag::view)  ? "view"
                                                        : "");
    row.number(span.allocation.owner);
    row.number(span.allocation.thread);
    row.text("");
    row.end();
}

void write_other(const ExportedFailure& failure, RowWriter& row) {
    row.text("failure");
    row.time(failure.time_ns);
    row.text("");
    row.process(failure.process);
    row.devices(failure.figures.devices);
    row.text(failure.figures.set);
    row.text(failure.figures.kind ? name_of(*failure.figures.kind) : "");
    row.text(failure.figures.name);
    row.number(failure.figures.address);
    row.number(failure.figures.requested);
    for (int empty = 0; empty < 4; ++empty) {
        row.text("");
    }
    row.number(failure.figures.thread);
    row.text(failure.text());
    row.end();
}

void write_other(const ExportedMark& mark, RowWriter& row) {
    row.text("mark");
    row.time(mark.time_ns);
    row.text("");
    row.process(mark.process);
    for (int empty = 0; empty < 3; ++empty) {
        row.text("");
    }
    row.text(mark.name);
    for (int empty = 0; empty < 8; ++empty) {
        row.text("");
    }
    row.end();
}

}  // namespace

Notes write_csv(const ExportModel& model, Output& to) {
    to.append(
        "row,time,freed,pid,user,command,devices,set,kind,name,address,requested,used,used_is_known,adds_"
        "nothing,owner,"
        "thread,text\r\n");
    RowWriter row(model, to);
    size_t failure = 0;
    size_t mark = 0;
    const auto write_others_until = [&](uint64_t time_ns) {
        for (; failure < model.failures.size() && model.failures[failure].time_ns <= time_ns; ++failure) {
            write_other(model.failures[failure], row);
        }
        for (; mark < model.marks.size() && model.marks[mark].time_ns <= time_ns; ++mark) {
            write_other(model.marks[mark], row);
        }
    };
    for (const AllocationSpan& span : model.spans) {
        write_others_until(span.begin_ns);
        write_span(model, span, row);
    }
    write_others_until(UINT64_MAX);
    return {};
}

}  // namespace ttmem::exports
