// SPDX-License-Identifier: Apache-2.0

// What stands around every screen: title, the screens there are, notices, keys. Whatever makes figures doubtful is here, and so
// is seen whichever screen is open.

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "tui/screens.hpp"
#include "view/format.hpp"
#include "view/text_parts.hpp"

namespace ttmem::tui {

namespace {

constexpr int kHead = 3;  // title, screens, notices
constexpr int kFoot = 1;

struct Tab {
    const char* title;
    const char* brief;
};
constexpr std::array<Tab, kScreens> kTabs = {{{"Overview", "Overview"},
                                              {"Breakdown", "Breakdown"},
                                              {"Charts", "Charts"},
                                              {"Telemetry", "Telem"},
                                              {"Allocations", "Allocs"},
                                              {"Map", "Map"},
                                              {"Events", "Events"},
                                              {"Failures", "Failures"}}};

bool is_settling(const census::Inexactness& reason) { return reason.reason.starts_with("settling"); }

std::string clock_of(uint64_t time_ns) {
    const auto seconds = static_cast<time_t>(time_ns / kSecondNs);
    tm parts{};
    localtime_r(&seconds, &parts);
    return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string age_between(uint64_t from_ns, uint64_t to_ns) {
    return view::format_age(to_ns - std::min(from_ns, to_ns));
}

// Which of exact, settling and inexact the figures are.
struct Exactness {
    const char* word;
    Look look;
};
Exactness exactness_of(const view::View& view) {
    const auto& reasons = view.figures.inexact;
    if (reasons.empty()) {
        return {"exact", Look::good};
    }
    return std::all_of(reasons.begin(), reasons.end(), is_settling) ? Exactness{"settling", Look::warn}
                                                                    : Exactness{"inexact", Look::warn};
}

struct Word {
    std::string text;
    Look look;
};

// What the title tells at the right, the most important first.
std::vector<Word> state_of(const Model& model, const Ui& ui) {
    std::vector<Word> words;
    if (model.status()) {
        const Exactness exactness = exactness_of(*model.status());
        words.push_back({exactness.word, exactness.look});
    }
    switch (model.link()) {
        case Link::none:
            words.push_back({"looking", Look::dim});
            break;
        case Link::daemon:
            words.push_back({"daemon", Look::good});
            break;
        case Link::direct:
            words.push_back({"direct", Look::plain});
            break;
        case Link::lost:
            words.push_back({"STALE " + age_between(model.lost_since_ns(), model.now_ns()), Look::bad});
            break;
    }
    const bool is_whole = ui.interval_ms % 1000 == 0;
    words.push_back(
        {is_whole ? fmt::format("{} s", ui.interval_ms / 1000) : fmt::format("{} ms", ui.interval_ms),
         Look::dim});
    words.push_back({clock_of(model.now_ns()), Look::dim});
    return words;
}

int width_of(const std::vector<Word>& words) {
    int width = 0;
    for (const Word& word : words) {
        width += static_cast<int>(word.text.size()) + 2;
    }
    return width;
}

void draw_title(const Model& model, const Ui& ui, Canvas& canvas) {
    std::vector<Word> right = state_of(model, ui);
    std::string host;
    std::string counts;
    if (model.status()) {
        const census::Figures& figures = model.status()->figures;
        host = view::cut_end(model.status()->origin.host, 24);
        counts = view::format_count(figures.devices.size(), "device", "devices") + ", " +
                 view::processes_text(figures.processes);
    }
    const int left = canvas.put(0, 0, "ttmem top", Look::title) + 2;
    const auto wanted = static_cast<int>(view::display_width(host) + counts.size()) + 2;
    while (right.size() > 2 && left + wanted + width_of(right) > canvas.columns()) {
        right.pop_back();
    }
    int end = canvas.columns();
    for (auto word = right.rbegin(); word != right.rend(); ++word) {
        end = canvas.put_right(0, end, word->text, word->look) - 2;
    }
    const int behind = canvas.put(0, left, host, Look::plain, end - left);
    canvas.put(0, behind + 2, counts, Look::dim, end - behind - 2);
}

void draw_tabs(const Ui& ui, Canvas& canvas) {
    const bool is_narrow = canvas.columns() < 100;
    int column = 0;
    for (size_t i = 0; i < kTabs.size(); ++i) {
        const bool is_open = static_cast<Screen>(i) == ui.screen && !ui.help;
        const std::string title = is_narrow ? kTabs[i].brief : kTabs[i].title;
        const int start = column;
        column = canvas.put(1, column, std::to_string(i), Look::key);
        column = canvas.put(1, column, " " + title, Look::plain);
        if (is_open) {
            canvas.paint(1, start, column - start, Look::selected);
        }
        column += is_narrow ? 1 : 3;
    }
}

// The most important one in full, and how many others there are.
void draw_notices(const Model& model, Canvas& canvas) {
    struct Notice {
        std::string text;
        Look look;
    };
    std::vector<Notice> notices;
    if (model.is_stale()) {
        notices.push_back(
            {fmt::format("The daemon is gone since {}: this is the last picture. Reconnecting. ({})",
                         age_between(model.lost_since_ns(), model.now_ns()), model.why_lost()),
             Look::bad});
    }
    if (model.status()) {
        for (const census::Inexactness& reason : model.status()->figures.inexact) {
            const std::string who = reason.pid == 0 ? "" : fmt::format("process {}: ", reason.pid);
            const std::string count = reason.count > 1 ? fmt::format(" ({})", reason.count) : "";
            const std::string word = is_settling(reason) ? "" : "inexact: ";
            notices.push_back({fmt::format("{}{}{}{}", word, who, reason.reason, count),
                               is_settling(reason) ? Look::dim : Look::warn});
        }
        std::stable_sort(notices.begin(), notices.end(),
                         [](const Notice& a, const Notice& b) { return a.look > b.look; });
    }
    if (const uint64_t lost = model.lost_events(); lost != 0) {
        notices.push_back({fmt::format("gap: {} of the history were lost, state is not",
                                       view::format_count(lost, "event", "events")),
                           Look::warn});
    }
    for (const std::string& notice : model.notices()) {
        notices.push_back({notice, Look::warn});
    }
    if (notices.empty()) {
        return;
    }
    const std::string more = notices.size() > 1 ? fmt::format("  (+{} more)", notices.size() - 1) : "";
    const int room = std::max(canvas.columns() - static_cast<int>(more.size()), 1);
    const int column =
        canvas.put(2, 0, view::cut_end(notices[0].text, static_cast<size_t>(room)), notices[0].look);
    canvas.put(2, column, more, Look::dim);
}

struct Hint {
    const char* key;
    const char* text;
};

std::vector<Hint> hints_of(const Ui& ui) {
    switch (ui.screen) {
        case Screen::overview:
            return {{"up/down", "process"},
                    {"Enter", "its allocations"},
                    {"F6", "sort"},
                    {"F9", "signal"},
                    {"d", "device"}};
        case Screen::breakdown:
        case Screen::telemetry:
            return {{"d", "next device"}, {"+/-", "interval"}};
        case Screen::charts:
            return {{"d", "next device"}, {"a", "all"}, {"z/Z", "zoom"}, {"+/-", "interval"}};
        case Screen::allocations:
            return {{"/", "filter"},  {"g", "group"},   {"F6", "sort"}, {"m", "mark"},
                    {"M", "no mark"}, {"a", "all/one"}, {"d", "device"}};
        case Screen::map:
            return {{"arrows", "move"}, {"z/Z", "zoom"}, {"n", "next pool"}, {"d", "next device"}};
        case Screen::events:
            return {{"Space", "pause"}, {"/", "filter"}, {"PgUp", "back"}};
        case Screen::failures:
            return {{"p", "post-mortems"}, {"Enter", "open"}, {"a", "all/one"}, {"d", "device"}};
    }
    return {};
}

void draw_keys(const Ui& ui, Canvas& canvas) {
    const int row = canvas.rows() - 1;
    if (ui.prompt) {
        const int column = canvas.put(row, 0, "Filter: ", Look::title);
        const auto room = static_cast<size_t>(std::max(canvas.columns() - column - 1, 1));
        canvas.fill(row, canvas.put(row, column, view::cut_beginning(*ui.prompt, room), Look::plain), 1, U'_',
                    Look::key);
        return;
    }
    if (!ui.message.empty()) {
        canvas.put(row, 0, view::cut_end(ui.message, static_cast<size_t>(canvas.columns())), Look::warn);
        return;
    }
    // Help and the way out always, the others as far as there is room.
    constexpr std::array<Hint, 2> kAlways = {{{"?", "help"}, {"q", "quit"}}};
    constexpr int kAlwaysWidth = 14;
    int column = 0;
    const auto put = [&](const Hint& hint) {
        column = canvas.put(row, column, hint.key, Look::key);
        column = canvas.put(row, column + 1, hint.text, Look::dim) + 2;
    };
    for (const Hint& hint : hints_of(ui)) {
        const auto width =
            static_cast<int>(std::string_view(hint.key).size() + std::string_view(hint.text).size() + 3);
        if (column + width + kAlwaysWidth <= canvas.columns() && !ui.help) {
            put(hint);
        }
    }
    std::for_each(kAlways.begin(), kAlways.end(), put);
}

void draw_signal(const SignalChoice& choice, Canvas& canvas, const Area& area) {
    const std::vector<std::string> lines = {
        fmt::format("Send {} to process {} ({})?", kSignals[choice.signal].name, choice.pid,
                    view::cut_end(choice.comm, 20)),
        "", "up/down another signal   y send it   any other key: don't"};
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
    canvas.box(row, column, size, "Signal", Look::bad);
    for (size_t i = 0; i < lines.size(); ++i) {
        canvas.put(row + 1 + static_cast<int>(i), column + 2, lines[i], i == 0 ? Look::title : Look::plain);
    }
}

void draw_screen(const Model& model, const Ui& ui, Canvas& canvas, const Area& area) {
    if (!model.status()) {
        return put_note(canvas, area,
                        model.is_stale() ? model.why_lost() : "Looking for devices and processes.");
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

Area body_of(Size size) { return {kHead, 0, std::max(size.rows - kHead - kFoot, 0), size.columns}; }

Canvas draw(const Model& model, const Ui& ui, Size size, Glyphs glyphs) {
    Canvas canvas(size, glyphs);
    const Area body = body_of(canvas.size());
    if (ui.help) {
        draw_help(ui, canvas, body);
    } else {
        draw_screen(model, ui, canvas, body);
        if (model.is_stale()) {
            for (const Look look : {Look::plain, Look::good, Look::bar}) {
                canvas.paint_all(look, Look::stale);
            }
        }
    }
    // The frame comes last: it is never stale, and wins where there is no room.
    for (const int row : {0, 1, 2, canvas.rows() - 1}) {
        if (row < canvas.rows()) {
            canvas.fill(row, 0, canvas.columns(), U' ');
        }
    }
    draw_title(model, ui, canvas);
    draw_tabs(ui, canvas);
    draw_notices(model, canvas);
    draw_keys(ui, canvas);
    if (ui.signal) {
        draw_signal(*ui.signal, canvas, body);
    }
    return canvas;
}

}  // namespace ttmem::tui
