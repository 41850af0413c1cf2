// SPDX-License-Identifier: Apache-2.0
#include "view/model/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <optional>

#include "view/json/json_fields.hpp"

namespace ttmem::view {

using base::Error;
using census::DeviceFigures;

namespace {

using Value = std::optional<std::string>;
using Getter = std::function<Value(const View&, const DeviceFigures&)>;

struct Field {
    QueryField shown;
    Getter get;
};

template <class T>
Value text_of(const std::optional<T>& value) {
    return value ? std::optional(fmt::format("{}", *value)) : std::nullopt;
}

void add_memory_fields(std::vector<Field>& fields) {
    for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
        const std::string name(kKindNames[kind]);
        const auto add =
            [&](const char* what, const char* unit, const char* about,
                const std::function<std::optional<uint64_t>(const census::MemoryFigures&)>& get) {
                fields.push_back({{name + "." + what, unit, fmt::format("{}: {}", name, about)},
                                  [kind, get](const View&, const DeviceFigures& device) {
                                      return text_of(get(device.memory[kind]));
                                  }});
            };
        const auto if_known = [](auto member) {
            return [member](const census::MemoryFigures& memory) {
                return memory.is_known ? std::optional<uint64_t>(memory.*member) : std::nullopt;
            };
        };
        add("used", "B", "reserved bytes, rounding included", if_known(&census::MemoryFigures::used));
        add("requested", "B", "logical bytes", if_known(&census::MemoryFigures::requested));
        add("capacity", "B", "allocatable bytes",
            [](const census::MemoryFigures& memory) { return memory.capacity; });
        add("peak", "B", "highest use so far", if_known(&census::MemoryFigures::peak));
        add("count", "", "live allocations", [](const census::MemoryFigures& memory) {
            return memory.is_count_known ? std::optional<uint64_t>(memory.count) : std::nullopt;
        });
        add("largest_free", "B", "largest free block of a bank",
            [](const census::MemoryFigures& memory) { return memory.largest_free; });
    }
}

template <class Member>
Field telemetry(const char* name, const char* unit, const char* about, Member member) {
    return {{name, unit, about},
            [member](const View&, const DeviceFigures& device) { return text_of(device.telemetry.*member); }};
}

Value processes_on(const View& view, const DeviceFigures& device) {
    const auto holds = [&](const census::ProcessFigures& process) {
        return std::any_of(process.devices.begin(), process.devices.end(),
                           [&](const census::DeviceHoldings& held) { return held.id == device.id; });
    };
    return std::to_string(std::count_if(view.figures.processes.begin(), view.figures.processes.end(), holds));
}

std::vector<Field> make_fields() {
    using census::Telemetry;
    std::vector<Field> fields = {
        {{"device", "", "The device's number"},
         [](const View&, const DeviceFigures& device) { return Value(std::to_string(device.id)); }},
        {{"host", "", "The name of the host"},
         [](const View& view, const DeviceFigures&) { return Value(view.origin.host); }},
        {{"time_ns", "", "Nanoseconds since the epoch"},
         [](const View& view, const DeviceFigures&) { return Value(std::to_string(view.origin.time_ns)); }},
        {{"board", "", "The card"}, [](const View&, const DeviceFigures& device) { return device.board; }},
        {{"arch", "", "The architecture"},
         [](const View&, const DeviceFigures& device) { return device.arch; }},
        {{"asic_id", "", "The id of the chip"},
         [](const View&, const DeviceFigures& device) {
             return device.asic_id ? Value(fmt::format("{:#x}", *device.asic_id)) : std::nullopt;
         }},
        {{"bdf", "", "The PCI bus address"},
         [](const View&, const DeviceFigures& device) {
             return device.driver ? device.driver->bdf : std::nullopt;
         }},
        {{"processes", "", "Number of processes that hold the device"}, processes_on},
        {{"l1.headroom", "B", "Space between circular buffers and L1 buffers on the fullest core"},
         [](const View&, const DeviceFigures& device) { return text_of(device.l1_worst_core.headroom); }},
        telemetry("temperature", "C", "Temperature", &Telemetry::temperature_c),
        telemetry("power", "W", "Power", &Telemetry::power_w),
        telemetry("current", "A", "Current", &Telemetry::current_a),
        telemetry("voltage", "V", "Voltage", &Telemetry::voltage_v),
        telemetry("aiclk", "MHz", "Clock of the compute cores", &Telemetry::aiclk_mhz),
        telemetry("fan", "rpm", "Fan speed", &Telemetry::fan_rpm),
        {{"exact", "", "Whether the figures of the host are exact: yes or no"},
         [](const View& view, const DeviceFigures&) { return Value(view.is_exact() ? "yes" : "no"); }},
    };
    add_memory_fields(fields);
    return fields;
}

const std::vector<Field>& all_fields() {
    static const std::vector<Field> kFields = make_fields();
    return kFields;
}

// Quotes a value that has a comma or a quote in it.
std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) {
        return text;
    }
    std::string result = "\"";
    for (const char c : text) {
        result += c == '"' ? "\"\"" : std::string(1, c);
    }
    return result + "\"";
}

}  // namespace

const std::vector<QueryField>& query_fields() {
    static const std::vector<QueryField> kShown = [] {
        std::vector<QueryField> shown;
        for (const Field& field : all_fields()) {
            shown.push_back(field.shown);
        }
        return shown;
    }();
    return kShown;
}

base::Expected<FieldQuery> FieldQuery::parse(std::string_view comma_separated) {
    FieldQuery query;
    while (!comma_separated.empty()) {
        const size_t end = std::min(comma_separated.find(','), comma_separated.size());
        const std::string_view name = comma_separated.substr(0, end);
        comma_separated.remove_prefix(std::min(end + 1, comma_separated.size()));
        const auto& fields = query_fields();
        const auto found = std::find_if(fields.begin(), fields.end(),
                                        [&](const QueryField& field) { return field.name == name; });
        if (found == fields.end()) {
            return base::error(Error::Code::refused,
                               "unknown field '" + std::string(name) + "' ('ttmem query --list' shows them)");
        }
        query.fields_.push_back(static_cast<size_t>(found - fields.begin()));
    }
    if (query.fields_.empty()) {
        return base::error(Error::Code::refused, "no fields given ('ttmem query --list' shows them)");
    }
    return query;
}

std::string FieldQuery::header(const QueryFormat& format) const {
    if (!format.header) {
        return "";
    }
    std::string text;
    for (const size_t index : fields_) {
        const QueryField& field = query_fields()[index];
        text += (text.empty() ? "" : ",") + field.name + (field.unit.empty() ? "" : " [" + field.unit + "]");
    }
    return text + "\n";
}

std::string FieldQuery::lines(const View& view, const QueryFormat& format) const {
    assert(!fields_.empty());
    std::string text;
    for (const DeviceFigures& device : view.figures.devices) {
        std::string line;
        for (size_t i = 0; i < fields_.size(); ++i) {
            const Field& field = all_fields()[fields_[i]];
            const Value value = field.get(view, device);
            const bool has_unit = format.units && value && !field.shown.unit.empty();
            line += (i == 0 ? "" : ",") +
                    (value ? quoted(*value + (has_unit ? " " + field.shown.unit : "")) : "");
        }
        text += line + "\n";
    }
    return text;
}

}  // namespace ttmem::view
