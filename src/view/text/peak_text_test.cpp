// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "view/testing/screens_test_support.hpp"
#include "view/testing/views_test_support.hpp"

namespace ttmem::view {
namespace {

using testing::HasSubstr;
using testing::Not;

PeakView two_peaks() {
    PeakView view{.origin = origin(), .inexact = {}, .processes = 3, .device = 0, .peaks = {}};
    census::ProcessPeak whole{.pid = 4711,
                              .comm = "python3",
                              .time_ns = kNow - 83 * kSecond,
                              .requested = 8'657'436'672,
                              .count = 67,
                              .requested_now = 2'147'483'648,
                              .used_peak = 8'657'502'208,
                              .total = 45};
    whole.names = {
        {"decoder.0/kv_cache", 8'589'934'592, 64},
        {"transformer/a_decoder_layer_with_a_long_name.31/attention/ttnn::scaled_dot_product", 67'108'864, 2},
        {"", 393'216, 1}};
    view.peaks = {whole};
    view.peaks.push_back({.pid = 4712,
                          .comm = "bert",
                          .time_ns = kNow - kSecond / 2,
                          .requested = 4'096,
                          .count = 1,
                          .requested_now = 0,
                          .total = 1,
                          .names = {{"embedding", 4'096, 1}}});
    return view;
}

PeakView lost_records() {
    PeakView view = two_peaks();
    view.inexact = {{4711, census::Reason::events_not_kept, 20'000},
                    {4712, census::Reason::records_contradict, 2},
                    {4712, census::Reason::sets_not_kept, 3}};
    view.device.reset();
    view.peaks[0].since_ns = kNow - 190 * kSecond;
    view.peaks[0].missing_records = 20'000;
    return view;
}

TEST(PeakScreen, HasAPartPerProcessWithItsNamesLargestFirst) {
    const PeakView none{
        .origin = origin(), .inexact = {}, .processes = 2, .kind = census::Kind::trace, .peaks = {}};
    GoldenFile golden(golden_path("peak"));
    add_sizes_and_json(golden, "two", two_peaks(), peak_text);
    add_sizes_and_json(golden, "records_lost", lost_records(), peak_text);
    golden.add("empty, 80 columns", peak_text(none, {}));
    golden.add("no process, 80 columns", peak_text({.origin = origin(), .inexact = {}, .peaks = {}}, {}));

    const std::string text = render_plain(peak_text(two_peaks(), {}));
    for (const char* part :
         {"peak of dram on device 0", "Process 4711 (python3): 8.1 GiB in 67 allocations, 1m23s ago\n",
          "  now: 2.0 GiB; highest use (reserved bytes): 8.1 GiB\n", "8.0 GiB", "64  decoder.0/kv_cache\n",
          "... and 42 more names, none larger", "Process 4712 (bert): 4.0 KiB in 1 allocation, 500ms ago\n",
          "  now: 0 B\n", "\nRequested bytes on device 0.\n"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
    EXPECT_THAT(text, Not(HasSubstr("earlier")));
    EXPECT_THAT(render_plain(peak_text(none, {})), HasSubstr("\nNo process has held trace.\n"));
    expect_fits_80_columns(two_peaks(), peak_text);
    expect_complete_at_any_width(two_peaks(), peak_text);
}

TEST(PeakScreen, AfterALossItSaysThatThePeakMayLieEarlier) {
    const std::string text = render_plain(peak_text(lost_records(), {}));
    EXPECT_THAT(text, HasSubstr("  the highest since 3m10s ago; the peak of the process may lie earlier\n"));
    EXPECT_THAT(text, HasSubstr("\nRequested bytes per device; a mesh allocation counts once.\n"));
    EXPECT_THAT(text, HasSubstr("earlier events are no longer kept"));
    expect_fits_80_columns(lost_records(), peak_text);
}

TEST(PeakScreen, BytesOfCircularBuffersAreOnOneCore) {
    PeakView view = two_peaks();
    view.kind = census::Kind::cb;
    EXPECT_THAT(render_plain(peak_text(view, {})),
                HasSubstr("\nRequested bytes, on one core of each circular buffer.\n"));
    EXPECT_THAT(to_json(view), HasSubstr("on one core of each circular buffer"));
}

TEST(PeakScreen, ItsJsonIsReadBack) {
    for (const PeakView& view : {two_peaks(), lost_records(), PeakView{}}) {
        const auto again = from_json<PeakView>(to_json(view));
        ASSERT_TRUE(again) << again.error().text;
        EXPECT_EQ(*again, view);
    }
    EXPECT_THAT(to_json(two_peaks()), HasSubstr("\"may_lie_earlier\": false"));
    EXPECT_THAT(to_json(lost_records()), HasSubstr("\"may_lie_earlier\": true"));
}

}  // namespace
}  // namespace ttmem::view
