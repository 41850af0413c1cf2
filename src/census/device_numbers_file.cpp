// SPDX-License-Identifier: Apache-2.0
#include "census/device_numbers_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <set>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/descriptor.hpp"

namespace ttmem::census {

namespace {

using KeyType = DeviceKey::KeyType;

constexpr std::string_view kFirstLine = "ttmem device numbers 1";
constexpr mode_t kMode = 0644;
// More than the shares of a hundred users and the largest driver.
constexpr size_t kMostBytes = size_t{2} << 20;

// Cuts the next word off `line`, at one space.
std::string_view next_word(std::string_view& line) {
    const size_t end = line.find(' ');
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
    return word;
}

template <class Number>
std::optional<Number> parse(std::string_view word, int base = 10) {
    Number number = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number, base);
    const bool is_whole = !word.empty() && problem == std::errc() && end == word.data() + word.size();
    return is_whole ? std::optional(number) : std::nullopt;
}

std::optional<DeviceKey> parse_key(std::string_view type, std::string_view value) {
    if (type == "asic" && value.starts_with("0x")) {
        const auto asic_id = parse<uint64_t>(value.substr(2), 16);
        return asic_id ? std::optional(asic_key(*asic_id)) : std::nullopt;
    }
    const auto number = type == "unnamed" ? parse<uint32_t>(value) : std::nullopt;
    return number ? std::optional(unnamed_key(*number)) : std::nullopt;
}

std::optional<DeviceNumber> parse_line(std::string_view line) {
    const auto id = parse<uint32_t>(next_word(line));
    const std::string_view type = next_word(line);
    const auto key = parse_key(type, next_word(line));
    if (!id || !key) {
        return std::nullopt;
    }
    if (line == "driver") {
        return DeviceNumber{*key, *id, std::nullopt};
    }
    const bool is_of_user = next_word(line) == "user";
    const auto uid = is_of_user ? parse<uint32_t>(line) : std::nullopt;
    return uid ? std::optional(DeviceNumber{*key, *id, uid}) : std::nullopt;
}

std::string hexadecimal(uint64_t value) {
    char text[24] = {};
    snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

std::optional<std::string> read_all(int file, size_t most) {
    std::string text(most + 1, '\0');
    size_t got = 0;
    while (got < text.size()) {
        const ssize_t more = read(file, text.data() + got, text.size() - got);
        if (more < 0 && errno == EINTR) {
            continue;
        }
        if (more < 0) {
            return std::nullopt;
        }
        if (more == 0) {
            break;
        }
        got += static_cast<size_t>(more);
    }
    text.resize(got);
    return got > most ? std::nullopt : std::optional(std::move(text));
}

}  // namespace

std::string device_numbers_text(const std::vector<DeviceNumber>& numbers) {
    std::string text(kFirstLine);
    text += '\n';
    for (const DeviceNumber& number : numbers) {
        text += std::to_string(number.id);
        text += number.key.type == KeyType::asic_id ? " asic " + hexadecimal(number.key.value)
                                                    : " unnamed " + std::to_string(number.key.value);
        text += number.charged_to ? " user " + std::to_string(*number.charged_to) : " driver";
        text += '\n';
    }
    return text;
}

base::Expected<std::vector<DeviceNumber>> parse_device_numbers(std::string_view text) {
    std::vector<DeviceNumber> numbers;
    std::set<uint32_t> ids;
    std::set<DeviceKey> keys;
    for (size_t line = 1; !text.empty(); ++line) {
        const size_t end = text.find('\n');
        const auto number =
            line == 1 || end == std::string_view::npos ? std::nullopt : parse_line(text.substr(0, end));
        const bool is_first = line == 1 && end != std::string_view::npos && text.substr(0, end) == kFirstLine;
        if (!is_first && (!number || !ids.insert(number->id).second || !keys.insert(number->key).second)) {
            return base::error(base::Error::Code::refused, "line " + std::to_string(line) + " is not valid");
        }
        if (number) {
            numbers.push_back(*number);
        }
        text.remove_prefix(end + 1);
    }
    return numbers;
}

bool write_device_numbers(const std::filesystem::path& directory, const std::vector<DeviceNumber>& numbers) {
    return base::write_file_atomically((directory / kDeviceNumbersFile).string(),
                                       device_numbers_text(numbers), kMode);
}

base::Expected<std::vector<DeviceNumber>> read_device_numbers(const std::filesystem::path& directory) {
    using base::Error;
    const auto fail = [&](Error::Code code, const std::string& why) {
        return base::error(code, (directory / kDeviceNumbersFile).string() + ": " + why);
    };
    const auto fail_to_open = [&] {
        return fail(errno == ENOENT ? Error::Code::gone : Error::Code::failed, std::strerror(errno));
    };
    const base::Descriptor folder(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder) {
        return fail_to_open();
    }
    const base::Descriptor file(
        openat(folder.get(), kDeviceNumbersFile, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file) {
        return fail_to_open();
    }
    struct stat of_folder {};
    struct stat of_file {};
    if (fstat(folder.get(), &of_folder) != 0 || fstat(file.get(), &of_file) != 0) {
        return fail(Error::Code::failed, std::strerror(errno));
    }
    if (!S_ISREG(of_file.st_mode) || of_file.st_uid != of_folder.st_uid ||
        (of_file.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return fail(Error::Code::refused, "others than the owner of its directory may have written it");
    }
    const auto text = read_all(file.get(), kMostBytes);
    if (!text) {
        return fail(Error::Code::refused, "can't be read, or is too large");
    }
    auto numbers = parse_device_numbers(*text);
    if (!numbers) {
        return fail(Error::Code::refused, numbers.error().text);
    }
    return numbers;
}

}  // namespace ttmem::census
