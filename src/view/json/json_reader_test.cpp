// SPDX-License-Identifier: Apache-2.0
#include "view/json/json_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "view/json/json.hpp"
#include "view/testing/views_test_support.hpp"

namespace ttmem::view {
namespace {

using testing::ElementsAre;

struct Inner {
    int64_t number = -1;
    std::string text = "as before";
    bool operator==(const Inner&) const = default;
};
struct Outer {
    uint32_t small = 0;
    bool flag = false;
    double real = 0;
    std::optional<Inner> inner;
    std::vector<Inner> list;
};
void fields(auto& io, Like<Inner> auto& inner) {
    io("number", inner.number, "");
    io("text", inner.text, "");
}
void fields(auto& io, Like<Outer> auto& outer) {
    io("small", outer.small, "");
    io("flag", outer.flag, "");
    io("real", outer.real, "");
    io("inner", outer.inner, "");
    io("list", outer.list, "");
}

base::Expected<Outer> try_read(std::string_view text) {
    Outer outer;
    const auto done = read_json_object(text, [&](const boost::json::object& object) {
        JsonReader reader(object);
        fields(reader, outer);
    });
    return done ? base::Expected<Outer>(outer) : tl::unexpected(done.error());
}

Outer read(std::string_view text) {
    const auto outer = try_read(text);
    EXPECT_TRUE(outer) << text << ": " << (outer ? "" : outer.error().text);
    return outer.value_or(Outer{});
}

TEST(JsonReader, ReadsFieldsInAnyOrderAndSkipsUnknownOnes) {
    const Outer outer = read(
        R"( {"list":[{"text":"b","number":2},{}], "new":{"a":[1,{"b":"]}"}],"c":null}, "real":1.5e3, "flag":true,)"
        R"( "inner":{"number":-7}, "small":4294967295 , "newer":-1.25e-3 } )");
    EXPECT_EQ(outer.small, 4'294'967'295u);
    EXPECT_TRUE(outer.flag);
    EXPECT_EQ(outer.real, 1500);
    EXPECT_EQ(outer.inner, (Inner{-7, "as before"}));
    EXPECT_THAT(outer.list, ElementsAre(Inner{2, "b"}, Inner{}));
}

TEST(JsonReader, AKeyThatBeginsLikeAnotherIsNotThatKey) {
    const Outer outer = read(R"({"smaller":1,"small":2,"smal":3,"real" : 1.5,"flag":true,"list":[]})");
    EXPECT_EQ(outer.small, 2u);
    EXPECT_EQ(outer.real, 1.5);
    EXPECT_TRUE(outer.flag);
}

TEST(JsonReader, AbsentFieldsKeepTheirValue) {
    EXPECT_EQ(read("{}").small, 0u);
    EXPECT_EQ(read(R"({"inner":null})").inner, std::nullopt);
    EXPECT_TRUE(read(R"({"list":[]})").list.empty());
}

TEST(JsonReader, ReadsEveryEscape) {
    EXPECT_EQ(read(R"({"inner":{"text":"\"\\\/\b\f\n\r\tA\u00e9\u6f22\ud83d\ude00ß"}})").inner->text,
              "\"\\/\b\f\n\r\tAé漢😀ß");
}

TEST(JsonReader, RefusesMalformedTextAndValuesOfAnotherType) {
    for (const char* text : {"",
                             " ",
                             "7",
                             "[]",
                             "{",
                             R"({"small")",
                             R"({"small":)",
                             R"({"small":})",
                             R"({"small":1)",
                             R"({"small":-1})",
                             R"({"small":4294967296})",
                             R"({"small":1.5})",
                             R"({"small":"1"})",
                             R"({"flag":1})",
                             R"({"flag":tru})",
                             R"({"inner":[]})",
                             R"({"list":{}})",
                             R"({"list":[{}})",
                             R"({"list":[{},]})",
                             R"({"inner":{"text":7}})",
                             R"({"inner":{"text":"a})",
                             R"({"inner":{"text":"\x"}})",
                             R"({"inner":{"text":"\u12"}})",
                             R"({"inner":{"text":"\ud83d"}})",
                             R"({"inner":{"text":"\ud83dA"}})",
                             "{\"inner\":{\"text\":\"a\nb\"}}",
                             R"({"new":[1 2]})",
                             R"({"new":nul})",
                             R"({"small":1 "flag":true})",
                             R"({"small":1,})",
                             R"({,"small":1})",
                             R"({"small":01})",
                             R"({"small":1}x)",
                             R"({"small":1}{})",
                             "{\"inner\":{\"text\":\"\xff\"}}",
                             R"({"small":99999999999999999999})",
                             R"({"new":"a\)"}) {
        EXPECT_FALSE(try_read(text)) << text;
    }
}

TEST(JsonReader, RefusesListsThatAreNestedTooDeeply) {
    EXPECT_FALSE(try_read("{\"new\":" + std::string(100'000, '[')));
}

TEST(JsonReader, RefusesDocumentsThatAreCutOrHaveBytesBehindThem) {
    const std::string text = to_json(with_driver());
    for (size_t length = 0; length + 2 < text.size(); length += 7) {
        EXPECT_FALSE(from_json<View>(std::string_view(text).substr(0, length)).has_value()) << length;
    }
    EXPECT_FALSE(from_json<View>(text + "x").has_value());
    EXPECT_EQ(*from_json<View>(text), with_driver());
}

}  // namespace
}  // namespace ttmem::view
