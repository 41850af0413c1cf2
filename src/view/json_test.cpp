// SPDX-License-Identifier: Apache-2.0
#include "view/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "view/queries_test_support.hpp"

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

template <class View>
void expect_read_back(const View& view, base::Expected<View> (*read)(std::string_view)) {
    const auto again = read(to_json(view));
    ASSERT_TRUE(again.has_value()) << again.error().text;
    EXPECT_EQ(*again, view);
}

TEST(Json, AnswersAreReadBackToo) {
    for (const GroupView& view : {groups_by_name(), groups_by_device(), groups_by_thread(), GroupView{}}) {
        expect_read_back(view, groups_from_json);
    }
    expect_read_back(several_programs(), programs_from_json);
    expect_read_back(several_failures(), failures_from_json);
    expect_read_back(several_post_mortems(), post_mortems_from_json);
    expect_read_back(post_mortem(), post_mortem_from_json);
    expect_read_back(post_mortem_with_nothing(), post_mortem_from_json);
    AllocationView page = several_allocations();
    page.next = "1-2-3";
    page.sort = census::Sort::address;
    expect_read_back(page, allocations_from_json);
}

TEST(Json, EventsAreNullWhereNobodyFollowsThem) {
    View view = one_device();
    EXPECT_TRUE(json::parse(to_json(view))["processes"][0]["events"]["followed"].is_null());
    EXPECT_TRUE(json::parse(to_json(view))["processes"][0]["events"]["lost"].is_null());
    view.figures.processes[0].followed = 12;
    view.figures.processes[0].lost = 0;
    view.figures.processes[0].events_per_second = 7;
    EXPECT_EQ(json::parse(to_json(view))["processes"][0]["events"],
              (json{{"followed", 12}, {"lost", 0}, {"per_second", 7}}));
    EXPECT_EQ(*view_from_json(to_json(view)), view);
}

TEST(Json, GroupsSayWhatTheirBytesMean) {
    EXPECT_EQ(json::parse(to_json(groups_by_name()))["bytes_are"],
              "on each device of an allocation, counted once");
    EXPECT_EQ(json::parse(to_json(groups_by_device()))["bytes_are"], "on the device of the group");
}

TEST(Json, PiecesAreTheWholeTextInPortions) {
    auto view = std::make_shared<AllocationView>(several_allocations());
    while (view->allocations.size() < 2'000) {
        view->allocations.push_back(view->allocations[view->allocations.size() % 8]);
    }
    AllocationPieces pieces(view);
    std::string text;
    size_t count = 0;
    for (auto piece = pieces.next(); piece; piece = pieces.next()) {
        EXPECT_FALSE(piece->empty());
        EXPECT_LT(piece->size(), 66'000u);
        text += *piece;
        ++count;
    }
    EXPECT_GT(count, 5u);
    EXPECT_EQ(pieces.next(), std::nullopt);
    EXPECT_EQ(*allocations_from_json(text), *view);
    EXPECT_EQ(text, to_json(*view));
}

TEST(Json, AnEmptyListIsOnePiece) {
    AllocationPieces pieces(std::make_shared<AllocationView>());
    EXPECT_EQ(pieces.next(), to_json(AllocationView{}));
    EXPECT_EQ(pieces.next(), std::nullopt);
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
    EXPECT_FALSE(groups_from_json(R"({"schema":1,"group":"x"})").has_value());
    EXPECT_FALSE(failures_from_json(R"({"schema":1,"failures":[{"type":"x"}]})").has_value());
    EXPECT_FALSE(post_mortem_from_json(R"({"schema":1,"post_mortem":[]})").has_value());
    EXPECT_THAT(view_from_json(R"({"schema":2})").error().text, HasSubstr("schema 2"));
}

TEST(Json, TextThatIsNoUtf8DoesNotCostTheDocument) {
    View view = one_device();
    view.figures.processes[0].comm = "\xff";
    EXPECT_TRUE(view_from_json(to_json(view)).has_value());
}

}  // namespace
}  // namespace ttmem::view
