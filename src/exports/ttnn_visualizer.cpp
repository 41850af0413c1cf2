// SPDX-License-Identifier: Apache-2.0
//
// A report for ttnn-visualizer. Its database has all live buffers after each operation, so an operation per event would make it
// huge. Here an "operation" is a moment: the beginning, marks, failures, the peak of each kind, and the end.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "exports/database.hpp"
#include "exports/formats.hpp"
#include "exports/visualizer_schema.hpp"
#include "view/text/screens.hpp"
#include "view/text/spans.hpp"

namespace ttmem::exports {

namespace {

using census::Kind;
using nlohmann::json;

struct ReportMoment {
    uint64_t time_ns = 0;
    std::string name;
    const ExportedFailure* failure = nullptr;
};

// What was used most at which time, over all devices.
std::vector<ReportMoment> peaks_of(const ExportModel& model, const std::vector<SpanChange>& changes) {
    std::array<uint64_t, census::kPoolKinds> used{}, highest{}, when{};
    for (const SpanChange& change : changes) {
        const AllocationSpan& span = model.spans[change.span];
        const size_t kind = census::index_of(span.kind);
        if (kind < census::kPoolKinds) {
            const uint64_t bytes = span.used() * model.sets[span.set].devices.size();
            used[kind] += change.is_end ? 0 - bytes : bytes;
            if (used[kind] > highest[kind]) {
                highest[kind] = used[kind];
                when[kind] = change.time_ns;
            }
        }
    }
    std::vector<ReportMoment> moments;
    for (size_t kind = 0; kind < census::kPoolKinds; ++kind) {
        if (highest[kind] != 0 && !model.is_moment()) {
            moments.push_back({when[kind], "peak of " + std::string(name_of(static_cast<Kind>(kind)))});
        }
    }
    return moments;
}

std::vector<ReportMoment> moments_of(const ExportModel& model, const std::vector<SpanChange>& changes,
                                     size_t most, size_t& left_out) {
    std::vector<ReportMoment> moments = peaks_of(model, changes);
    if (!model.is_moment()) {
        moments.push_back({model.begin_ns, "beginning"});
    }
    for (const ExportedFailure& failure : model.failures) {
        moments.push_back(
            {failure.time_ns, "failure: " + std::string(name_of(failure.figures.type)), &failure});
    }
    for (const ExportedMark& mark : model.marks) {
        moments.push_back({mark.time_ns, "mark: " + mark.name});
    }
    left_out = moments.size() + 1 - std::min(moments.size() + 1, most);  // the end is one more
    moments.resize(moments.size() - left_out);
    std::stable_sort(moments.begin(), moments.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    moments.push_back({model.end_ns, model.is_moment() ? "now" : "end"});
    return moments;
}

std::optional<uint64_t> buffer_type_of(Kind kind) {
    switch (kind) {
        case Kind::dram:
            return 0;
        case Kind::l1:
            return 1;
        case Kind::l1_small:
            return 3;
        case Kind::trace:
            return 4;
        case Kind::cb:
        case Kind::kernel:
        case Kind::system_memory:
            break;
    }
    return std::nullopt;
}

// "{[0-0 - 7-6], [0-7 - 3-7]}", as x-y of the first and last core of rectangles.
std::string core_ranges(const segment::CoreMask& mask) {
    std::string text;
    segment::CoreMask left = mask;
    const auto run_at = [](uint16_t row, unsigned x) {
        unsigned end = x;
        while (end < 16 && (row >> end & 1) != 0) {
            ++end;
        }
        return static_cast<uint16_t>((1u << end) - (1u << x));
    };
    for (unsigned y = 0; y < left.size(); ++y) {
        while (left[y] != 0) {
            const auto x = static_cast<unsigned>(__builtin_ctz(left[y]));
            const uint16_t run = run_at(left[y], x);
            unsigned last = y;
            while (last + 1 < left.size() && (left[last + 1] & run) == run &&
                   run_at(left[last + 1], x) == run && (x == 0 || (left[last + 1] >> (x - 1) & 1) == 0)) {
                ++last;
            }
            for (unsigned row = y; row <= last; ++row) {
                left[row] = static_cast<uint16_t>(left[row] & ~run);
            }
            const unsigned right = x + static_cast<unsigned>(__builtin_popcount(run)) - 1;
            text += (text.empty() ? "[" : ", [") + std::to_string(x) + "-" + std::to_string(y) + " - " +
                    std::to_string(right) + "-" + std::to_string(last) + "]";
        }
    }
    return "{" + text + "}";
}

// The captured graph of a moment: each program is a function with its circular buffers.
class GraphWriter {
public:
    GraphWriter(const ExportModel& model, const std::string& name) : model_(model) {
        add("capture_start", json::object());
        open(name);
    }

    void add_buffer(const AllocationSpan& span) {
        programs_[{span.process, span.allocation.owner}].push_back(&span);
    }

    std::string finish() {
        for (const auto& [key, buffers] : programs_) {
            const std::string& name = model_.names[buffers.front()->name];
            open("program " + std::to_string(key.second) + (name.empty() ? "" : " " + name));
            std::set<uint32_t> devices;
            for (const AllocationSpan* span : buffers) {
                for (const uint32_t device : model_.sets[span->set].devices) {
                    devices.insert(device);
                    add("circular_buffer_allocate",
                        {{"size", std::to_string(span->allocation.requested)},
                         {"address", std::to_string(span->allocation.address)},
                         {"core_range_set", core_ranges(model_.cores[span->cores])},
                         {"globally_allocated", span->has(segment::AllocationFlag::view) ? "1" : "0"},
                         {"device_id", std::to_string(device)}});
                }
            }
            for (const uint32_t device : devices) {
                add("circular_buffer_deallocate_all", {{"device_id", std::to_string(device)}});
            }
            close();
        }
        close();
        add("capture_end", json::object());
        for (size_t i = 0; i + 1 < nodes_.size(); ++i) {
            nodes_[i]["connections"] = json::array({i + 1});
        }
        return json(nodes_).dump(-1, ' ', false, json::error_handler_t::replace);
    }

private:
    void add(const char* type, json params) {
        nodes_.push_back({{"id", nodes_.size()},
                          {"node_type", type},
                          {"params", std::move(params)},
                          {"connections", json::array()},
                          {"stacking_level", level_}});
    }
    void open(const std::string& name) {
        names_.push_back(name);
        add("function_start", {{"name", name}, {"inputs", "0"}});
        nodes_.back()["arguments"] = json::array();
        nodes_.back()["input_tensors"] = json::array();
        ++level_;
    }
    void close() {
        --level_;
        add("function_end", {{"name", names_.back()}});
        names_.pop_back();
    }

    const ExportModel& model_;
    std::vector<json> nodes_;
    std::vector<std::string> names_;
    unsigned level_ = 0;
    std::map<std::pair<uint32_t, uint64_t>, std::vector<const AllocationSpan*>>
        programs_;  // by process and owner
};

// The buffers of one kind and name, each counted once: all devices of its set hold the same.
struct NamedBuffers {
    uint64_t buffers = 0;
    uint64_t per_bank = 0;

    void add(const AllocationSpan& span, const ExportModel& model) {
        const std::vector<uint32_t>& devices = model.sets[span.set].devices;
        ++buffers;
        per_bank += devices.empty() ? 0 : model.per_bank(span, devices.front());
    }
};
using BuffersByName = std::map<std::pair<Kind, uint32_t>, NamedBuffers>;  // kind, name

class ReportWriter {
public:
    ReportWriter(const ExportModel& model, Database& to, const ReportLimits& limits)
        : model_(model), to_(to), limits_(limits) {}

    Notes write() {
        to_.run(kVisualizerSchema);
        to_.insert("source_files", {kNamesFile, "ttmem: names of live buffers", ""});
        write_devices();
        const std::vector<SpanChange> changes = changes_of(model_);
        size_t moments_left_out = 0;
        const std::vector<ReportMoment> moments =
            moments_of(model_, changes, limits_.moments, moments_left_out);
        size_t next = 0;
        std::set<uint32_t> live;
        for (size_t i = 0; i < moments.size(); ++i) {
            for (; next < changes.size() && changes[next].time_ns <= moments[i].time_ns; ++next) {
                if (changes[next].is_end) {
                    live.erase(changes[next].span);
                } else {
                    live.insert(changes[next].span);
                }
            }
            write_moment(i + 1, moments[i], live);
        }
        Notes own = notes(moments_left_out);
        write_metadata(own);
        return own;
    }

private:
    static constexpr uint64_t kNamesFile = 1;  // a text of the moment, from no source file

    void write_devices() {
        for (uint64_t i = 0; i < model_.devices.size(); ++i) {
            const ExportedDevice& device = model_.devices[i];
            const census::Bank& l1 = device.banks[census::index_of(Kind::l1)];
            const census::Bank& small = device.banks[census::index_of(Kind::l1_small)];
            const uint64_t cores = uint64_t{device.grid_x} * device.grid_y;
            const uint64_t worker = l1.base + l1.size + small.size;
            to_.insert("devices",
                       {i, uint64_t{device.grid_y}, uint64_t{device.grid_x}, uint64_t{device.grid_y},
                        uint64_t{device.grid_x}, worker, uint64_t{l1.banks}, l1.size, uint64_t{0}, l1.base,
                        l1.size == 0 ? 0 : worker / l1.size, cores, uint64_t{0}, cores * worker, uint64_t{0},
                        cores * l1.size, cores * l1.size, worker - l1.base, uint64_t{0}});
        }
    }

    void write_moment(uint64_t operation, const ReportMoment& moment, const std::set<uint32_t>& live) {
        to_.insert("operations", {operation, moment.name, uint64_t{0}, uint64_t{0}});
        const std::string time = utc_text(model_.epoch_ns(moment.time_ns));
        to_.insert("operation_arguments", {operation, "time", time, uint64_t{0}});
        to_.insert("operation_arguments",
                   {operation, "live allocations", std::to_string(live.size()), uint64_t{0}});
        GraphWriter graph(model_, moment.name);
        BuffersByName held;
        for (const uint32_t index : live) {
            const AllocationSpan& span = model_.spans[index];
            if (span.kind == Kind::cb) {
                graph.add_buffer(span);
            }
            const auto type = buffer_type_of(span.kind);
            if (!type || !span.adds_bytes()) {
                continue;
            }
            held[{span.kind, span.name}].add(span, model_);
            for (const uint32_t device : model_.sets[span.set].devices) {
                if (rows_ == limits_.buffer_rows) {
                    ++rows_left_out_;
                    continue;
                }
                ++rows_;
                to_.insert("buffers", {operation, uint64_t{device}, span.allocation.address,
                                       model_.per_bank(span, device), *type, uint64_t{0}, uint64_t{0}});
            }
        }
        to_.insert("captured_graph", {operation, graph.finish(), uint64_t{0}});
        to_.insert("stack_traces", {operation, names_of(held), kNamesFile, uint64_t{0}});
        if (moment.failure != nullptr) {
            to_.insert("errors", {operation, moment.name, std::string(name_of(moment.failure->figures.type)),
                                  why(*moment.failure), moment.failure->figures.name, time, uint64_t{0}});
        }
    }

    // What 'ttmem why' shows at the moment of the failure.
    std::string why(const ExportedFailure& failure) const {
        constexpr size_t kTextWidth = 200;  // for all columns
        view::WhyView view;
        view.failures.origin = {
            model_.host, model_.epoch_ns(failure.time_ns),
            model_.source == "recording" ? view::OriginSource::recording : view::OriginSource::direct};
        view.failures.processes = view.failures.total = 1;
        view.failures.failures.push_back(failure.figures);
        view.failures.failures.front().age_ns = 0;
        return view::render_plain(view::why_text(view, {.width = kTextWidth}));
    }

    // "dram 24576 bytes per bank in 2 buffers: model/layer.0", those with the most bytes of each kind first. A report knows no names of
    // buffers; this text stands beside them.
    std::string names_of(const BuffersByName& held) const {
        constexpr size_t kMostNames = 100;
        std::vector<std::pair<BuffersByName::key_type, NamedBuffers>> rows(held.begin(), held.end());
        std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
            return std::tuple(a.first.first, b.second.per_bank) <
                   std::tuple(b.first.first, a.second.per_bank);
        });
        std::string text;
        for (size_t i = 0; i < std::min(rows.size(), kMostNames); ++i) {
            const auto& [key, sum] = rows[i];
            const std::string& name = model_.names[key.second];
            text += std::string(name_of(key.first)) + " " + std::to_string(sum.per_bank) +
                    " bytes per bank in " + std::to_string(sum.buffers) +
                    (sum.buffers == 1 ? " buffer: " : " buffers: ") + (name.empty() ? "(no name)" : name) +
                    "\n";
        }
        if (rows.size() > kMostNames) {
            text += "... and " + std::to_string(rows.size() - kMostNames) + " more names\n";
        }
        return text;
    }

