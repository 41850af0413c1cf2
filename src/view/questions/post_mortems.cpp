// SPDX-License-Identifier: Apache-2.0
#include "view/questions/post_mortems.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "view/json/json_document.hpp"
#include "view/questions/post_mortem_fields.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<PostMortemListQuery> auto& query) {
    io("device", query.device, "only processes that had one of the devices with these ids open");
    io.limit("limit", query.limit, "maximum number of post-mortems");
}

void fields(auto& io, Like<PostMortemListView> auto& view) {
    head(io, view.origin);
    exactness(io, view);
    io("total", view.total, "post-mortems that match");
    io.derived("left_out", view.left_out(), "post-mortems that are not listed");
    io("dropped", view.dropped, "older ones that are no longer kept, of all users and devices");
    io("hidden_post_mortems", view.hidden_post_mortems, "those of other users' processes, on any device");
    io("processes_missed", view.processes_missed,
       "short-lived processes that ended before the daemon could read them");
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
    view.hidden_post_mortems = dead->hidden.size();
    view.processes_missed = dead->missed;
    if (dead->missed != 0) {
        view.inexact.push_back({0, census::Reason::processes_missed, dead->missed});
    }
    const census::SharedDeviceIds ids = host.census().device_ids;
    for (const census::DeadProcess& one : dead->newest_first) {
        std::vector<census::Inexactness> inexact;
        census::PostMortemSummary summary = census::summarise(one, ids, &inexact);
        const std::vector<census::DeviceHoldings>& devices = summary.process.devices;
        const bool is_asked = query.device.empty() ||
                              std::any_of(devices.begin(), devices.end(),
                                          [&](const auto& held) { return query.device.selects(held.id); });
        if (!is_asked) {
            continue;
        }
        ++view.total;
        if (query.limit == 0 || view.post_mortems.size() < query.limit) {
            view.inexact.insert(view.inexact.end(), inexact.begin(), inexact.end());
            view.post_mortems.push_back(std::move(summary));
        }
    }
    PastDeaths past = host.past_deaths(query);
    view.total += past.total;
    view.hidden_post_mortems += past.hidden;
    // Those in memory have a share per user, so they come first: many deaths of one user must not hide that of another.
    const size_t room = query.limit == 0
                            ? past.newest_first.size()
                            : query.limit - std::min<uint64_t>(query.limit, view.post_mortems.size());
    past.newest_first.resize(std::min(room, past.newest_first.size()));
    std::move(past.newest_first.begin(), past.newest_first.end(), std::back_inserter(view.post_mortems));
    std::stable_sort(view.post_mortems.begin(), view.post_mortems.end(),
                     [](const auto& a, const auto& b) { return a.died_ns > b.died_ns; });
    // What the memory has dropped may be on disk.
    view.dropped = dead->dropped - std::min(dead->dropped, past.since_start);
    if (view.dropped != 0) {
        view.inexact.push_back({0, census::Reason::post_mortems_not_kept, view.dropped});
    }
    if (view.hidden_post_mortems != 0) {
        view.inexact.push_back({0, census::Reason::post_mortems_hidden, view.hidden_post_mortems});
    }
    if (const KeptPast now = host.past(UINT64_MAX); !now.problem.empty()) {
        view.inexact.push_back({0, census::Reason::history_not_kept, now.lost, now.problem});
    }
    return view;
}

}  // namespace ttmem::view
