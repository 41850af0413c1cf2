// SPDX-License-Identifier: Apache-2.0

// The page for other readers names what this reader names. Offsets and sizes are held by golden/.

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "segment/layout.hpp"

namespace ttmem::segment {

namespace {

// The rows of the table under a heading, one string each.
std::set<std::string> rows_under(const std::string& heading) {
    std::ifstream page(TTMEM_SOURCE_DIR "/docs/SEGMENT_FORMAT.md");
    std::set<std::string> rows;
    bool inside = false;
    for (std::string line; std::getline(page, line);) {
        if (!line.empty() && line.front() == '#') {
            inside = line == heading;
        } else if (inside && line.rfind("| ", 0) == 0) {
            rows.insert(line);
        }
    }
    rows.erase("| value | name |");
    return rows;
}

}  // namespace

TEST(FormatDocument, NamesEveryInexactCounter) {
    std::set<std::string> expected;
    for (uint32_t i = 0; i < kInexactCounters; ++i) {
        expected.insert("| " + std::to_string(i) + " | " + reason(static_cast<Inexact>(i)) + " |");
    }
    EXPECT_EQ(expected, rows_under("### inexact (values)"));
}

TEST(FormatDocument, NamesEveryKind) { EXPECT_EQ(kKinds + 1, rows_under("### kinds (values)").size()); }

}  // namespace ttmem::segment
