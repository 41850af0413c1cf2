// SPDX-License-Identifier: Apache-2.0
#include "exports/model.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <tuple>

#include "base/time.hpp"

namespace ttmem::exports {

using census::Kind;

std::string ExportedDevice::title() const {
    return "device " + std::to_string(id) + (board.empty() ? "" : " (" + board + ")");
}

std::string ExportedFailure::text() const {
    std::string text(name_of(figures.type));
    std::replace(text.begin(), text.end(), '_', ' ');
    const auto add = [&](const char* before, const std::optional<uint64_t>& value, const char* after) {
        if (value) {
            text += before + std::to_string(*value) + after;
        }
    };
    if (figures.kind) {
        text += ": " + std::string(name_of(*figures.kind));
    }
    add(", ", figures.requested, " bytes requested");
    if (figures.verdict != census::FailureVerdict::unknown) {
        text += ", " + std::string(name_of(figures.verdict));
    }
    add(", ", figures.needed, " bytes per bank needed");
    add(", ", figures.free, " bytes per bank free");
    add(", largest free block ", figures.largest_free, " bytes");
    add(", circular buffers end at ", figures.cb_end, "");
    add(", lowest L1 buffer at ", figures.lowest_buffer, "");
    add(", L1 ends at ", figures.l1_end, "");
    add(", address ", figures.address, "");
    return figures.name.empty() ? text : text + ", in " + figures.name;
}

uint64_t ExportModel::per_bank(const AllocationSpan& span, uint32_t device) const {
    const size_t kind = census::index_of(span.kind);
    return kind < census::kPoolKinds
               ? census::in_one_bank(span.allocation.reserved, devices[device].banks[kind])
               : span.allocation.reserved;
}

std::optional<uint64_t> ExportModel::address_of(const AllocationSpan& span) const {
    return span.kind == Kind::kernel ? std::nullopt : std::optional(span.allocation.address);
}

std::vector<SpanChange> changes_of(const ExportModel& model) {
    std::vector<SpanChange> changes;
    changes.reserve(model.spans.size() * 2);
    for (uint32_t i = 0; i < model.spans.size(); ++i) {
        const AllocationSpan& span = model.spans[i];
        changes.push_back({model.clamp(span.begin_ns), i, false});
        if (span.end_ns) {
            changes.push_back({model.clamp(*span.end_ns), i, true});
        }
    }
    // Ends come first, but for an allocation that began at the same time.
    const auto key = [&](const SpanChange& change) {
        const bool is_short =
            change.is_end && model.clamp(model.spans[change.span].begin_ns) == change.time_ns;
        return std::tuple(change.time_ns, is_short ? 2 : change.is_end ? 0 : 1, change.span);
    };
    std::sort(changes.begin(), changes.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    return changes;
}

std::string utc_text(uint64_t epoch_ns) {
    const auto seconds = static_cast<time_t>(epoch_ns / base::kNsPerSecond);
    tm date{};
    gmtime_r(&seconds, &date);
    std::array<char, 24> second{};
    strftime(second.data(), second.size(), "%Y-%m-%dT%H:%M:%S", &date);
    std::array<char, 16> fraction{};
    std::snprintf(fraction.data(), fraction.size(), ".%09uZ",
                  static_cast<unsigned>(epoch_ns % base::kNsPerSecond));
    return std::string(second.data()) + fraction.data();
}

std::vector<std::string> scopes_of(const std::string& name) {
    std::vector<std::string> scopes;
    for (size_t begin = 0; begin <= name.size() && !name.empty();) {
        const size_t end = std::min(name.find('/', begin), name.size());
        if (end > begin) {
            scopes.push_back(name.substr(begin, end - begin));
        }
        begin = end + 1;
    }
    if (scopes.empty()) {
        scopes.emplace_back("(no name)");
    }
    return scopes;
}

}  // namespace ttmem::exports
