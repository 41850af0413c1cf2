// SPDX-License-Identifier: Apache-2.0
#include "view/questions/map.hpp"

#include "view/json/json_document.hpp"
#include "view/questions/filters.hpp"
#include "view/questions/url.hpp"

namespace ttmem::view {

void fields(auto& io, Like<MapQuery> auto& query) {
    io.required("device", query.device, kDeviceMeaning);
    io("pid", query.pid, "only this process");
    io("kind", query.kind, "only this kind of memory");
    io.limit("limit", query.limit, "maximum number of live blocks per map");
}

void fields(auto& io, Like<census::MapBlock> auto& block) {
    io("address", block.address, "where it begins");
    io("bytes", block.bytes, "its length in one bank");
    io("free", block.is_free, "true: a free block");
    io("requested", block.requested, "requested bytes, in all banks");
    io("used", block.used, "reserved bytes, in all banks");
    io("owner", block.owner, "the runtime's id of the buffer");
    io("age_ns", block.age_ns, "how long it has been live");
    io("name", block.name, "its full name");
}

void fields(auto& io, Like<census::AddressMap> auto& map) {
    io("pid", map.pid, "the process");
    io("set", map.set, "what the process called the device set");
    io("devices", map.devices, "device ids that the allocator keeps in lockstep");
    io("kind", map.kind, "the kind of memory");
    io.object(
        "bank",
        [&](auto& bank) {
            bank("base", map.bank.base, "its first address");
            bank("size", map.bank.size, "its bytes");
            bank("banks", map.bank.banks, "number of banks; 0: not reported");
        },
        "one bank");
    io("used", map.used, "reserved bytes per bank");
    io("free", map.free, "free bytes per bank");
    io("largest_free", map.largest_free, "largest free block per bank");
    io("left_out", map.left_out,
       "live blocks beyond the limit; the free blocks between them are left out too");
    io("blocks", map.blocks, "by address");
}

void fields(auto& io, Like<MapView> auto& view) {
    list_head(io, view);
    io("device", view.device, "as in the query");
    io.derived("bytes_are", std::string("in one bank; requested and used of a block: in all banks"),
               "what bytes mean");
    io.rows("maps", view.maps, "one per allocator and kind");
}

template struct UrlForm<MapQuery>;
template struct JsonForm<MapView>;

base::Expected<MapView> Map::answer(const Host& host, const MapQuery& query) {
    const auto visible = host.visible(query.pid);
    if (!visible) {
        return tl::unexpected(visible.error());
    }
    auto maps = census::map_addresses(visible->census, query);
    if (!maps) {
        return tl::unexpected(std::move(maps.error()));
    }
    MapView view;
    view.origin = host.origin();
    view.inexact = visible->inexact();
    view.processes = visible->census.processes.size();
    view.device = query.device;
    view.maps = std::move(*maps);
    return view;
}

}  // namespace ttmem::view