    void write_metadata(const Notes& own) {
        to_.insert("report_metadata", {"schema_version", kVisualizerVersion});
        to_.insert("report_metadata",
                   {"capture_timestamp_ns", std::to_string(model_.epoch_ns(model_.begin_ns))});
        to_.insert("report_metadata", {"total_duration_ns", std::to_string(model_.end_ns - model_.begin_ns)});
        to_.insert("report_metadata", {"rank", "0"});
        to_.insert("report_metadata", {"world_size", "1"});
        to_.insert("report_metadata", {"ttmem most moments", std::to_string(limits_.moments)});
        to_.insert("report_metadata", {"ttmem most rows of buffers", std::to_string(limits_.buffer_rows)});
        uint64_t number = 0;
        for (const Notes* notes : {&model_.notes, &own}) {
            for (const std::string& note : *notes) {
                to_.insert("report_metadata", {"ttmem note " + std::to_string(++number), note});
            }
        }
    }

    Notes notes(size_t moments_left_out) const {
        Notes notes;
        if (moments_left_out != 0) {
            notes.push_back(
                base::format_count(moments_left_out, "mark or failure is", "marks and failures are") +
                " left out: a report has " + std::to_string(limits_.moments) + " moments");
        }
        if (rows_left_out_ != 0) {
            notes.push_back(base::format_count(rows_left_out_, "buffer is", "buffers are") +
                            " left out: a report has " + std::to_string(limits_.buffer_rows) + " rows");
        }
        return notes;
    }

