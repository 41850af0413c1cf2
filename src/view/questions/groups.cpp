// SPDX-License-Identifier: Apache-2.0
#include "view/questions/groups.hpp"

#include "view/json/json_document.hpp"
#include "view/questions/filters.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

namespace {

std::string meaning_of_bytes(const GroupView& view) {
    if (view.device) {
        return "on device " + std::to_string(*view.device);
    }
    if (view.group == census::GroupBy::device) {
        return "on the device of the group";
    }
    return view.devices.empty() ? "over all devices of each allocation"
                                : "over those devices of each allocation that are in `devices`";
}

}  // namespace

void fields(auto& io, Like<GroupQuery> auto& query) {
    io.required("group", query.group, "what the members of a group share");
    allocation_filters(io, query);
    io("scope_depth", query.scope_depth, "how many parts of a name are its scope; default 1");
    io("sort", query.sort,
       "the order of the groups; default `used`; `age`: of the oldest allocation, `name`: the key");
    io("reverse", query.reverse, "`true`: the last of that order first");
    io.limit("limit", query.limit, "maximum number of groups");
}

void fields(auto& io, Like<GroupView> auto& view) {
    list_head(io, view);
    io("group", view.group, "what the members of a group share");
    io("device", view.device, "sums are those on this device; null: over all devices, or by device");
    io("devices", view.devices, "sums are over these devices; empty unless the query names several");
    io.derived("bytes_are", meaning_of_bytes(view), "what sums of bytes mean");
    io("total", view.total, "number of groups");
    io.derived("left_out", view.left_out(), "groups that are not listed");
    io("allocation_count", view.allocations, "allocations in all groups");
    io("ungrouped", view.ungrouped, "allocations in no group, because there are too many groups");
    io.rows("groups", view.groups, "the largest groups");
}

template struct UrlForm<GroupQuery>;
template struct JsonForm<GroupView>;

base::Expected<GroupView> Groups::answer(const Host& host, const GroupQuery& query) {
    const auto visible = host.visible(query.pid, query.device);
    if (!visible) {
        return tl::unexpected(visible.error());
    }
    auto page = census::list_groups(visible->census, query);
    if (!page) {
        return tl::unexpected(std::move(page.error()));
    }
    GroupView view;
    visible->describe(view, host.origin());
    view.group = query.group;
    if (visible->devices.size() == 1) {
        view.device = visible->device;
    } else {
        view.devices = visible->devices;
    }
    view.total = page->total;
    view.allocations = page->allocations;
    view.ungrouped = page->ungrouped;
    view.groups = std::move(page->groups);
    return view;
}

}  // namespace ttmem::view
