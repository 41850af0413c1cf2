// SPDX-License-Identifier: Apache-2.0
#include "view/questions/allocations.hpp"

#include <iterator>

#include "view/json/json_document.hpp"
#include "view/questions/filters.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<AllocationQuery> auto& query) {
    allocation_filters(io, query);
    io("sort", query.sort, "the order of the list; default `used`");
    io("reverse", query.reverse, "`true`: the last of that order first");
    io.limit("limit", query.limit, "maximum rows per page");
    io("cursor", query.cursor, "`next` of the previous page, with the same filters and order");
}

void fields(auto& io, Like<AllocationView> auto& view) {
    list_head(io, view);
    io("sort", view.sort, "the order of the list");
    io("total", view.total, "allocations that match");
    io("left_out", view.left_out, "matching allocations after this page");
    io("next", view.next, "the cursor of the next page; null: this is the last");
    io.rows("allocations", view.allocations, "the page");
}

// Rows are many and alike.
template <>
struct JsonStyle<AllocationView> {
    static constexpr int indent = kIndented;
    static constexpr int row_indent = kOnOneLine;
    static constexpr bool has_schema = true;
};

template struct UrlForm<AllocationQuery>;
template struct JsonForm<AllocationView>;

base::Expected<AllocationView> Allocations::answer(const Host& host, const AllocationQuery& query) {
    const auto visible = host.visible(query.pid, query.device);
    if (!visible) {
        return tl::unexpected(visible.error());
    }
    auto page = census::list_allocations(visible->census, query);
    if (!page) {
        return tl::unexpected(std::move(page.error()));
    }
    AllocationView view;
    visible->describe(view, host.origin());
    view.total = page->total;
    view.allocations = std::move(page->allocations);
    view.left_out = page->left_out;
    view.next = std::move(page->next);
    view.sort = query.sort;
    return view;
}

std::optional<AllocationQuery> Allocations::next_page(const AllocationQuery& query,
                                                      const AllocationView& view) {
    const bool wants_all = query.limit == 0;
    if (!view.next || (!wants_all && view.allocations.size() >= query.limit)) {
        return std::nullopt;
    }
    AllocationQuery rest = query;
    rest.cursor = view.next;
    rest.limit = wants_all ? 0 : query.limit - view.allocations.size();
    return rest;
}

void Allocations::append(AllocationView& view, AllocationView page) {
    view.allocations.insert(view.allocations.end(), std::make_move_iterator(page.allocations.begin()),
                            std::make_move_iterator(page.allocations.end()));
    view.next = std::move(page.next);
    view.left_out = page.left_out;
}

}  // namespace ttmem::view
