// SPDX-License-Identifier: Apache-2.0
#include "view/questions/history.hpp"

#include "base/time.hpp"
#include "view/json/json_document.hpp"
#include "view/questions/filters.hpp"
#include "view/questions/sample_fields.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<HistoryQuery> auto& query) {
    io("device", query.device, "only the devices with these ids");
    io("kind", query.kind, kKindsMeaning);
    io("since", query.since, "only what was from this time on, in ns since the epoch");
    io("until", query.until, "only samples until this time, in ns since the epoch");
    io("step", query.step, "only the highest sample of each N seconds");
}

void fields(auto& io, Like<SeriesView> auto& series) {
    io("device", series.device, "the device");
    io("kind", series.kind, "the kind of memory");
    io("samples", series.samples, "the oldest first");
}

void fields(auto& io, Like<Downtime> auto& downtime) {
    io("from_ns", downtime.from_ns, "last sign of the previous daemon, since the epoch");
    io("to_ns", downtime.to_ns, "when the next one started");
}

void fields(auto& io, Like<PastMoment> auto& moment) {
    io("time_ns", moment.time_ns, "when, since the epoch");
    io("type", moment.type, "what happened");
    io("pid", moment.pid, "the process");
    io("comm", moment.comm, "its command name");
    io("uid", moment.uid, "its user id");
    io("user", moment.user, "its user name");
    io.unless_empty("name", moment.name,
                    "of a mark: its name; of a failure: where in the program it happened");
    io("failure_type", moment.failure, "the type of a failure");
    io("kind", moment.kind, "the kind of memory of a failure");
    io("requested", moment.requested, "the bytes that a failed request asked for");
    io("card_number", moment.card, "the number of the failure's card in the process; null: it has none");
    io("ending", moment.ending, "how a process died");
}

namespace {

// What an answer has besides samples, in both of its forms.
void past_fields(auto& io, auto& view) {
    io("moments_left_out", view.moments_left_out, "earlier moments that are not listed");
    io("hidden_moments", view.hidden_moments, "moments of other users' processes: not listed");
}

void past_rows(auto& io, auto& view) {
    io.rows("downtimes", view.downtimes, "times without a daemon, the oldest first");
    io.rows("moments", view.moments, "failures, marks and deaths, the oldest first; the last 1,000");
}

}  // namespace

void fields(auto& io, Like<HistoryView> auto& view) {
    head(io, view.origin);
    io.derived("exact", view.is_exact(),
               "the figures that are sampled now are exact, and all series are kept");
    io("inexact", view.inexact, "why it is not exact");
    io("dropped", view.dropped, "series that were removed or find no room: too many devices");
    past_fields(io, view);
    io.rows("series", view.series, "one per device and kind");
    past_rows(io, view);
}

// A day of samples is long, and nobody reads it line by line.
template <>
struct JsonStyle<HistoryView> {
    static constexpr int indent = kOnOneLine;
    static constexpr int row_indent = kOnOneLine;
    static constexpr bool has_schema = true;
};

namespace {

// The samples that the query asks for, of those since its begin.
void choose_samples(std::vector<history::Sample>& samples, const HistoryQuery& query) {
    if (query.until) {
        std::erase_if(samples, [&](const history::Sample& sample) { return sample.time_ns > *query.until; });
    }
    history::keep_highest(samples, query.step * base::kNsPerSecond);
}

// Series that are read from the host when they are written. A day of many devices takes tens of megabytes.
class SeriesOnDemand {
public:
    SeriesOnDemand(std::shared_ptr<const Host> host, const HistoryQuery& query,
                   std::vector<SeriesView> outline)
        : host_(std::move(host)), query_(query), outline_(std::move(outline)) {}

    size_t size() const { return outline_.size(); }
    SeriesView operator[](size_t i) const {
        const SeriesView& wanted = outline_[i];
        auto found = host_->history({wanted.device, wanted.kind, query_.since});
        if (!found || found->series.size() != 1) {
            return wanted;
        }
        choose_samples(found->series.front().samples, query_);
        return std::move(found->series.front());
    }

private:
    std::shared_ptr<const Host> host_;
    HistoryQuery query_;
    std::vector<SeriesView> outline_;  // without samples
};

struct HistoryOnDemand {
    Origin origin;
    uint64_t dropped = 0;
    std::vector<census::Inexactness> inexact;
    SeriesOnDemand series;
    std::vector<Downtime> downtimes = {};
    std::vector<PastMoment> moments = {};
    uint64_t moments_left_out = 0;
    uint64_t hidden_moments = 0;

    bool is_exact() const { return inexact.empty(); }
};

void fields(auto& io, Like<HistoryOnDemand> auto& view) {
    head(io, view.origin);
    exactness(io, view);
    io("dropped", view.dropped, "");
    past_fields(io, view);
    io.rows("series", view.series, "");
    past_rows(io, view);
}

}  // namespace

template <>
struct JsonStyle<HistoryOnDemand> : JsonStyle<HistoryView> {};

template struct UrlForm<HistoryQuery>;
template struct JsonForm<HistoryView>;

namespace {

std::vector<census::Inexactness> inexactness_of_samples(const Host& host, uint64_t dropped,
                                                        const KeptPast& past) {
    std::vector<census::Inexactness> result =
        census::compute_figures(host.census(), census::Depth::pools).inexact;
    if (dropped != 0) {
        result.push_back({0, census::Reason::series_not_kept, dropped});
    }
    if (!past.problem.empty()) {
        result.push_back({0, census::Reason::history_not_kept, past.lost, past.problem});
    }
    return result;
}

// Moves what the past has besides samples into an answer.
void take_past(KeptPast&& past, auto& view) {
    view.downtimes = std::move(past.downtimes);
    view.moments = std::move(past.moments);
    view.moments_left_out = past.moments_left_out;
    view.hidden_moments = past.hidden_moments;
}

}  // namespace

base::Expected<HistoryView> History::answer(const Host& host, const HistoryQuery& query) {
    auto view = host.history(query);
    if (view) {
        for (SeriesView& series : view->series) {
            choose_samples(series.samples, query);
        }
        KeptPast past = host.past(query.since);
        view->inexact = inexactness_of_samples(host, view->dropped, past);
        take_past(std::move(past), *view);
    }
    return view;
}

base::Expected<std::function<std::string()>> History::pieces(const std::shared_ptr<const Host>& host,
                                                             const HistoryQuery& query) {
    auto outline = host->history({query.device, query.kind, UINT64_MAX});
    if (!outline) {
        return tl::unexpected(std::move(outline.error()));
    }
    KeptPast past = host->past(query.since);
    auto view = std::make_shared<HistoryOnDemand>(HistoryOnDemand{
        host->origin(), outline->dropped, inexactness_of_samples(*host, outline->dropped, past),
        SeriesOnDemand(host, query, std::move(outline->series))});
    take_past(std::move(past), *view);
    return [pieces = std::make_shared<JsonPieces<HistoryOnDemand>>(
                std::shared_ptr<const HistoryOnDemand>(std::move(view)))] { return pieces->next(); };
}

}  // namespace ttmem::view
