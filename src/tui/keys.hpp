// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tui/key_actions.hpp"

namespace ttmem::tui {

// Applies a key to the user's choices: to the filter or the signal dialog while one is open, else by the table of keys.
AppRequest press(const Input& input, const Model& model, Ui& ui, Size size);

}  // namespace ttmem::tui
