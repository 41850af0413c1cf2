// SPDX-License-Identifier: Apache-2.0

// What would make a refused request fit.

#include <fmt/format.h>

#include <algorithm>

#include "view/text/format.hpp"
#include "view/text/parts.hpp"
#include "view/text/tables.hpp"

namespace ttmem::view {

namespace {

using census::FitRelease;
using census::Kind;
using census::WaysOut;

class WaysScreen {
public:
    explicit WaysScreen(const Style& style) : style_(style) {}

    Text of_request(const WaysOut& ways, Kind kind, uint32_t banks) {
        for (size_t i = 0; i < ways.to_free.size(); ++i) {
            const FitRelease& release = ways.to_free[i];
            add_release(release, fmt::format("{} {} {} per bank in {}, at address {}:",
                                             i == 0 ? "would fit after" : "or after", verb(release),
                                             bytes(release.bytes), allocations(release), release.address));
        }
        if (ways.fewest_names) {
            const FitRelease& release = *ways.fewest_names;
            add_release(
                release,
                fmt::format("or, with fewer names, after {} {} per bank in {}, at address {}:", verb(release),
                            bytes(release.bytes), allocations(release), release.address));
        }
        add(ways.fits_after_compaction ? "would fit if what is live lay without gaps (compaction)"
                                       : "compaction would not suffice");
        if (ways.with_cores) {
            add(fmt::format("would fit over {}", format_count(*ways.with_cores, "core", "cores")));
        }
        if (ways.with_page) {
            add(fmt::format("would fit in pages of {}", bytes(*ways.with_page)));
        }
        if (ways.dram_address) {
            add(fmt::format("would fit in dram as it is now, interleaved, at address {}",
                            *ways.dram_address));
        }
        add_region(ways, kind, banks);
        return text_;
    }

    Text of_nothing(const std::string& why) {
        add("no proposal: " + why);
        return text_;
    }

    Text of_clash(const WaysOut& ways) {
        for (const census::BufferToShrink& buffer : ways.to_shrink) {
            add(fmt::format("would fit if the circular buffer at {:#x} ({}{}) were {} smaller",
                            buffer.address, bytes(buffer.bytes),
                            buffer.name.empty() ? "" : ", " + buffer.name, bytes(buffer.by)));
        }
        for (const FitRelease& release : ways.to_free) {
            add_release(release, fmt::format("would fit after {} {} per bank in {}:", verb(release),
                                             bytes(release.bytes), allocations(release)));
        }
        if (ways.region_size) {
            add(fmt::format("would fit with l1_small_size {}: the L1 buffers then lie higher",
                            *ways.region_size));
        }
        if (text_.empty()) {
            add("no single change suffices: take from several circular buffers, or use more cores");
        }
        return text_;
    }

private:
    std::string bytes(uint64_t count) const { return prose_bytes(count, style_.bytes); }

    static std::string allocations(const FitRelease& release) {
        return format_count(release.count, "allocation", "allocations");
    }

    // What can move need not be freed.
    static const char* verb(const FitRelease& release) {
        return release.can_move ? "freeing or moving" : "freeing";
    }

    void add(const std::string& sentence) {
        const size_t room = style_.cut ? std::max<size_t>(style_.width, 40) - 2 : SIZE_MAX;
        for (const std::string& line : wrap_words(sentence, room)) {
            text_.add("  " + line);
        }
    }

    void add_region(const WaysOut& ways, Kind kind, uint32_t banks) {
        if (ways.region_size && kind == Kind::l1_small) {
            add(fmt::format("l1_small_size {} would hold it and what is live", *ways.region_size));
        } else if (ways.region_size) {
            add(fmt::format(
                "trace_region_size {} (of all banks) would hold it and what is live; a runtime that "
                "counts it per bank needs {}",
                *ways.region_size, *ways.region_size / std::max(banks, 1u)));
        }
    }

    void add_release(const FitRelease& release, const std::string& sentence) {
        add(sentence);
        for (const census::FitBlock& block : release.blocks) {
            const std::string place = fmt::format("    {} {}, {} old, ", block.address, bytes(block.bytes),
                                                  format_age(block.age_ns));
            const std::string name = block.name.empty() ? fmt::format("buffer {}", block.owner) : block.name;
            const size_t room = std::max(style_.width, place.size() + 10) - place.size();
            text_.add(place + (style_.cut ? cut_beginning(name, room) : name));
        }
        if (release.count > release.blocks.size()) {
            text_.add(fmt::format("    ... and {} more", release.count - release.blocks.size()));
        }
    }

    const Style& style_;
    Text text_;
};

}  // namespace

Text ways_text(const WaysOut& ways, Kind kind, uint32_t banks, const Style& style) {
    return WaysScreen(style).of_request(ways, kind, banks);
}

Text fix_text(const census::FailureCard& card, const Style& style) {
    if (!card.fix) {
        return WaysScreen(style).of_nothing(card.no_fix);
    }
    Text text = card.program ? WaysScreen(style).of_clash(*card.fix)
                             : ways_text(*card.fix, card.bank.kind, card.bank.bank.banks, style);
    if (!card.is_complete) {
        text.add(Line("  (rests on part of the map: the bank had too many allocations)"));
    }
    return text;
}

}  // namespace ttmem::view
