// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "view/testing/screens_test_support.hpp"
#include "view/testing/views_test_support.hpp"

namespace ttmem::view {
namespace {

using allocator::FitVerdict;
using census::AllocatorFit;
using census::FitAnswer;
using testing::HasSubstr;

FitView request_of_l1() {
    FitView view{.origin = origin(), .inexact = {}, .processes = 1};
    view.request.kind = census::Kind::l1;
    view.request.size = 16'777'216;
    view.tensor = {8192, 1, 2048};
    return view;
}

AllocatorFit allocator_of_mesh() {
    AllocatorFit fit;
    fit.pid = 4711;
    fit.comm = "python3";
    fit.set = "mesh 1";
    fit.devices = {0, 1, 2, 3, 4, 5, 6, 7};
    fit.bank = {105'664, 1'393'472, 56};
    fit.is_top_down = true;
    fit.needed = 301'056;
    fit.used = 737'280;
    fit.free = 656'192;
    fit.largest_free = 512'000;
    return fit;
}

FitView fitting() {
    FitView view = request_of_l1();
    AllocatorFit fit = allocator_of_mesh();
    fit.answer = FitAnswer::fits;
    fit.verdict = FitVerdict::fits;
    fit.address = 460'800;
    fit.clash_with_cb = 464'896;
    view.allocators = {fit};
    return view;
}

FitView refused() {
    FitView view = request_of_l1();
    AllocatorFit fit = allocator_of_mesh();
    fit.answer = FitAnswer::does_not_fit;
    fit.verdict = FitVerdict::fragmented;
    fit.needed = 602'112;
    fit.short_by = 90'112;
    fit.ways.fits_after_compaction = true;
    fit.ways.dram_address = 1'048'640;
    fit.ways.with_page = 1024;
    fit.ways.to_free = {
        {1, 12'288, 400'000, {{987'136, 12'288, 77, 83 * kSecond, "decoder.3/mlp/gate"}}},
        {18,
         524'288,
         300'000,
         {{887'136, 512, 78, 8 * kSecond,
           "transformer/a_decoder_layer_with_a_long_name.31/attention/ttnn::scaled_dot_product"},
          {888'136, 512, 79, 8 * kSecond, ""}}}};
    AllocatorFit small = allocator_of_mesh();
    small.set = "device 0";
    small.devices = {0};
    small.answer = FitAnswer::fits;
    small.verdict = FitVerdict::fits;
    small.address = 897'024;
    view.allocators = {fit, small};
    return view;
}

FitView undecided() {
    FitView view = request_of_l1();
    view.request.size.reset();
    view.request.shape = "1,32,4096,4096";
    view.request.cores = 13;
    view.inexact = {{4711, census::Reason::ledger_full, 12}, {4712, census::Reason::not_listed, 1}};
    AllocatorFit fit;
    fit.pid = 4711;
    fit.comm = "python3";
    fit.devices = {0};
    fit.undecided = "its ledger is not exact: ledger full: allocations not recorded";
    view.allocators = {fit};
    view.unseen = {"process 4712: another user's process: not listed"};
    return view;
}

FitView region_too_small() {
    FitView view = request_of_l1();
    view.request.kind = census::Kind::l1_small;
    view.request.cores = 64;
    AllocatorFit fit = allocator_of_mesh();
    fit.answer = FitAnswer::does_not_fit;
    fit.verdict = FitVerdict::too_big;
    fit.needed = 33'792;
    fit.bank = {1'466'368, 32'768, 64};
    fit.used = 0;
    fit.free = 32'768;
    fit.largest_free = 32'768;
    fit.short_by = 1'024;
    fit.ways.region_size = 33'792;
    view.allocators = {fit};
    return view;
}

TEST(FitScreen, HasAPartPerAllocatorAndTheAnswerLast) {
    GoldenFile golden(golden_path("fit"));
    add_sizes_and_json(golden, "fits", fitting(), fit_text);
    add_sizes_and_json(golden, "refused", refused(), fit_text);
    add_sizes_and_json(golden, "undecided", undecided(), fit_text);
    golden.add("region, 80 columns", fit_text(region_too_small(), {}));
    golden.add("no allocator, 80 columns", fit_text(request_of_l1(), {}));

    const std::string fits = render_plain(fit_text(fitting(), {}));
    for (const char* part : {"Request: 16.0 MiB of l1, 8192 pages of 2.0 KiB, interleaved.\n",
                             "Process 4711 (python3), mesh 1, devices 0-7:\n", "  fits at address 460800\n",
                             "end above it, at 464896", "\nIt fits.\n"}) {
        EXPECT_THAT(fits, HasSubstr(part));
    }
    const std::string refusal = render_plain(fit_text(refused(), {.width = 200}));
    for (const char* part :
         {"  does not fit: fragmented, short by 88.0 KiB per bank\n",
          "  would fit after freeing 12.0 KiB per bank in 1 allocation, at address 400000:\n",
          "    987136 12.0 KiB, 1m23s old, decoder.3/mlp/gate\n", "buffer 79\n", "    ... and 16 more\n",
          "(compaction)\n", "  would fit in pages of 1.0 KiB\n",
          "  would fit in dram as it is now, interleaved, at address 1048640\n",
          "\nIt does not fit in every allocator.\n"}) {
        EXPECT_THAT(refusal, HasSubstr(part));
    }
    const std::string unknown = render_plain(fit_text(undecided(), {.width = 200}));
    for (const char* part :
         {"Request: tensor 1,32,4096,4096 of bfloat16 in tile layout of l1, 8192 pages of 2.0 KiB, sharded "
          "over "
          "13 cores.\n",
          "  can't be decided: its ledger is not exact: ledger full",
          "  process 4712: another user's process: not listed\n", "(--pid P asks one process alone)"}) {
        EXPECT_THAT(unknown, HasSubstr(part));
    }
    FitView of_one_process = undecided();
    of_one_process.unseen.clear();
    EXPECT_THAT(render_plain(fit_text(of_one_process, {})), testing::Not(HasSubstr("--pid")));
    EXPECT_THAT(render_plain(fit_text(region_too_small(), {})),
                HasSubstr("  l1_small_size 33792 would hold it and what is live\n"));
    for (const FitView& view : {fitting(), refused(), undecided(), region_too_small(), request_of_l1()}) {
        expect_fits_80_columns(view, fit_text);
    }
}

TEST(FitScreen, ItsJsonIsReadBack) {
    for (const FitView& view : {fitting(), refused(), undecided(), region_too_small(), FitView{}}) {
        const auto again = from_json<FitView>(to_json(view));
        ASSERT_TRUE(again) << again.error().text;
        EXPECT_EQ(*again, view);
    }
    EXPECT_THAT(to_json(refused()), HasSubstr("\"answer\": \"does not fit\""));
}

}  // namespace
}  // namespace ttmem::view
