// SPDX-License-Identifier: Apache-2.0

// The questions that take a pass over ledgers.

#include "census/allocations.hpp"
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

base::Expected<census::AllocationQuery> read_query(const Parameters& parameters) {
    census::AllocationQuery query;
    query.device = text_of(parameters, "device");
    query.name = text_of(parameters, "name").value_or("");
    query.cursor = text_of(parameters, "cursor");
    const auto pid = read_pid(parameters);
    const auto kind = read_kind(parameters);
    const auto limit = read_limit(parameters);
    if (!pid || !kind || !limit) {
        return tl::unexpected(!pid ? pid.error() : !kind ? kind.error() : limit.error());
    }
    query.pid = *pid;
    query.kind = *kind;
    query.limit = *limit;
    if (const auto sort = text_of(parameters, "sort")) {
        const auto known = census::sort_by_name(*sort);
        if (!known) {
            return base::error(Error::Code::refused, "'sort' is used, requested, age, address or name");
        }
        query.sort = *known;
    }
    return query;
}

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
    auto page = census::list_allocations(*census, *query);
    if (!page) {
        return failed(page.error());
    }
    view::AllocationView view{view::read_here(), census::count(*census, census::Depth::pools).inexact,
                              census->processes.size(), page->total, std::move(page->allocations)};
    view.origin.source = "daemon";
    return {200, "application/json", view::to_json(view), {}};
}

}  // namespace ttmem::daemon
