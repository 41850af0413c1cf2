// SPDX-License-Identifier: Apache-2.0
#include "view/questions/post_mortem.hpp"

#include "view/json/json_document.hpp"
#include "view/questions/post_mortem_fields.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<PostMortemQuery> auto& query) {
    io.required("pid", query.pid, "the process; the last one that had this id");
    io.limit("limit", query.limit, "maximum rows of each list");
}

void fields(auto& io, Like<census::EventInFlight> auto& event) {
    io("thread", event.thread, "the thread that was recording it");
    io("event", event.action, "what it did");
    io("in_ledger", event.is_in_ledger, "the ledger has it; the allocator may not have completed it");
    io("slot", event.slot, "the entry of the ledger");
    io("generation", event.generation, "the entry's generation");
}

void fields(auto& io, Like<census::PostMortem> auto& found) {
    io("summary", found.summary, "as in the list");
    io.derived("bytes_are", std::string("over all devices of each allocation"), "what bytes mean");
    io("by_kind", found.by_kind, "what it held, by kind");
    io("names", found.names, "number of names");
    io("by_name", found.by_name, "the largest of them");
    io("largest_allocations", found.largest, "its largest allocations");
    io("failures_since_start", found.failure_counts, "failures since it started, by type");
    io("failures", found.failures, "the last first");
    io("in_flight", found.in_flight, "events that a thread was recording when the process died");
}

void fields(auto& io, Like<PostMortemView> auto& view) {
    head(io, view.origin);
    io.derived("exact", view.post_mortem.inexact.empty(), "nothing is missing and nothing is in doubt");
    io("inexact", view.post_mortem.inexact, "why it is not exact");
    io("post_mortem", view.post_mortem, "ages are those at its death");
}

template struct UrlForm<PostMortemQuery>;
template struct JsonForm<PostMortemView>;

namespace {

// At most `limit` rows; with 0, all.
template <class Row>
void keep_first(std::vector<Row>& rows, uint64_t limit) {
    if (limit != 0 && rows.size() > limit) {
        rows.erase(rows.begin() + static_cast<ptrdiff_t>(limit), rows.end());
    }
}

}  // namespace

base::Expected<PostMortemView> SinglePostMortem::answer(const Host& host, const PostMortemQuery& query) {
    const auto dead = host.dead_processes();
    if (!dead) {
        return tl::unexpected(dead.error());
    }
    for (const census::DeadProcess& one : dead->newest_first) {
        if (one.process.identity.pid == query.pid) {
            const census::PostMortemLimits limits{query.limit, query.limit, query.limit};
            return PostMortemView{host.origin(), census::examine(one, host.census().device_ids, limits)};
        }
    }
    for (const census::Identity& one : dead->hidden) {
        if (one.pid == query.pid) {
            return not_for_asker(one);
        }
    }
    auto past = host.past_death(query.pid);
    if (!past) {
        return tl::unexpected(std::move(past.error()));
    }
    if (*past) {
        PostMortemView view{host.origin(), std::move(**past)};
        keep_first(view.post_mortem.by_name, query.limit);
        keep_first(view.post_mortem.largest, query.limit);
        keep_first(view.post_mortem.failures, query.limit);
        return view;
    }
    return base::error(
        base::Error::Code::not_found,
        "no post-mortem of a process " + std::to_string(query.pid) + " ('ttmem post-mortem' lists them)");
}

}  // namespace ttmem::view
