// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "view/json.hpp"
#include "view/views_test_support.hpp"

namespace ttmem::view {
namespace {

TEST(CoresJson, ReadsWhatItWrites) {
    CoreView view{origin(), {{4711, "a reason", 3, false}}, 2, "0", {}};
    view.grid.size = census::Core{8, 9};
    view.grid.capacity = 1'393'472;
    view.grid.lowest_buffer = 1'031'024;
    view.grid.without_cores = 5;
    view.grid.cores = {{{3, 4}, 385'664, 748'114, -64}, {{7, 8}, std::nullopt, std::nullopt, std::nullopt}};
    EXPECT_EQ(*cores_from_json(to_json(view)), view);
    EXPECT_EQ(*cores_from_json(to_json(CoreView{})), CoreView{});
    EXPECT_FALSE(cores_from_json(R"({"schema":1,"cores":[{"core":[1]}]})"));
}

}  // namespace
}  // namespace ttmem::view
