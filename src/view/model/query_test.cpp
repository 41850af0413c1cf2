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

TEST(FieldQuery, NamesTheFieldThatDoesNotExist) {
    EXPECT_THAT(FieldQuery::parse("device,dram.size").error().text, HasSubstr("'dram.size'"));
    EXPECT_FALSE(FieldQuery::parse(""));
}

TEST(FieldQuery, EveryFieldHasAUniqueNameAndADescription) {
    std::set<std::string> names;
    for (const QueryField& field : query_fields()) {
        EXPECT_TRUE(names.insert(field.name).second) << field.name;
        EXPECT_FALSE(field.about.empty());
    }
}

}  // namespace
}  // namespace ttmem::view
