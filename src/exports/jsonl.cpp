// SPDX-License-Identifier: Apache-2.0
//
// One JSON object per line. The first describes the export; then devices, processes, allocations, failures and marks.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "exports/formats.hpp"

namespace ttmem::exports {

namespace {

using Object = nlohmann::ordered_json;

template <class T>
Object or_null(const std::optional<T>& value) {
    return value ? Object(*value) : Object();
}

Object or_null(const std::string& text) { return text.empty() ? Object() : Object(text); }

Object head_of(const ExportModel& model) {
    return {{"type", "export"},
            {"version", 1},
            {"host", model.host},
            {"source", model.source},
            {"begin_ns", model.epoch_ns(model.begin_ns)},
            {"end_ns", model.epoch_ns(model.end_ns)},
            {"notes", model.notes}};
}

Object device_object(const ExportedDevice& device) {
    Object object = {{"type", "device"},
                     {"id", device.id},
                     {"arch", or_null(device.arch)},
                     {"board", or_null(device.board)},
                     {"asic_id", or_null(device.asic_id)}};
    for (size_t kind = 0; kind < census::kPoolKinds; ++kind) {
        const census::Bank& bank = device.banks[kind];
        object[std::string(name_of(static_cast<census::Kind>(kind)))] = {
            {"capacity", or_null(device.capacity[kind])},
            {"banks", bank.is_known() ? Object(bank.banks) : Object()},
            {"bank_base", bank.is_known() ? Object(bank.base) : Object()},
            {"bank_size", bank.is_known() ? Object(bank.size) : Object()}};
    }
    return object;
}

Object span_object(const ExportModel& model, const AllocationSpan& span) {
    const ExportedSet& set = model.sets[span.set];
    Object devices = Object::array();
    for (const uint32_t device : set.devices) {
        devices.push_back(model.devices[device].id);
    }
    return {{"type", "allocation"},
            {"pid", model.processes[span.process].pid},
            {"devices", std::move(devices)},
            {"set", or_null(set.label)},
            {"kind", name_of(span.kind)},
            {"name", or_null(model.names[span.name])},
            {"address", or_null(model.address_of(span))},
            {"requested", span.allocation.requested},
            {"used", span.used()},
            {"used_is_known", !span.has(segment::AllocationFlag::reserved_unknown)},
            {"planned", span.has(segment::AllocationFlag::planned)},
            {"view", span.has(segment::AllocationFlag::view)},
            {"owner", span.allocation.owner},
            {"thread", span.allocation.thread},
            {"time_ns", model.epoch_ns(span.begin_ns)},
            {"freed_ns", span.end_ns ? Object(model.epoch_ns(*span.end_ns)) : Object()}};
}

Object failure_object(const ExportModel& model, const ExportedFailure& failure) {
    const census::FailureFigures& figures = failure.figures;
    return {{"type", "failure"},
            {"pid", figures.pid},
            {"time_ns", model.epoch_ns(failure.time_ns)},
            {"failure", name_of(figures.type)},
            {"verdict", name_of(figures.verdict)},
            {"devices", figures.devices},
            {"set", or_null(figures.set)},
            {"kind", figures.kind ? Object(name_of(*figures.kind)) : Object()},
            {"name", or_null(figures.name)},
            {"requested", or_null(figures.requested)},
            {"needed", or_null(figures.needed)},
            {"free", or_null(figures.free)},
            {"largest_free", or_null(figures.largest_free)},
            {"text", failure.text()}};
}

}  // namespace

Notes write_jsonl(const ExportModel& model, Output& to) {
    const auto write = [&](const Object& object) {
        to.append(object.dump(-1, ' ', false, Object::error_handler_t::replace) + "\n");
    };
    write(head_of(model));
    for (const ExportedDevice& device : model.devices) {
        write(device_object(device));
    }
    for (const ExportedProcess& process : model.processes) {
        write({{"type", "process"},
               {"pid", process.pid},
               {"user", process.user},
               {"command", process.command}});
    }
    for (const AllocationSpan& span : model.spans) {
        write(span_object(model, span));
    }
    for (const ExportedFailure& failure : model.failures) {
        write(failure_object(model, failure));
    }
    for (const ExportedMark& mark : model.marks) {
        write({{"type", "mark"},
               {"pid", model.processes[mark.process].pid},
               {"time_ns", model.epoch_ns(mark.time_ns)},
               {"name", mark.name}});
    }
    return {};
}

}  // namespace ttmem::exports
