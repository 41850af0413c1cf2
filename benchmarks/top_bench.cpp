// SPDX-License-Identifier: Apache-2.0

// How long a picture of the dashboard takes: 32 devices, 64 processes, at three sizes; and what a view costs that arrives.

#include <benchmark/benchmark.h>

#include "tui/models_test_support.hpp"
#include "tui/screens.hpp"
#include "view/change.hpp"
#include "view/json.hpp"

namespace ttmem::tui {
namespace {

void draw_screen(benchmark::State& state) {
    Model model = watched(galaxy(), 600);
    Ui ui;
    ui.screen = static_cast<Screen>(state.range(0));
    if (ui.screen == Screen::allocations) {
        model.take({"", view::groups_by_name(), ""});
    } else if (ui.screen == Screen::map) {
        model.take({"", a_map(), ""});
    } else if (ui.screen == Screen::breakdown) {
        model.take({"", some_cores(), ""});
    } else if (ui.screen == Screen::events) {
        for (int i = 0; i < 300; ++i) {
            model.take({"", some_events(), ""});
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
        apply(*view::change_from_json(text), view);
    }
    state.counters["bytes"] = static_cast<double>(text.size());
}
BENCHMARK(take_a_change)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ttmem::tui
