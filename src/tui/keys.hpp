// SPDX-License-Identifier: Apache-2.0
#pragma once

// What keys do to what was chosen. Pure: who runs the dashboard does what is asked for beyond that.

#include "tui/screens.hpp"

namespace ttmem::tui {

// Letters are themselves; the others have names.
enum Key : int {
    kKeyEscape = 27,
    kKeyEnter = '\n',
    kKeyTab = '\t',
    kKeyBackspace = 127,
    kKeyUp = 0x110000,  // behind the last letter there can be
    kKeyDown,
    kKeyLeft,
    kKeyRight,
    kKeyPageUp,
    kKeyPageDown,
    kKeyHome,
    kKeyEnd,
    kKeyF1,
    kKeyF6,
    kKeyF9,
    kKeyF10,
    kKeyF12,
    kKeyBackTab,
};

enum class Wish : uint8_t { none, quit, save_settings, send_signal, new_interval, set_mark };

Wish press(int key, const Model& model, Ui& ui, Size size);

}  // namespace ttmem::tui
