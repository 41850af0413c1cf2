// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes history.db. One thread at a time. A write is one transaction, so a daemon that is killed leaves a file without half of it.
//
// The file is bounded by size and age. Beyond the size the user for whom most is kept loses the oldest; what belongs to nobody, such
// as the series of the driver's devices, counts as one more user.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "daemon/database/history_rows.hpp"
#include "daemon/database/sqlite.hpp"

namespace ttmem::daemon {

struct HistoryLimits {
    uint64_t bytes = uint64_t{256} << 20;  // 0: nothing is kept
    uint64_t days = 30;
};

constexpr uint64_t kLeastHistoryBytes = uint64_t{1} << 20;
constexpr uint64_t kMostHistoryBytes = uint64_t{1} << 40;  // a negative number on the command line is more
constexpr uint64_t kMostHistoryDays = 3650;

// Whether a file can have these limits.
base::Expected<void> check_history(const HistoryLimits& limits);

class HistoryDatabase {
public:
    // Checks the file, and begins a run. A damaged file is renamed, and `set_aside` gets its new name. The error has the code refused
    // for a file that is not ours to change: of a newer version, of another program, or of another daemon that runs.
    static base::Expected<std::unique_ptr<HistoryDatabase>> open(const std::filesystem::path& file,
                                                                 const HistoryLimits& limits,
                                                                 const std::string& version, TwoClocks now,
                                                                 std::string& set_aside);

    // After an error nothing of the batch is in the file. The code is refused if the file is damaged: then open() is next.
    base::Expected<void> write(const HistoryBatch& batch, TwoClocks now);

    // What an earlier daemon of this boot has read of a process.
    SeenCounts seen(const census::Identity& process);

    // Whether the deaths have this process.
    bool has_death(const census::Identity& process);

    // Of the file and its log.
    uint64_t bytes() const;
    // When the oldest run in the file began, since the epoch.
    uint64_t oldest_ns() const { return oldest_ns_; }

    // Samples that are older than a day are thinned to one per minute.
    static constexpr uint64_t kThinAfterSeconds = uint64_t{24} * 3600;

private:
    // About what a row takes in the file, with its entries in indices and without its texts.
    static constexpr int64_t kSampleBytes = 24;
    static constexpr int64_t kNamedBytes = 64;  // a series, a process
    static constexpr int64_t kMomentBytes = 80;
    static constexpr int64_t kDeathBytes = 128;

    HistoryDatabase(std::filesystem::path file, HistoryLimits limits, base::Descriptor lock);

    base::Expected<void> prepare(TwoClocks now, const std::string& version);
    base::Expected<void> problem();
    void begin_run(TwoClocks now, const std::string& version);
    void correct_clock(TwoClocks now);
    void write_samples(const HistoryBatch& batch, uint64_t second);
    void write_moment(const MomentRow& row);
    void write_death(const DeathRow& row);
    int64_t process_id(const census::Identity& process);

    // A series, by device or process, the device's ASIC id and the kind.
    using SeriesName =
        std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::optional<int64_t>, int>;
    struct LastSample {
        int64_t series = 0;
        int64_t uid = kNobody;
        std::optional<uint64_t> used;
        uint64_t second = 0;
        uint64_t write = 0;  // the number of the last write that had it
    };
    void write_sample(const SeriesName& name, int64_t uid, uint64_t used, uint64_t second);
    LastSample find_series(const SeriesName& name, int64_t uid);

    void keep_bounds(TwoClocks now);
    void remove_older_than(uint64_t epoch_ns);
    void remove_oldest_of(int64_t uid);
    void remove_before(int64_t run, std::optional<int64_t> uid, int64_t at_ns);
    void remove_unused();
    void thin(TwoClocks now);
    uint64_t bytes_used();
    int64_t user_with_most() const;
    void charge(int64_t uid, int64_t bytes);
    void save_shares();
    void forget();

    const std::filesystem::path file_;
    const HistoryLimits limits_;
    const base::Descriptor lock_;
    std::string boot_;
    SqliteConnection connection_;
    int64_t run_ = 0;
    TwoClocks began_;  // the run
    uint64_t oldest_ns_ = 0;
    uint64_t writes_ = 0;
    std::optional<uint64_t> bounded_ns_;  // when the bounds were last looked after, since boot
    // Of the file; read again after an error.
    std::map<SeriesName, LastSample> series_;
    std::map<std::pair<uint32_t, uint64_t>, int64_t> processes_;
    std::map<int64_t, int64_t> shares_;
};

}  // namespace ttmem::daemon
