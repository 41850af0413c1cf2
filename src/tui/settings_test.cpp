// SPDX-License-Identifier: Apache-2.0
#include "tui/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ttmem::tui {
namespace {

struct Settings : testing::Test {
    Settings() {
        std::string name = testing::TempDir() + "/settings-XXXXXX";
        folder = mkdtemp(name.data());
    }
    ~Settings() override { std::filesystem::remove_all(folder); }

    std::filesystem::path folder;
};

TEST_F(Settings, AreFoundAgain) {
    Ui ui;
    ui.screen = Screen::charts;
    ui.interval_ms = 2000;
    ui.order = ProcessOrder::age;
    ui.reverse[4] = true;
    ui.scale = ChartScale::values;
    ui.all_devices = false;
    ui.zoom = 3;
    ui.group.reset();
    ui.sort = census::Sort::age;
    const std::string path = folder / "a" / "b" / "top.json";
    ASSERT_TRUE(save_settings(ui, path));
    Ui again;
    load_settings(again, path);
    EXPECT_EQ(again.screen, ui.screen);
    EXPECT_EQ(again.interval_ms, 2000u);
    EXPECT_EQ(again.order, ProcessOrder::age);
    EXPECT_EQ(again.reverse, ui.reverse);
    EXPECT_EQ(again.scale, ChartScale::values);
    EXPECT_FALSE(again.all_devices);
    EXPECT_EQ(again.zoom, 3u);
    EXPECT_EQ(again.group, std::nullopt);
    EXPECT_EQ(again.sort, census::Sort::age);
}

TEST_F(Settings, ThatMakeNoSenseChangeNothing) {
    for (const char* text :
         {"", "[", "[]", "7", R"({"screen":99,"zoom":-1,"interval_ms":1,"order":7,"group":"x","sort":null})",
          R"({"screen":"x","reverse":[3]})", R"({"reverse":true,"scale":2})"}) {
        const std::string path = folder / "top.json";
        std::ofstream(path) << text;
        Ui ui;
        load_settings(ui, path);
        EXPECT_EQ(ui.screen, Screen::overview);
        EXPECT_EQ(ui.zoom, 0u);
        EXPECT_EQ(ui.interval_ms, 500u);
        EXPECT_EQ(ui.sort, census::Sort::used);
    }
    Ui ui;
    load_settings(ui, folder / "none.json");
    EXPECT_EQ(ui.interval_ms, 500u);
}

TEST_F(Settings, ThatCannotBeWrittenSaySo) {
    std::ofstream(folder / "file") << "";
    const auto saved = save_settings({}, folder / "file" / "top.json");
    ASSERT_FALSE(saved);
    EXPECT_NE(saved.error().text.find("can't write"), std::string::npos);
}

}  // namespace
}  // namespace ttmem::tui
