// SPDX-License-Identifier: Apache-2.0
#include "view/model/diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time.hpp"
#include "view/text/screens.hpp"

namespace ttmem::view {
namespace {

using census::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

HeldSum held(uint32_t pid, const char* name, uint64_t used, std::vector<uint32_t> devices = {0},
             Kind kind = Kind::dram) {
    return {pid, pid * 100 * base::kNsPerSecond, name, kind, std::move(devices), used};
}

TEST(Diff, ANameThatCameGrewShrankOrWentIsListedAndTheRestIsNot) {
    const auto changes =
        compare_sums({held(7, "same", 5), held(7, "grew", 5), held(7, "shrank", 5), held(7, "gone", 5)},
                     {held(7, "came", 9), held(7, "same", 5), held(7, "grew", 6), held(7, "shrank", 2)});
    ASSERT_EQ(changes.size(), 4u);
    EXPECT_THAT((std::vector<DiffVerdict>{changes[0].verdict(), changes[1].verdict(), changes[2].verdict(),
                                          changes[3].verdict()}),
                ElementsAre(DiffVerdict::came, DiffVerdict::grew, DiffVerdict::shrank, DiffVerdict::gone));
    EXPECT_EQ(changes[0], (NameDifference{7, "came", Kind::dram, {0}, 0, 9}));
    EXPECT_EQ(changes[3].change(), -5);
    EXPECT_THAT(compare_sums({}, {}), IsEmpty());
    EXPECT_EQ(compare_sums({}, {held(7, "a", 5)})[0].pid, 7u) << "a moment when nothing was held";
    EXPECT_EQ(compare_sums({held(7, "a", 5)}, {})[0].pid, 7u);
}

TEST(Diff, KindsAndDevicesAreKeptApart) {
    EXPECT_THAT(compare_sums({held(7, "a", 5)},
                             {held(7, "a", 5), held(7, "a", 1, {0, 1}), held(7, "a", 2, {0}, Kind::l1)}),
                ElementsAre(NameDifference{7, "a", Kind::l1, {0}, 0, 2},
                            NameDifference{7, "a", Kind::dram, {0, 1}, 0, 1}));
}

TEST(Diff, ProcessesAreToldApartIfOneIsInBothListsElseNamesAreComparedOverAllOfThem) {
    EXPECT_THAT(compare_sums({held(7, "a", 5), held(8, "a", 1)}, {held(7, "a", 5), held(9, "a", 1)}),
                ElementsAre(NameDifference{9, "a", Kind::dram, {0}, 0, 1},
                            NameDifference{8, "a", Kind::dram, {0}, 1, 0}));
    EXPECT_THAT(compare_sums({held(7, "a", 5)}, {held(8, "a", 2), held(9, "a", 4)}),
                ElementsAre(NameDifference{{}, "a", Kind::dram, {0}, 5, 6}));
    HeldSum reused = held(7, "a", 6);
    reused.start_time_ns += base::kNsPerSecond;
    EXPECT_EQ(compare_sums({held(7, "a", 5)}, {reused})[0].pid, 7u) << "clocks are adjusted";
    reused.start_time_ns += 10 * base::kNsPerSecond;
    EXPECT_EQ(compare_sums({held(7, "a", 5)}, {reused})[0].pid, std::nullopt)
        << "another process with that pid";
}

TEST(Diff, ScreensSayWhatGrewAndEscapeNames) {
    DiffView view;
    view.a = {"mark:x", "h", base::kNsPerSecond, 5};
    view.b = {"now", "h", 13 * base::kNsPerSecond, 2053};
    EXPECT_THAT(diff_markdown(view), HasSubstr("Nothing changed."));
    EXPECT_FALSE(view.is_growing());
    view.changes = compare_sums({held(7, "a|b", 1024)}, {held(7, "a|b", 3072)});
    view.total = 1;
    EXPECT_TRUE(view.is_growing());
    const std::string text = render_plain(diff_text(view, {}));
    EXPECT_THAT(text, HasSubstr("mark:x to now, 12s later: 1 name changed"));
    EXPECT_THAT(text, HasSubstr("+2.0 KiB"));
    EXPECT_THAT(diff_markdown(view), HasSubstr("| +2.0 KiB | 1.0 KiB | 3.0 KiB | dram | 0 | 7 | a\\|b |"));
}

}  // namespace
}  // namespace ttmem::view
