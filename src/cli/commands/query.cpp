// SPDX-License-Identifier: Apache-2.0
#include "view/model/query.hpp"

#include <cmath>

#include "cli/commands/commands.hpp"
#include "cli/host_view.hpp"

namespace ttmem::cli {

namespace {

constexpr char kDeviceFields[] = "device,board,dram.used,dram.capacity,l1.used,l1.capacity,cb.used,processes";
constexpr char kProcessFields[] = "pid,user,command,device,dram.used,l1.used,cb.used";

struct QueryOptions : HostOptions {
    std::optional<std::string> fields;
    std::string format = "csv";
    uint64_t loop_ms = 0;
    bool processes = false;
    bool list = false;

    view::QueryRows rows() const { return processes ? view::QueryRows::processes : view::QueryRows::devices; }
};

void declare_query_options(CLI::App& command, QueryOptions& options) {
    add_direct(command, options);
    add_devices(command, options.devices);
    command.add_flag("--processes", options.processes, "One line per process and device that it holds");
    command.add_option("--fields", options.fields, "Fields to print, in this order (see --list)")
        ->type_name("NAME,...");
    command.add_option("--format", options.format, "csv, optionally with ,noheader and ,nounits; or json")
        ->type_name("FORMAT");
    command.add_flag("--json", options.json, "The same as --format=json");
    command.add_flag("--no-header", options.no_header, "The same as --format=csv,noheader");
    command
        .add_option_function<double>(
            "-l,--watch",
            [&options](double seconds) {
                options.loop_ms = static_cast<uint64_t>(std::llround(seconds * 1000));
            },
            "Repeat every N seconds, until Ctrl-C")
        ->check(check_seconds)
        ->type_name("N");
    command.add_option("--loop-ms", options.loop_ms, "Repeat every N milliseconds")
        ->check(check_interval(1))
        ->type_name("N");
    command.add_flag("--list", options.list, "List all fields");
}

std::string list_of_fields(view::QueryRows rows) {
    std::string text;
    for (const view::QueryField& field : view::query_fields(rows)) {
        std::string name = field.name + (field.unit.empty() ? "" : " [" + field.unit + "]");
        name.resize(std::max<size_t>(name.size() + 2, 28), ' ');
        text += name + field.about + "\n";
    }
    return text;
}

base::Expected<view::QueryFormat> parse_format(const std::string& text) {
    view::QueryFormat format;
    if (text == "json") {
        format.json = true;
        return format;
    }
    size_t start = 0;
    for (bool is_first = true; start <= text.size(); is_first = false) {
        const size_t end = std::min(text.find(',', start), text.size());
        const std::string word = text.substr(start, end - start);
        if (is_first ? word != "csv" : word != "noheader" && word != "nounits") {
            return base::error(base::Error::Code::refused,
                               "unknown format '" + text +
                                   "': must be json, or csv, optionally with ,noheader and ,nounits");
        }
        format.header = format.header && word != "noheader";
        format.units = format.units && word != "nounits";
        start = end + 1;
    }
    return format;
}

int run_query(const QueryOptions& options) {
    if (options.list) {
        return print(list_of_fields(options.rows()));
    }
    const std::string standard = options.processes ? kProcessFields : kDeviceFields;
    const auto query = view::FieldQuery::parse(options.fields ? *options.fields : standard, options.rows());
    auto format = parse_format(options.json ? "json" : options.format);
    if (!query || !format) {
        print_error((!query ? query.error() : format.error()).text);
        return kUsageError;
    }
    format->header = format->header && !options.no_header;
    for (bool is_first = true; true; is_first = false) {
        const auto reply = read_host(options);
        if (!reply) {
            return fail(reply.error());
        }
        if (reply->view.figures.devices.empty()) {
            print_error("no devices yet ('ttmem status' shows why)");
        }
        if (print((is_first ? query->header(*format) : "") + query->lines(reply->view, *format)) != 0) {
            return 1;
        }
        if (options.loop_ms == 0 || !wait_for_reader(std::chrono::milliseconds(options.loop_ms))) {
            return 0;
        }
    }
}

}  // namespace

void add_query(CLI::App& app, Action& chosen) {
    add_command<QueryOptions>(app, chosen, "query",
                              "Chosen figures of each device or process, as CSV or JSON",
                              declare_query_options, run_query)
        ->footer(
            "Unknown values are empty, in JSON null, never 0. A JSON document is one line.\n\n"
            "Examples:\n"
            "  ttmem query --fields=device,dram.used,temperature --format=csv,noheader\n"
            "  ttmem query --processes --fields=pid,device,dram.percent --json");
}

}  // namespace ttmem::cli
