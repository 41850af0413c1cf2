// SPDX-License-Identifier: Apache-2.0
#include "view/model/query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "view/testing/views_test_support.hpp"

namespace ttmem::view {
namespace {

using testing::HasSubstr;

TEST(FieldQuery, PrintsTheFieldsInTheirOrderWithHeaderAndUnits) {
    const auto query = FieldQuery::parse("device,dram.used,board,cb.capacity,l1.headroom");
    ASSERT_TRUE(query);
    EXPECT_EQ(query->header({}), "device,dram.used [B],board,cb.capacity [B],l1.headroom [B]\n");
    EXPECT_EQ(query->lines(one_device(), {}), "0,5842132992 B,n300,,645360 B\n");
    EXPECT_EQ(query->header({.header = false}), "");
    EXPECT_EQ(query->lines(one_device(), {.units = false}), "0,5842132992,n300,,645360\n");
}

TEST(FieldQuery, UnknownValuesAreEmptyAndNever0) {
    const auto query = FieldQuery::parse("device,dram.used,dram.count,temperature,power,bdf");
    EXPECT_EQ(query->lines(with_driver(), {.units = false}),
              "0,5842132992,412,45.2,31.4,0000:01:00.0\n"
              "1,65536,,65.2,31.4,0000:02:00.0\n"
              "2,,,85.2,,0000:03:00.0\n"
              "3,0,0,,,\n");
}

TEST(FieldQuery, FreeAndPercentFollowFromUsedAndCapacity) {
    const auto query = FieldQuery::parse("dram.used,dram.capacity,dram.free,dram.percent,cb.free,cb.percent");
    EXPECT_EQ(query->lines(one_device(), {}), "5842132992 B,12872318208 B,7030185216 B,45.3 %,,\n");
}

TEST(FieldQuery, AsJsonHasNumbersTextsAndNulls) {
    const auto query = FieldQuery::parse("device,board,dram.used,cb.capacity");
    EXPECT_EQ(query->header({.json = true}), "");
    EXPECT_EQ(query->lines(one_device(), {.json = true}),
              "[{\"device\": 0, \"board\": \"n300\", \"dram.used\": 5842132992, \"cb.capacity\": null}]\n");
    EXPECT_EQ(query->lines(empty_host(), {.json = true}), "[]\n");
}

TEST(FieldQuery, OfProcessesHasALinePerProcessAndDevice) {
    View view = one_device();
    census::ProcessFigures process;
    process.pid = 4711;
    process.user = "alice";
    process.comm = "a \"b\", c";
    process.devices = {{0, 0, {}}};
    process.devices[0].memory[census::index_of(census::Kind::dram)] = {1'288'490'188, 1, 1};
    process.devices[0].memory[census::index_of(census::Kind::l1)].is_known = false;
    view.figures.processes = {process};
    const auto query =
        FieldQuery::parse("pid,user,command,device,dram.used,dram.percent,l1.used", QueryRows::processes);
    ASSERT_TRUE(query);
    EXPECT_EQ(query->lines(view, {.units = false}), "4711,alice,\"a \"\"b\"\", c\",0,1288490188,10.0,\n");
    view.figures.processes[0].devices.clear();
    EXPECT_EQ(query->lines(view, {.units = false}), "4711,alice,\"a \"\"b\"\", c\",,,,\n");
    EXPECT_FALSE(FieldQuery::parse("temperature", QueryRows::processes));
}

TEST(FieldQuery, NamesTheFieldThatDoesNotExist) {
    EXPECT_THAT(FieldQuery::parse("device,dram.size").error().text, HasSubstr("'dram.size'"));
    EXPECT_FALSE(FieldQuery::parse(""));
}

TEST(FieldQuery, EveryFieldHasAUniqueNameAndADescription) {
    for (const QueryRows rows : {QueryRows::devices, QueryRows::processes}) {
        std::set<std::string> names;
        for (const QueryField& field : query_fields(rows)) {
            EXPECT_TRUE(names.insert(field.name).second) << field.name;
            EXPECT_FALSE(field.about.empty());
        }
    }
}

}  // namespace
}  // namespace ttmem::view
