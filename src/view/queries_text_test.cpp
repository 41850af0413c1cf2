// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "view/golden_test_support.hpp"
#include "view/json.hpp"
#include "view/queries_test_support.hpp"
#include "view/text.hpp"

namespace ttmem::view {
namespace {

using testing::HasSubstr;
using testing::Not;

// Every answer as a screen, whatever its type.
struct Answer {
    std::string name;
    std::function<std::string(const Style&)> text;
    std::string json = {};
};

template <class View>
Answer answer(std::string name, const View& view, std::string (*as_text)(const View&, const Style&)) {
    return {std::move(name), [=](const Style& style) { return as_text(view, style); }, to_json(view)};
}

std::vector<Answer> answers() {
    return {
        answer("by_name.groups", groups_by_name(), groups_text),
        answer("by_device.groups", groups_by_device(), groups_text),
        answer("by_thread.groups", groups_by_thread(), groups_text),
        answer("none.groups", GroupView{origin(), {}, 2, census::GroupBy::name, 0, 0, 0, {}}, groups_text),
        answer("empty.groups", GroupView{origin(), {}, 0, census::GroupBy::name, 0, 0, 0, {}}, groups_text),
        answer("several.programs", several_programs(), programs_text),
        answer("none.programs", ProgramView{origin(), {}, 1, 0, 0, {}}, programs_text),
        answer("empty.programs", ProgramView{origin(), {}, 0, 0, 0, {}}, programs_text),
        answer("several.failures", several_failures(), failures_text),
        answer("none.failures", FailureView{origin(), 1, 0, {}, {}}, failures_text),
        answer("empty.failures", FailureView{origin(), 0, 0, {}, {}}, failures_text),
        answer("several.post_mortems", several_post_mortems(), post_mortems_text),
        answer("empty.post_mortems", PostMortemListView{origin(), 0, {}}, post_mortems_text),
        answer("python3.post_mortem", post_mortem(), post_mortem_text),
        answer("nothing_held.post_mortem", post_mortem_with_nothing(), post_mortem_text)};
}

TEST(AnswersGolden, LookAsTheyDid) {
    for (const Answer& answer : answers()) {
        expect_golden(answer.name + ".80", answer.text({}));
        if (!answer.name.starts_with("empty") && !answer.name.starts_with("no")) {
            expect_golden(answer.name + ".200", answer.text({.width = 200}));
            expect_golden(answer.name + ".bytes", answer.text({.bytes = true}));
            expect_golden(answer.name + ".json", answer.json);
        }
    }
}

TEST(AnswersText, FitsIntoEightyColumns) {
    for (const Answer& answer : answers()) {
        const std::string text = answer.text({});
        expect_fits(text.substr(text.find('\n')), 80);  // below the names in the first line
    }
}

TEST(AnswersText, IsNeverEmptyWhateverTheWidth) {
    for (const Answer& answer : answers()) {
        for (size_t width = 0; width < 130; ++width) {
            const Style style{.width = width, .colour = true, .bytes = width % 2 == 0, .cut = width % 3 == 0};
            EXPECT_GE(lines_of(answer.text(style)).size(), 2u) << answer.name;
        }
    }
}

TEST(AnswersText, InAPipeNamesAreWhole) {
    EXPECT_THAT(groups_text(groups_by_name(), {.cut = false}), HasSubstr(groups_by_name().groups[2].key));
    EXPECT_THAT(groups_text(groups_by_name(), {}), Not(HasSubstr(groups_by_name().groups[2].key)));
}

TEST(AllocationsText, APageTellsWhereTheNextBegins) {
    AllocationView view = several_allocations();
    EXPECT_THAT(allocations_text(view, {}), Not(HasSubstr("--cursor")));
    view.next = "1-2-3";
    view.sort = census::Sort::age;
    const std::string text = allocations_text(view, {});
    EXPECT_THAT(text, HasSubstr("the next page: --cursor 1-2-3\n"));
    EXPECT_THAT(text, HasSubstr("... and 115 more ('--limit 0'"));
}

}  // namespace
}  // namespace ttmem::view
