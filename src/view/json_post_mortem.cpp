// SPDX-License-Identifier: Apache-2.0
#include "view/json.hpp"
#include "view/json_document.hpp"

namespace ttmem::view {

void fields(auto& io, Like<census::InFlight> auto& event) {
    io("thread", event.thread);
    io("event", event.event);
    io("in_ledger", event.is_in_ledger);
    io("slot", event.slot);
    io("generation", event.generation);
}

void fields(auto& io, Like<census::PostMortemSummary> auto& summary) {
    io("died_ns", summary.died_ns);
    io("exact", summary.exact);
    io("process", summary.process);
    io("allocations", summary.allocations);
    io("failures", summary.failures);
    io("in_flight", summary.in_flight);
}

void fields(auto& io, Like<census::PostMortem> auto& found) {
    io("summary", found.summary);
    io("inexact", found.inexact);
    io.derived("bytes_are", "on each device of an allocation, counted once");
    io("by_kind", found.by_kind);
    io("names", found.names);
    io("by_name", found.by_name);
    io("largest", found.largest);
    io("failure_counts", found.failure_counts);
    io("failures", found.failures);
    io("in_flight", found.in_flight);
}

void fields(auto& io, Like<PostMortemListView> auto& view) {
    head(io, view.origin);
    io("dropped", view.dropped);
    io("post_mortems", view.post_mortems);
}

void fields(auto& io, Like<PostMortemView> auto& view) {
    head(io, view.origin);
    io("post_mortem", view.post_mortem);
}

std::string to_json(const PostMortemListView& view) { return write_document(view); }
std::string to_json(const PostMortemView& view) { return write_document(view); }

base::Expected<PostMortemListView> post_mortems_from_json(std::string_view text) {
    return read_document<PostMortemListView>(text);
}
base::Expected<PostMortemView> post_mortem_from_json(std::string_view text) {
    return read_document<PostMortemView>(text);
}

}  // namespace ttmem::view
