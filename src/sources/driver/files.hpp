// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reading small values out of a kernel's tree of files. What is not there, does not answer or makes no sense is absent:
// devices are reset and taken away while somebody looks.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"

namespace ttmem::sources::driver {

// A folder held open: whatever is read through it is of the device that was there when it was opened.
class Folder {
public:
    static std::optional<Folder> open(const std::string& path);
    std::optional<Folder> below(const std::string& name) const;  // links are followed

    // The whole text of a file, if that is a plain one and holds at most `limit` bytes.
    std::optional<std::string> read(const std::string& name, size_t limit) const;

    static constexpr size_t kMostNames = 4096;
    std::vector<std::string> names(
        size_t most = kMostNames) const;  // in order; of more than `most` only some

    std::string own_name() const;  // the last part of where it really is; "" where nobody says
    bool is_same(const Folder& other) const;

private:
    explicit Folder(base::Descriptor folder) : folder_(std::move(folder)) {}

    base::Descriptor folder_;
};

// The text must be the number and nothing else.
template <class Number>
std::optional<Number> parse_number(std::string_view text, Number least = std::numeric_limits<Number>::min(),
                                   Number most = std::numeric_limits<Number>::max()) {
    Number value{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_whole = problem == std::errc() && end == text.data() + text.size();
    return is_whole && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

// With "0x" before it or without.
std::optional<uint64_t> parse_hex(std::string_view text);

// The one line that a file holds, without its end; absent where it is empty.
std::optional<std::string> read_line(const Folder& folder, const std::string& name);

template <class Number>
std::optional<Number> read_number(const Folder& folder, const std::string& name,
                                  Number least = std::numeric_limits<Number>::min(),
                                  Number most = std::numeric_limits<Number>::max()) {
    const auto line = read_line(folder, name);
    return line ? parse_number<Number>(*line, least, most) : std::nullopt;
}

std::optional<uint64_t> read_hex(const Folder& folder, const std::string& name);

// A name or a version: letters, digits and what joins them, and not long.
std::optional<std::string> read_word(const Folder& folder, const std::string& name);

}  // namespace ttmem::sources::driver
