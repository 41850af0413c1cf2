// SPDX-License-Identifier: Apache-2.0
#include "view/questions/map.hpp"

#include "view/json/json_document.hpp"
#include "view/questions/filters.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<MapQuery> auto& query) {
    io.required("device", query.device, kDevicesMeaning);
    io("pid", query.pid, "only this process");
    io("kind", query.kind, "only these kinds of memory; `cb`, alone: circular buffers, one map per program");
    io("core", query.core, "only L1, or circular buffers, of this core: `x,y`; absent: of the fullest");
    io("from", query.window.from, "only blocks that end above this address");
    io("to", query.window.to, "only blocks that begin below this address");
    io.limit("limit", query.limit, "maximum number of live blocks per map, and of programs");
}

void fields(auto& io, Like<census::CoreProgram> auto& program) {
    io("program", program.program, "the runtime's id; null: not reported");
    io.unless_empty("name", program.name, "of its highest circular buffer");
    io("count", program.count, "its circular buffers on the core");
    io("bytes", program.bytes, "their bytes on the core");
    io("top", program.top, "address where the highest one ends");
}

void fields(auto& io, Like<census::MapCore> auto& core) {
    io("core", core.core, "the core; null: there are no circular buffers, or their cores are not known");
    io("asked", core.is_asked, "the query asked for this core; false: it is the fullest");
    io("cb_bytes", core.bytes, "bytes that circular buffers occupy on the core, outside of L1 buffers");
    io("cb_top", core.cb_top, "address where circular buffers end; null: there are none");
    io("lowest_buffer", core.lowest_buffer, "address of the lowest L1 buffer of the process");
    io("headroom", core.headroom, "bytes from `cb_top` to the lowest L1 buffer; below 0 is a clash");
    io("without_cores", core.without_cores,
       "circular buffers whose cores are not known; they are shown as if they were on this one");
    io("on_other_cores", core.on_other_cores, "circular buffers that are not on this core");
    io("programs_left_out", core.programs_left_out, "programs beyond the limit");
    io("programs", core.programs, "programs with circular buffers on the core, the highest first");
}

void fields(auto& io, Like<census::AddressMap> auto& map) {
    io("device", map.device, "the requested device of this map");
    io("pid", map.pid, "the process");
    io.unless_empty("set", map.set, "what the process called the device set");
    io("devices", map.devices, "device ids that the allocator keeps in lockstep");
    io("kind", map.kind, "the kind of memory");
    io.object(
        "bank",
        [&](auto& bank) {
            bool is_known = map.bank.is_known();
            bank.unless_unknown("base", map.bank.base, is_known, "its first address");
            bank.unless_unknown("size", map.bank.size, is_known, "its bytes");
            bank.unless_unknown("banks", map.bank.banks, is_known, "number of banks");
        },
        "one bank; of circular buffers: the part of L1 below the lowest buffer; its fields are null where "
        "the "
        "process does not report them");
    io("shown_core", map.core, "the core that a map of L1 or of circular buffers shows; null: another kind");
    io("used", map.used, "reserved bytes per bank; in a map of L1 without `shown_core.cb_bytes`");
    io("free", map.free, "free bytes per bank; in a map of L1 without what circular buffers occupy");
    io("largest_free", map.largest_free, "largest free block per bank");
    io("largest_free_address", map.largest_free_address, "where the lowest block of that size begins");
    io("left_out", map.left_out,
       "live blocks between `from` and `to` beyond the limit; the free blocks between them are left out too");
    io("blocks", map.blocks, "by address");
}

void fields(auto& io, Like<MapView> auto& view) {
    list_head(io, view);
    io.derived("device", view.devices.empty() ? 0 : view.devices.front(), "the first of `devices`");
    io("devices", view.devices, "ids of the requested devices");
    io.derived("bytes_are", std::string("in one bank; requested and used of a block: in all banks"),
               "what bytes mean");
    io("left_out", view.left_out, "programs beyond the limit");
    io("left_aside", view.left_aside, "circular buffers in no map, because there are too many");
    io.rows(
        "maps", view.maps,
        "device by device, one per allocator and kind; with `kind=cb` one per program, the highest first");
}

template struct UrlForm<MapQuery>;
template struct JsonForm<MapView>;

base::Expected<MapView> Map::answer(const Host& host, const MapQuery& query) {
    const auto visible = host.visible(query.pid, query.device);
    if (!visible) {
        return tl::unexpected(visible.error());
    }
    auto maps = census::map_addresses(visible->census, query);
    if (!maps) {
        return tl::unexpected(std::move(maps.error()));
    }
    MapView view;
    visible->describe(view, host.origin());
    view.devices = visible->devices;
    view.left_out = maps->left_out;
    view.left_aside = maps->left_aside;
    view.maps = std::move(maps->maps);
    return view;
}

}  // namespace ttmem::view
