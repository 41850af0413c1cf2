// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/screens.hpp"
#include "view/text/tables.hpp"

namespace ttmem::view {

namespace {

using census::AllocatorFit;
using census::FitAnswer;

class FitScreen {
public:
    FitScreen(const FitView& view, const Style& style) : view_(view), style_(style) {}

    Text text() {
        text_.add(headline(view_.origin, fmt::format("fit on device {}", view_.device), view_.is_exact()));
        text_.blank();
        add("", request_line());
        text_.blank();
        for (const AllocatorFit& fit : view_.allocators) {
            add_allocator(fit);
        }
        if (view_.allocators.empty()) {
            add("",
                fmt::format("Can't be decided: no tracked process that this user may see has an allocator on "
                            "device {}.",
                            view_.device));
            text_.blank();
        }
        if (!view_.unseen.empty()) {
            add("", "Other allocators of the device can't be seen:");
            for (const std::string& reason : view_.unseen) {
                add("  ", reason);
            }
            text_.blank();
        }
        add_answer();
        return text_.add(end_of_list(view_, style_.bytes));
    }

private:
    std::string bytes(uint64_t count) const { return prose_bytes(count, style_.bytes); }

    // A sentence in lines that fit. Pipes keep it whole.
    void add(const std::string& indent, const std::string& sentence, Tone tone = Tone::plain) {
        const size_t room = style_.cut ? std::max<size_t>(style_.width, 40) - indent.size() : SIZE_MAX;
        for (const std::string& line : wrap_words(sentence, room)) {
            text_.add(Line(indent + line, tone));
        }
    }

    std::string request_line() const {
        const FitQuery& request = view_.request;
        const std::string what =
            request.shape.empty()
                ? bytes(request.size.value_or(0))
                : fmt::format("tensor {} of {} in {} layout", request.shape,
                              name_of(request.dtype.value_or(allocator::DataType::bfloat16)),
                              name_of(request.layout.value_or(allocator::TensorLayout::tile)));
        const std::string where =
            request.cores ? fmt::format("sharded over {}", format_count(*request.cores, "core", "cores"))
                          : std::string("interleaved");
        return fmt::format("Request: {} of {}, {} of {}, {}.", what, name_of(request.kind),
                           format_count(view_.tensor.pages(), "page", "pages"), bytes(view_.tensor.page_size),
                           where);
    }

    void add_allocator(const AllocatorFit& fit) {
        const std::string devices = format_devices(fit.devices);
        const std::string set = fit.set.empty() || fit.set == devices ? "" : fit.set + ", ";
        add("", fmt::format("Process {} ({}), {}{}:", fit.pid, fit.comm, set, devices));
        if (fit.answer == FitAnswer::undecided) {
            add("  ", "can't be decided: " + fit.undecided, Tone::warn);
        } else if (fit.answer == FitAnswer::fits) {
            add("  ", fmt::format("fits at address {}", *fit.address), Tone::good);
            add_bank(fit);
            add_clash(fit);
        } else {
            const std::string missing =
                fit.short_by == 0 ? "" : fmt::format(", short by {} per bank", bytes(fit.short_by));
            add("  ", fmt::format("does not fit: {}{}", name_of(*fit.verdict), missing), Tone::bad);
            add_bank(fit);
            add_ways(fit);
        }
        text_.blank();
    }

    void add_bank(const AllocatorFit& fit) {
        add("  ", fmt::format("takes {} in each of {}, {} on each device", bytes(fit.needed),
                              format_count(fit.bank.banks, "bank", "banks"), bytes(fit.reserved())));
        add("  ", fmt::format("a bank has {}: {} used, {} free, {} in one block", bytes(fit.bank.size),
                              bytes(fit.used), bytes(fit.free), bytes(fit.largest_free)));
    }

    void add_clash(const AllocatorFit& fit) {
        if (fit.clash_with_cb) {
            add("  ",
                fmt::format(
                    "circular buffers of this process end above it, at {}: their programs clash by {} "
                    "when they run next",
                    *fit.clash_with_cb, bytes(*fit.clash_with_cb - *fit.address)),
                Tone::warn);
        }
    }

    void add_ways(const AllocatorFit& fit) {
        if (fit.verdict == allocator::FitVerdict::too_many_cores) {
            add("  ", fmt::format("each core needs a bank: at most {}",
                                  format_count(fit.bank.banks, "core", "cores")));
            return;
        }
        text_.add(ways_text(fit.ways, view_.request.kind, fit.bank.banks, style_));
    }

    // A question about one process has no others.
    bool is_of_several() const {
        return !view_.unseen.empty() ||
               std::any_of(view_.allocators.begin(), view_.allocators.end(),
                           [&](const AllocatorFit& fit) { return fit.pid != view_.allocators.front().pid; });
    }

    void add_answer() {
        const size_t count = view_.allocators.size();
        switch (view_.answer()) {
            case FitAnswer::fits:
                text_.add(Line(count == 1 ? "It fits." : fmt::format("It fits in all {} allocators.", count),
                               Tone::good));
                break;
            case FitAnswer::does_not_fit:
                text_.add(
                    Line(count == 1 ? "It does not fit." : "It does not fit in every allocator.", Tone::bad));
                break;
            case FitAnswer::undecided:
                add("",
                    fmt::format("It can't be decided whether it fits{}.",
                                is_of_several() ? " (--pid P asks one process alone)" : ""),
                    Tone::warn);
                break;
        }
    }

    const FitView& view_;
    const Style& style_;
    Text text_;
};

}  // namespace

Text fit_text(const FitView& view, const Style& style) { return FitScreen(view, style).text(); }

}  // namespace ttmem::view
