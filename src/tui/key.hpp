// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ttmem::tui {

// A pressed key. A key that types a character has that character's code point as its value; the named ones that type none
// lie above the last code point.
enum class Key : uint32_t {
    none = 0,
    backspace_control = '\b',  // some terminals send this for the backspace key
    tab = '\t',
    enter = '\n',
    escape = 27,
    space = ' ',
    backspace = 127,
    up = 0x110000,
    down,
    left,
    right,
    page_up,
    page_down,
    home,
    end,
    f1,
    f6,
    f9,
    f10,
    f12,
    back_tab,
    click,  // of the mouse
    wheel_up,
    wheel_down,
};

constexpr Key key_of(char32_t character) { return static_cast<Key>(character); }

constexpr bool is_printable(Key key) { return key >= Key::space && key < Key::up && key != Key::backspace; }

// A key, and where the mouse was if it is one of the mouse's.
struct Input {
    // NOLINTNEXTLINE(google-explicit-constructor): a key of the keyboard is an input.
    Input(Key pressed, int mouse_row = -1, int mouse_column = -1)
        : key(pressed), row(mouse_row), column(mouse_column) {}

    Key key;
    int row;
    int column;
};

// The name on the keyboard: "Enter", "PgUp", "F6", "g".
std::string name_of(Key key);

}  // namespace ttmem::tui
