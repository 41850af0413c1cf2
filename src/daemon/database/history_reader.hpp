// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads history.db while it is written. One thread at a time; each reader has a connection of its own.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "census/kind.hpp"
#include "daemon/database/history_rows.hpp"
#include "daemon/database/sqlite.hpp"
#include "history/series.hpp"
#include "view/model/past.hpp"

namespace ttmem::daemon {

// Times that an answer is about, since the epoch.
struct PastPeriod {
    uint64_t from_ns = 0;
    uint64_t to_ns = UINT64_MAX;
};

class HistoryReader {
public:
    explicit HistoryReader(const std::string& file) : connection_(file, SqliteConnection::Access::read) {}

    // One daemon's time. Runs follow each other also where the wall clock was set back between them.
    struct Run {
        int64_t id = 0;
        uint64_t began_ns = 0;
        uint64_t length_ns = 0;

        uint64_t ended_ns() const { return began_ns + length_ns; }
    };
    std::vector<Run> runs(uint64_t now_ns);  // the oldest first

    struct DeviceSeries {
        uint32_t device = 0;
        std::optional<uint64_t> asic_id;
        census::Kind kind = census::Kind::dram;

        auto operator<=>(const DeviceSeries&) const = default;
    };
    std::vector<DeviceSeries> device_series();
    std::vector<history::Sample> samples_of(const DeviceSeries& series, const std::vector<Run>& runs,
                                            const PastPeriod& period);

    // The processes that had a pid, the last first.
    struct PastProcess {
        int64_t id = 0;
        uint32_t pid = 0;
        uint64_t start_time_ns = 0;
        uint32_t uid = 0;
        std::string user;
        std::string comm;
    };
    std::vector<PastProcess> processes(uint32_t pid, uint64_t limit);
    std::vector<history::Sample> samples_of(const PastProcess& process, census::Kind kind,
                                            const std::vector<Run>& runs, const PastPeriod& period);

    // The last `limit` failures, marks and deaths of the period, the oldest first.
    struct Moments {
        std::vector<view::PastMoment> moments;
        uint64_t left_out = 0;
        uint64_t hidden = 0;
    };
    Moments moments(const std::vector<Run>& runs, const PastPeriod& period, uint64_t limit,
                    const std::function<bool(uint32_t uid)>& may_see);

    // A death without its document, and with it. The last first.
    struct Death {
        int64_t id = 0;
        uint64_t died_ns = 0;
        uint32_t pid = 0;
        uint64_t start_time = 0;  // clock ticks since boot
        uint64_t start_time_ns = 0;
        uint32_t uid = 0;
        std::string user;
        census::Ending ending = census::Ending::not_known;
        std::optional<int> code;
        std::vector<uint32_t> devices;
        bool is_of_this_run = false;
    };
    std::vector<Death> deaths(const std::vector<Run>& runs, std::optional<uint32_t> pid);
    std::string document(const Death& death);

    const SqliteConnection& connection() const { return connection_; }

private:
    void add_samples(std::vector<history::Sample>& samples, int64_t series, const Run& run,
                     const PastPeriod& period);

    SqliteConnection connection_;
};

}  // namespace ttmem::daemon
