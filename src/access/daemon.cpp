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
    std::string target =
        "/v1/allocations?limit=" +
        std::to_string(query.limit == 0 || query.limit > kMostAPage ? kMostAPage : query.limit);
    const auto add = [&](const char* name, std::string_view value) {
        target += std::string("&") + name + "=" + escape(value);
    };
    if (query.device) {
        add("device", *query.device);
    }
    if (query.pid) {
        add("pid", std::to_string(*query.pid));
    }
    if (query.kind) {
        add("kind", census::name_of(*query.kind));
    }
    if (!query.name.empty()) {
        add("name", query.name);
    }
    if (query.sort != census::Sort::used) {
        add("sort", census::name_of(query.sort));
    }
    if (query.cursor) {
        add("cursor", *query.cursor);
    }
    if (query.group) {
        add("group", census::name_of(*query.group));
        add("scope_depth", std::to_string(query.scope_depth));
    }
    return target;
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

base::Expected<view::PostMortemListView> post_mortems() {
    return ask_for("/v1/post-mortems?limit=" + std::to_string(kMostAPage), view::post_mortems_from_json);
}

base::Expected<view::PostMortemView> post_mortem(uint32_t pid, uint64_t limit) {
    return ask_for("/v1/post-mortems?pid=" + std::to_string(pid) + "&limit=" + std::to_string(limit),
                   view::post_mortem_from_json);
}

}  // namespace ttmem::access::daemon
