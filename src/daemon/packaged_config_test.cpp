// SPDX-License-Identifier: Apache-2.0

// packaging/ttmemd.toml becomes /etc/ttmem/ttmemd.toml. It must not lag behind the daemon.

#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "daemon/options.hpp"

namespace ttmem::daemon {
namespace {

std::string read_source(const std::string& path) {
    std::ifstream file(std::string(TTMEM_SOURCE_DIR "/") + path);
    EXPECT_TRUE(file.is_open()) << path;
    return {std::istreambuf_iterator<char>(file), {}};
}

// The file with every option uncommented.
std::string with_every_option() {
    std::istringstream lines(read_source("packaging/ttmemd.toml"));
    const std::regex option(R"(^#(\w+ = .*|\[\w+\])$)");
    std::string result;
    for (std::string line; std::getline(lines, line);) {
        result += std::regex_replace(line, option, "$1") + "\n";
    }
    return result;
}

TEST(PackagedConfig, SetsNothingAsInstalled) {
    const toml::table table = toml::parse(read_source("packaging/ttmemd.toml"));
    EXPECT_TRUE(table.empty());
}

TEST(PackagedConfig, ShowsTheDefaultOfEachOption) {
    const DaemonOptions standard;
    DaemonOptions read;
    const auto result = read_config(with_every_option(), "ttmemd.toml", read);
    ASSERT_TRUE(result) << result.error().text;
    EXPECT_EQ(read.listen, standard.listen);
    EXPECT_EQ(read.classic_wire, classic_wire_path(standard));
    EXPECT_EQ(read.log_events, standard.log_events);
    EXPECT_EQ(read.quiet, standard.quiet);
    EXPECT_EQ(read.flight.limits.hours, standard.flight.limits.hours);
    EXPECT_EQ(read.flight.limits.bytes, standard.flight.limits.bytes);
    EXPECT_EQ(read.post_mortems.number, standard.post_mortems.number);
    EXPECT_EQ(read.post_mortems.bytes, standard.post_mortems.bytes);
    EXPECT_EQ(read.history.bytes, standard.history.bytes);
    EXPECT_EQ(read.history.days, standard.history.days);
}

TEST(PackagedConfig, ListsEveryOption) {
    const std::string reader = read_source("src/daemon/config.cpp");
    const std::regex known(R"re(key == "(\w+)")re");
    std::set<std::string> wanted;
    for (auto match = std::sregex_iterator(reader.begin(), reader.end(), known);
         match != std::sregex_iterator(); ++match) {
        wanted.insert((*match)[1]);
    }
    ASSERT_TRUE(wanted.contains("listen")) << "this test no longer finds the keys in config.cpp";

    std::set<std::string> shown;
    for (const auto& [key, node] : toml::parse(with_every_option())) {
        shown.insert(std::string(key.str()));
        if (const toml::table* inner = node.as_table()) {
            for (const auto& [inner_key, value] : *inner) {
                shown.insert(std::string(inner_key.str()));
            }
        }
    }
    EXPECT_EQ(shown, wanted);
}

}  // namespace
}  // namespace ttmem::daemon
