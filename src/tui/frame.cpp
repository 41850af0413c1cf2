// SPDX-License-Identifier: Apache-2.0

// What surrounds every screen: title, tabs, notices, keys. Reasons to doubt the figures are shown here, so that they are visible
// on every screen.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <ctime>

#include "tui/key_bindings.hpp"
#include "tui/screens.hpp"
#include "view/text/format.hpp"
#include "view/text/parts.hpp"

namespace ttmem::tui {

namespace {

constexpr int kHeaderRows = 3;  // title, tabs, notices
constexpr int kFooterRows = 1;

bool is_settling(const census::Inexactness& reason) { return reason.reason == census::Reason::settling; }

std::string clock_of(uint64_t time_ns) {
    const auto seconds = static_cast<time_t>(time_ns / kSecondNs);
    tm parts{};
    localtime_r(&seconds, &parts);
    return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string age_between(uint64_t from_ns, uint64_t to_ns) {
    return view::format_age(to_ns - std::min(from_ns, to_ns));
}

struct Exactness {
    const char* text;
    CellStyle style;
};
Exactness exactness_of(const view::View& view) {
    const auto& reasons = view.figures.inexact;
    if (reasons.empty()) {
        return {"exact", CellStyle::good};
    }
    return std::all_of(reasons.begin(), reasons.end(), is_settling) ? Exactness{"settling", CellStyle::warn}
                                                                    : Exactness{"inexact", CellStyle::warn};
}

struct TitleItem {
    std::string text;
    CellStyle style;
};

// The right part of the title, the most important item first.
std::vector<TitleItem> title_items(const Model& model, const Ui& ui) {
    std::vector<TitleItem> items;
    if (model.status() && !model.is_stale()) {
        const Exactness exactness = exactness_of(*model.status());
        items.push_back({exactness.text, exactness.style});
    }
    switch (model.is_stale() ? Link::lost : model.link()) {
        case Link::none:
            items.push_back({"connecting", CellStyle::dim});
            break;
        case Link::daemon:
            items.push_back({"daemon", CellStyle::good});
            break;
        case Link::direct:
            items.push_back({"direct", CellStyle::plain});
            break;
        case Link::recording:
            items.push_back({"recording", CellStyle::good});
            break;
        case Link::lost:
            items.push_back({"STALE " + age_between(model.lost_since_ns(), model.now_ns()), CellStyle::bad});
            break;
    }
    const bool is_whole = ui.interval_ms % 1000 == 0;
    items.push_back(
        {is_whole ? fmt::format("{} s", ui.interval_ms / 1000) : fmt::format("{} ms", ui.interval_ms),
         CellStyle::dim});
    items.push_back({clock_of(model.now_ns()), CellStyle::dim});
    return items;
}

int width_of(const std::vector<TitleItem>& items) {
    int width = 0;
    for (const TitleItem& item : items) {
        width += static_cast<int>(item.text.size()) + 2;
    }
    return width;
}

void draw_title(const Model& model, const Ui& ui, Canvas& canvas) {
    std::vector<TitleItem> right = title_items(model, ui);
    std::string host;
    std::string counts;
    if (model.status()) {
        const census::Figures& figures = model.status()->figures;
        host = view::cut_end(model.status()->origin.host, 24);
        counts = view::format_count(figures.devices.size(), "device", "devices") + ", " +
                 view::processes_text(figures.processes);
    }
    const int left = canvas.put(0, 0, "ttmem top", CellStyle::title) + 2;
    const auto wanted = static_cast<int>(view::display_width(host) + counts.size()) + 2;
    while (right.size() > 2 && left + wanted + width_of(right) > canvas.columns()) {
        right.pop_back();
    }
    int end = canvas.columns();
    for (auto item = right.rbegin(); item != right.rend(); ++item) {
        end = canvas.put_right(0, end, item->text, item->style) - 2;
    }
    const int behind = canvas.put(0, left, host, CellStyle::plain, end - left);
    canvas.put(0, behind + 2, counts, CellStyle::dim, end - behind - 2);
}

void draw_tabs(const Ui& ui, Canvas& canvas) {
    const bool is_narrow = canvas.columns() < 100;
    int column = 0;
    for (size_t i = 0; i < kScreenTitles.size(); ++i) {
        const bool is_open = static_cast<Screen>(i) == ui.screen && !ui.help;
        const std::string_view title = is_narrow ? kScreenTitles[i].brief : kScreenTitles[i].title;
        const int start = column;
        column = canvas.put(1, column, std::to_string(i), CellStyle::key);
        column = canvas.put(1, column + 1, title, CellStyle::plain);
        if (is_open) {
            canvas.paint(1, start, column - start, CellStyle::selected);
        }
        canvas.add_hit(1, start, column - start, {CanvasHit::What::screen, static_cast<uint32_t>(i)});
        column += is_narrow ? 1 : 3;
    }
}

// The most important notice, and the number of the others.
void draw_notices(const Model& model, Canvas& canvas) {
    struct Notice {
        std::string text;
        CellStyle style;
    };
    std::vector<Notice> notices;
    if (model.is_stale()) {
        notices.push_back({fmt::format("No figures for {}: showing the last ones. ({})",
                                       age_between(model.lost_since_ns(), model.now_ns()), model.why_lost()),
                           CellStyle::bad});
    } else if (model.link() == Link::direct && model.has_lost_daemon()) {
        notices.push_back({"The daemon is gone: reading directly, without its history, until it returns.",
                           CellStyle::warn});
    }
    if (model.status()) {
        for (const census::Inexactness& reason : model.status()->figures.inexact) {
            const std::string process = reason.pid == 0 ? "" : fmt::format("process {}: ", reason.pid);
            const std::string count = reason.count > 1 ? fmt::format(" ({})", reason.count) : "";
            const std::string prefix = is_settling(reason) ? "" : "inexact: ";
            notices.push_back({fmt::format("{}{}{}{}", prefix, process, text_of(reason), count),
                               is_settling(reason) ? CellStyle::dim : CellStyle::warn});
        }
        std::stable_sort(notices.begin(), notices.end(),
                         [](const Notice& a, const Notice& b) { return a.style > b.style; });
    }
    if (const auto& history = model.unkept_history()) {
        notices.push_back({text_of(*history), CellStyle::warn});
    }
    if (model.status()) {
        view::Text more = view::shared_text(*model.status());
        more.add(view::missed_text(model.status()->figures.processes_missed));
        for (const view::Line& line : more.lines()) {
            notices.push_back({line.plain(), CellStyle::warn});
        }
    }
    if (const uint64_t lost = model.lost_events(); lost != 0) {
        notices.push_back({fmt::format("gap: {} of the history lost, the figures are complete",
                                       view::format_count(lost, "event", "events")),
                           CellStyle::warn});
    }
    for (const std::string& notice : model.notices()) {
        notices.push_back({notice, CellStyle::warn});
    }
    if (!canvas.left_out().empty()) {
        notices.push_back(
            {fmt::format("Not shown at this width: {}", fmt::join(canvas.left_out(), ", ")), CellStyle::dim});
    }
    if (notices.empty()) {
        return;
    }
    const std::string more = notices.size() > 1 ? fmt::format("  (+{} more)", notices.size() - 1) : "";
    const int room = std::max(canvas.columns() - static_cast<int>(more.size()), 1);
    const int column =
        canvas.put(2, 0, view::cut_end(notices[0].text, static_cast<size_t>(room)), notices[0].style);
    canvas.put(2, column, more, CellStyle::dim);
}

void draw_footer(const Model& model, const Ui& ui, Canvas& canvas) {
    const int row = canvas.rows() - 1;
    if (ui.prompt) {
        const int column = canvas.put(row, 0, "Search: ", CellStyle::title);
        const auto room = static_cast<size_t>(std::max(canvas.columns() - column - 1, 1));
        canvas.fill(row, canvas.put(row, column, view::cut_beginning(*ui.prompt, room), CellStyle::plain), 1,
                    U'_', CellStyle::key);
        return;
    }
    if (!ui.message.empty()) {
        canvas.put(row, 0, view::cut_end(ui.message, static_cast<size_t>(canvas.columns())), CellStyle::warn);
        return;
    }
    // The last two hints, help and quit, are always shown; the others as far as there is room.
    constexpr size_t kAlways = 2;
    const std::vector<FooterHint> hints = footer_hints(ui.screen, source_of(model));
    const auto width_of_hint = [](const FooterHint& hint) {
        return static_cast<int>(hint.key.size() + hint.text.size() + 3);
    };
    assert(hints.size() >= kAlways);
    int reserved = -2;  // the last hint has no gap behind it
    for (size_t i = hints.size() - kAlways; i < hints.size(); ++i) {
        reserved += width_of_hint(hints[i]);
    }
    int column = 0;
    for (size_t i = 0; i < hints.size(); ++i) {
        const bool is_always = i + kAlways >= hints.size();
        const bool fits = column + width_of_hint(hints[i]) + reserved <= canvas.columns();
        if (is_always || (fits && !ui.help)) {
            column = canvas.put(row, column, hints[i].key, CellStyle::key);
            column = canvas.put(row, column + 1, hints[i].text, CellStyle::dim) + 2;
        }
    }
}

void draw_signal(const SignalChoice& choice, Canvas& canvas, const Area& area) {
    assert(choice.signal < kSignals.size());
    const std::vector<std::string> lines = {
        fmt::format("Send {} to process {} ({})?", kSignals[choice.signal].name, choice.pid,
                    view::cut_end(choice.comm, 20)),
        "", "Up/Down other signal   y send   any other key: cancel"};
    size_t width = 0;
    for (const std::string& line : lines) {
        width = std::max(width, view::display_width(line));
    }
    const Size size{static_cast<int>(lines.size()) + 2, static_cast<int>(width) + 4};
    const int row = area.row + std::max((area.rows - size.rows) / 2, 0);
    const int column = std::max((area.columns - size.columns) / 2, 0);
    for (int i = 0; i < size.rows; ++i) {
        canvas.fill(row + i, column, size.columns, U' ');
    }
    canvas.box(row, column, size, "Signal", CellStyle::bad);
    for (size_t i = 0; i < lines.size(); ++i) {
        canvas.put(row + 1 + static_cast<int>(i), column + 2, lines[i],
                   i == 0 ? CellStyle::title : CellStyle::plain);
    }
}

void draw_screen(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    if (!model.status()) {
        return put_note(canvas, area, model.is_stale() ? model.why_lost() : "Connecting.");
    }
    switch (ui.screen) {
        case Screen::overview:
            return draw_overview(model, ui, canvas, area);
        case Screen::breakdown:
            return draw_breakdown(model, ui, canvas, area);
        case Screen::charts:
            return draw_charts(model, ui, canvas, area);
        case Screen::telemetry:
            return draw_telemetry(model, ui, canvas, area);
        case Screen::allocations:
            return draw_allocations(model, ui, canvas, area);
        case Screen::map:
            return draw_map(model, ui, canvas, area);
        case Screen::events:
            return draw_events(model, ui, canvas, area);
        case Screen::failures:
            return draw_failures(model, ui, canvas, area);
    }
}

}  // namespace

Area body_of(Size size, const Model& model) {
    const int frame = kHeaderRows + kFooterRows + (model.is_recording() ? kTimelineRows : 0);
    return {kHeaderRows, 0, std::max(size.rows - frame, 0), size.columns};
}

Canvas draw(const Model& model, const Ui& ui, Size size, Glyphs glyphs) {
    Canvas canvas(size, glyphs);
    const Area body = body_of(canvas.size(), model);
    if (ui.help) {
        draw_help(ui, canvas, body);
    } else {
        draw_screen(model, ui, canvas, body);
        if (model.is_stale()) {
            for (const CellStyle style : {CellStyle::plain, CellStyle::good, CellStyle::bar}) {
                canvas.paint_all(style, CellStyle::stale);
            }
        }
    }
    // The frame is drawn last: it is never stale, and it has precedence on small terminals.
    for (const int row : {0, 1, 2, canvas.rows() - 1}) {
        if (row < canvas.rows()) {
            canvas.fill(row, 0, canvas.columns(), U' ');
        }
    }
    draw_title(model, ui, canvas);
    draw_tabs(ui, canvas);
    draw_notices(model, canvas);
    if (model.is_recording()) {
        draw_timeline(model, ui, canvas, std::max(canvas.rows() - kFooterRows - kTimelineRows, 0));
    }
    draw_footer(model, ui, canvas);
    if (ui.signal) {
        draw_signal(*ui.signal, canvas, body);
    }
    return canvas;
}

}  // namespace ttmem::tui
