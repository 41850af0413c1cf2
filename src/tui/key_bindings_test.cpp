// SPDX-License-Identifier: Apache-2.0
#include "tui/key_bindings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace ttmem::tui {
namespace {

using testing::Contains;

TEST(KeyBindings, AKeyHasAtMostOneBindingPerScreen) {
    for (const KeySource source : {KeySource::host, KeySource::recording}) {
        for (size_t screen = 0; screen < kScreens; ++screen) {
            std::set<Key> bound;
            for (const KeyBinding& binding : key_bindings()) {
                if (!binding.works_with(source) || !binding.screens.contains(static_cast<Screen>(screen))) {
                    continue;
                }
                for (const Key key : binding.keys) {
                    EXPECT_TRUE(bound.insert(key).second) << name_of(key) << " on screen " << screen;
                }
            }
        }
    }
}

TEST(KeyBindings, EveryBindingHasKeysAnActionAndHelp) {
    for (const KeyBinding& binding : key_bindings()) {
        EXPECT_FALSE(binding.keys.empty()) << binding.help;
        EXPECT_NE(binding.action, nullptr) << binding.help;
        EXPECT_FALSE(binding.help.empty());
        EXPECT_THAT(help_lines(), Contains(HelpLine{keys_text(binding), std::string(binding.help)}));
    }
}

TEST(KeyBindings, TheFooterOfEveryScreenEndsWithHelpAndQuit) {
    for (const KeySource source : {KeySource::host, KeySource::recording}) {
        for (size_t screen = 0; screen < kScreens; ++screen) {
            const auto hints = footer_hints(static_cast<Screen>(screen), source);
            ASSERT_GE(hints.size(), 2u);
            EXPECT_EQ(hints[hints.size() - 2].text, "help");
            EXPECT_EQ(hints.back().text, "quit");
        }
    }
}

TEST(KeyBindings, TheHelpFitsEightyColumns) {
    size_t widest_keys = 0;
    size_t widest_text = 0;
    for (const HelpLine& line : help_lines()) {
        widest_keys = std::max(widest_keys, line.keys.size());
        widest_text = std::max(widest_text, line.keys.empty() ? 0 : line.text.size());
        EXPECT_LE(line.text.size(), 80u);
    }
    EXPECT_LE(2 + widest_keys + 2 + widest_text, 80u);
}

TEST(KeyBindings, RowsOfKeysHaveAShortName) {
    EXPECT_EQ(keys_text(*find_binding(key_of(U'0'), Screen::map, KeySource::host)), "0 ... 7");
    EXPECT_EQ(keys_text(*find_binding(Key::left, Screen::map, KeySource::host)),
              "arrows, PgUp/PgDn, Home/End");
    EXPECT_EQ(keys_text(*find_binding(Key::up, Screen::overview, KeySource::host)),
              "Up/Down, PgUp/PgDn, Home/End");
}

// TTMEM_UPDATE_GOLDEN=1 rewrites the table in the manual.
TEST(KeyBindings, TheManualHasTheTableOfKeys) {
    const std::string path = std::string(TTMEM_SOURCE_DIR) + "/docs/TOP.md";
    const std::string begin = "<!-- keys: written by tui_test from src/tui/key_bindings.cpp -->\n";
    const std::string end = "<!-- end of keys -->\n";
    std::ostringstream stream;
    stream << std::ifstream(path).rdbuf();
    std::string page = stream.str();
    const size_t from = page.find(begin);
    const size_t to = page.find(end);
    ASSERT_NE(from, std::string::npos);
    ASSERT_NE(to, std::string::npos);
    const size_t start = from + begin.size();
    if (std::getenv("TTMEM_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(path) << page.substr(0, start) << keys_manual() << page.substr(to);
        return;
    }
    EXPECT_EQ(page.substr(start, to - start), keys_manual()) << "in " << path;
}

}  // namespace
}  // namespace ttmem::tui
