// SPDX-License-Identifier: Apache-2.0
#pragma once

// Recordings in one file, or in two that take turns: when FILE has half of the limit, it becomes FILE.1, in place of the one before,
// and a new FILE begins.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "recording/recording_target.hpp"

namespace ttmem::recording {

struct FileSettings {
    std::string path;
    bool replaces = false;   // an existing file; else that is an error
    uint64_t max_bytes = 0;  // of both files; 0: no limit
};

constexpr uint64_t kLeastMaxBytes = uint64_t{1} << 20;

// The part of a recording that was the file `path` before.
std::string earlier_part_of(const std::string& path);

// A new file that only this user may read, and that grows by whole pieces.
class AppendedFile {
public:
    static base::Expected<AppendedFile> create(const std::string& path);

    // All of it or nothing. If even the cut fails, the checksum of the block says so.
    base::Expected<void> append(std::string_view bytes);

    uint64_t size() const { return size_; }
    const std::string& path() const { return path_; }

private:
    AppendedFile(std::string path, base::Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

    std::string path_;
    base::Descriptor file_;
    uint64_t size_ = 0;
};

class FilePair : public RecordingTarget {
public:
    // Nothing is changed before the first part begins. An error: FILE exists, or FILE.1 where there is a limit, or the limit is too small.
    static base::Expected<std::unique_ptr<FilePair>> create(FileSettings settings);

    base::Expected<void> begin_part(std::string_view header) override;
    base::Expected<void> append(std::string_view block) override { return file_->append(block); }
    bool is_full() const override {
        return settings_.max_bytes != 0 && file_->size() >= settings_.max_bytes / 2;
    }

private:
    explicit FilePair(FileSettings settings) : settings_(std::move(settings)) {}

    FileSettings settings_;
    std::unique_ptr<AppendedFile> file_;  // null before the first part
};

}  // namespace ttmem::recording
