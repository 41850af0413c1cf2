// SPDX-License-Identifier: Apache-2.0
#pragma once

// The folder of a flight recorder: files that take turns, each with a part of a recording, and all together at most as large and as
// old as permitted. Each file can be read alone. Files of earlier recordings in the folder count too.

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "recording/recording_file.hpp"

namespace ttmem::recording {

struct FlightLimits {
    uint64_t hours = 24;
    uint64_t bytes = uint64_t{1} << 30;
};

constexpr uint64_t kLeastFlightBytes = uint64_t{16} << 20;

struct FlightUse {
    uint64_t files = 0;
    uint64_t bytes = 0;
};

class FlightFolder : public RecordingTarget {
public:
    // Makes the folder, for this user alone. An error: it is somebody else's, or others may read it.
    static base::Expected<std::unique_ptr<FlightFolder>> open(const std::filesystem::path& folder,
                                                              FlightLimits limits);

    base::Expected<void> begin_part(std::string_view header) override;
    base::Expected<void> append(std::string_view block) override;
    bool is_full() const override;

    FlightUse use() const;

private:
    struct KeptFile {
        std::filesystem::path path;
        uint64_t bytes = 0;
        uint64_t last_write_ns = 0;  // since the epoch
    };

    FlightFolder(std::filesystem::path folder, FlightLimits limits)
        : folder_(std::move(folder)), limits_(limits) {}

    void find_files();
    void drop_oldest();
    // Drops files until this many further bytes fit.
    void make_room(uint64_t bytes);
    uint64_t kept_bytes() const;

    const std::filesystem::path folder_;
    const FlightLimits limits_;
    std::deque<KeptFile> kept_;           // the oldest first, without the one that is being written
    std::unique_ptr<AppendedFile> file_;  // null before the first part
    uint64_t part_began_ns_ = 0;          // monotonic
};

// The files of a folder in the order of time. Empty if it has none, or cannot be read.
std::vector<std::filesystem::path> flight_files(const std::filesystem::path& folder);

}  // namespace ttmem::recording
