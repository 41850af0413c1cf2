// SPDX-License-Identifier: Apache-2.0

// The time to draw a frame of the dashboard (32 devices, 64 processes, three sizes) and to read an arriving view.

#include <benchmark/benchmark.h>

#include "tui/models_test_support.hpp"
#include "tui/screens.hpp"
#include "view/json/json.hpp"
#include "view/model/change.hpp"

namespace ttmem::tui {
namespace {

void draw_screen(benchmark::State& state) {
    Model model = watched(galaxy(), 600);
    Ui ui;
    ui.screen = static_cast<Screen>(state.range(0));
    if (ui.screen == Screen::allocations) {
        model.take({{}, view::groups_by_name(), ""});
    } else if (ui.screen == Screen::map) {
        model.take({{}, a_map(), ""});
    } else if (ui.screen == Screen::breakdown) {
        model.take({{}, some_cores(), ""});
    } else if (ui.screen == Screen::events) {
        for (uint64_t i = 0; i < 300; ++i) {
            view::EventsView events = some_events();
            for (view::EventView& event : events.events) {
                event.sequence += i * 10;
            }
            model.take({{}, std::move(events), ""});
        }
    }
    const Size size{static_cast<int>(state.range(2)), static_cast<int>(state.range(1))};
    for (auto _ : state) {
        benchmark::DoNotOptimize(draw(model, ui, size, Glyphs::utf8));
    }
}
BENCHMARK(draw_screen)
    ->ArgNames({"screen", "columns", "rows"})
    ->ArgsProduct({{0, 1, 2, 3, 4, 5, 6}, {80}, {24}})
    ->ArgsProduct({{0, 1, 2, 3, 4, 5, 6}, {200}, {60}})
    ->ArgsProduct({{0, 2, 5}, {300}, {100}})
    ->Unit(benchmark::kMicrosecond);

void take_a_change(benchmark::State& state) {
    view::View view = galaxy();
    const std::string text = view::to_json(view);  // all of it has changed
    for (auto _ : state) {
        apply(*view::from_json<view::ViewChange>(text), view);
    }
    state.counters["bytes"] = static_cast<double>(text.size());
}
BENCHMARK(take_a_change)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ttmem::tui
