// SPDX-License-Identifier: Apache-2.0
#include "view/json/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "view/model/diff.hpp"
#include "view/model/doctor.hpp"
#include "view/model/run.hpp"
#include "view/questions/questions.hpp"
#include "view/testing/command_views_test_support.hpp"
#include "view/testing/queries_test_support.hpp"

namespace ttmem::view {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(Json, WhatIsWrittenIsReadBack) {
    for (const View& view : {empty_host(), one_device(), t3000(), inexact(), unknown_capacity(), full(),
                             long_names(), nothing_allocated()}) {
        const auto read = from_json<View>(to_json(view));
        ASSERT_TRUE(read.has_value()) << read.error().text;
        EXPECT_EQ(*read, view);
    }
    for (const AllocationView& view : {several_allocations(), long_allocation_names()}) {
        const auto read = from_json<AllocationView>(to_json(view));
        ASSERT_TRUE(read.has_value()) << read.error().text;
        EXPECT_EQ(*read, view);
    }
}

template <class View>
void expect_read_back(const View& view) {
    const auto again = from_json<View>(to_json(view));
    ASSERT_TRUE(again.has_value()) << again.error().text;
    EXPECT_EQ(*again, view);
}

TEST(Json, AnswersAreReadBackToo) {
    for (const GroupView& view : {groups_by_name(), groups_by_device(), groups_by_thread(), GroupView{}}) {
        expect_read_back(view);
    }
    expect_read_back(several_programs());
    expect_read_back(several_failures());
    expect_read_back(why_with_cards());
    expect_read_back(several_post_mortems());
    expect_read_back(post_mortem());
    expect_read_back(post_mortem_with_nothing());
    expect_read_back(dram_map());
    expect_read_back(l1_map());
    expect_read_back(cb_map());
    expect_read_back(some_cores());
    expect_read_back(unknown_map());
    AllocationView page = several_allocations();
    page.next = "1-2-3";
    page.sort = census::Sort::address;
    expect_read_back(page);
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
    EXPECT_EQ(*from_json<View>(to_json(view)), view);
}

TEST(Json, GroupsSayWhatTheirBytesMean) {
    EXPECT_EQ(json::parse(to_json(groups_by_name()))["bytes_are"], "over all devices of each allocation");
    GroupView one_device = groups_by_name();
    one_device.device = 3;
    EXPECT_EQ(json::parse(to_json(one_device))["bytes_are"], "on device 3");
    EXPECT_EQ(json::parse(to_json(groups_by_device()))["bytes_are"], "on the device of the group");
}

TEST(Json, PiecesAreTheWholeTextInPortions) {
    auto view = std::make_shared<AllocationView>(several_allocations());
    while (view->allocations.size() < 2'000) {
        view->allocations.push_back(view->allocations[view->allocations.size() % 8]);
    }
    const auto next = JsonForm<AllocationView>::pieces(view);
    std::string text;
    size_t count = 0;
    for (std::string piece = next(); !piece.empty(); piece = next()) {
        EXPECT_LT(piece.size(), 66'000u);
        text += piece;
        ++count;
    }
    EXPECT_GT(count, 5u);
    EXPECT_EQ(next(), "");
    EXPECT_EQ(*from_json<AllocationView>(text), *view);
    EXPECT_EQ(text, to_json(*view));
}

TEST(Json, ALongStatusIsWrittenInPiecesToo) {
    auto view = std::make_shared<View>(t3000());
    while (view->figures.processes.size() < 1'000) {
        view->figures.processes.push_back(view->figures.processes[0]);
        view->figures.devices.push_back(view->figures.devices[0]);
    }
    const auto next = JsonForm<View>::pieces(view);
    std::string text;
    for (std::string piece = next(); !piece.empty(); piece = next()) {
        EXPECT_LT(piece.size(), 80'000u);
        text += piece;
    }
    EXPECT_EQ(*from_json<View>(text), *view);
    EXPECT_EQ(text, nlohmann::ordered_json::parse(text).dump(2) + "\n") << "indented as a whole document is";
}

TEST(Json, AnEmptyListIsOnePiece) {
    const auto next = JsonForm<AllocationView>::pieces(std::make_shared<AllocationView>());
    EXPECT_EQ(next(), to_json(AllocationView{}));
    EXPECT_EQ(next(), "");
}

TEST(Json, ALineHasTheSameFieldsOnOneLine) {
    const std::string line = JsonForm<View>::write_line(t3000());
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(*from_json<View>(line), t3000());
}

TEST(Json, CoresAreReadBack) {
    CoreView view{origin(), {{4711, census::Reason::settling, 3}}, 2, 0, {}};
    view.grid.size = census::Core{8, 9};
    view.grid.capacity = 1'393'472;
    view.grid.lowest_buffer = 1'031'024;
    view.grid.without_cores = 5;
    view.grid.cores = {{{3, 4}, 385'664, 748'114, -64}, {{7, 8}, std::nullopt, std::nullopt, std::nullopt}};
    expect_read_back(view);
    EXPECT_FALSE(from_json<CoreView>(R"({"schema":1,"cores":[{"core":[1]}]})"));
}

TEST(Json, UnknownIsNullAndNeverZero) {
    const json device = json::parse(to_json(unknown_capacity()))["devices"][0];
    EXPECT_TRUE(device["asic_id"].is_null());
    EXPECT_TRUE(device["board"].is_null());
    EXPECT_TRUE(device["memory"]["dram"]["capacity"].is_null());
    EXPECT_TRUE(device["memory"]["dram"]["largest_free"].is_null());
    EXPECT_TRUE(device["l1_worst_core"]["headroom"].is_null());
    View not_scanned = one_device();
    not_scanned.figures.devices[0].l1_worst_core = {};
    EXPECT_TRUE(json::parse(to_json(not_scanned))["devices"][0]["l1_worst_core"].is_null());
    expect_read_back(not_scanned);
    const json silent = json::parse(to_json(with_driver()))["devices"][2];
    EXPECT_TRUE(silent["kernel_by_type"].is_null());
    EXPECT_TRUE(silent["memory"]["dram"]["planned"].is_null());
    EXPECT_TRUE(silent["memory"]["dram"]["views"].is_null());
    expect_read_back(with_driver());
    EXPECT_TRUE(device["telemetry"]["power_w"].is_null());
}

TEST(Json, WhatAFreeBlockOrAnUnnamedAllocationLacksIsNull) {
    const json blocks = json::parse(to_json(dram_map()))["maps"][0]["blocks"];
    EXPECT_EQ(blocks[0]["is_free"], false);
    EXPECT_EQ(blocks[0]["name"], "decoder.0/ttnn::matmul");
    EXPECT_EQ(blocks[1]["is_free"], true);
    for (const char* name : {"requested", "used", "owner", "age_ns", "name"}) {
        EXPECT_TRUE(blocks[1][name].is_null()) << name;
    }
    EXPECT_TRUE(blocks[2]["name"].is_null());
    EXPECT_EQ(blocks[2]["owner"], 1);
    EXPECT_TRUE(json::parse(to_json(unknown_map()))["maps"][0]["bank"]["size"].is_null());
    EXPECT_TRUE(json::parse(to_json(several_allocations()))["allocations"][2]["name"].is_null());
    EXPECT_TRUE(json::parse(to_json(groups_by_name()))["groups"][1]["key"].is_null());
}

TEST(Json, EveryListSaysWhetherItIsExact) {
    const auto expect_exactness = [](const json& document, bool is_exact) {
        EXPECT_EQ(document["exact"], is_exact) << document.dump().substr(0, 200);
        EXPECT_EQ(document["inexact"].empty(), is_exact);
    };
    WhyView why = some_why();
    expect_exactness(json::parse(to_json(why)), true);
    why.failures.inexact = {{1, census::Reason::not_listed, 1}};
    expect_exactness(json::parse(to_json(why)), false);
    EventsView events = some_events();
    events.inexact = {{0, census::Reason::events_hidden, 4}};
    expect_exactness(json::parse(to_json(events)), false);
    HistoryView history = some_history();
    expect_exactness(json::parse(to_json(history)), true);
    expect_exactness(json::parse(to_json(several_post_mortems())), true);
    expect_exactness(json::parse(to_json(post_mortem())), false);
    expect_read_back(events);
    expect_read_back(why);
}

// "number or null" and "number" are one type.
std::string type_of(const std::string& type) {
    for (const char* known : {"number", "text", "true or false", "object", "list", "`[x, y]`"}) {
        if (type.starts_with(known)) {
            return known;
        }
    }
    return type.starts_with("`") ? "text" : type.starts_with("[") ? "object" : type;
}

TEST(Json, ANameHasOneTypeInAllDocuments) {
    // Devices and processes keep their shape: a container's id, and the counts of a process's events.
    const std::set<std::string> exempt = {"id", "events"};
    std::map<std::string, std::string> types;
    const auto check = [&](const std::vector<FieldTables::Row>& rows, const std::string& where) {
        for (const FieldTables::Row& row : rows) {
            const std::string name = row.name.substr(row.name.rfind('.') + 1);
            const std::string type = type_of(row.type);
            const auto [known, is_new] = types.emplace(name, type);
            EXPECT_TRUE(is_new || known->second == type || exempt.contains(name))
                << name << " is " << known->second << ", and in " << where << " " << row.type;
        }
    };
    const auto check_all = [&](const FieldTables& tables, const std::string& where) {
        check(tables.rows, where);
        for (const FieldTables::TypeTable& type : tables.types) {
            check(type.rows, type.title);
        }
    };
    Questions::for_each(
        [&]<class Question>() { check_all(JsonForm<typename Question::View>::describe(), Question::kName); });
    check_all(JsonForm<DiffView>::describe(), "diff");
    check_all(JsonForm<RunView>::describe(), "run");
    check_all(JsonForm<DoctorView>::describe(), "doctor");
    EXPECT_EQ(types["failure_counts"], "list");
    EXPECT_EQ(types["device"], "number");
    EXPECT_EQ(types["allocations"], "list");
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
    EXPECT_EQ(*from_json<View>(to_json(view)), view);
}

TEST(Json, FieldsThatThisVersionDoesNotKnowArePassedOver) {
    json later = json::parse(to_json(one_device()));
    later["new"] = 1;
    later["devices"][0]["memory"]["dram"]["new"] = {1, 2};
    EXPECT_EQ(*from_json<View>(later.dump()), one_device());
}

TEST(Json, WhatIsNoViewIsAnErrorAndNoCrash) {
    for (const char* text :
         {"", "{", "[]", "null", "{}", R"({"schema":2})", R"({"schema":1,"devices":{}})",
          R"({"schema":1,"devices":[1]})", R"({"schema":1,"host":7})",
          R"({"schema":1,"devices":[{"id":"x"}]})", R"({"schema":1,"devices":[{"asic_id":"zz"}]})",
          R"({"schema":1,"devices":[{"memory":[]}]})",
          R"({"schema":1,"devices":[{"l1_worst_core":{"core":[1]}}]})"}) {
        EXPECT_FALSE(from_json<View>(text).has_value()) << text;
    }
    EXPECT_FALSE(from_json<AllocationView>(R"({"schema":1,"allocations":[{"kind":"x"}]})").has_value());
    EXPECT_FALSE(from_json<GroupView>(R"({"schema":1,"group":"x"})").has_value());
    EXPECT_FALSE(from_json<WhyView>(R"({"schema":1,"failures":[{"type":"x"}]})").has_value());
    EXPECT_FALSE(from_json<PostMortemView>(R"({"schema":1,"post_mortem":[]})").has_value());
    EXPECT_THAT(from_json<View>(R"({"schema":2})").error().text, HasSubstr("schema 2"));
}

TEST(Json, TextThatIsNoUtf8DoesNotCostTheDocument) {
    View view = one_device();
    view.figures.processes[0].comm = "\xff";
    EXPECT_TRUE(from_json<View>(to_json(view)).has_value());
}

}  // namespace
}  // namespace ttmem::view
