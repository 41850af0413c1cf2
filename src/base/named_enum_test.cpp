// SPDX-License-Identifier: Apache-2.0
#include "base/named_enum.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace ttmem::base {
namespace {

enum class Fruit : uint8_t { apple, pear };
constexpr auto enum_names(Fruit /*of*/) { return std::to_array<std::string_view>({"apple", "pear"}); }

TEST(NamedEnum, EveryValueIsFoundByItsName) {
    EXPECT_EQ(enum_size<Fruit>(), 2u);
    for (const Fruit fruit : {Fruit::apple, Fruit::pear}) {
        EXPECT_EQ(by_name<Fruit>(name_of(fruit)), fruit);
    }
    EXPECT_EQ(by_name<Fruit>("plum"), std::nullopt);
    EXPECT_EQ(by_name<Fruit>(""), std::nullopt);
}

}  // namespace
}  // namespace ttmem::base
