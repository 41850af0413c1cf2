// SPDX-License-Identifier: Apache-2.0
#pragma once

// What golden tests of screens share.

#include <string>

#include "view/json/json.hpp"
#include "view/testing/golden_test_support.hpp"
#include "view/text/screens.hpp"

namespace ttmem::view {

inline std::string golden_path(const std::string& screen) { return "src/view/golden/" + screen + ".txt"; }

// A screen at 80 and 200 columns, and with plain bytes.
template <class View, class AsText>
void add_sizes(GoldenFile& file, const std::string& variant, const View& view, AsText as_text) {
    file.add(variant + ", 80 columns", as_text(view, Style{}));
    file.add(variant + ", 200 columns", as_text(view, Style{.width = 200}));
    file.add(variant + ", bytes", as_text(view, Style{.bytes = true}));
}

template <class View, class AsText>
void add_sizes_and_json(GoldenFile& file, const std::string& variant, const View& view, AsText as_text) {
    add_sizes(file, variant, view, as_text);
    file.add(variant + ", json", to_json(view));
}

// At any width the screen has at least the lines that it has with unlimited width.
template <class View, class AsText>
void expect_complete_at_any_width(const View& view, AsText as_text) {
    for (size_t width = 0; width < 130; ++width) {
        const Style style{.width = width, .bytes = width % 2 == 0, .cut = width % 3 == 0};
        EXPECT_GE(as_text(view, style).size(), as_text(view, Style{.width = 1000}).size()) << width;
    }
}

template <class View, class AsText>
void expect_fits_80_columns(const View& view, AsText as_text) {
    for (const bool bytes : {false, true}) {
        expect_fits(below_headline(as_text(view, Style{.bytes = bytes})), 80);
    }
}

}  // namespace ttmem::view
