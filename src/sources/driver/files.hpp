// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads small values from the kernel's file trees. A value that is missing, unreadable or implausible is absent:
// devices are reset and removed during a read.

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

// A folder that is held open. All reads refer to the device that existed when the folder was opened.
class Folder {
public:
    static std::optional<Folder> open(const std::string& path);
    std::optional<Folder> below(const std::string& name) const;  // follows links

    // The whole text of a file, if it is a regular file of at most `limit` bytes.
    std::optional<std::string> read(const std::string& name, size_t limit) const;

    static constexpr size_t kMostNames = 4096;
    // Sorted. If there are more than `most` entries, only some are returned.
    std::vector<std::string> names(size_t most = kMostNames) const;

    // The last component of the resolved path, or "" if the kernel does not report it.
    std::string own_name() const;
    bool is_same(const Folder& other) const;

private:
    explicit Folder(base::Descriptor folder) : folder_(std::move(folder)) {}

    base::Descriptor folder_;
};

// The text must be exactly one number.
template <class Number>
std::optional<Number> parse_number(std::string_view text, Number least = std::numeric_limits<Number>::min(),
                                   Number most = std::numeric_limits<Number>::max()) {
    Number value{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_whole = problem == std::errc() && end == text.data() + text.size();
    return is_whole && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

// Accepts an optional "0x" prefix.
std::optional<uint64_t> parse_hex(std::string_view text);

// The single line in a file, without its end; absent if empty.
std::optional<std::string> read_line(const Folder& folder, const std::string& name);

template <class Number>
std::optional<Number> read_number(const Folder& folder, const std::string& name,
                                  Number least = std::numeric_limits<Number>::min(),
                                  Number most = std::numeric_limits<Number>::max()) {
    const auto line = read_line(folder, name);
    return line ? parse_number<Number>(*line, least, most) : std::nullopt;
}

std::optional<uint64_t> read_hex(const Folder& folder, const std::string& name);

// A name or a version: a short text of letters, digits and separators.
std::optional<std::string> read_word(const Folder& folder, const std::string& name);

}  // namespace ttmem::sources::driver
