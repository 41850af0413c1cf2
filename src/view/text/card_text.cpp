// SPDX-License-Identifier: Apache-2.0

// The card of a failure: what the bank held when the request failed.

#include <fmt/format.h>

#include <algorithm>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/tables.hpp"

namespace ttmem::view {

namespace {

using census::CardEvent;
using census::CardProgram;
using census::FailureCard;
using census::FailureFigures;
using census::MapBlock;

constexpr size_t kShownEvents = 5;
constexpr size_t kShownBuffers = 16;

std::string name_or_owner(const MapBlock& block) {
    if (block.is_free) {
        return "(free)";
    }
    const std::string name = block.name.value_or(fmt::format("(no name, id {})", block.owner.value_or(0)));
    return block.circular_buffers != 0 ? "circular buffer " + name : name;
}

std::string before_text(const std::optional<uint64_t>& age_ns) {
    return age_ns ? format_age(*age_ns) : std::string("-");
}

// "512.0 MiB in pages of 2.0 KiB over 12 banks: 42.7 MiB in each, aligned to 32 B, from the bottom".
std::string request_text(const FailureCard& card, const Style& style) {
    const census::CardRequest& request = card.request;
    const auto bytes = [&](uint64_t amount) { return prose_bytes(amount, style.bytes); };
    std::string text = bytes(request.requested);
    text += request.page ? fmt::format(" in pages of {}", bytes(*request.page)) : "";
    text += request.banks ? fmt::format(" over {}", format_count(*request.banks, "bank", "banks")) : "";
    text += request.needed ? fmt::format(": {} in each bank", bytes(*request.needed)) : " on one core";
    text += request.alignment ? fmt::format(", aligned to {}", bytes(*request.alignment)) : "";
    if (request.direction) {
        text += *request.direction == census::PlacementDirection::bottom_up ? ", from the bottom up"
                                                                            : ", from the top down";
    }
    return text;
}

// "1.0 GiB: 888.4 MiB used by 312 allocations, 183.4 MiB free, 3.2 MiB in one block".
std::string bank_text(const FailureCard& card, const Style& style) {
    const census::CardBank& bank = card.bank;
    const auto bytes = [&](uint64_t amount) { return prose_bytes(amount, style.bytes); };
    std::string text =
        bank.bank.is_known() ? fmt::format("one of {}, {}: ", bank.bank.banks, bytes(bank.bank.size)) : "";
    text += fmt::format("{} used by {}, {} free", bytes(bank.used),
                        format_count(bank.allocations, "allocation", "allocations"), bytes(bank.free));
    text += bank.largest_free ? fmt::format(", {} in one block", bytes(*bank.largest_free)) : "";
    return text;
}

// A line with a title, whose further lines are below the text.
void add_titled(Text& text, const std::string& title, const std::string& sentence, const Style& style) {
    constexpr size_t kIndent = 11;
    const size_t width = style.cut ? std::max<size_t>(style.width, 40) : 1000;
    std::string head = fmt::format("  {:<9}", title);
    for (const std::string& line : wrap_words(sentence, width - kIndent)) {
        text.add(head + line);
        head = std::string(kIndent - 2, ' ');  // further lines begin with two spaces
    }
}

// Cards have several small tables, so the lines about left-out columns would be longer than they.
Text indented(const Table& table, const Style& style) {
    Style small = style;
    small.names_left_out = false;
    small.columns = nullptr;
    small.width = std::max<size_t>(style.width, 40) - 2;
    Text text;
    for (const Line& line : table.text(small).lines()) {
        text.add(Line("  ").add(line));
    }
    return text;
}

Text blocks_table(const std::vector<MapBlock>& blocks, const Style& style) {
    Table table({{"ADDRESS"}, {"BYTES/BANK"}, {"AGE"}, {"NAME", kLeft, 0, 20, Column::KeptPart::end}});
    for (const MapBlock& block : blocks) {
        table.add({fmt::format("{:#x}", block.address), format_bytes(block.bytes, style.bytes),
                   before_text(block.age_ns),
                   Line(name_or_owner(block), block.is_free ? Tone::good : Tone::plain)});
    }
    return indented(table, style);
}

Text program_text(const FailureFigures& failure, const CardProgram& program, const Style& style) {
    Text text;
    std::string title = failure.program ? fmt::format("program {}", *failure.program) : "an unknown program";
    title += program.name.empty() ? "" : " (" + program.name + ")";
    add_titled(text, "program",
               fmt::format("{}: circular buffers end at {:#x}, {} beyond {:#x}", title,
                           failure.cb_end.value_or(0), prose_bytes(failure.missing.value_or(0), style.bytes),
                           failure.lowest_buffer.value_or(failure.l1_end.value_or(0))),
               style);
    if (!program.cores.empty()) {
        add_titled(
            text, "cores",
            fmt::format("{} of {}, the first {},{}", format_count(program.cores.size(), "core", "cores"),
                        format_devices(failure.devices), program.cores.front().x, program.cores.front().y),
            style);
    }
    if (program.blocker) {
        add_titled(text, "blocker",
                   fmt::format("{} at {:#x}, {} per bank, {} old, id {}", name_or_owner(*program.blocker),
                               program.blocker->address, prose_bytes(program.blocker->bytes, style.bytes),
                               before_text(program.blocker->age_ns), program.blocker->owner.value_or(0)),
                   style);
    }
    if (!program.circular_buffers.empty()) {
        std::vector<MapBlock> shown = program.circular_buffers;
        const size_t all = shown.size();
        shown.resize(std::min(all, kShownBuffers));
        text.add(Line(program.core
                          ? fmt::format("  Circular buffers on core {},{}", program.core->x, program.core->y)
                          : "  Circular buffers",
                      Tone::title));
        text.add(blocks_table(shown, style));
        if (all > shown.size()) {
            text.add(fmt::format("  ... and {} more", all - shown.size()));
        }
    }
    return text;
}

Text holders_text(const FailureCard& card, const Style& style) {
    Table table({{"USED"}, {"COUNT"}, {"NAME", kLeft, 0, 20, Column::KeptPart::end}});
    for (const census::CardHolder& holder : card.holders) {
        table.add({format_bytes(holder.used, style.bytes), std::to_string(holder.count),
                   holder.name.empty() ? "(no name)" : holder.name});
    }
    return Text().add(Line("  Largest holders then", Tone::title)).add(indented(table, style));
}

Text events_table(const FailureCard& card, const Style& style) {
    Table table({{"AGE"},
                 {"EVENT", kLeft},
                 {"KIND", kLeft},
                 {"REQUESTED"},
                 {"NAME", kLeft, 0, 20, Column::KeptPart::end}});
    const size_t first = card.events.size() - std::min(kShownEvents, card.events.size());
    for (size_t i = first; i < card.events.size(); ++i) {
        const CardEvent& event = card.events[i];
        table.add({format_age(event.age_ns), std::string(name_of(event.type)),
                   event.kind ? std::string(name_of(*event.kind)) : "-",
                   event.requested ? format_bytes(*event.requested, style.bytes) : "-",
                   event.name.empty() ? "-" : event.name});
    }
    return Text()
        .add(Line(fmt::format("  Last events of the thread ({} kept)", card.events.size()), Tone::title))
        .add(indented(table, style));
}

}  // namespace

Text card_text(const FailureFigures& failure, const std::string& title, const Style& style) {
    Text text;
    if (!failure.card) {
        return text;
    }
    const FailureCard& card = *failure.card;
    text.add(Line(title, Tone::title)
                 .add(fmt::format(": {} of {} at that moment, process {}", name_of(card.bank.kind),
                                  format_devices(failure.devices), failure.pid)));
    add_titled(text, "request", request_text(card, style), style);
    add_titled(text, "bank", bank_text(card, style), style);
    if (failure.short_by && *failure.short_by != 0) {
        add_titled(text, "verdict",
                   fmt::format("{}: short by {}", name_of(failure.verdict),
                               prose_bytes(*failure.short_by, style.bytes)),
                   style);
    }
    if (!card.is_complete) {
        add_titled(text, "part", "the bank has too many allocations for one card: it has the most important",
                   style);
    }
    if (card.program) {
        text.add(program_text(failure, *card.program, style));
    }
    if (!card.around.empty()) {
        text.add(Line(card.program && card.program->blocker ? "  Map around the buffer in the way"
                                                            : "  Map around the largest free block",
                      Tone::title));
        text.add(blocks_table(card.around, style));
    }
    if (!card.holders.empty()) {
        text.add(holders_text(card, style));
    }
    if (!card.youngest.empty()) {
        text.add(Line("  Youngest then", Tone::title)).add(blocks_table(card.youngest, style));
    }
    if (!card.events.empty()) {
        text.add(events_table(card, style));
    }
    return text.add(Line("  What would have made it fit", Tone::title)).add(fix_text(card, style));
}

}  // namespace ttmem::view
