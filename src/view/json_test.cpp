// SPDX-License-Identifier: Apache-2.0
#include "view/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "view/views_test_support.hpp"

namespace ttmem::view {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(Json, WhatIsWrittenIsReadBack) {
    for (const View& view : {empty_host(), one_device(), t3000(), inexact(), unknown_capacity(), full(),
                             long_names(), nothing_allocated()}) {
        const auto read = view_from_json(to_json(view));
        ASSERT_TRUE(read.has_value()) << read.error().text;
        EXPECT_EQ(*read, view);
    }
    for (const AllocationView& view : {several_allocations(), long_allocation_names()}) {
        const auto read = allocations_from_json(to_json(view));
        ASSERT_TRUE(read.has_value()) << read.error().text;
        EXPECT_EQ(*read, view);
    }
}

TEST(Json, UnknownIsNullAndNeverZero) {
    const json device = json::parse(to_json(unknown_capacity()))["devices"][0];
    EXPECT_TRUE(device["asic_id"].is_null());
    EXPECT_TRUE(device["board"].is_null());
    EXPECT_TRUE(device["memory"]["dram"]["capacity"].is_null());
    EXPECT_TRUE(device["memory"]["dram"]["largest_free"].is_null());
    EXPECT_TRUE(device["l1_worst_core"]["headroom"].is_null());
    EXPECT_TRUE(device["telemetry"]["power_w"].is_null());
}

TEST(Json, SizesAreIntegersAndAsicIdsAreText) {
    const json view = json::parse(to_json(one_device()));
    EXPECT_EQ(view["schema"], 1);
    EXPECT_EQ(view["source"], "direct");
    EXPECT_EQ(view["exact"], true);
    EXPECT_EQ(view["devices"][0]["asic_id"], "0x2620a1");
    EXPECT_TRUE(view["devices"][0]["memory"]["dram"]["used"].is_number_unsigned());
    EXPECT_EQ(view["devices"][0]["kernel_by_type"]["fabric"], 114'688);
    EXPECT_EQ(view["devices"][0]["l1_worst_core"]["core"], json::array({3, 4}));
    EXPECT_TRUE(view["processes"][0]["pid"].is_number_unsigned());
}

TEST(Json, TheLargestNumbersSurvive) {
    View view = one_device();
    view.figures.devices[0].asic_id = UINT64_MAX;
    view.figures.devices[0].memory[0].used = UINT64_MAX;
    view.figures.devices[0].l1_worst_core.headroom = INT64_MIN;
    EXPECT_EQ(*view_from_json(to_json(view)), view);
}

TEST(Json, FieldsThatThisVersionDoesNotKnowArePassedOver) {
    json later = json::parse(to_json(one_device()));
    later["new"] = 1;
    later["devices"][0]["memory"]["dram"]["new"] = {1, 2};
    EXPECT_EQ(*view_from_json(later.dump()), one_device());
}

TEST(Json, WhatIsNoViewIsAnErrorAndNoCrash) {
    for (const char* text :
         {"", "{", "[]", "null", "{}", R"({"schema":2})", R"({"schema":1,"devices":{}})",
          R"({"schema":1,"devices":[1]})", R"({"schema":1,"host":7})",
          R"({"schema":1,"devices":[{"id":"x"}]})", R"({"schema":1,"devices":[{"asic_id":"zz"}]})",
          R"({"schema":1,"devices":[{"memory":[]}]})",
          R"({"schema":1,"devices":[{"l1_worst_core":{"core":[1]}}]})"}) {
        EXPECT_FALSE(view_from_json(text).has_value()) << text;
    }
    EXPECT_FALSE(allocations_from_json(R"({"schema":1,"allocations":[{"kind":"x"}]})").has_value());
    EXPECT_THAT(view_from_json(R"({"schema":2})").error().text, HasSubstr("schema 2"));
}

TEST(Json, TextThatIsNoUtf8DoesNotCostTheDocument) {
    View view = one_device();
    view.figures.processes[0].comm = "\xff";
    EXPECT_TRUE(view_from_json(to_json(view)).has_value());
}

}  // namespace
}  // namespace ttmem::view
