// SPDX-License-Identifier: Apache-2.0
#include "view/model/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "view/json/json_fields.hpp"

namespace ttmem::view {

using base::Error;
using census::DeviceFigures;

namespace {

using Value = std::optional<std::string>;

// One line: a device, or a process and what it holds on a device. A process that holds no device has no holdings.
struct QueryRow {
    const View& view;
    const DeviceFigures* device = nullptr;
    const census::ProcessFigures* process = nullptr;
    const census::DeviceHoldings* held = nullptr;
};
using Getter = std::function<Value(const QueryRow&)>;

enum class ValueType : uint8_t { text, number };

struct Field {
    QueryField shown;
    Getter get;
    ValueType type = ValueType::text;
};

template <class T>
Value text_of(const std::optional<T>& value) {
    return value ? std::optional(fmt::format("{}", *value)) : std::nullopt;
}

// With one decimal, rounded down.
Value percent_of(std::optional<uint64_t> part, std::optional<uint64_t> whole) {
    if (!part || !whole || *whole == 0) {
        return std::nullopt;
    }
    const auto tenths =
        static_cast<uint64_t>(static_cast<long double>(*part) * 1000 / static_cast<long double>(*whole));
    return fmt::format("{}.{}", tenths / 10, tenths % 10);
}

template <class Amounts>
std::optional<uint64_t> amount_if_known(const Amounts& amounts, uint64_t value) {
    return amounts.is_known ? std::optional(value) : std::nullopt;
}

void add_memory_fields(std::vector<Field>& fields) {
    using census::MemoryFigures;
    for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
        const std::string name(kKindNames[kind]);
        const auto add = [&](const char* what, const char* unit, const char* about,
                             const std::function<Value(const MemoryFigures&)>& get) {
            fields.push_back({{name + "." + what, unit, fmt::format("{}: {}", name, about)},
                              [kind, get](const QueryRow& row) { return get(row.device->memory[kind]); },
                              ValueType::number});
        };
        add("used", "B", "reserved bytes, rounding included",
            [](const MemoryFigures& memory) { return text_of(amount_if_known(memory, memory.used)); });
        add("requested", "B", "logical bytes",
            [](const MemoryFigures& memory) { return text_of(amount_if_known(memory, memory.requested)); });
        add("capacity", "B", "allocatable bytes",
            [](const MemoryFigures& memory) { return text_of(memory.capacity); });
        add("free", "B", "capacity less used bytes", [](const MemoryFigures& memory) {
            const bool is_known = memory.is_known && memory.capacity && *memory.capacity >= memory.used;
            return is_known ? Value(std::to_string(*memory.capacity - memory.used)) : std::nullopt;
        });
        add("percent", "%", "used bytes of the capacity", [](const MemoryFigures& memory) {
            return percent_of(amount_if_known(memory, memory.used), memory.capacity);
        });
        add("peak", "B", "highest use so far",
            [](const MemoryFigures& memory) { return text_of(amount_if_known(memory, memory.peak)); });
        add("count", "", "live allocations", [](const MemoryFigures& memory) {
            return memory.is_count_known ? Value(std::to_string(memory.count)) : std::nullopt;
        });
        add("largest_free", "B", "largest free block of a bank",
            [](const MemoryFigures& memory) { return text_of(memory.largest_free); });
    }
}

void add_holding_fields(std::vector<Field>& fields) {
    for (size_t kind = 0; kind < census::kDeviceKinds; ++kind) {
        const std::string name(kKindNames[kind]);
        const auto add = [&](const char* what, const char* unit, const char* about,
                             const std::function<Value(const census::Holding&, const DeviceFigures*)>& get) {
            fields.push_back({{name + "." + what, unit, fmt::format("{}: {}", name, about)},
                              [kind, get](const QueryRow& row) {
                                  return row.held != nullptr ? get(row.held->memory[kind], row.device)
                                                             : std::nullopt;
                              },
                              ValueType::number});
        };
        add("used", "B", "reserved bytes on the device", [](const census::Holding& held, const auto*) {
            return text_of(amount_if_known(held, held.used));
        });
        add("requested", "B", "logical bytes on the device", [](const census::Holding& held, const auto*) {
            return text_of(amount_if_known(held, held.requested));
        });
        add("percent", "%", "used bytes of the device's capacity",
            [kind](const census::Holding& held, const DeviceFigures* device) {
                return percent_of(amount_if_known(held, held.used),
                                  device != nullptr ? device->memory[kind].capacity : std::nullopt);
            });
        add("count", "", "live allocations on the device", [](const census::Holding& held, const auto*) {
            return held.is_known && held.is_count_known ? Value(std::to_string(held.count)) : std::nullopt;
        });
    }
}

template <class Member>
Field telemetry(const char* name, const char* unit, const char* about, Member member) {
    return {{name, unit, about},
            [member](const QueryRow& row) { return text_of(row.device->telemetry.*member); },
            ValueType::number};
}

Value processes_on(const QueryRow& row) {
    const auto holds = [&](const census::ProcessFigures& process) {
        return std::any_of(process.devices.begin(), process.devices.end(),
                           [&](const census::DeviceHoldings& held) { return held.id == row.device->id; });
    };
    const auto& processes = row.view.figures.processes;
    return std::to_string(std::count_if(processes.begin(), processes.end(), holds));
}

// What both have.
void add_origin_fields(std::vector<Field>& fields) {
    fields.push_back(
        {{"host", "", "The name of the host"}, [](const QueryRow& row) { return row.view.origin.host; }});
    fields.push_back({{"time_ns", "", "Nanoseconds since the epoch"},
                      [](const QueryRow& row) { return std::to_string(row.view.origin.time_ns); },
                      ValueType::number});
    fields.push_back({{"exact", "", "Whether the figures of the host are exact: yes or no"},
                      [](const QueryRow& row) { return row.view.is_exact() ? "yes" : "no"; }});
}

std::vector<Field> make_process_fields() {
    std::vector<Field> fields = {
        {{"pid", "", "The process"},
         [](const QueryRow& row) { return std::to_string(row.process->pid); },
         ValueType::number},
        {{"user", "", "Its user"}, [](const QueryRow& row) { return row.process->user; }},
        {{"command", "", "Its command"}, [](const QueryRow& row) { return row.process->comm; }},
        {{"state", "", "live or untracked"},
         [](const QueryRow& row) { return std::string(name_of(row.process->state)); }},
        {{"source", "", "Where its figures come from"},
         [](const QueryRow& row) { return std::string(name_of(row.process->source)); }},
        {{"age_ns", "", "How long it has been running, in nanoseconds"},
         [](const QueryRow& row) {
             const uint64_t now = row.view.origin.time_ns;
             return std::to_string(now - std::min(now, row.process->start_time_ns));
         },
         ValueType::number},
        {{"device", "", "The device's number"},
         [](const QueryRow& row) {
             return row.held != nullptr ? Value(std::to_string(row.held->id)) : std::nullopt;
         },
         ValueType::number},
        {{"asic_id", "", "The id of the chip"},
         [](const QueryRow& row) {
             return row.device != nullptr && row.device->asic_id
                        ? Value(fmt::format("{:#x}", *row.device->asic_id))
                        : std::nullopt;
         }},
    };
    add_origin_fields(fields);
    add_holding_fields(fields);
    return fields;
}

std::vector<Field> make_device_fields() {
    using census::Telemetry;
    std::vector<Field> fields = {
        {{"device", "", "The device's number"},
         [](const QueryRow& row) { return std::to_string(row.device->id); },
         ValueType::number},
        {{"board", "", "The card"}, [](const QueryRow& row) { return row.device->board; }},
        {{"arch", "", "The architecture"}, [](const QueryRow& row) { return row.device->arch; }},
        {{"asic_id", "", "The id of the chip"},
         [](const QueryRow& row) {
             return row.device->asic_id ? Value(fmt::format("{:#x}", *row.device->asic_id)) : std::nullopt;
         }},
        {{"bdf", "", "The PCI bus address"},
         [](const QueryRow& row) { return row.device->driver ? row.device->driver->bdf : std::nullopt; }},
        {{"processes", "", "Number of processes that hold the device"}, processes_on, ValueType::number},
        {{"l1.headroom", "B", "Space between circular buffers and L1 buffers on the fullest core"},
         [](const QueryRow& row) { return text_of(row.device->l1_worst_core.headroom); },
         ValueType::number},
        telemetry("temperature", "C", "Temperature", &Telemetry::temperature_c),
        telemetry("power", "W", "Power", &Telemetry::power_w),
        telemetry("current", "A", "Current", &Telemetry::current_a),
        telemetry("voltage", "V", "Voltage", &Telemetry::voltage_v),
        telemetry("aiclk", "MHz", "Clock of the compute cores", &Telemetry::aiclk_mhz),
        telemetry("fan", "rpm", "Fan speed", &Telemetry::fan_rpm),
    };
    add_origin_fields(fields);
    add_memory_fields(fields);
    return fields;
}

const std::vector<Field>& all_fields(QueryRows rows) {
    static const std::vector<Field> kDeviceFields = make_device_fields();
    static const std::vector<Field> kProcessFields = make_process_fields();
    return rows == QueryRows::devices ? kDeviceFields : kProcessFields;
}

std::vector<QueryField> shown_fields(QueryRows rows) {
    std::vector<QueryField> shown;
    for (const Field& field : all_fields(rows)) {
        shown.push_back(field.shown);
    }
    return shown;
}

const DeviceFigures* device_with(const View& view, uint32_t id) {
    const auto& devices = view.figures.devices;
    const auto found =
        std::find_if(devices.begin(), devices.end(), [&](const auto& one) { return one.id == id; });
    return found == devices.end() ? nullptr : &*found;
}

std::vector<QueryRow> query_rows(const View& view, QueryRows rows) {
    std::vector<QueryRow> result;
    if (rows == QueryRows::devices) {
        for (const DeviceFigures& device : view.figures.devices) {
            result.push_back({view, &device});
        }
        return result;
    }
    for (const census::ProcessFigures& process : view.figures.processes) {
        for (const census::DeviceHoldings& held : process.devices) {
            result.push_back({view, device_with(view, held.id), &process, &held});
        }
        if (process.devices.empty()) {
            result.push_back({view, nullptr, &process});
        }
    }
    return result;
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

std::string csv_line(const std::vector<size_t>& fields, const QueryRow& row, QueryRows rows, bool units) {
    std::string line;
    for (size_t i = 0; i < fields.size(); ++i) {
        const Field& field = all_fields(rows)[fields[i]];
        const Value value = field.get(row);
        const bool has_unit = units && value && !field.shown.unit.empty();
        line += i == 0 ? "" : ",";
        line += value ? quoted(*value + (has_unit ? " " + field.shown.unit : "")) : "";
    }
    return line;
}

std::string json_string(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_object(const std::vector<size_t>& fields, const QueryRow& row, QueryRows rows) {
    std::string text;
    for (const size_t index : fields) {
        const Field& field = all_fields(rows)[index];
        const Value value = field.get(row);
        const std::string shown = !value                          ? "null"
                                  : field.type == ValueType::text ? json_string(*value)
                                                                  : *value;
        text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", field.shown.name, shown);
    }
    return "{" + text + "}";
}

}  // namespace

const std::vector<QueryField>& query_fields(QueryRows rows) {
    static const std::vector<QueryField> kDevices = shown_fields(QueryRows::devices);
    static const std::vector<QueryField> kProcesses = shown_fields(QueryRows::processes);
    return rows == QueryRows::devices ? kDevices : kProcesses;
}

base::Expected<FieldQuery> FieldQuery::parse(std::string_view comma_separated, QueryRows rows) {
    FieldQuery query;
    query.rows_ = rows;
    const auto& fields = query_fields(rows);
    while (!comma_separated.empty()) {
        const size_t end = std::min(comma_separated.find(','), comma_separated.size());
        const std::string_view name = comma_separated.substr(0, end);
        comma_separated.remove_prefix(std::min(end + 1, comma_separated.size()));
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
    if (!format.header || format.json) {
        return "";
    }
    std::string text;
    for (const size_t index : fields_) {
        const QueryField& field = query_fields(rows_)[index];
        text += (text.empty() ? "" : ",") + field.name + (field.unit.empty() ? "" : " [" + field.unit + "]");
    }
    return text + "\n";
}

std::string FieldQuery::lines(const View& view, const QueryFormat& format) const {
    assert(!fields_.empty());
    std::string text;
    for (const QueryRow& row : query_rows(view, rows_)) {
        text += format.json ? (text.empty() ? "" : ", ") + json_object(fields_, row, rows_)
                            : csv_line(fields_, row, rows_, format.units) + "\n";
    }
    return format.json ? "[" + text + "]\n" : text;
}

}  // namespace ttmem::view
