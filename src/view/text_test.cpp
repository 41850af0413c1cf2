// SPDX-License-Identifier: Apache-2.0
#include "view/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "view/golden_test_support.hpp"
#include "view/json.hpp"
#include "view/views_test_support.hpp"

namespace ttmem::view {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Screen {
    const char* name;
    View (*view)();
};

class Golden : public testing::TestWithParam<Screen> {};

TEST_P(Golden, StatusAndPsLookAsTheyDid) {
    const auto& [name, make] = GetParam();
    const View view = *view_from_json(to_json(make()));  // what a face shows may have come a long way
    for (const size_t width : {size_t{80}, size_t{200}}) {
        const std::string suffix = "." + std::to_string(width);
        expect_golden(std::string(name) + ".status" + suffix, status_text(view, {.width = width}));
        expect_golden(std::string(name) + ".ps" + suffix, ps_text(view, {.width = width}));
    }
    expect_golden(std::string(name) + ".status.bytes", status_text(view, {.bytes = true}));
    expect_golden(std::string(name) + ".ps.bytes", ps_text(view, {.bytes = true}));
}

TEST_P(Golden, FitsIntoEightyColumnsInBytesToo) {
    const View view = GetParam().view();
    for (const bool bytes : {false, true}) {
        for (const std::string& text :
             {status_text(view, {.bytes = bytes}), ps_text(view, {.bytes = bytes})}) {
            expect_fits(text.substr(text.find('\n')), 80);
        }
    }
}

TEST_P(Golden, IsNeverEmptyWhateverTheWidth) {
    const View view = GetParam().view();
    for (size_t width = 0; width < 130; ++width) {
        for (const bool cut : {false, true}) {
            const Style style{.width = width, .colour = true, .bytes = width % 2 == 0, .cut = cut};
            EXPECT_GE(lines_of(status_text(view, style)).size(), 2u);
            EXPECT_GE(lines_of(ps_text(view, style)).size(), 2u);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Screens, Golden,
                         testing::Values(Screen{"empty", empty_host}, Screen{"one_device", one_device},
                                         Screen{"t3000", t3000}, Screen{"galaxy", galaxy},
                                         Screen{"inexact", inexact},
                                         Screen{"unknown_capacity", unknown_capacity}, Screen{"full", full},
                                         Screen{"long_names", long_names},
                                         Screen{"nothing_allocated", nothing_allocated},
                                         Screen{"with_driver", with_driver}),
                         [](const auto& screen) { return screen.param.name; });

TEST(Golden, AllocationsLookAsTheyDid) {
    for (const size_t width : {size_t{80}, size_t{200}}) {
        const std::string suffix = ".allocations." + std::to_string(width);
        expect_golden("several" + suffix, allocations_text(several_allocations(), {.width = width}));
        expect_golden("long_names" + suffix, allocations_text(long_allocation_names(), {.width = width}));
    }
    expect_golden("several.allocations.bytes", allocations_text(several_allocations(), {.bytes = true}));
    expect_golden("empty.allocations.80", allocations_text({origin(), {}, 0, 0, {}}, {}));
    expect_golden("none.allocations.80", allocations_text({origin(), {}, 2, 0, {}}, {}));
}

TEST(Golden, TheJsonOfTheViewIsStable) {
    expect_golden("one_device.json", to_json(one_device()));
    expect_golden("with_driver.json", to_json(with_driver()));
    expect_golden("several.allocations.json", to_json(several_allocations()));
}

TEST(AllocationsText, FitsIntoEightyColumns) {
    for (const bool bytes : {false, true}) {
        expect_fits(allocations_text(several_allocations(), {.bytes = bytes}), 80);
    }
}

TEST(AllocationsText, InAPipeNamesAreWhole) {
    const AllocationView view = long_allocation_names();
    EXPECT_THAT(allocations_text(view, {.cut = false}), HasSubstr(view.allocations[0].name));
    EXPECT_THAT(allocations_text(view, {}), Not(HasSubstr(view.allocations[0].name)));
}

TEST(Text, ColourIsNeverTheOnlySignal) {
    const std::string plain = status_text(full(), {});
    std::string colour = status_text(full(), {.colour = true});
    EXPECT_NE(colour, plain);
    for (size_t start; (start = colour.find('\x1b')) != std::string::npos;) {
        colour.erase(start, colour.find('m', start) - start + 1);
    }
    EXPECT_EQ(colour, plain);
}

TEST(Text, UnknownIsShownAsUnknownAndNeverAsZeroOrFull) {
    const std::string text = status_text(unknown_capacity(), {});
    EXPECT_THAT(text, HasSubstr("14.1 MiB / unknown"));
    EXPECT_THAT(text, Not(HasSubstr("%")));
}

}  // namespace
}  // namespace ttmem::view
