// SPDX-License-Identifier: Apache-2.0
#include "cli/named_marks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/atomic_file.hpp"
#include "cli/mark.hpp"
#include "view/json/json.hpp"

namespace ttmem::cli {

using base::Error;

namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestName = 64;
constexpr size_t kTimeDigits = 20;

// "00001763486723000000000.step1": the time comes first, so that files sort by it.
struct MarkFile {
    std::string path;
    std::string name;
};

base::Expected<std::string> marks_folder() {
    auto path = mark_path();
    return path ? base::Expected<std::string>(*path + "s") : path;
}

std::vector<MarkFile> list_mark_files() {
    std::vector<MarkFile> files;
    const auto folder = marks_folder();
    std::error_code ignored;
    if (!folder) {
        return files;
    }
    for (const auto& entry : fs::directory_iterator(*folder, ignored)) {
        const std::string file = entry.path().filename();
        if (file.size() > kTimeDigits + 1 && file[kTimeDigits] == '.') {
            files.push_back({entry.path(), file.substr(kTimeDigits + 1)});
        }
    }
    std::sort(files.begin(), files.end(),
              [](const MarkFile& a, const MarkFile& b) { return a.path < b.path; });
    return files;
}

base::Expected<view::InventoryView> read_mark_file(const MarkFile& mark) {
    std::ifstream file(mark.path);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    auto view = view::from_json<view::InventoryView>(text);
    if (!view) {
        return base::error(Error::Code::failed,
                           fmt::format("can't read the mark {} ({}): {}; remove the file", mark.name,
                                       mark.path, view.error().text));
    }
    return view;
}

}  // namespace

std::string check_mark_name(const std::string& name) {
    const auto is_good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
               c == '_' || c == '.';
    };
    return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), is_good)
               ? ""
               : fmt::format("'{}': must be 1 to {} letters, digits, '-', '_' or '.'", name, kLongestName);
}

base::Expected<void> keep_mark(const std::string& name, const view::InventoryView& contents) {
    const auto folder = marks_folder();
    if (!folder) {
        return tl::unexpected(folder.error());
    }
    const std::string path = fmt::format("{}/{:0{}}.{}", *folder, contents.origin.time_ns, kTimeDigits, name);
    if (!base::write_file_atomically(path, view::to_json(contents), 0600)) {
        return base::error(Error::Code::failed, "can't write the mark " + path);
    }
    const std::vector<MarkFile> files = list_mark_files();
    std::error_code ignored;
    for (size_t i = 0; i + kMostNamedMarks < files.size(); ++i) {
        fs::remove(files[i].path, ignored);
    }
    return {};
}

std::vector<std::string> mark_names() {
    std::vector<std::string> names;
    for (const MarkFile& file : list_mark_files()) {
        if (std::find(names.begin(), names.end(), file.name) == names.end()) {
            names.push_back(file.name);
        }
    }
    return names;
}

base::Expected<view::InventoryView> read_named_mark(const std::string& name) {
    const std::vector<MarkFile> files = list_mark_files();
    const auto found =
        std::find_if(files.rbegin(), files.rend(), [&](const MarkFile& file) { return file.name == name; });
    if (found != files.rend()) {
        return read_mark_file(*found);
    }
    const std::vector<std::string> names = mark_names();
    return base::error(
        Error::Code::gone,
        names.empty() ? fmt::format("there is no mark '{0}' (set one with 'ttmem mark {0}')", name)
                      : fmt::format("there is no mark '{}' (there are: {})", name, fmt::join(names, ", ")));
}

base::Expected<std::vector<view::InventoryView>> read_named_marks(const std::string& name) {
    std::vector<view::InventoryView> marks;
    for (const MarkFile& file : list_mark_files()) {
        if (name.empty() || file.name == name) {
            auto mark = read_mark_file(file);
            if (!mark) {
                return tl::unexpected(mark.error());
            }
            marks.push_back(std::move(*mark));
        }
    }
    return marks;
}

}  // namespace ttmem::cli
