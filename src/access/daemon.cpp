// SPDX-License-Identifier: Apache-2.0
#include "access/daemon.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

#include "access/api_sockets.hpp"
#include "access/http_client.hpp"
#include "view/json.hpp"

namespace ttmem::access::daemon {

using base::Error;

namespace {

constexpr auto kPatience = std::chrono::seconds(5);
constexpr uint64_t kMostAPage = 100'000;  // of one answer; a longer list is asked for page by page

std::string error_in(const HttpAnswer& answer) {
    const auto json = nlohmann::json::parse(answer.body, nullptr, false);
    const bool has_text = json.is_object() && json.contains("error") && json["error"].is_string();
    return has_text ? json["error"].get<std::string>()
                    : "the daemon answered " + std::to_string(answer.status);
}

// The first daemon that is there.
base::Expected<std::string> ask(const std::string& target) {
    Error none{Error::Code::gone, "no daemon runs"};
    for (const auto& socket : api_sockets()) {
        auto answer = http_get(socket, target, kPatience);
        if (!answer && answer.error().code == Error::Code::gone) {
            continue;
        }
        if (!answer) {
            return tl::unexpected(answer.error());
        }
        if (answer->status != 200) {
            return base::error(Error::Code::refused, error_in(*answer));
        }
        return std::move(answer->body);
    }
    return tl::unexpected(std::move(none));
}

// "/v1/allocations?device=0&sort=age", piece by piece; what is absent is left out.
class Target {
public:
    explicit Target(std::string path) : text_(std::move(path)) {}

    void add(const char* name, const std::string& value) {
        text_ += (has_parameters_ ? "&" : "?") + std::string(name) + "=" + escape(value);
        has_parameters_ = true;
    }
    void add(const char* name, uint64_t value) { add(name, std::to_string(value)); }
    void add(const char* name, census::Kind value) { add(name, std::string(census::name_of(value))); }
    template <class T>
    void add(const char* name, const std::optional<T>& value) {
        if (value) {
            add(name, *value);
        }
    }

    const std::string& text() const { return text_; }

private:
    std::string text_;
    bool has_parameters_ = false;
};

std::optional<std::string> if_any(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

uint64_t page_size(uint64_t limit) { return limit == 0 || limit > kMostAPage ? kMostAPage : limit; }

template <class View>
base::Expected<View> ask_for(const std::string& target, base::Expected<View> (*read)(std::string_view)) {
    const auto body = ask(target);
    if (!body) {
        return tl::unexpected(body.error());
    }
    auto view = read(*body);
    // An answer that can't be read is no reason to think that nobody is there.
    return view ? std::move(view) : base::error(Error::Code::failed, view.error().text);
}

}  // namespace

std::string target_of(const census::AllocationQuery& query) {
    Target target("/v1/allocations");
    target.add("limit", page_size(query.limit));
    target.add("device", query.device);
    target.add("pid", query.pid);
    target.add("kind", query.kind);
    target.add("name", if_any(query.name));
    target.add("since", query.since);
    if (query.sort != census::Sort::used) {
        target.add("sort", std::string(census::name_of(query.sort)));
    }
    target.add("cursor", query.cursor);
    if (query.group) {
        target.add("group", std::string(census::name_of(*query.group)));
        target.add("scope_depth", query.scope_depth);
    }
    return target.text();
}

base::Expected<view::View> status() { return ask_for("/v1/status", view::view_from_json); }

base::Expected<view::AllocationView> allocations(const census::AllocationQuery& query) {
    auto view = ask_for(target_of(query), view::allocations_from_json);
    census::AllocationQuery rest = query;
    while (view && view->next && (query.limit == 0 || view->allocations.size() < query.limit)) {
        rest.cursor = view->next;
        rest.limit = query.limit == 0 ? 0 : query.limit - view->allocations.size();
        auto page = ask_for(target_of(rest), view::allocations_from_json);
        if (!page) {
            return page;
        }
        view->allocations.insert(view->allocations.end(), std::make_move_iterator(page->allocations.begin()),
                                 std::make_move_iterator(page->allocations.end()));
        view->next = std::move(page->next);
        view->left_out = page->left_out;
    }
    return view;
}

base::Expected<view::GroupView> groups(const census::AllocationQuery& query) {
    census::AllocationQuery grouped = query;
    grouped.group = query.group.value_or(census::GroupBy::name);
    return ask_for(target_of(grouped), view::groups_from_json);
}

base::Expected<view::ProgramView> programs(const census::ProgramQuery& query) {
    Target target("/v1/programs");
    target.add("limit", page_size(query.limit));
    target.add("device", query.device);
    target.add("pid", query.pid);
    target.add("name", if_any(query.name));
    return ask_for(target.text(), view::programs_from_json);
}

base::Expected<view::MapView> map(const census::MapQuery& query) {
    Target target("/v1/map");
    target.add("limit", page_size(query.limit));
    target.add("device", query.device);
    target.add("pid", query.pid);
    target.add("kind", query.kind);
    return ask_for(target.text(), view::map_from_json);
}

base::Expected<view::CoreView> cores(const std::string& device) {
    Target target("/v1/cores");
    target.add("device", device);
    return ask_for(target.text(), view::cores_from_json);
}

base::Expected<view::FailureView> failures(const census::FailureQuery& query) {
    Target target("/v1/failures");
    target.add("limit", page_size(query.limit));
    target.add("device", query.device);
    target.add("pid", query.pid);
    if (query.type) {
        target.add("type", std::string(census::name_of(*query.type)));
    }
    return ask_for(target.text(), view::failures_from_json);
}

base::Expected<view::HistoryView> history(const std::optional<uint32_t>& device,
                                          const std::optional<census::Kind>& kind, uint64_t since_ns) {
    Target target("/v1/history");
    target.add("since", since_ns);
    target.add("device", device);
    target.add("kind", kind);
    return ask_for(target.text(), view::history_from_json);
}

base::Expected<view::EventsView> events(uint64_t since, uint64_t limit) {
    Target target("/v1/events");
    target.add("since", since);
    target.add("limit", limit);
    return ask_for(target.text(), view::events_from_json);
}

base::Expected<view::SelfView> self() { return ask_for("/v1/self", view::self_from_json); }

base::Expected<view::PostMortemListView> post_mortems() {
    return ask_for("/v1/post-mortems?limit=" + std::to_string(kMostAPage), view::post_mortems_from_json);
}

base::Expected<view::PostMortemView> post_mortem(uint32_t pid, uint64_t limit) {
    return ask_for("/v1/post-mortems?pid=" + std::to_string(pid) + "&limit=" + std::to_string(limit),
                   view::post_mortem_from_json);
}

}  // namespace ttmem::access::daemon
