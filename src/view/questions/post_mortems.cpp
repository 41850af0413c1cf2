// SPDX-License-Identifier: Apache-2.0
#include "view/questions/post_mortems.hpp"

#include "view/json/json_document.hpp"
#include "view/questions/post_mortem_fields.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<PostMortemListQuery> auto& query) {
    io.limit("limit", query.limit, "maximum number of post-mortems");
}

void fields(auto& io, Like<PostMortemListView> auto& view) {
    head(io, view.origin);
    io("dropped", view.dropped, "older ones that are no longer kept");
    io.rows("post_mortems", view.post_mortems, "the last first");
}

template struct UrlForm<PostMortemListQuery>;
template struct JsonForm<PostMortemListView>;

base::Expected<PostMortemListView> PostMortemList::answer(const Host& host,
                                                          const PostMortemListQuery& query) {
    const auto dead = host.dead_processes();
    if (!dead) {
        return tl::unexpected(dead.error());
    }
    PostMortemListView view;
    view.origin = host.origin();
    view.dropped = dead->dropped;
    const census::SharedDeviceIds ids = host.census().device_ids;
    for (const census::DeadProcess& one : dead->newest_first) {
        if (query.limit != 0 && view.post_mortems.size() == query.limit) {
            break;
        }
        view.post_mortems.push_back(census::summarise(one, ids));
    }
    return view;
}

}  // namespace ttmem::view
