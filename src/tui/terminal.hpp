// SPDX-License-Identifier: Apache-2.0
#pragma once

// The terminal, by way of ncurses: nothing else of the dashboard knows it. It is given back as it was on every way out, also
// when the program crashes.

#include <memory>
#include <optional>

#include "base/error.hpp"
#include "tui/canvas.hpp"

namespace ttmem::tui {

class Terminal {
public:
    // An error where there is none, or none that ncurses knows.
    static base::Expected<Terminal> open();

    Terminal(Terminal&& other) noexcept;
    Terminal& operator=(Terminal&&) = delete;
    ~Terminal();

    // Gives it back before the end.
    void close();

    Glyphs glyphs() const { return glyphs_; }
    Size size() const;

    // After a change of its size.
    void resize();

    void show(const Canvas& canvas);

    // The next key that was pressed (tui/keys.hpp); nothing where none is waiting.
    std::optional<int> key();

private:
    Terminal() = default;

    bool is_open_ = false;
    Glyphs glyphs_ = Glyphs::ascii;
};

}  // namespace ttmem::tui
