// SPDX-License-Identifier: Apache-2.0
#pragma once

// How figures look, on every face the same.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ttmem::view {

// "14.1 MiB"; with `exact` the plain number.
std::string format_bytes(uint64_t bytes, bool exact = false);
std::string format_signed_bytes(int64_t bytes, bool exact = false);

// "12s", "3m20s", "5h07m", "12d03h".
std::string format_age(uint64_t ns);

// "45%", rounded down, so that only what is full is 100%; "<1%" for what is not 0; "-" where the whole is not known.
std::string format_percent(uint64_t part, std::optional<uint64_t> whole);

// "[####....]"; never full before it is, never empty while something is there. Blank where the whole is not known.
std::string format_bar(uint64_t part, std::optional<uint64_t> whole, size_t width);

// "0-3,7"; "-" for none. The numbers rise.
std::string format_ids(const std::vector<uint32_t>& ids);

// "1 device", "8 devices".
std::string format_count(uint64_t count, std::string_view one, std::string_view many);

// How many columns a text takes on a terminal.
size_t display_width(std::string_view text);

// The text, cut to so many columns; what is missing, at the end or at the beginning, is shown as "...".
std::string cut_end(std::string_view text, size_t width);
std::string cut_beginning(std::string_view text, size_t width);

}  // namespace ttmem::view
