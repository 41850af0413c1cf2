// SPDX-License-Identifier: Apache-2.0
#pragma once

// The screens: pure functions from the model and the user's choices to a picture, one file each.

#include "tui/drawing.hpp"

namespace ttmem::tui {

// Notes of screens that have nothing to draw.
constexpr std::string_view kNoDevices = "No devices yet.";
constexpr std::string_view kWaiting = "Loading.";

struct ScreenTitle {
    std::string_view title;
    std::string_view brief;  // for narrow terminals
};
constexpr std::array<ScreenTitle, kScreens> kScreenTitles = {{{"Overview", "Overview"},
                                                              {"Breakdown", "Breakdown"},
                                                              {"Charts", "Charts"},
                                                              {"Telemetry", "Telem"},
                                                              {"Allocations", "Allocs"},
                                                              {"Map", "Map"},
                                                              {"Events", "Events"},
                                                              {"Failures", "Failures"}}};

void draw_overview(const Model& model, const Ui& ui, Canvas& canvas, const Area& area);
void draw_breakdown(const Model& model, const Ui& ui, Canvas& canvas, const Area& area);
// How full L1 is on each core of the device, if that is known.
void draw_cores(const Model& model, const census::DeviceFigures& device, Canvas& canvas, const Area& area);

void draw_charts(const Model& model, const Ui& ui, Canvas& canvas, const Area& area);
// DRAM and L1 of one device, side by side.
void draw_charts_of(const Model& model, const Ui& ui, const census::DeviceFigures& device, Canvas& canvas,
                    const Area& area);
void draw_telemetry(const Model& model, const Ui& ui, Canvas& canvas, const Area& area);
void draw_allocations(const Model& model, const Ui& ui, Canvas& canvas, const Area& area);
void draw_map(const Model& model, const Ui& ui, Canvas& canvas, const Area& area);
void draw_events(const Model& model, const Ui& ui, Canvas& canvas, const Area& area);
void draw_failures(const Model& model, const Ui& ui, Canvas& canvas, const Area& area);
// Below a recording: where it is, how much was in use, and what happened when.
constexpr int kTimelineRows = 2;
void draw_timeline(const Model& model, const Ui& ui, Canvas& canvas, int row);
void draw_help(const Ui& ui, Canvas& canvas, const Area& area);

// The whole picture: the visible screen, with title, notices and keys around it.
Canvas draw(const Model& model, const Ui& ui, Size size, Glyphs glyphs);

// The part of the picture that the visible screen draws in.
Area body_of(Size size, const Model& model);

// The part of a bank that the map shows.
struct MapWindow {
    const census::AddressMap* map = nullptr;  // null: no pool to show
    size_t index = 0;                         // of the pool
    size_t pools = 0;
    uint64_t cursor = 0;  // offset in the bank
    uint64_t from = 0;    // offset in the bank
    uint64_t bytes = 0;
    int rows = 0;
    int columns = 0;

    double bytes_per_cell() const {
        return static_cast<double>(bytes) / (static_cast<double>(rows) * columns);
    }
};
MapWindow map_window(const Model& model, const Ui& ui, const Area& area);

// Null: none is there, or none is known there.
const census::MapBlock* block_at_cursor(const Model& model, const Ui& ui, const Area& area);

}  // namespace ttmem::tui
