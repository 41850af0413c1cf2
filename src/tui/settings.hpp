// SPDX-License-Identifier: Apache-2.0
#pragma once

// The settings that the user saves for the next start, in ~/.config/ttmem/top.json.

#include <string>

#include "base/error.hpp"
#include "tui/ui.hpp"

namespace ttmem::tui {

// $XDG_CONFIG_HOME/ttmem/top.json, or in ~/.config.
base::Expected<std::string> settings_path();

base::Expected<void> save_settings(const Ui& ui, const std::string& path);

// Missing and invalid values are ignored, so that a file of another version does not prevent a start.
void load_settings(Ui& ui, const std::string& path);

}  // namespace ttmem::tui
