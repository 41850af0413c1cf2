// SPDX-License-Identifier: Apache-2.0

// The questions that take a pass over ledgers.

#include <algorithm>

#include "census/address_map.hpp"
#include "census/allocations.hpp"
#include "census/cores.hpp"
#include "census/failures.hpp"
#include "census/groups.hpp"
#include "census/post_mortem.hpp"
#include "census/programs.hpp"
#include "daemon/api.hpp"
#include "daemon/api_parameters.hpp"
#include "daemon/api_question.hpp"
#include "view/json.hpp"

namespace ttmem::daemon {

using base::Error;
using http::Response;

namespace {

std::optional<std::string> text_of(const Parameters& parameters, const std::string& name) {
    const auto found = parameters.find(name);
    return found == parameters.end() ? std::nullopt : std::optional(found->second);
}

unsigned status_of(Error::Code code) {
    switch (code) {
        case Error::Code::gone:
            return 404;
        case Error::Code::refused:
            return 400;
        default:
            return 500;
    }
}

Response failed(const Error& error) { return Response::error(status_of(error.code), error.text); }

// What is not this viewer's to see is missing in a list, and a list says what it misses.
std::vector<census::Inexactness> inexactness(const census::Census& all, const census::Census& visible,
                                             const Viewer& viewer) {
    std::vector<census::Inexactness> result = census::count(visible, census::Depth::pools).inexact;
    for (const census::Process& process : all.processes) {
        if (!viewer.sees(process.identity.uid)) {
            result.push_back({process.identity.pid, "another user's process: not listed", 1, false});
        }
    }
    return result;
}

view::Origin origin() {
    view::Origin origin = view::read_here();
    origin.source = "daemon";
    return origin;
}

// What all lists can be asked for.
struct Common {
    std::optional<std::string> device;
    std::optional<uint32_t> pid;
    std::string name;
    uint64_t limit = 0;
};

base::Expected<Common> read_common(const Parameters& parameters) {
    const auto pid = read_pid(parameters);
    const auto limit = read_limit(parameters);
    if (!pid || !limit) {
        return tl::unexpected(!pid ? pid.error() : limit.error());
    }
    return Common{text_of(parameters, "device"), *pid, text_of(parameters, "name").value_or(""), *limit};
}

// A word of a list; the standard one where the parameter is absent.
template <class T>
base::Expected<T> read_word(const Parameters& parameters, const std::string& name, T standard,
                            std::optional<T> (*by_name)(std::string_view), const std::string& words) {
    const auto text = text_of(parameters, name);
    if (!text) {
        return standard;
    }
    const std::optional<T> known = by_name(*text);
    if (!known) {
        return base::error(Error::Code::refused, "'" + name + "' is " + words);
    }
    return *known;
}

base::Expected<census::AllocationQuery> read_query(const Parameters& parameters) {
    const auto common = read_common(parameters);
    const auto kind = read_kind(parameters);
    const auto sort = read_word(parameters, "sort", census::Sort::used, census::sort_by_name,
                                "used, requested, age, address or name");
    const auto group = read_word(parameters, "group", census::GroupBy::name, census::group_by_name,
                                 "name, kind, pid, device, set, scope, thread, owner or age");
    const auto depth = read_number(parameters, "scope_depth");
    const auto since = read_number(parameters, "since");
    for (const std::optional<Error>& error : {common ? std::nullopt : std::optional(common.error()),
                                              kind ? std::nullopt : std::optional(kind.error()),
                                              sort ? std::nullopt : std::optional(sort.error()),
                                              group ? std::nullopt : std::optional(group.error()),
                                              depth ? std::nullopt : std::optional(depth.error()),
                                              since ? std::nullopt : std::optional(since.error())}) {
        if (error) {
            return tl::unexpected(*error);
        }
    }
    census::AllocationQuery query;
    query.device = common->device;
    query.pid = common->pid;
    query.kind = *kind;
    query.name = common->name;
    query.since = *since;
    query.sort = *sort;
    query.limit = common->limit;
    query.cursor = text_of(parameters, "cursor");
    query.group = parameters.contains("group") ? std::optional(*group) : std::nullopt;
    query.scope_depth =
        static_cast<uint32_t>(std::clamp<uint64_t>(depth->value_or(1), 1, segment::kMaxScopeDepth));
    return query;
}

Response json(std::string body) { return {200, "application/json", std::move(body), {}}; }

}  // namespace

// What a viewer may look into. Nobody gets an empty list for what is not his to see: that would be a wrong number.
base::Expected<census::Census> Api::open_to(const Question& question, std::optional<uint32_t> pid) const {
    if (!question.viewer.sees_anybody()) {
        return base::error(
            Error::Code::failed,
            "over TCP there are totals alone: send the daemon's token (Authorization: Bearer ...), or ask on "
            "the Unix socket");
    }
    census::Census census = parts_.roster.census();
    for (const census::Process& process : census.processes) {
        if (pid && process.identity.pid == *pid && !question.viewer.sees(process.identity.uid)) {
            return base::error(Error::Code::failed,
                               "process " + std::to_string(*pid) + " is " + process.identity.user +
                                   "'s: its details are for them, for root and for group ttmem");
        }
    }
    return question.viewer.visible(std::move(census));
}

Response Api::allocations(const Question& question) const {
    const auto query = read_query(question.parameters());
    if (!query) {
        return failed(query.error());
    }
    const auto census = open_to(question, query->pid);
    if (!census) {
        return Response::error(403, census.error().text);
    }
    auto inexact = inexactness(parts_.roster.census(), *census, question.viewer);
    if (query->group) {
        auto page = census::list_groups(*census, *query);
        if (!page) {
            return failed(page.error());
        }
        return json(view::to_json(view::GroupView{origin(), std::move(inexact), census->processes.size(),
                                                  *query->group, page->total, page->allocations,
                                                  page->ungrouped, std::move(page->groups)}));
    }
    auto page = census::list_allocations(*census, *query);
    if (!page) {
        return failed(page.error());
    }
    const auto view = std::make_shared<const view::AllocationView>(view::AllocationView{
        origin(), std::move(inexact), census->processes.size(), page->total, std::move(page->allocations),
        page->left_out, std::move(page->next), query->sort});
    // The list may be long: it becomes text piece by piece, as it is taken.
    Response response = json("");
    response.more = [pieces = std::make_shared<view::AllocationPieces>(view)] {
        return pieces->next().value_or("");
    };
    return response;
}

Response Api::map(const Question& question) const {
    const auto common = read_common(question.parameters());
    const auto kind = read_kind(question.parameters());
    if (!common || !kind) {
        return failed(!common ? common.error() : kind.error());
    }
    if (!common->device) {
        return Response::error(400, "a map is of one device: 'device' is missing");
    }
    const auto census = open_to(question, common->pid);
    if (!census) {
        return Response::error(403, census.error().text);
    }
    auto maps = census::map_addresses(*census, {*common->device, common->pid, *kind, common->limit});
    if (!maps) {
        return failed(maps.error());
    }
    return json(
        view::to_json(view::MapView{origin(), inexactness(parts_.roster.census(), *census, question.viewer),
                                    census->processes.size(), *common->device, std::move(*maps)}));
}

Response Api::cores(const Question& question) const {
    const auto common = read_common(question.parameters());
    if (!common) {
        return failed(common.error());
    }
    if (!common->device) {
        return Response::error(400, "cores are those of one device: 'device' is missing");
    }
    const auto census = open_to(question, std::nullopt);
    if (!census) {
        return Response::error(403, census.error().text);
    }
    auto grid = census::map_cores(*census, *common->device);
    if (!grid) {
        return failed(grid.error());
    }
    return json(
        view::to_json(view::CoreView{origin(), inexactness(parts_.roster.census(), *census, question.viewer),
                                     census->processes.size(), *common->device, std::move(*grid)}));
}

Response Api::programs(const Question& question) const {
    const auto common = read_common(question.parameters());
    if (!common) {
        return failed(common.error());
    }
    const auto census = open_to(question, common->pid);
    if (!census) {
        return Response::error(403, census.error().text);
    }
    auto page = census::list_programs(*census, {common->device, common->pid, common->name, common->limit});
    if (!page) {
        return failed(page.error());
    }
    return json(view::to_json(view::ProgramView{
        origin(), inexactness(parts_.roster.census(), *census, question.viewer), census->processes.size(),
        page->total, page->left_aside, std::move(page->programs)}));
}

Response Api::failures(const Question& question) const {
    const auto common = read_common(question.parameters());
    const auto type = read_word(question.parameters(), "type", census::FailureType::out_of_memory,
                                census::failure_type_by_name, "out_of_memory, cb_clash or unknown_free");
    if (!common || !type) {
        return failed(!common ? common.error() : type.error());
    }
    const auto census = open_to(question, common->pid);
    if (!census) {
        return Response::error(403, census.error().text);
    }
    const auto only = question.parameters().contains("type") ? std::optional(*type) : std::nullopt;
    auto page = census::list_failures(*census, {common->device, common->pid, only, common->limit});
    if (!page) {
        return failed(page.error());
    }
    return json(view::to_json(view::FailureView{origin(), census->processes.size(), page->total,
                                                std::move(page->counts), std::move(page->failures)}));
}

// The list of all; or, with a pid, the last of that process with all that is known.
Response Api::post_mortems(const Question& question) const {
    const auto common = read_common(question.parameters());
    if (!common) {
        return failed(common.error());
    }
    if (!question.viewer.sees_anybody()) {
        return Response::error(403, open_to(question, {}).error().text);
    }
    view::PostMortemListView list{origin(), parts_.post_mortems.dropped(), {}};
    for (const census::Dead& dead : parts_.post_mortems.newest_first()) {
        if (!question.viewer.sees(dead.process.identity.uid)) {
            continue;
        }
        if (common->pid && dead.process.identity.pid == *common->pid) {
            const census::PostMortemLimits limits{common->limit, common->limit, common->limit};
            return json(view::to_json(
                view::PostMortemView{origin(), census::examine(dead, parts_.roster.device_ids(), limits)}));
        }
        if (!common->pid && list.post_mortems.size() < common->limit) {
            list.post_mortems.push_back(census::summarise(dead, parts_.roster.device_ids()));
        }
    }
    if (common->pid) {
        return Response::error(404, "there is no post-mortem of a process " + std::to_string(*common->pid) +
                                        " that you may see ('ttmem post-mortem' lists them)");
    }
    return json(view::to_json(list));
}

}  // namespace ttmem::daemon
