// SPDX-License-Identifier: Apache-2.0
#include "view/questions/history.hpp"

#include "view/json/json_document.hpp"
#include "view/questions/filters.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<HistoryQuery> auto& query) {
    io("device", query.device, "only the devices with these ids");
    io("kind", query.kind, kKindsMeaning);
    io("since", query.since, "only samples from this time on, in ns since the epoch");
}

void fields(auto& io, Like<history::Sample> auto& sample) {
    io("time_ns", sample.time_ns, "when, since the epoch");
    io("used", sample.value, "reserved bytes");
}

void fields(auto& io, Like<SeriesView> auto& series) {
    io("device", series.device, "the device");
    io("kind", series.kind, "the kind of memory");
    io("samples", series.samples, "the oldest first");
}

void fields(auto& io, Like<HistoryView> auto& view) {
    head(io, view.origin);
    io.derived("exact", view.is_exact(),
               "the figures that are sampled now are exact, and all series are kept");
    io("inexact", view.inexact, "why it is not exact");
    io("dropped", view.dropped, "series that were removed or find no room: too many devices");
    io.rows("series", view.series, "one per device and kind");
}

// A day of samples is long, and nobody reads it line by line.
template <>
struct JsonStyle<HistoryView> {
    static constexpr int indent = kOnOneLine;
    static constexpr int row_indent = kOnOneLine;
    static constexpr bool has_schema = true;
};

namespace {

// Series that are read from the host when they are written. A day of many devices takes tens of megabytes.
class SeriesOnDemand {
public:
    SeriesOnDemand(std::shared_ptr<const Host> host, uint64_t since, std::vector<SeriesView> outline)
        : host_(std::move(host)), since_(since), outline_(std::move(outline)) {}

    size_t size() const { return outline_.size(); }
    SeriesView operator[](size_t i) const {
        const SeriesView& wanted = outline_[i];
        auto found = host_->history({wanted.device, wanted.kind, since_});
        if (!found || found->series.size() != 1) {
            return wanted;
        }
        return std::move(found->series.front());
    }

private:
    std::shared_ptr<const Host> host_;
    uint64_t since_;
    std::vector<SeriesView> outline_;  // without samples
};

struct HistoryOnDemand {
    Origin origin;
    uint64_t dropped = 0;
    std::vector<census::Inexactness> inexact;
    SeriesOnDemand series;

    bool is_exact() const { return inexact.empty(); }
};

void fields(auto& io, Like<HistoryOnDemand> auto& view) {
    head(io, view.origin);
    exactness(io, view);
    io("dropped", view.dropped, "");
    io.rows("series", view.series, "");
}

}  // namespace

template <>
struct JsonStyle<HistoryOnDemand> : JsonStyle<HistoryView> {};

template struct UrlForm<HistoryQuery>;
template struct JsonForm<HistoryView>;

namespace {

std::vector<census::Inexactness> inexactness_of_samples(const Host& host, uint64_t dropped) {
    std::vector<census::Inexactness> result =
        census::compute_figures(host.census(), census::Depth::pools).inexact;
    if (dropped != 0) {
        result.push_back({0, census::Reason::series_not_kept, dropped});
    }
    return result;
}

}  // namespace

base::Expected<HistoryView> History::answer(const Host& host, const HistoryQuery& query) {
    auto view = host.history(query);
    if (view) {
        view->inexact = inexactness_of_samples(host, view->dropped);
    }
    return view;
}

base::Expected<std::function<std::string()>> History::pieces(const std::shared_ptr<const Host>& host,
                                                             const HistoryQuery& query) {
    auto outline = host->history({query.device, query.kind, UINT64_MAX});
    if (!outline) {
        return tl::unexpected(std::move(outline.error()));
    }
    auto view = std::make_shared<const HistoryOnDemand>(
        HistoryOnDemand{host->origin(), outline->dropped, inexactness_of_samples(*host, outline->dropped),
                        SeriesOnDemand(host, query.since, std::move(outline->series))});
    return
        [pieces = std::make_shared<JsonPieces<HistoryOnDemand>>(std::move(view))] { return pieces->next(); };
}

}  // namespace ttmem::view
