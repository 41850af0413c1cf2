// SPDX-License-Identifier: Apache-2.0
#include "view/questions/manual.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace ttmem::view {
namespace {

constexpr const char* kBegin =
    "<!-- generated from src/view/questions: TTMEM_UPDATE_GOLDEN=1 view_test -->\n";
constexpr const char* kEnd = "<!-- end of the generated part -->\n";

std::string read_file(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

void expect_generated(const std::string& page, const std::string& generated) {
    const std::string path = std::string(TTMEM_SOURCE_DIR) + "/docs/" + page;
    const std::string text = read_file(path);
    const size_t begin = text.find(kBegin);
    const size_t end = text.find(kEnd);
    ASSERT_NE(begin, std::string::npos) << page << " has no generated part";
    ASSERT_NE(end, std::string::npos) << page << " has no end of the generated part";
    const size_t first = begin + std::string(kBegin).size();
    const std::string wanted = "\n" + generated;
    if (std::getenv("TTMEM_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(path) << text.substr(0, first) << wanted << text.substr(end);
        return;
    }
    EXPECT_EQ(text.substr(first, end - first), wanted)
        << "docs/" << page << " differs from the declarations (TTMEM_UPDATE_GOLDEN=1 rewrites it)";
}

TEST(Manual, TheApiPageHasTheParametersAndFieldsOfEveryQuestion) { expect_generated("API.md", api_manual()); }

TEST(Manual, TheCommandPageHasTheFieldsOfEveryDocument) { expect_generated("CLI.md", cli_manual()); }

}  // namespace
}  // namespace ttmem::view
