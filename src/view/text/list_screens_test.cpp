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
Text all_cores(const CoreView& view, const Style& style) { return cores_text(view, style); }

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
                HasSubstr("\nSUM: bytes over all devices; a mesh allocation counts on each of them.\n"));
    EXPECT_THAT(render_plain(groups_text(groups_by_name(), {})), testing::ContainsRegex("DRAM SUM +L1 SUM"));
    EXPECT_THAT(render_plain(groups_text(groups_by_device(), {})), Not(HasSubstr(" SUM")));
    GroupView on_one = groups_by_name();
    on_one.device = 3;
    EXPECT_THAT(render_plain(groups_text(on_one, {})), HasSubstr("\nBytes on device 3.\n"));
    EXPECT_THAT(render_plain(groups_text(on_one, {})), Not(HasSubstr(" SUM")));
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
    add_sizes_and_json(golden, "l1", l1_map(), whole_map);
    add_sizes(golden, "cb", cb_map(), whole_map);
    add_sizes(golden, "unknown", unknown_map(), whole_map);
    add_sizes(golden, "long_names", long_map_names(), whole_map);
    add_sizes(golden, "galaxy", galaxy_map(), whole_map);
    golden.add("limited to 2 blocks, 80 columns", map_text(dram_map(), {}, 2));
    golden.add("two devices, 80 columns", map_text(map_of_two_devices(), {}));
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

