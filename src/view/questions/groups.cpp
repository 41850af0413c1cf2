// SPDX-License-Identifier: Apache-2.0
#include "view/questions/groups.hpp"

#include "view/json/json_document.hpp"
#include "view/questions/filters.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

namespace {

std::string_view meaning_of_bytes(census::GroupBy group) {
    return group == census::GroupBy::device ? "on the device of the group"
                                            : "on each device of an allocation, counted once";
}

}  // namespace

void fields(auto& io, Like<GroupQuery> auto& query) {
    io.required("group", query.group, "what the members of a group share");
    allocation_filters(io, query);
    io("scope_depth", query.scope_depth, "how many parts of a name are its scope; default 1");
    io.limit("limit", query.limit, "maximum number of groups");
}

void fields(auto& io, Like<GroupView> auto& view) {
    list_head(io, view);
    io("group", view.group, "what the members of a group share");
    io.derived("bytes_are", std::string(meaning_of_bytes(view.group)), "what sums of bytes mean");
    io("total", view.total, "number of groups");
    io.derived("left_out", view.left_out(), "groups that are not listed");
    io("allocations", view.allocations, "allocations in all groups");
    io("ungrouped", view.ungrouped, "allocations in no group, because there are too many groups");
    io.rows("groups", view.groups, "the largest groups");
}

template struct UrlForm<GroupQuery>;
template struct JsonForm<GroupView>;

base::Expected<GroupView> Groups::answer(const Host& host, const GroupQuery& query) {
    const auto visible = host.visible(query.pid);
    if (!visible) {
        return tl::unexpected(visible.error());
    }
    auto page = census::list_groups(visible->census, query);
    if (!page) {
        return tl::unexpected(std::move(page.error()));
    }
    GroupView view;
    view.origin = host.origin();
    view.inexact = visible->inexact();
    view.processes = visible->census.processes.size();
    view.group = query.group;
    view.total = page->total;
    view.allocations = page->allocations;
    view.ungrouped = page->ungrouped;
    view.groups = std::move(page->groups);
    return view;
}

}  // namespace ttmem::view
