// SPDX-License-Identifier: Apache-2.0
#pragma once

// The screens: pure functions from what is known and what was chosen to a picture. One file each.

#include "tui/parts.hpp"

namespace ttmem::tui {

void draw_overview(const Model& model, const Ui& ui, Canvas& canvas, const Area& area);
void draw_breakdown(const Model& model, const Ui& ui, Canvas& canvas, const Area& area);
// How full L1 is on each core of that device, where that is known.
void draw_cores(const Model& model, const census::DeviceFigures& device, Canvas& canvas, const Area& area);

void draw_charts(const Model& model, const Ui& ui, Canvas& canvas, const Area& area);
void draw_telemetry(const Model& model, const Ui& ui, Canvas& canvas, const Area& area);
void draw_allocations(const Model& model, const Ui& ui, Canvas& canvas, const Area& area);
void draw_map(const Model& model, const Ui& ui, Canvas& canvas, const Area& area);
void draw_events(const Model& model, const Ui& ui, Canvas& canvas, const Area& area);
void draw_failures(const Model& model, const Ui& ui, Canvas& canvas, const Area& area);
void draw_help(const Ui& ui, Canvas& canvas, const Area& area);

// The whole picture: the visible screen in its frame of title, notices and keys.
Canvas draw(const Model& model, const Ui& ui, Size size, Glyphs glyphs);

// Where the visible screen is in the whole picture.
Area body_of(Size size);

// The processes in the order that was chosen.
std::vector<const census::ProcessFigures*> ordered_processes(const Model& model, const Ui& ui);

// What of a bank the map shows: from an offset on, so many bytes a letter.
struct MapWindow {
    const census::AddressMap* map = nullptr;  // none: there is none to show
    size_t index = 0;                         // of so many
    size_t maps = 0;
    uint64_t from = 0;
    uint64_t bytes = 0;
    int rows = 0;
    int columns = 0;

    double letter() const { return static_cast<double>(bytes) / (static_cast<double>(rows) * columns); }
};
MapWindow map_window(const Model& model, const Ui& ui, const Area& area);

}  // namespace ttmem::tui