TEST(MapScreen, OfL1DrawsCircularBuffersAndListsTheirPrograms) {
    const std::string text = render_plain(map_text(l1_map(), {}));
    for (const char* part :
         {"core 3,4 (fullest): circular buffers up to 0x5e280, headroom 630.2 KiB\n",
          "12 circular buffers are not on this core ('--core X,Y' shows another)\n",
          "457.1 KiB used by buffers, 273.4 KiB by circular buffers", "[ccccccccccccccc+....",
          "  273.4 KiB    7          -        -  1m30s  decoder.0/ttnn::matmul\n",
          "     17    5  273.4 KiB  0x5e280  decoder.0/ttnn::matmul\n",
          "      -    2    8.0 KiB  0x1bcc0  -\n"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
    MapView view = l1_map();
    view.maps[0].core->is_asked = true;
    view.maps[0].core->cb_top.reset();
    EXPECT_THAT(render_plain(map_text(view, {})), HasSubstr("core 3,4 (as requested): no circular buffers"));
}

TEST(MapScreen, OfCircularBuffersNamesTheProgramAndAClash) {
    const std::string text = render_plain(map_text(cb_map(), {}));
    for (const char* part :
         {"circular buffers of program 17 (decoder.0/ttnn::matmul) of devices 0-3: ", "headroom -64 B\n",
          "clash: circular buffers reach into L1 buffers\n",
          "with 1 circular buffer whose cores are not known\n", " to the lowest buffer at 0xfbb70\n",
          "[cccccccccccccccccc", "... and 3 more programs, none higher",
          "... and 1 circular buffer in no map: too many to list\n"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
}

TEST(MapScreen, ShowsFragmentationAndListsTheFreeBlocksLargestFirst) {
    EXPECT_THAT(render_plain(map_text(dram_map(), {})),
                HasSubstr("fragmentation: 25% of the free bytes are not in the largest block\n"
                          "2 free blocks: 293.0 KiB at 0x1aaea0, 97.7 KiB at 0x17a160\n"));
    MapView many = dram_map();
    for (uint64_t i = 0; i < 10; ++i) {
        many.maps[0].blocks.push_back(gap(0x200000 + i * 0x1000, 0x100 + i));
    }
    const std::string text = render_plain(map_text(many, {}, 1));
    EXPECT_THAT(text, HasSubstr("12 free blocks:"));
    EXPECT_THAT(text, HasSubstr("and 4 smaller\n"));
}

TEST(MapScreen, SentencesKeepTheirUnitsWithPlainBytes) {
    const std::string text = render_plain(map_text(dram_map(), {.bytes = true}));
    EXPECT_THAT(text, HasSubstr("12 identical banks of 1000000 B, from"));
    EXPECT_THAT(text, HasSubstr("per bank: 600000 B used, 400000 B free, 300000 B in one block\n"));
}

TEST(CoresScreen, ListsTheCoresWithTheLeastHeadroomFirst) {
    GoldenFile golden(golden_path("cores"));
    add_sizes_and_json(golden, "some", some_cores(), all_cores);
    golden.add("limited to 2 cores, 80 columns", cores_text(some_cores(), {}, 2));
    CoreView unknown = some_cores();
    unknown.grid.size.reset();
    unknown.grid.cores.clear();
    golden.add("unknown grid, 80 columns", cores_text(unknown, {}));
    golden.add("no process, 80 columns",
               cores_text({.origin = origin(), .inexact = {}, .device = 0, .grid = {}}, {}));

    const Text text = cores_text(some_cores(), {}, 2);
    EXPECT_THAT(text.lines()[3].plain(), testing::StartsWith(" 2,1  0x16f980 "));
    EXPECT_THAT(render_plain(text), HasSubstr("... and 4 more cores, none with less headroom"));
    EXPECT_THAT(render_plain(text), HasSubstr("2 circular buffers are on no core of this list"));
    expect_fits_80_columns(some_cores(), all_cores);
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

TEST(WhyScreen, WithFixListsWhatWouldHaveMadeTheRequestsFit) {
    GoldenFile golden(golden_path("why_fixes"));
    add_sizes(golden, "fixes", why_with_cards(), fixes_text);
    WhyView unknown = why_with_cards();
    unknown.failures.failures[0].card->fix.reset();
    unknown.failures.failures[0].card->no_fix = "the banks of the device are not reported";
    golden.add("no proposal, 80 columns", fixes_text(unknown, {}));
    const std::string text = render_plain(fixes_text(why_with_cards(), {.width = 200}));
    for (const char* part :
         {"Failure 1: fragmented, short by 10.7 MiB\n",
          "  would fit after freeing or moving 8.0 KiB per bank in 1 allocation, at address 536870912:\n",
          "  or after freeing 64.0 MiB per bank in 2 allocations", "(compaction)",
          "would fit if the circular buffer at 0x19cc0 (903.7 KiB, ttnn::matmul) were 64 B smaller",
          "would fit with l1_small_size 4032", "(rests on part of the map"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
}

TEST(WhyScreen, ShowsTheCardOfTheNewestFailureAndTheOnesThatAreKept) {
    GoldenFile golden(golden_path("why_cards"));
    add_sizes_and_json(golden, "cards", why_with_cards(), why_text);
    WhyView clash_alone = why_with_cards();
    clash_alone.failures.failures.erase(clash_alone.failures.failures.begin());
    add_sizes(golden, "clash", clash_alone, why_text);
    WhyView kept_alone = why_with_cards();
    kept_alone.failures.failures.clear();
    add_sizes(golden, "kept", kept_alone, why_text);
    const std::string text = render_plain(why_text(why_with_cards(), {}));
    for (const char* part :
         {"Card of failure 1", "512.0 MiB in pages of 2.0 KiB over 12 banks", "fragmented: short by 10.7 MiB",
          "What would have made it fit", "Map around the largest free block", "Largest holders then",
          "Youngest then", "Last events of the thread (2 kept)",
          "no card: another was written within the same second", "Processes that have ended (3 cards kept)",
          "2 cards were lost: /var/lib/ttmem/cards: No space left"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
    EXPECT_THAT(text, Not(HasSubstr("Holders of dram on device 0 now"))) << "the card has them as they were";
    const std::string clash = render_plain(why_text(clash_alone, {}));
    for (const char* part : {"program 17 (ttnn::matmul)", "2 cores of device 0, the first 3,4",
                             "decoder.0/attention/activations at 0xfbb70", "Circular buffers on core 3,4",
                             "the bank has too many allocations"}) {
        EXPECT_THAT(clash, HasSubstr(part));
    }
}

// Another user has two processes.
Hidden two_hidden() {
    Hidden hidden;
    hidden.processes = 2;
    hidden.memory[index_of(Kind::dram)].used = 5'368'709'120;
    hidden.memory[index_of(Kind::l1)].used = 1'048'576;
    return hidden;
}

TEST(ListScreens, SayWhatBelongsToOthersAndWhoSeesIt) {
    const std::string hidden =
        "\nNot listed: 2 processes of other users, with 5.0 GiB of dram, 1.0 MiB of l1\n  (sums over "
        "devices).\n"
        "Their users, root (sudo ttmem ...) and members of the group ttmem see them.\n";
    const auto expect_hidden = [&](auto view, const auto& as_text) {
        view.hidden = two_hidden();
        view.inexact = {{1, census::Reason::not_listed, 1}, {2, census::Reason::not_listed, 1}};
        EXPECT_THAT(render_plain(as_text(view, Style{})), HasSubstr(hidden));
        view.processes = 0;
        const std::string none = render_plain(as_text(view, Style{}));
        EXPECT_THAT(none, HasSubstr(": no tracked process of yours\n"));
        EXPECT_THAT(none, HasSubstr(hidden));
    };
    expect_hidden(several_allocations(), allocations_text);
    expect_hidden(groups_by_name(), groups_text);
    expect_hidden(several_programs(), programs_text);
    expect_hidden(dram_map(), whole_map);
    expect_hidden(several_failures(), failures_text);
}

TEST(ListScreens, FitIntoEightyColumns) {
    expect_fits_80_columns(several_allocations(), allocations_text);
    expect_fits_80_columns(groups_by_name(), groups_text);
    expect_fits_80_columns(groups_by_device(), groups_text);
    expect_fits_80_columns(groups_by_thread(), groups_text);
    expect_fits(below_headline(programs_text(several_programs(), {})), 80);
    expect_fits(below_headline(failures_text(several_failures(), {})), 80);
    for (const MapView& view : {dram_map(), l1_map(), cb_map(), galaxy_map(), long_map_names()}) {
        expect_fits_80_columns(view, whole_map);
    }
    for (const WhyView& view : {some_why(), long_why_names(), why_with_cards()}) {
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
