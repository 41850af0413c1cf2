// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "view/format.hpp"

namespace ttmem::view {

inline std::string golden_path(const std::string& name) {
    return std::string(TTMEM_SOURCE_DIR) + "/src/view/golden/" + name + ".txt";
}

inline std::string read_file(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// Compares a screen with the one that people have looked at and found good. TTMEM_UPDATE_GOLDEN=1 replaces those.
inline void expect_golden(const std::string& name, const std::string& text) {
    if (std::getenv("TTMEM_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(golden_path(name)) << text;
    }
    EXPECT_EQ(text, read_file(golden_path(name))) << "the screen is not that of " << golden_path(name);
}

inline std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

inline void expect_fits(const std::string& text, size_t width) {
    for (const std::string& line : lines_of(text)) {
        EXPECT_LE(display_width(line), width) << line;
    }
}

}  // namespace ttmem::view
