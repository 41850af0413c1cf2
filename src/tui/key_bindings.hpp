// SPDX-License-Identifier: Apache-2.0
#pragma once

// The table of keys. Dispatch, the footer, the help overlay and the table in docs/TOP.md are all derived from it.

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tui/key_actions.hpp"

namespace ttmem::tui {

class ScreenSet {
public:
    constexpr ScreenSet(std::initializer_list<Screen> screens) {
        for (const Screen screen : screens) {
            bits_ |= 1u << static_cast<unsigned>(screen);
        }
    }
    static constexpr ScreenSet all() {
        ScreenSet set{};
        set.bits_ = (1u << kScreens) - 1;
        return set;
    }

    constexpr bool contains(Screen screen) const { return (bits_ >> static_cast<unsigned>(screen) & 1) != 0; }
    constexpr bool operator==(const ScreenSet&) const = default;

private:
    unsigned bits_ = 0;
};

// What the dashboard shows: the host, or a recording.
enum class KeySource : uint8_t { any, host, recording };
inline KeySource source_of(const Model& model) {
    return model.is_recording() ? KeySource::recording : KeySource::host;
}

struct KeyBinding {
    std::vector<Key> keys;
    ScreenSet screens;
    KeyAction action;
    std::string_view hint;  // in the footer; empty: not shown there
    std::string_view help;
    KeySource source = KeySource::any;

    bool works_with(KeySource shown) const { return source == KeySource::any || source == shown; }
};

// A key has at most one binding per screen of a source, which is not `any`.
const std::vector<KeyBinding>& key_bindings();
const KeyBinding* find_binding(Key key, Screen screen, KeySource source);

// "0 ... 7", "arrows, PgUp/PgDn", "Tab, d".
std::string keys_text(const KeyBinding& binding);

// "everywhere", "2 Charts, 5 Map", "in a recording".
std::string places_text(const KeyBinding& binding);

// "g works on 4 Allocations."; empty where no screen has a binding for the key.
std::string other_screens_text(Key key, KeySource source);

struct FooterHint {
    std::string key;
    std::string_view text;
};
// The bindings of a recording come first, then Enter and those of the screen itself, then those of every screen.
std::vector<FooterHint> footer_hints(Screen screen, KeySource source);

// The help overlay, line by line. A line without keys is a title.
struct HelpLine {
    std::string keys;
    std::string text;

    bool operator==(const HelpLine&) const = default;
};
const std::vector<HelpLine>& help_lines();

// The table in docs/TOP.md.
std::string keys_manual();

}  // namespace ttmem::tui
