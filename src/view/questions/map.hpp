// SPDX-License-Identifier: Apache-2.0
#pragma once

// The banks of devices: live blocks by address and the free blocks between them. L1 has its circular buffers.

#include <vector>

#include "census/address_map.hpp"
#include "census/figures.hpp"
#include "view/model/origin.hpp"
#include "view/questions/host.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

using census::MapQuery;

struct MapView {
    Origin origin;
    std::vector<census::Inexactness> inexact;
    uint64_t processes = 0;         // tracked ones, whatever the filters
    std::vector<uint32_t> devices;  // asked for
    std::vector<census::AddressMap> maps;
    uint64_t left_out = 0;    // programs beyond the limit
    uint64_t left_aside = 0;  // circular buffers in no map, because there are too many
    Hidden hidden = {};

    bool is_exact() const { return inexact.empty(); }
    bool operator==(const MapView&) const = default;
};

struct Map {
    using Query = MapQuery;
    using View = MapView;
    static constexpr const char* kName = "map";
    static constexpr const char* kCommand = "map";
    static constexpr const char* kPath = "/v1/map";
    static constexpr const char* kSummary =
        "the banks of a device, or circular buffers by program: blocks by address";
    static constexpr Permission kPermission = Permission::details;
    static base::Expected<View> answer(const Host& host, const Query& query);
};

extern template struct UrlForm<MapQuery>;
extern template struct JsonForm<MapView>;

}  // namespace ttmem::view
