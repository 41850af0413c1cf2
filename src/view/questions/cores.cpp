// SPDX-License-Identifier: Apache-2.0
#include "view/questions/cores.hpp"

#include "view/json/json_document.hpp"
#include "view/questions/filters.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<CoreQuery> auto& query) { io.required("device", query.device, kDeviceMeaning); }

void fields(auto& io, Like<census::CoreFigures> auto& figures) {
    io("core", figures.core, "the core");
    io("cb_top", figures.cb_top, "address where circular buffers end; null: there are none");
    io("used", figures.used, "bytes of circular buffers and L1 buffers");
    io("headroom", figures.headroom, "bytes from `cb_top` to the lowest L1 buffer; below 0 is a clash");
    io("pid", figures.pid, "process of the circular buffer that ends highest; null: there is none");
    io("program", figures.program, "the runtime's id of its program; null: not reported");
    io.unless_empty("name", figures.name, "its full name");
}

void fields(auto& io, Like<CoreView> auto& view) {
    list_head(io, view);
    io("device", view.device, "its id");
    io.derived("bytes_are", std::string("on one core"), "what bytes mean");
    io("grid_size", view.grid.size, "cores in each direction; null: not reported");
    io("capacity", view.grid.capacity, "allocatable L1 of one core");
    io("lowest_buffer", view.grid.lowest_buffer, "address of the lowest L1 buffer, the same on every core");
    io("without_cores", view.grid.without_cores, "circular buffers whose cores are not known");
    io("cores", view.grid.cores, "row by row; where `grid_size` is null, those with circular buffers");
}

template struct UrlForm<CoreQuery>;
template struct JsonForm<CoreView>;

base::Expected<CoreView> Cores::answer(const Host& host, const CoreQuery& query) {
    const auto visible = host.visible(std::nullopt, query.device);
    if (!visible) {
        return tl::unexpected(visible.error());
    }
    auto grid = census::map_cores(visible->census, query.device);
    if (!grid) {
        return tl::unexpected(std::move(grid.error()));
    }
    CoreView view;
    visible->describe(view, host.origin());
    view.device = visible->device;
    view.grid = std::move(*grid);
    return view;
}

}  // namespace ttmem::view
