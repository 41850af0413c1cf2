// SPDX-License-Identifier: Apache-2.0
#pragma once

// The terminal, by way of ncurses, which nothing else in the dashboard uses. Its state is restored on every exit, including
// crashes.

#include <memory>
#include <optional>

#include "base/error.hpp"
#include "tui/canvas.hpp"
#include "tui/key.hpp"

namespace ttmem::tui {

class Terminal {
public:
    // Fails without a terminal, or with one that ncurses does not know.
    static base::Expected<Terminal> open();

    Terminal(Terminal&& other) noexcept;
    Terminal& operator=(Terminal&&) = delete;
    ~Terminal();

    // Restores the terminal.
    void close();

    Glyphs glyphs() const { return glyphs_; }
    Size size() const;

    // Call after SIGWINCH.
    void resize();

    void show(const Canvas& canvas);

    // The next key or click; absent if none is waiting.
    std::optional<Input> key();

private:
    Terminal() = default;

    bool is_open_ = false;
    Glyphs glyphs_ = Glyphs::ascii;
};

}  // namespace ttmem::tui
