// SPDX-License-Identifier: Apache-2.0
#include "tui/settings.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/environment.hpp"

namespace ttmem::tui {

using base::Error;
using nlohmann::ordered_json;

namespace {

template <class T>
void read(const ordered_json& json, const char* name, T& value, uint64_t most) {
    const auto found = json.find(name);
    if (found != json.end() && found->is_number_unsigned() && found->template get<uint64_t>() <= most) {
        value = static_cast<T>(found->template get<uint64_t>());
    }
}

void read(const ordered_json& json, const char* name, bool& value) {
    if (const auto found = json.find(name); found != json.end() && found->is_boolean()) {
        value = found->get<bool>();
    }
}

}  // namespace

base::Expected<std::string> settings_path() {
    const char* config = base::environment("XDG_CONFIG_HOME");
    const char* home = base::environment("HOME");
    if (config == nullptr && home == nullptr) {
        return base::error(Error::Code::failed,
                           "can't save settings: neither XDG_CONFIG_HOME nor HOME is set");
    }
    return (config != nullptr ? std::string(config) : std::string(home) + "/.config") + "/ttmem/top.json";
}

base::Expected<void> save_settings(const Ui& ui, const std::string& path) {
    ordered_json json;
    json["screen"] = static_cast<unsigned>(ui.screen);
    json["interval_ms"] = ui.interval_ms;
    json["order"] = std::string(name_of(ui.order));
    json["reverse"] = ui.reverse;
    json["scale"] = static_cast<unsigned>(ui.scale);
    json["all_devices"] = ui.all_devices;
    json["zoom"] = ui.zoom;
    json["group"] = ui.group ? ordered_json(std::string(census::name_of(*ui.group))) : ordered_json(nullptr);
    json["sort"] = std::string(census::name_of(ui.sort));
    if (!base::write_file_atomically(path, json.dump(2) + "\n")) {
        return base::error(Error::Code::failed, "can't write the settings " + path);
    }
    return {};
}

void load_settings(Ui& ui, const std::string& path) {
    std::ifstream file(path);
    const ordered_json json = ordered_json::parse(file, nullptr, false);
    if (!json.is_object()) {
        return;
    }
    read(json, "screen", ui.screen, kScreens - 1);
    read(json, "zoom", ui.zoom, kZooms.size() - 1);
    read(json, "scale", ui.scale, static_cast<uint64_t>(ChartScale::values));
    if (const auto found = json.find("reverse");
        found != json.end() && found->is_array() && found->size() == kScreens &&
        std::all_of(found->begin(), found->end(), [](const ordered_json& one) { return one.is_boolean(); })) {
        ui.reverse = found->get<std::array<bool, kScreens>>();
    }
    read(json, "all_devices", ui.all_devices);
    uint64_t interval = 0;
    read(json, "interval_ms", interval, kIntervals.back());
    if (interval >= kIntervals.front()) {
        ui.interval_ms = interval;
    }
    const auto text_of = [&](const char* name) {
        const auto found = json.find(name);
        return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    for (size_t i = 0; i < kOrders; ++i) {
        if (text_of("order") == name_of(static_cast<ProcessOrder>(i))) {
            ui.order = static_cast<ProcessOrder>(i);
        }
    }
    ui.sort = base::by_name<census::Sort>(text_of("sort")).value_or(ui.sort);
    if (json.contains("group")) {
        ui.group =
            json["group"].is_null()
                ? std::nullopt
                : std::optional(
                      base::by_name<census::GroupBy>(text_of("group")).value_or(census::GroupBy::name));
    }
}

}  // namespace ttmem::tui
