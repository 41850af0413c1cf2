// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a user wants to find again the next time: kept in ~/.config/ttmem/top.json when he says so.

#include <string>

#include "base/error.hpp"
#include "tui/ui.hpp"

namespace ttmem::tui {

// $XDG_CONFIG_HOME/ttmem/top.json, or in ~/.config.
base::Expected<std::string> settings_path();

base::Expected<void> save_settings(const Ui& ui, const std::string& path);

// What is not there, or makes no sense, stays as it is: a file of another version is no reason not to start.
void load_settings(Ui& ui, const std::string& path);

}  // namespace ttmem::tui
