// SPDX-License-Identifier: Apache-2.0

// The screens of lists: allocations, groups, programs, address maps and failures.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "view/testing/command_views_test_support.hpp"
#include "view/testing/screens_test_support.hpp"

namespace ttmem::view {
namespace {

using testing::HasSubstr;
using testing::Not;

Text whole_map(const MapView& view, const Style& style) { return map_text(view, style); }

TEST(AllocationsScreen, HasARowPerAllocationAndExplainsItsMarks) {
    const AllocationView none{.origin = origin(), .inexact = {}, .processes = 2, .allocations = {}};
    GoldenFile golden(golden_path("allocations"));
    add_sizes_and_json(golden, "several", several_allocations(), allocations_text);
    golden.add("long_names, 80 columns", allocations_text(long_allocation_names(), {}));
    golden.add("long_names, 200 columns", allocations_text(long_allocation_names(), {.width = 200}));
    golden.add("none, 80 columns", allocations_text(none, {}));
    golden.add("no process, 80 columns",
               allocations_text({.origin = origin(), .inexact = {}, .allocations = {}}, {}));

    const std::string text = render_plain(allocations_text(several_allocations(), {}));
    for (const char* part :
         {"decoder.0/kv_cache", "planned: ", "view: ", "~: ", "... and 115 more, none larger"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
    EXPECT_THAT(render_plain(allocations_text(none, {})), HasSubstr("\nNo matching allocations.\n"));
}

TEST(AllocationsScreen, APageNamesTheCursorOfTheNext) {
    AllocationView view = several_allocations();
    EXPECT_THAT(render_plain(allocations_text(view, {})), Not(HasSubstr("--cursor")));
    view.next = "1-2-3";
    view.sort = census::Sort::age;
    const std::string text = render_plain(allocations_text(view, {}));
    EXPECT_THAT(text, HasSubstr("Next page: --cursor 1-2-3\n"));
    EXPECT_THAT(text, HasSubstr("... and 115 more ('--limit 0'"));
}

TEST(GroupsScreen, HasARowPerGroupWithItsKeyLast) {
    GroupView none{.origin = origin(), .inexact = {}, .processes = 2, .groups = {}};
    GoldenFile golden(golden_path("groups"));
    add_sizes_and_json(golden, "by_name", groups_by_name(), groups_text);
    add_sizes_and_json(golden, "by_device", groups_by_device(), groups_text);
    add_sizes_and_json(golden, "by_thread", groups_by_thread(), groups_text);
    golden.add("none, 80 columns", groups_text(none, {}));
    EXPECT_THAT(render_plain(groups_text(none, {})), HasSubstr("\nNo matching allocations.\n"));
    none.processes = 0;
    golden.add("no process, 80 columns", groups_text(none, {}));

    EXPECT_THAT(render_plain(groups_text(groups_by_name(), {})), HasSubstr("  decoder.0/kv_cache\n"));
    EXPECT_THAT(render_plain(groups_text(groups_by_name(), {})),
                HasSubstr("\nBytes per device; a mesh allocation counts once.\n"));
    EXPECT_THAT(render_plain(groups_text(groups_by_device(), {})), HasSubstr("\nBytes on that device.\n"));
}

TEST(ProgramsScreen, HasARowPerProgramWithItsCircularBuffersAndKernels) {
    ProgramView none{.origin = origin(), .inexact = {}, .processes = 1, .programs = {}};
    GoldenFile golden(golden_path("programs"));
    add_sizes_and_json(golden, "several", several_programs(), programs_text);
    golden.add("none, 80 columns", programs_text(none, {}));
    EXPECT_THAT(render_plain(programs_text(none, {})), HasSubstr("\nNo matching programs.\n"));
    none.processes = 0;
    golden.add("no process, 80 columns", programs_text(none, {}));

    ProgramView many = several_programs();
    many.left_aside = 1;
    EXPECT_THAT(render_plain(programs_text(many, {})), HasSubstr("... and 1 allocation of further programs"));
}

TEST(MapScreen, ShowsEveryBankAsAPictureAndAsBlocksByAddress) {
    GoldenFile golden(golden_path("map"));
    add_sizes(golden, "dram", *from_json<MapView>(to_json(dram_map())), whole_map);
    golden.add("dram, json", to_json(dram_map()));
    add_sizes(golden, "unknown", unknown_map(), whole_map);
    add_sizes(golden, "long_names", long_map_names(), whole_map);
    add_sizes(golden, "galaxy", galaxy_map(), whole_map);
    golden.add("limited to 2 blocks, 80 columns", map_text(dram_map(), {}, 2));
    MapView empty = dram_map();
    empty.maps.clear();
    golden.add("empty, 80 columns", map_text(empty, {}));
    empty.processes = 0;
    golden.add("no process, 80 columns", map_text(empty, {}));

    const std::string text = render_plain(map_text(dram_map(), {}));
    EXPECT_THAT(text, HasSubstr("dram of devices 0-3: process 4711"));
    EXPECT_THAT(text, HasSubstr("12 identical banks of "));
    EXPECT_THAT(render_plain(map_text(unknown_map(), {})), HasSubstr("bank size not reported"));
}

TEST(MapScreen, OneDeviceAndOneBankAreSingular) {
    MapView view = dram_map();
    view.maps[0].devices = {3};
    view.maps[0].bank.banks = 1;
    const std::string text = render_plain(map_text(view, {}));
    EXPECT_THAT(text, HasSubstr("dram of device 3: process 4711"));
    EXPECT_THAT(text, HasSubstr("1 bank of "));
}

TEST(FailuresScreen, HasARowPerFailureAndDetailsOfEach) {
    FailureView none{.origin = origin(), .processes = 1, .counts = {}, .failures = {}};
    GoldenFile golden(golden_path("failures"));
    add_sizes_and_json(golden, "several", several_failures(), failures_text);
    golden.add("none, 80 columns", failures_text(none, {}));
    EXPECT_THAT(render_plain(failures_text(none, {})), HasSubstr("\nNo failures.\n"));
    none.processes = 0;
    golden.add("no process, 80 columns", failures_text(none, {}));

    const std::string text = render_plain(failures_text(several_failures(), {}));
    for (const char* part : {"SHORT/BANK", "REQUESTED", "fragmented", "unknown free", "core 3,4",
                             "Totals since start (first and last few kept):",
                             "process 4711: 120 out-of-memory failures, 1 circular buffer clash\n"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
}

TEST(WhyScreen, ListsTheHoldersOfTheMemoryThatRanOut) {
    GoldenFile golden(golden_path("why"));
    add_sizes_and_json(golden, "some", some_why(), why_text);
    add_sizes(golden, "long_names", long_why_names(), why_text);
    const std::string text = render_plain(why_text(some_why(), {}));
    EXPECT_THAT(text, HasSubstr("Holders of dram on device 0 now, by process, then by name\n"));
    EXPECT_THAT(text, HasSubstr("  process 4711\n"));
    EXPECT_THAT(text, HasSubstr("  (no name)\n"));
}

TEST(ListScreens, FitIntoEightyColumns) {
    expect_fits_80_columns(several_allocations(), allocations_text);
    expect_fits_80_columns(groups_by_name(), groups_text);
    expect_fits_80_columns(groups_by_device(), groups_text);
    expect_fits_80_columns(groups_by_thread(), groups_text);
    expect_fits(below_headline(programs_text(several_programs(), {})), 80);
    expect_fits(below_headline(failures_text(several_failures(), {})), 80);
    for (const MapView& view : {dram_map(), galaxy_map(), long_map_names()}) {
        expect_fits_80_columns(view, whole_map);
    }
    for (const WhyView& view : {some_why(), long_why_names()}) {
        expect_fits_80_columns(view, why_text);
    }
}

TEST(ListScreens, KeepAllRowsAtAnyWidth) {
    expect_complete_at_any_width(several_allocations(), allocations_text);
    expect_complete_at_any_width(groups_by_name(), groups_text);
    expect_complete_at_any_width(several_programs(), programs_text);
    expect_complete_at_any_width(several_failures(), failures_text);
    expect_complete_at_any_width(dram_map(), whole_map);
}

TEST(ListScreens, InAPipeNamesAreWhole) {
    const AllocationView view = long_allocation_names();
    EXPECT_THAT(render_plain(allocations_text(view, {.cut = false})), HasSubstr(view.allocations[0].name));
    EXPECT_THAT(render_plain(allocations_text(view, {})), Not(HasSubstr(view.allocations[0].name)));
    const std::string key = groups_by_name().groups[2].key;
    EXPECT_THAT(render_plain(groups_text(groups_by_name(), {.cut = false})), HasSubstr(key));
    EXPECT_THAT(render_plain(groups_text(groups_by_name(), {})), Not(HasSubstr(key)));
}

}  // namespace
}  // namespace ttmem::view
