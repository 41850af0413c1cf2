// SPDX-License-Identifier: Apache-2.0
#include "tui/settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

namespace ttmem::tui {

using base::Error;
using Json = nlohmann::ordered_json;

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

template <class T>
void read(const Json& json, const char* name, T& value, uint64_t most) {
    const auto found = json.find(name);
    if (found != json.end() && found->is_number_unsigned() && found->template get<uint64_t>() <= most) {
        value = static_cast<T>(found->template get<uint64_t>());
    }
}

void read(const Json& json, const char* name, bool& value) {
    if (const auto found = json.find(name); found != json.end() && found->is_boolean()) {
        value = found->get<bool>();
    }
}

}  // namespace

base::Expected<std::string> settings_path() {
    const std::string config = variable("XDG_CONFIG_HOME");
    const std::string home = variable("HOME");
    if (config.empty() && home.empty()) {
        return base::error(Error::Code::failed,
                           "settings need a place: neither XDG_CONFIG_HOME nor HOME is set");
    }
    return (config.empty() ? home + "/.config" : config) + "/ttmem/top.json";
}

base::Expected<void> save_settings(const Ui& ui, const std::string& path) {
    Json json;
    json["screen"] = static_cast<unsigned>(ui.screen);
    json["interval_ms"] = ui.interval_ms;
    json["order"] = std::string(name_of(ui.order));
    json["reverse"] = ui.reverse;
    json["all_devices"] = ui.all_devices;
    json["zoom"] = ui.zoom;
    json["group"] = ui.group ? Json(std::string(census::name_of(*ui.group))) : Json(nullptr);
    json["sort"] = std::string(census::name_of(ui.sort));
    std::error_code problem;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), problem);
    // Whole or not at all.
    const std::string beside = path + ".new";
    std::ofstream file(beside);
    file << json.dump(2) << '\n';
    file.close();
    if (file) {
        std::filesystem::rename(beside, path, problem);
    }
    if (!file || problem) {
        return base::error(Error::Code::failed, "can't write the settings " + path);
    }
    return {};
}

void load_settings(Ui& ui, const std::string& path) {
    std::ifstream file(path);
    const Json json = Json::parse(file, nullptr, false);
    if (!json.is_object()) {
        return;
    }
    read(json, "screen", ui.screen, kScreens - 1);
    read(json, "zoom", ui.zoom, kZooms.size() - 1);
    read(json, "reverse", ui.reverse);
    read(json, "all_devices", ui.all_devices);
    uint64_t interval = 0;
    read(json, "interval_ms", interval, kIntervals.back());
    if (interval >= kIntervals.front()) {
        ui.interval_ms = interval;
    }
    const auto word = [&](const char* name) {
        const auto found = json.find(name);
        return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    for (size_t i = 0; i < kOrders; ++i) {
        if (word("order") == name_of(static_cast<Order>(i))) {
            ui.order = static_cast<Order>(i);
        }
    }
    ui.sort = census::sort_by_name(word("sort")).value_or(ui.sort);
    if (json.contains("group")) {
        ui.group = json["group"].is_null()
                       ? std::nullopt
                       : std::optional(census::group_by_name(word("group")).value_or(census::GroupBy::name));
    }
}

}  // namespace ttmem::tui
