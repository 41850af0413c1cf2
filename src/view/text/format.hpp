// SPDX-License-Identifier: Apache-2.0
#pragma once

// Figures as text, the same on the command line and in the dashboard.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace ttmem::view {

// "14.1 MiB"; with `exact` the plain number.
std::string format_bytes(uint64_t bytes, bool exact = false);
std::string format_signed_bytes(int64_t bytes, bool exact = false);

// The same in sentences, where the plain number has its unit: "14753792 B".
std::string prose_bytes(uint64_t bytes, bool exact);
std::string prose_signed_bytes(int64_t bytes, bool exact);

// "350ms", "12s", "3m20s", "5h07m", "12d03h".
std::string format_age(uint64_t ns);

// "45%", rounded down, so that only a full whole is 100%. "<1%" if above 0; "-" if the whole is unknown.
std::string format_percent(uint64_t part, std::optional<uint64_t> whole);

// "[####....]"; full only if the whole is, empty only if the part is 0, "[-.......]" if it is less than one cell. No text if the
// whole is unknown.
std::string format_bar(uint64_t part, std::optional<uint64_t> whole, size_t width);

// "0-3,7"; "-" for none. The numbers are ascending.
std::string format_ids(const std::vector<uint32_t>& ids);

// The text in a cell of a Markdown table.
std::string escape_cell(const std::string& text);

// "device 3", "devices 0-3".
std::string format_devices(const std::vector<uint32_t>& ids);

// "1 device", "8 devices".
using base::format_count;

// The number of terminal columns of a text.
size_t display_width(std::string_view text);

// The text in lines of at most `width` columns where its words allow it. Further lines are indented.
std::vector<std::string> wrap_words(std::string_view text, size_t width);

// The text, cut to `width` columns. "..." replaces the part that is cut off, at the end or at the beginning.
std::string cut_end(std::string_view text, size_t width);
std::string cut_beginning(std::string_view text, size_t width);

}  // namespace ttmem::view
