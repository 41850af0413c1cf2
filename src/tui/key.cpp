// SPDX-License-Identifier: Apache-2.0
#include "tui/key.hpp"

#include "tui/canvas.hpp"

namespace ttmem::tui {

std::string name_of(Key key) {
    switch (key) {
        case Key::none:
            return "";
        case Key::backspace_control:
        case Key::backspace:
            return "Backspace";
        case Key::tab:
            return "Tab";
        case Key::enter:
            return "Enter";
        case Key::escape:
            return "Esc";
        case Key::space:
            return "Space";
        case Key::up:
            return "Up";
        case Key::down:
            return "Down";
        case Key::left:
            return "Left";
        case Key::right:
            return "Right";
        case Key::page_up:
            return "PgUp";
        case Key::page_down:
            return "PgDn";
        case Key::home:
            return "Home";
        case Key::end:
            return "End";
        case Key::f1:
            return "F1";
        case Key::f6:
            return "F6";
        case Key::f9:
            return "F9";
        case Key::f10:
            return "F10";
        case Key::f12:
            return "F12";
        case Key::back_tab:
            return "Shift-Tab";
        case Key::click:
            return "click";
        case Key::wheel_up:
            return "wheel up";
        case Key::wheel_down:
            return "wheel down";
    }
    return encode(static_cast<char32_t>(key));
}

}  // namespace ttmem::tui
