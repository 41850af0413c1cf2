// SPDX-License-Identifier: Apache-2.0

// README.md of this folder names a test for each promise. Each of these tests must exist.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::set<std::string> matches(const std::string& text, const char* pattern) {
    std::set<std::string> found;
    const std::regex regex(pattern);
    for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) {
        found.insert((*at)[1].str() + "." + (*at)[2].str());
    }
    return found;
}

TEST(PromiseTable, NamesOnlyTestsThatExist) {
    std::set<std::string> tests;
    for (const char* folder : {"/src/client", "/tests/crash", "/tests/proofs"}) {
        for (const auto& file : fs::directory_iterator(std::string(TTMEM_SOURCE_DIR) + folder)) {
            if (file.path().extension() == ".cpp") {
                tests.merge(matches(text_of(file.path()), "TEST\\((\\w+),\\s*(\\w+)\\)"));
            }
        }
    }
    const std::set<std::string> named =
        matches(text_of(TTMEM_SOURCE_DIR "/tests/proofs/README.md"), "`([A-Z]\\w+)\\.([A-Z]\\w+)`");
    EXPECT_GT(named.size(), 50u);
    for (const std::string& name : named) {
        EXPECT_TRUE(tests.contains(name)) << name;
    }
}

}  // namespace
