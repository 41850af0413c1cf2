// SPDX-License-Identifier: Apache-2.0
#include "daemon/api.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <nlohmann/json.hpp>

#include "daemon/api_parameters.hpp"
#include "daemon/api_question.hpp"
#include "daemon/metrics.hpp"
#include "view/json.hpp"

namespace ttmem::daemon {

namespace asio = boost::asio;
using http::Response;

namespace {

constexpr auto kEventsEvery = std::chrono::milliseconds(200);
constexpr int kHeartbeatRounds = 50;  // 10 s
constexpr uint64_t kMostEventsAPiece = 1000;

Response not_found(const std::string& path, const std::string& known) {
    return Response::error(404, "there is no " + path + " here (there is " + known + ")");
}

}  // namespace

struct Api::Route {
    enum class Where : uint8_t { loop, workers };

    std::string path;
    Response (Api::*answer)(const Question&) const;
    Where where;
    std::vector<std::string> parameters;
};

const std::vector<Api::Route>& Api::routes() {
    using Where = Route::Where;
    static const std::vector<Route> kRoutes = {
        {"/v1/health", &Api::health, Where::loop, {}},
        {"/v1/self", &Api::self, Where::loop, {}},
        {"/v1/status", &Api::status, Where::workers, {"scan"}},
        {"/v1/processes", &Api::processes, Where::loop, {"device", "pid"}},
        {"/v1/allocations",
         &Api::allocations,
         Where::workers,
         {"device", "pid", "kind", "name", "group", "sort", "limit", "cursor", "scope_depth", "since"}},
        {"/v1/map", &Api::map, Where::workers, {"device", "pid", "kind", "limit"}},
        {"/v1/cores", &Api::cores, Where::workers, {"device"}},
        {"/v1/programs", &Api::programs, Where::workers, {"device", "pid", "name", "limit"}},
        {"/v1/failures", &Api::failures, Where::workers, {"device", "pid", "type", "limit"}},
        {"/v1/post-mortems", &Api::post_mortems, Where::workers, {"pid", "limit"}},
        {"/v1/history", &Api::history, Where::workers, {"device", "kind", "since"}},
        {"/v1/events", &Api::events, Where::workers, {"since", "limit", "stream"}},
        {"/v1/stream", nullptr, Where::loop, {"interval_ms"}},
        {"/metrics", nullptr, Where::loop, {"processes"}},
    };
    return kRoutes;
}

Api::Api(Parts parts)
    : parts_(std::move(parts)),
      feed_(parts_.loop, parts_.workers, [this] { return look(census::Depth::ledgers); }),
      event_timer_(parts_.loop) {}

void Api::handle(http::Request request, const std::shared_ptr<http::Answer>& answer) {
    const auto viewer = Viewer::of(request.caller, parts_.rules);
    if (!viewer) {
        return answer->send(Response::error(401, viewer.error().text));
    }
    const auto& all = routes();
    const auto route = std::find_if(all.begin(), all.end(),
                                    [&](const Route& one) { return one.path == request.target.path; });
    if (route == all.end()) {
        std::string known;
        for (const Route& one : all) {
            known += (known.empty() ? "" : ", ") + one.path;
        }
        return answer->send(not_found(request.target.path, known));
    }
    if (const auto unknown = find_unknown(request.target.query, route->parameters)) {
        return answer->send(Response::error(400, *unknown));
    }
    auto question = std::make_shared<const Question>(
        Question{std::move(request.target), *viewer, std::move(request.last_event_id)});
    if (route->path == "/v1/stream") {
        return stream_views(*question, *answer);
    }
    if (route->path == "/metrics") {
        return send_metrics(*question, answer);
    }
    if (route->path == "/v1/events" && is_yes(question->parameters(), "stream")) {
        return stream_events(*question, *answer);
    }
    const bool is_quick = route->path == "/v1/status" && is_no(question->parameters(), "scan");
    if (route->where == Route::Where::loop || is_quick) {
        return answer->send((this->*route->answer)(*question));
    }
    asio::post(parts_.workers,
               [this, call = route->answer, question, answer] { answer->send((this->*call)(*question)); });
}

void Api::stop() {
    stopping_ = true;
    feed_.stop();
    event_timer_.cancel();
    event_readers_.clear();
}

view::View Api::look(census::Depth depth) const {
    view::View view{view::read_here(), census::count(parts_.roster.census(), depth)};
    view.origin.source = "daemon";
    parts_.chronicle.annotate(view.figures);
    return view;
}

Response Api::health(const Question& /*question*/) const {
    view::SelfView self;
    parts_.describe_self(self);
    return {200,
            "application/json",
            nlohmann::ordered_json{{"status", "ok"}, {"version", self.version}, {"uptime_ns", self.uptime_ns}}
                    .dump() +
                "\n",
            {}};
}

view::SelfView Api::look_at_self() const {
    view::SelfView self;
    self.origin = view::read_here();
    self.origin.source = "daemon";
    self.processes = parts_.roster.size();
    self.post_mortems = parts_.post_mortems.size();
    parts_.chronicle.describe(self);
    parts_.describe_self(self);
    return self;
}

Response Api::self(const Question& /*question*/) const {
    return {200, "application/json", view::to_json(look_at_self()), {}};
}

// Who may see totals sees metrics, but for the series of processes: a server would keep them for years, and tell all
// who ask it what each user ran.
void Api::send_metrics(const Question& question, const std::shared_ptr<http::Answer>& answer) const {
    const bool is_asked_for = is_yes(question.parameters(), "processes");
    if (!is_asked_for && question.parameters().contains("processes") &&
        !is_no(question.parameters(), "processes")) {
        return answer->send(Response::error(400, "'processes' is true or false"));
    }
    if (is_asked_for && !question.viewer.sees_anybody()) {
        return answer->send(Response::error(
            403,
            "series of processes need the daemon's token over TCP (ttmemd --token-file FILE, and "
            "'Authorization: Bearer TOKEN'), or the Unix socket; without 'processes' all may ask"));
    }
    const auto processes = is_asked_for ? ProcessSeries::yes : ProcessSeries::no;
    asio::post(parts_.workers, [this, processes, answer, self = look_at_self()] {
        const Readings readings{look(census::Depth::ledgers).figures, self, parts_.chronicle.failures(),
                                parts_.post_mortems.deaths()};
        answer->send({200, kMetricsType, to_metrics(readings, processes), {}});
    });
}

Response Api::status(const Question& question) const {
    const bool is_quick = is_no(question.parameters(), "scan");
    if (!is_quick && !is_yes(question.parameters(), "scan") && question.parameters().contains("scan")) {
        return Response::error(400, "'scan' is true or false");
    }
    return {200,
            "application/json",
            view::to_json(look(is_quick ? census::Depth::pools : census::Depth::ledgers)),
            {}};
}

Response Api::processes(const Question& question) const {
    const auto pid = read_number(question.parameters(), "pid");
    const auto device = read_number(question.parameters(), "device");
    if (!pid || !device) {
        return Response::error(400, (!pid ? pid : device).error().text);
    }
    view::View view = look(census::Depth::pools);
    std::erase_if(view.figures.processes, [&](const census::ProcessFigures& process) {
        const bool is_on_device =
            !*device || std::any_of(process.devices.begin(), process.devices.end(),
                                    [&](const auto& held) { return held.id == **device; });
        return (*pid && process.pid != **pid) || !is_on_device;
    });
    view.figures.devices.clear();
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(view::to_json(view));
    json.erase("devices");
    return {200, "application/json", json.dump(2) + "\n", {}};
}

Response Api::history(const Question& question) const {
    const auto device = read_number(question.parameters(), "device");
    const auto kind = read_kind(question.parameters());
    const auto since = read_number(question.parameters(), "since");
    if (!device || !kind || !since) {
        return Response::error(400, (!device ? device.error() : !kind ? kind.error() : since.error()).text);
    }
    const auto id = *device ? std::optional(static_cast<uint32_t>(**device)) : std::nullopt;
    return {
        200, "application/json", view::to_json(parts_.chronicle.history(id, *kind, since->value_or(0))), {}};
}

Response Api::events(const Question& question) const {
    const auto since = read_number(question.parameters(), "since");
    const auto limit = read_limit(question.parameters());
    if (!since || !limit) {
        return Response::error(400, (!since ? since.error() : limit.error()).text);
    }
    return {200,
            "application/json",
            view::to_json(parts_.chronicle.events(since->value_or(0), *limit,
                                                  [&](uint32_t uid) { return question.viewer.sees(uid); })),
            {}};
}

void Api::stream_views(const Question& question, http::Answer& answer) {
    constexpr uint64_t kLongest = 3'600'000;
    const auto interval = read_number(question.parameters(), "interval_ms");
    if (!interval) {
        return answer.send(Response::error(400, interval.error().text));
    }
    feed_.subscribe(answer.begin_stream(), question.last_event_id,
                    std::chrono::milliseconds(std::min(interval->value_or(0), kLongest)));
}

void Api::stream_events(const Question& question, http::Answer& answer) {
    const auto last = http::parse_number(question.last_event_id);
    const auto since = read_number(question.parameters(), "since");
    if (!since) {
        return answer.send(Response::error(400, since.error().text));
    }
    const uint64_t from = last ? *last + 1 : since->value_or(parts_.chronicle.newest_event() + 1);
    event_readers_.push_back({answer.begin_stream(), question.viewer, from});
    if (event_readers_.size() == 1) {
        feed_event_readers();
    }
}

// All readers are served in one round on a worker, and the rounds follow each other.
void Api::feed_event_readers() {
    asio::post(parts_.workers, [this, readers = event_readers_]() mutable {
        const bool is_heartbeat = ++quiet_rounds_ % kHeartbeatRounds == 0;
        for (EventReader& reader : readers) {
            const auto sees = [&](uint32_t uid) { return reader.viewer.sees(uid); };
            const view::EventsView page = parts_.chronicle.events(reader.next, kMostEventsAPiece, sees);
            std::string text = is_heartbeat ? ": alive\n\n" : "";
            if (page.missed != 0) {
                text += "event: missed\ndata: " + std::to_string(page.missed) + "\n\n";
            }
            for (const view::EventView& event : page.events) {
                text += "event: event\nid: " + std::to_string(event.sequence) +
                        "\ndata: " + view::to_json(event) + "\n\n";
            }
            reader.next = page.next;
            if (!text.empty() && !reader.push(std::move(text))) {
                reader.push = nullptr;
            }
        }
        asio::post(parts_.loop, [this, readers = std::move(readers)]() mutable {
            if (stopping_) {
                return;
            }
            // Those who came meanwhile stand behind those that were served.
            auto rest = std::next(event_readers_.begin(), static_cast<std::ptrdiff_t>(readers.size()));
            readers.splice(readers.end(), event_readers_, rest, event_readers_.end());
            event_readers_ = std::move(readers);
            event_readers_.remove_if([](const EventReader& reader) { return !reader.push; });
            if (event_readers_.empty()) {
                return;
            }
            event_timer_.expires_after(kEventsEvery);
            event_timer_.async_wait([this](boost::system::error_code error) {
                if (!error && !stopping_) {
                    feed_event_readers();
                }
            });
        });
    });
}

}  // namespace ttmem::daemon
