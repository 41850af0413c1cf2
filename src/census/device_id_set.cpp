// SPDX-License-Identifier: Apache-2.0
#include "census/device_id_set.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace ttmem::census {

namespace {

std::optional<uint32_t> parse_id(std::string_view text) {
    uint32_t id = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), id);
    return problem == std::errc() && end == text.data() + text.size() ? std::optional(id) : std::nullopt;
}

void add_part(std::string_view part, std::vector<std::string>& devices) {
    const size_t dash = part.find('-');
    const auto first = parse_id(part.substr(0, dash));
    const auto last = dash == part.npos ? std::nullopt : parse_id(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first >= kMostInDeviceRange) {
        devices.emplace_back(part);
        return;
    }
    for (uint64_t id = *first; id <= *last; ++id) {
        devices.push_back(std::to_string(id));
    }
}

}  // namespace

std::vector<std::string> split_device_list(std::string_view text) {
    std::vector<std::string> devices;
    for (size_t start = 0; start <= text.size();) {
        const size_t end = std::min(text.find(',', start), text.size());
        add_part(text.substr(start, end - start), devices);
        start = end + 1;
    }
    return devices;
}

std::string DeviceIdSet::text() const {
    std::string text;
    for (const uint32_t id : ids_) {
        text += (text.empty() ? "" : ",") + std::to_string(id);
    }
    return text;
}

}  // namespace ttmem::census
