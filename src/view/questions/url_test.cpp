// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>

#include "view/json/json.hpp"
#include "view/questions/questions.hpp"

namespace ttmem::view {
namespace {

using testing::HasSubstr;

std::string unescape(std::string_view text) {
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%') {
            result += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
            i += 2;
        } else {
            result += text[i];
        }
    }
    return result;
}

Parameters parameters_in(std::string_view text) {
    Parameters parameters;
    while (!text.empty()) {
        const size_t end = std::min(text.find('&'), text.size());
        const std::string_view pair = text.substr(0, end);
        const size_t equals = pair.find('=');
        parameters[std::string(pair.substr(0, equals))] = unescape(pair.substr(equals + 1));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parameters;
}

using Row = FieldTables::Row;

bool is_number(const Row& row) { return row.type.starts_with("number"); }
bool is_flag(const Row& row) { return row.type.starts_with("true or false"); }
bool is_text(const Row& row) { return row.type.starts_with("text"); }
bool is_required(const Row& row) { return row.meaning.ends_with("(required)"); }

// "`used`, `age`" names these two.
std::vector<std::string> words_of(const Row& row) {
    std::vector<std::string> words;
    for (size_t at = row.type.find('`'); at != std::string::npos; at = row.type.find('`', at)) {
        const size_t end = row.type.find('`', at + 1);
        words.push_back(row.type.substr(at + 1, end - at - 1));
        at = end + 1;
    }
    return words;
}

std::string arbitrary_value(const Row& row) {
    if (row.name == "limit") {
        return std::to_string(*rc::gen::inRange<uint64_t>(1, kMostRows + 1));
    }
    if (is_number(row)) {
        return std::to_string(*rc::gen::arbitrary<uint32_t>());
    }
    if (is_flag(row)) {
        return *rc::gen::arbitrary<bool>() ? "true" : "false";
    }
    return is_text(row) ? *rc::gen::nonEmpty<std::string>() : *rc::gen::elementOf(words_of(row));
}

std::string valid_value(const Row& row) {
    return is_number(row) ? "1" : is_flag(row) ? "true" : is_text(row) ? "0" : words_of(row).front();
}

template <class Question>
struct UrlOf : testing::Test {
    using Query = typename Question::Query;

    static std::vector<Row> rows() { return UrlForm<Query>::describe().rows; }

    static Parameters required() {
        Parameters parameters;
        for (const Row& row : rows()) {
            if (is_required(row)) {
                parameters[row.name] = valid_value(row);
            }
        }
        return parameters;
    }
    static std::string error_of(const std::string& name, const std::string& value) {
        Parameters parameters = required();
        parameters[name] = value;
        const auto read = UrlForm<Query>::read(parameters);
        EXPECT_FALSE(read) << name << "=" << value;
        return read ? "" : read.error().text;
    }
};

template <class List>
struct TestTypes;
template <class... Question>
struct TestTypes<QuestionList<Question...>> {
    using Types = testing::Types<Question...>;
};
TYPED_TEST_SUITE(UrlOf, TestTypes<Questions>::Types);

TYPED_TEST(UrlOf, WhatIsWrittenIsReadBack) {
    using Form = UrlForm<typename TypeParam::Query>;
    const bool holds = rc::check([] {
        Parameters parameters;
        for (const Row& row : UrlOf<TypeParam>::rows()) {
            if (is_required(row) || *rc::gen::arbitrary<bool>()) {
                parameters[row.name] = arbitrary_value(row);
            }
        }
        const auto query = Form::read(parameters);
        RC_ASSERT(query.has_value());
        const Parameters written = parameters_in(Form::write(*query));
        for (const auto& [name, value] : parameters) {
            RC_ASSERT(written.at(name) == value);
        }
        RC_ASSERT(*Form::read(written) == *query);
    });
    EXPECT_TRUE(holds);
}

TYPED_TEST(UrlOf, AnUnknownParameterIsRefusedWithTheListOfValidOnes) {
    const std::string text = this->error_of("colour", "red");
    EXPECT_THAT(text, HasSubstr("'colour'"));
    for (const Row& row : this->rows()) {
        EXPECT_THAT(text, HasSubstr(row.name));
        EXPECT_THAT(this->error_of(row.name + "x", "1"), HasSubstr("did you mean '" + row.name + "'"));
    }
}

TYPED_TEST(UrlOf, AWrongValueIsRefusedWithWhatIsValid) {
    for (const Row& row : this->rows()) {
        if (is_number(row)) {
            for (const char* wrong : {"", "x", "-1", "1.5", "0x1", " 1", "1 ", "18446744073709551616"}) {
                EXPECT_THAT(this->error_of(row.name, wrong),
                            HasSubstr("'" + row.name + "' must be a number from "));
            }
        } else if (!is_text(row)) {
            const std::string text = this->error_of(row.name, "colour");
            for (const std::string& word :
                 is_flag(row) ? std::vector<std::string>{"true", "false"} : words_of(row)) {
                EXPECT_THAT(text, HasSubstr(word));
            }
        }
    }
}

TYPED_TEST(UrlOf, AMissingParameterIsNamed) {
    for (const Row& row : this->rows()) {
        if (is_required(row)) {
            Parameters parameters = this->required();
            parameters.erase(row.name);
            const auto read = UrlForm<typename TypeParam::Query>::read(parameters);
            ASSERT_FALSE(read);
            EXPECT_THAT(read.error().text, HasSubstr("'" + row.name + "' is missing"));
        }
    }
}

TYPED_TEST(UrlOf, EveryParameterAndFieldHasAMeaning) {
    const FieldTables view = JsonForm<typename TypeParam::View>::describe();
    std::vector<Row> rows = this->rows();
    rows.insert(rows.end(), view.rows.begin(), view.rows.end());
    for (const FieldTables::TypeTable& type : view.types) {
        rows.insert(rows.end(), type.rows.begin(), type.rows.end());
    }
    for (const Row& row : rows) {
        EXPECT_FALSE(row.meaning.empty()) << row.name;
    }
    EXPECT_FALSE(std::string(TypeParam::kSummary).empty());
}

TYPED_TEST(UrlOf, ANumberIsReadWholeOrRefused) {
    using Form = UrlForm<typename TypeParam::Query>;
    for (const Row& row : this->rows()) {
        for (const uint64_t bits : {8u, 16u, 32u, 33u, 63u}) {
            const std::string value = std::to_string(uint64_t{1} << bits);
            Parameters parameters = this->required();
            parameters[row.name] = value;
            const auto read = Form::read(parameters);
            if (is_number(row) && row.name != "limit" && read) {
                EXPECT_EQ(parameters_in(Form::write(*read)).at(row.name), value) << row.name;
            }
        }
    }
}

TEST(Url, ANumberThatDoesNotFitIsRefusedAndNotCut) {
    EXPECT_FALSE(UrlForm<HistoryQuery>::read({{"device", "4294967296"}}));
    EXPECT_FALSE(UrlForm<ProcessQuery>::read({{"pid", "4294967296"}}));
    EXPECT_EQ(UrlForm<HistoryQuery>::read({{"device", "4294967295"}})->device,
              census::DeviceIdSet(4294967295u));
}

TEST(Url, AMisspeltWordIsRefusedWithTheNearestOne) {
    EXPECT_EQ(UrlForm<AllocationQuery>::read({{"sort", "aeg"}}).error().text,
              "'sort' must be used, requested, age, address or name, not 'aeg' (did you mean 'age'?)");
    EXPECT_EQ(UrlForm<StatusQuery>::read({{"scn", "1"}}).error().text,
              "unknown parameter 'scn' (did you mean 'scan'?): valid are scan or rss");
    EXPECT_EQ(UrlForm<SelfQuery>::read({{"x", "1"}}).error().text,
              "unknown parameter 'x': there are none here");
}

TEST(Url, SeveralKindsAreSeparatedByCommas) {
    const auto query = UrlForm<AllocationQuery>::read({{"kind", "trace,dram"}});
    ASSERT_TRUE(query);
    EXPECT_TRUE(query->kind.selects(census::Kind::dram) && query->kind.selects(census::Kind::trace));
    EXPECT_FALSE(query->kind.selects(census::Kind::l1));
    EXPECT_EQ(UrlForm<AllocationQuery>::write({.kind = query->kind, .limit = 5}),
              "kind=dram%2Ctrace&sort=used&reverse=false&limit=5");
    EXPECT_FALSE(UrlForm<AllocationQuery>::read({{"kind", "dram,gold"}}));
}

TEST(Url, SeveralDevicesAreSeparatedByCommasOrARange) {
    const auto query = UrlForm<EventQuery>::read({{"device", "7,0-2"}, {"kind", "l1,dram"}});
    ASSERT_TRUE(query);
    EXPECT_EQ(query->device.text(), "0,1,2,7");
    EXPECT_TRUE(query->kind.selects(census::Kind::l1) && query->kind.selects(census::Kind::dram));
    EXPECT_FALSE(query->kind.selects(census::Kind::cb));
    EXPECT_THAT(UrlForm<EventQuery>::write(*query), HasSubstr("device=0%2C1%2C2%2C7&kind=dram%2Cl1"));
    EXPECT_EQ(UrlForm<HistoryQuery>::read({{"device", "1,x"}}).error().text,
              "'device' must be a number from 0 to 4294967295, not 'x'");
    EXPECT_FALSE(UrlForm<PostMortemListQuery>::read({{"device", "1,"}}));
    EXPECT_FALSE(UrlForm<ProcessQuery>::read({{"device", "3-1"}}));
}

TEST(Url, ALimitIsStandardWhereItIsAbsentAndWithinBounds) {
    EXPECT_EQ(UrlForm<FailureQuery>::read({})->limit, kStandardRows);
    EXPECT_FALSE(UrlForm<FailureQuery>::read({{"limit", "0"}}));
    EXPECT_FALSE(UrlForm<FailureQuery>::read({{"limit", "100001"}}));
    EXPECT_EQ(UrlForm<FailureQuery>::read({{"limit", "100000"}})->limit, kMostRows) << "what one answer has";
    EXPECT_EQ(UrlForm<FailureQuery>::read(parameters_in(UrlForm<FailureQuery>::write({})))->limit, kMostRows)
        << "a query without a limit wants as much as one answer has";
}

TEST(Url, SelectorsOfTheSamePathAreAmongTheValidParameters) {
    EXPECT_THAT(UrlForm<AllocationQuery>::read({{"grup", "name"}}, {"group"}).error().text,
                HasSubstr("did you mean 'group'"));
}

TEST(Url, ATargetHasAllParameters) {
    EXPECT_EQ(target_of<Map>({.device = "0000:01:00.0", .limit = 5}),
              "/v1/map?device=0000%3A01%3A00.0&limit=5");
    EXPECT_EQ(target_of<Map>({.limit = 5, .window = {0x40, 0x80}}), "/v1/map?from=64&to=128&limit=5");
    EXPECT_EQ(target_of<Self>({}), "/v1/self");
}

}  // namespace
}  // namespace ttmem::view
