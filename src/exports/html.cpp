// SPDX-License-Identifier: Apache-2.0
#include "exports/html.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "page/document.hpp"
#include "view/questions/url.hpp"

namespace ttmem::exports {

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMostDevices = 32;       // with cores and history
constexpr size_t kMostMappedDevices = 8;  // with address maps
constexpr uint64_t kMostSamples = 1000;

// What stands for "{device}" and so on in an address.
using PlaceValues = std::map<std::string, std::string>;

QuestionAddress address_of(const OrderedJson& form, const PlaceValues& values) {
    QuestionAddress address{form.at("path"), {}, form.at("path")};
    char before = '?';
    for (const auto& [name, value] : form.at("query").items()) {
        std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        if (const auto known = values.find(text); known != values.end()) {
            text = known->second;
        }
        address.text += before + name + "=" + view::escape_url(text);
        address.parameters[name] = std::move(text);
        before = '&';
    }
    return address;
}

class PageData {
public:
    explicit PageData(const PageAnswer& answer) : answer_(answer) {}

    base::Expected<void> read() {
        const auto text = answer_({"/v1/status", {}, "/v1/status"});
        if (!text) {
            return tl::unexpected(text.error());
        }
        const OrderedJson status = parse(*text);
        if (status.is_discarded()) {
            return base::error(base::Error::Code::failed, "the daemon's answer to /v1/status can't be read");
        }
        add("/v1/status", status, false);
        ask("host", {});
        size_t count = 0;
        for (const OrderedJson& device : status.at("devices")) {
            if (count++ < kMostDevices) {
                ask_about(device, count <= kMostMappedDevices);
            }
        }
        if (count > kMostMappedDevices) {
            notes.push_back("the page has the address maps of the first " +
                            std::to_string(kMostMappedDevices) + " devices");
        }
        for (const OrderedJson& process : status.at("processes")) {
            ask("process", {{"{pid}", process.at("pid").dump()}});
        }
        return {};
    }

    std::string take() { return answers_ + "}"; }

    Notes notes;

private:
    static OrderedJson parse(std::string_view text) { return OrderedJson::parse(text, nullptr, false); }

    void ask_about(const OrderedJson& device, bool is_mapped) {
        PlaceValues values{{"{device}", device.at("id").dump()}};
        ask("device", values);
        if (is_mapped) {
            ask("mapped device", values);
        }
        const OrderedJson core = device.value("/l1_worst_core/core"_json_pointer, OrderedJson());
        if (core.is_array() && core.size() == 2) {
            values["{core}"] = core[0].dump() + "," + core[1].dump();
            ask("core", values);
        }
    }

    void ask(const std::string& of, const PlaceValues& values) {
        for (const OrderedJson& form : addresses_) {
            if (form.at("of") == of) {
                const QuestionAddress address = address_of(form, values);
                const auto text = answer_(address);
                if (const OrderedJson answer = text ? parse(*text) : OrderedJson(); answer.is_object()) {
                    add(address.text, answer, form.value("part", "") == "list");
                } else if (form.value("part", "") == "time line") {
                    notes.push_back("the page has no time line" + (text ? "" : ": " + text.error().text));
                }
            }
        }
    }

    void add(const std::string& address, const OrderedJson& answer, bool is_list) {
        // On one line: indents would be half of the file.
        answers_ += (answers_.size() == 1 ? "" : ",\n") + OrderedJson(address).dump() + ":" +
                    answer.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
        if (is_list && answer.value("left_out", 0u) > 0) {
            notes.push_back("the page has the largest " + std::to_string(answer.at("allocations").size()) +
                            " allocations of " + answer.at("total").dump() + " in its list");
        }
    }

    const PageAnswer& answer_;
    const OrderedJson addresses_ = parse(page::saved_addresses());
    std::string answers_ = "{";
};

// One line of the chart.
class SeriesBuilder {
public:
    SeriesBuilder(uint32_t device, census::Kind kind) : view_{device, kind, {}} {}

    void set(uint64_t time_ns, uint64_t used, uint64_t step_ns) {
        if (!view_.samples.empty() && time_ns < next_ns_) {
            history::Sample& last = view_.samples.back();
            // Within one step the highest stays, so that no peak is lost.
            if (used > last.value) {
                last = {time_ns, used};
            }
        } else {
            view_.samples.push_back({time_ns, used});
            next_ns_ = time_ns + step_ns;
        }
        used_ = used;
    }
    view::SeriesView finish(uint64_t end_ns) {
        view_.samples.push_back({end_ns, used_});
        return std::move(view_);
    }
    uint64_t used() const { return used_; }

private:
    view::SeriesView view_;
    uint64_t used_ = 0;
    uint64_t next_ns_ = 0;
};

}  // namespace

std::vector<view::SeriesView> series_of(const ExportModel& model, const view::HistoryQuery& query) {
    const uint64_t step_ns = std::max<uint64_t>((model.end_ns - model.begin_ns) / kMostSamples, 1);
    std::map<std::pair<uint32_t, census::Kind>, SeriesBuilder> builders;
    for (const SpanChange& change : changes_of(model)) {
        const AllocationSpan& span = model.spans[change.span];
        if (!span.adds_bytes() || census::index_of(span.kind) >= census::kDeviceKinds ||
            !query.kind.selects(span.kind)) {
            continue;
        }
        for (const uint32_t index : model.sets[span.set].devices) {
            const uint32_t device = model.devices[index].id;
            if (query.device.selects(device)) {
                SeriesBuilder& series =
                    builders.try_emplace({device, span.kind}, device, span.kind).first->second;
                const uint64_t used =
                    change.is_end ? series.used() - span.used() : series.used() + span.used();
                series.set(model.epoch_ns(change.time_ns), used, step_ns);
            }
        }
    }
    std::vector<view::SeriesView> all;
    all.reserve(builders.size());
    for (auto& [key, builder] : builders) {
        all.push_back(builder.finish(model.epoch_ns(model.end_ns)));
    }
    return all;
}

base::Expected<Notes> write_html(const PageAnswer& answer, const ExportTarget& target) {
    if (page::document_parts().before.empty()) {
        return base::error(base::Error::Code::failed,
                           "this ttmem was built without the page: npm could not be reached during the build "
                           "(build it again where it can)");
    }
    auto output = Output::create(target.path, target.force);
    if (!output) {
        return tl::unexpected(std::move(output.error()));
    }
    PageData data(answer);
    if (auto read = data.read(); !read) {
        return tl::unexpected(std::move(read.error()));
    }
    output->append(page::document_with(data.take()));
    if (auto finished = output->finish(); !finished) {
        return tl::unexpected(std::move(finished.error()));
    }
    return std::move(data.notes);
}

}  // namespace ttmem::exports
