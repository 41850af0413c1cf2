// SPDX-License-Identifier: Apache-2.0
#include "view/chronicle_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "view/format.hpp"

namespace ttmem::view {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kMillisecond = 1'000'000;
constexpr size_t kWhat = 10;  // "allocation"
constexpr size_t kShortestName = 12;

// "14:03:27.042", of the day on which it is looked at.
std::string time_of_day(uint64_t time_ns) {
    const auto seconds = static_cast<time_t>(time_ns / kSecond);
    tm parts{};
    localtime_r(&seconds, &parts);
    return fmt::format("{:02}:{:02}:{:02}.{:03}", parts.tm_hour, parts.tm_min, parts.tm_sec,
                       time_ns % kSecond / kMillisecond);
}

std::string words_for(const EventView& event) {
    std::string text = event.what;
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

std::string share_text(uint64_t part, uint64_t whole) {
    return whole == 0
               ? "-"
               : fmt::format("{:.1f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

// The highest of the samples that fall on each column, so that no peak is lost.
std::vector<uint64_t> columns_of(const std::vector<history::Sample>& samples, size_t width) {
    std::vector<uint64_t> columns;
    const size_t count = std::min(samples.size(), width);
    for (size_t i = 0; i < count; ++i) {
        const size_t from = i * samples.size() / count;
        const size_t to = (i + 1) * samples.size() / count;
        uint64_t highest = 0;
        for (size_t at = from; at < to; ++at) {
            highest = std::max(highest, samples[at].value);
        }
        columns.push_back(highest);
    }
    return columns;
}

std::string chart_of(const std::vector<uint64_t>& columns, uint64_t highest, const Style& style) {
    constexpr std::array<const char*, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    constexpr std::array<const char*, 9> kLetters = {" ", ".", ":", "-", "=", "+", "*", "%", "#"};
    const auto& levels = style.utf8 ? kBlocks : kLetters;
    std::string text;
    for (const uint64_t value : columns) {
        // What is there is seen, and only the highest is full.
        const double share = highest == 0 ? 0 : static_cast<double>(value) / static_cast<double>(highest);
        const size_t level = value == 0         ? 0
                             : value == highest ? levels.size() - 1
                                                : 1 + static_cast<size_t>(share * 7);
        text += levels[std::min(level, levels.size() - 1)];
    }
    return text;
}

}  // namespace

std::string event_line(const EventView& event, const Style& style) {
    std::string text = fmt::format("{}  {:>7}  {}", time_of_day(event.time_ns), event.pid, words_for(event));
    if (event.count) {
        return text + fmt::format(": {} were not seen", format_count(*event.count, "event", "events"));
    }
    if (!event.kind && !event.requested) {
        return text;
    }
    text += fmt::format("{:{}}  {:<8}  {:>10}  {:<4}", "", kWhat - std::min(words_for(event).size(), kWhat),
                        event.kind ? name_of(*event.kind) : "-",
                        event.requested ? format_bytes(*event.requested, style.bytes) : "-",
                        format_ids(event.devices));
    // The end of a name tells more than its beginning, and the name more than the address.
    std::string name = event.name.value_or("");
    std::string more = event.address ? fmt::format("at {:#x}", *event.address) : "";
    if (event.kernel_type) {
        more = "(" + *event.kernel_type + ")";
    }
    if (event.adds_bytes == false) {
        more = "adds nothing";
    }
    const size_t taken = display_width(text) + 2;
    const size_t left = style.width > taken + kShortestName ? style.width - taken : kShortestName;
    if (style.cut && display_width(name) + display_width(more) + 2 > left) {
        more = name.empty() ? more : "";
        name = cut_beginning(name, left);
    }
    for (const std::string& part : {name, more}) {
        text += part.empty() ? "" : "  " + part;
    }
    return text;
}

std::string events_text(const EventsView& view, const Style& style) {
    std::string text;
    if (view.missed != 0) {
        text += fmt::format("({} before these are not kept any more)\n",
                            format_count(view.missed, "event", "events"));
    }
    for (const EventView& event : view.events) {
        text += event_line(event, style) + "\n";
    }
    return text.empty() ? "Nothing has happened since the daemon began.\n" : text;
}

std::string history_text(const HistoryView& view, const Style& style) {
    std::string text;
    for (const SeriesView& series : view.series) {
        uint64_t highest = 0;
        for (const history::Sample& sample : series.samples) {
            highest = std::max(highest, sample.value);
        }
        if (highest == 0) {
            continue;
        }
        const std::string head =
            fmt::format("device {:<3} {:<9}", series.device, std::string(name_of(series.kind)));
        const std::string tail =
            fmt::format("  now {}, highest {}", format_bytes(series.samples.back().value, style.bytes),
                        format_bytes(highest, style.bytes));
        const size_t taken = display_width(head) + display_width(tail) + 2;
        const size_t width = style.width > taken + 10 ? style.width - taken : 10;
        text += fmt::format("{}|{}|{}\n", head, chart_of(columns_of(series.samples, width), highest, style),
                            tail);
    }
    if (text.empty()) {
        return "Nothing has been held since the daemon began.\n";
    }
    const auto& samples = view.series.front().samples;
    const uint64_t span =
        samples.empty() ? 0 : view.origin.time_ns - std::min(view.origin.time_ns, samples.front().time_ns);
    return fmt::format("{}: used bytes over the last {}\n\n{}",
                       coloured(view.origin.host, Tone::title, style), format_age(span), text);
}

std::string self_text(const SelfView& view, const Style& style) {
    const auto bytes = [&](uint64_t amount) { return format_bytes(amount, style.bytes); };
    return fmt::format(
        "ttmemd {} on {}, process {}, up {}\n\n"
        "  cost       {} of a core since its start, {} of memory\n"
        "  watches    {} with {} of segments, {}\n"
        "  followed   {} events ({} a second now), {} lost, {:.1f} ms behind\n"
        "  audits     {} done, {}\n"
        "  serves     {}; {} log lines lost\n",
        view.version, view.origin.host, view.pid, format_age(view.uptime_ns),
        share_text(view.cpu_ns, view.uptime_ns), bytes(view.memory_bytes),
        format_count(view.processes, "process", "processes"), bytes(view.segment_bytes),
        format_count(view.post_mortems, "post-mortem", "post-mortems"), view.events_followed,
        view.events_per_second, view.events_lost, static_cast<double>(view.lag_ns) / 1e6, view.audits,
        format_count(view.defects, "defect found", "defects found"),
        format_count(view.connections, "connection", "connections"), view.log_lines_lost);
}

}  // namespace ttmem::view