    const ExportModel& model_;
    Database& to_;
    ReportLimits limits_;
    uint64_t rows_ = 0;
    uint64_t rows_left_out_ = 0;
};

tl::unexpected<base::Error> cannot_write(const std::string& path) {
    return base::error(base::Error::Code::failed, "can't write " + path + ": " + strerror(errno));
}

}  // namespace

base::Expected<Notes> write_ttnn_visualizer(const ExportModel& model, const std::string& folder, bool force,
                                            const ReportLimits& limits) {
    if (folder == "-") {
        return base::error(base::Error::Code::refused, "ttnn-visualizer is a folder: it needs a name");
    }
    const bool is_new = mkdir(folder.c_str(), 0700) == 0;
    if (!is_new && errno == EEXIST && !force) {
        return exists_already(folder);
    }
    if (!is_new && !std::filesystem::is_directory(folder)) {
        return cannot_write(folder);
    }
    const std::string part = folder + "/db.sqlite.part";
    std::filesystem::remove(part);
    const mode_t before = umask(077);
    Database database(part);
    umask(before);
    Notes notes = ReportWriter(model, database, limits).write();
    auto done = database.finish();
    if (done) {
        // A name of its own until it is complete, which must not be left in the folder.
        auto output = Output::create(folder + "/config.json", true);
        const json config = {{"report_name", "ttmem " + model.host}};
        if (output) {
            output->append(config.dump(-1, ' ', false, json::error_handler_t::replace));
        }
        done = output ? output->finish() : tl::unexpected(std::move(output.error()));
    }
    if (done && rename(part.c_str(), (folder + "/db.sqlite").c_str()) != 0) {
        done = cannot_write(folder);
    }
    if (!done) {
        unlink(part.c_str());
        if (is_new) {
            unlink((folder + "/config.json").c_str());
            rmdir(folder.c_str());
        }
        return tl::unexpected(std::move(done.error()));
    }
    return notes;
}

}  // namespace ttmem::exports
