// SPDX-License-Identifier: Apache-2.0

// The timeline below a recording: the upper row has the used DRAM from beginning to end, the lower one what happened when, and where
// the playback is.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tui/screens.hpp"
#include "view/text/format.hpp"

namespace ttmem::tui {

namespace {

using access::Timeline;
using access::TimelinePoint;

// As --at takes it: "+12.500s". Short recordings have microseconds.
std::string moment_text(uint64_t ns, uint64_t length_ns) {
    const int digits = length_ns < kSecondNs ? 6 : 3;
    return fmt::format("{:.{}f}s", static_cast<double>(ns) / static_cast<double>(kSecondNs), digits);
}

std::string state_text(const Model& model, const Ui& ui) {
    const Timeline& timeline = *model.timeline();
    const uint64_t now = std::max(model.position_ns(), timeline.first_ns);
    const char* state = now >= timeline.last_ns ? "end" : ui.is_playing ? "playing" : "paused";
    return fmt::format("{} {} +{} of {}", state, kSpeeds[ui.speed].name,
                       moment_text(now - timeline.first_ns, timeline.length_ns()),
                       moment_text(timeline.length_ns(), timeline.length_ns()));
}

// The column of a moment.
int column_of(const Timeline& timeline, uint64_t time_ns, int columns) {
    const uint64_t since = time_ns - std::min(time_ns, timeline.first_ns);
    const double share =
        static_cast<double>(since) / static_cast<double>(std::max<uint64_t>(timeline.length_ns(), 1));
    return std::clamp(static_cast<int>(share * columns), 0, columns - 1);
}

void draw_used(const Timeline& timeline, Canvas& canvas, const Area& area) {
    constexpr std::array<char32_t, 9> kSteps = {U' ', U'▁', U'▂', U'▃', U'▄', U'▅', U'▆', U'▇', U'█'};
    uint64_t top = 1;
    for (const access::TimelinePart& part : timeline.parts) {
        top = std::max(top, part.used_dram);
    }
    for (int column = 0; column < area.columns; ++column) {
        const auto from =
            static_cast<size_t>(column) * timeline.part_count / static_cast<size_t>(area.columns);
        const auto to = std::max(from + 1, static_cast<size_t>(column + 1) * timeline.part_count /
                                               static_cast<size_t>(area.columns));
        if (from >= timeline.parts.size()) {
            canvas.fill(area.row, area.column + column, area.columns - column, U'·', CellStyle::dim);
            return;  // not read yet
        }
        uint64_t highest = 0;
        for (size_t part = from; part < std::min(to, timeline.parts.size()); ++part) {
            highest = std::max(highest, timeline.parts[part].used_dram);
        }
        const auto step =
            static_cast<size_t>(static_cast<long double>(highest) / static_cast<long double>(top) * 8);
        canvas.fill(area.row, area.column + column, 1,
                    kSteps[highest == 0 ? 0 : std::clamp<size_t>(step, 1, 8)], CellStyle::bar);
    }
}

struct PointSymbol {
    TimelinePoint::PointType type;
    char32_t character;
    CellStyle style;
};
// The least important first, so that it does not hide the others.
constexpr std::array<PointSymbol, 5> kSymbols = {{{TimelinePoint::PointType::start, U'▲', CellStyle::good},
                                                  {TimelinePoint::PointType::end, U'✗', CellStyle::warn},
                                                  {TimelinePoint::PointType::gap, U'≈', CellStyle::warn},
                                                  {TimelinePoint::PointType::mark, U'◆', CellStyle::accent},
                                                  {TimelinePoint::PointType::failure, U'!', CellStyle::bad}}};

}  // namespace

void draw_timeline(const Model& model, const Ui& ui, Canvas& canvas, int row) {
    const Timeline& timeline = *model.timeline();
    if (row + kTimelineRows > canvas.rows()) {
        return;
    }
    for (int i = 0; i < kTimelineRows; ++i) {
        canvas.fill(row + i, 0, canvas.columns(), U' ');
    }
    // The width of the text changes with the moment; that of its column does not.
    const std::string widest = fmt::format("playing {} +{} of {}", kSpeeds.front().name,
                                           moment_text(timeline.length_ns(), timeline.length_ns()),
                                           moment_text(timeline.length_ns(), timeline.length_ns()));
    const int left = std::min(static_cast<int>(widest.size()) + 2, canvas.columns() / 2);
    canvas.put(row, 0, "DRAM of all processes", CellStyle::dim, left - 1);
    canvas.put(row + 1, 0, state_text(model, ui), CellStyle::title, left - 1);
    const Area area{row, left, kTimelineRows, canvas.columns() - left};
    if (area.columns < 4) {
        return;
    }
    draw_used(timeline, canvas, area);
    canvas.fill(row + 1, left, area.columns, U'─', CellStyle::dim);
    for (const PointSymbol& symbol : kSymbols) {
        for (const TimelinePoint& point : timeline.points) {
            if (point.type == symbol.type) {
                canvas.fill(row + 1, left + column_of(timeline, point.time_ns, area.columns), 1,
                            symbol.character, symbol.style);
            }
        }
    }
    const int now = left + column_of(timeline, model.position_ns(), area.columns);
    for (int i = 0; i < kTimelineRows; ++i) {
        if (canvas.at(row + i, now).character == U' ' || canvas.at(row + i, now).character == U'─') {
            canvas.fill(row + i, now, 1, U'┃');
        }
        canvas.paint(row + i, now, 1, CellStyle::selected);
        for (int column = 0; column < area.columns; ++column) {
            const auto share = (static_cast<uint64_t>(column) * 2 + 1) * kWholeRecording /
                               (static_cast<uint64_t>(area.columns) * 2);
            canvas.add_hit(row + i, left + column, 1,
                           {CanvasHit::What::moment, static_cast<uint32_t>(share)});
        }
    }
}

}  // namespace ttmem::tui
