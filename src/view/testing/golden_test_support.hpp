// SPDX-License-Identifier: Apache-2.0
#pragma once

// Golden files: one per screen, with its variants and sizes as sections below lines such as "=== t3000, 80 columns".

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "view/text/format.hpp"
#include "view/text/spans.hpp"

namespace ttmem::view {

// Compares the sections of one golden file when it goes out of scope. With TTMEM_UPDATE_GOLDEN=1 it rewrites the file first. One
// test must add all sections of a file, because tests run in processes of their own.
class GoldenFile {
public:
    // The path is relative to the root of the tree.
    explicit GoldenFile(const std::string& path) : path_(std::string(TTMEM_SOURCE_DIR) + "/" + path) {}
    GoldenFile(const GoldenFile&) = delete;
    GoldenFile& operator=(const GoldenFile&) = delete;

    ~GoldenFile() {
        if (std::getenv("TTMEM_UPDATE_GOLDEN") != nullptr) {
            write();
        }
        std::map<std::string, std::string> golden = read();
        for (const auto& [title, text] : sections_) {
            EXPECT_EQ(text, golden[title]) << path_ << ", section " << title;
            golden.erase(title);
        }
        for (const auto& [title, text] : golden) {
            ADD_FAILURE() << path_ << " has a section that no test makes: " << title;
        }
    }

    void add(const std::string& title, std::string text) { sections_.emplace_back(title, std::move(text)); }
    void add(const std::string& title, const Text& text) { add(title, render_plain(text)); }

private:
    static constexpr std::string_view kMark = "=== ";

    void write() const {
        std::ofstream file(path_);
        for (const auto& [title, text] : sections_) {
            file << kMark << title << "\n" << text;
        }
    }

    std::map<std::string, std::string> read() const {
        std::map<std::string, std::string> golden;
        std::ifstream file(path_);
        std::string* section = nullptr;
        for (std::string line; std::getline(file, line);) {
            if (line.starts_with(kMark)) {
                section = &golden[line.substr(kMark.size())];
            } else if (section != nullptr) {
                *section += line + "\n";
            }
        }
        return golden;
    }

    std::string path_;
    std::vector<std::pair<std::string, std::string>> sections_;
};

inline void expect_fits(const Text& text, size_t width) {
    for (const Line& line : text.lines()) {
        EXPECT_LE(line.width(), width) << line.plain();
    }
}

// Without its first line, which may hold a long name.
inline Text below_headline(const Text& text) {
    Text rest;
    for (size_t i = 1; i < text.size(); ++i) {
        rest.add(text.lines()[i]);
    }
    return rest;
}

}  // namespace ttmem::view
