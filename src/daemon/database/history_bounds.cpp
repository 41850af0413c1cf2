// SPDX-License-Identifier: Apache-2.0

// How history.db stays within its size and age.

#include <algorithm>
#include <limits>

#include "base/time.hpp"
#include "daemon/database/history_database.hpp"

namespace ttmem::daemon {

namespace {

constexpr uint64_t kBoundsIntervalNs = 600 * base::kNsPerSecond;
constexpr int64_t kSecondNs = base::kNsPerSecond;
// What a user loses at once: a part of a run.
constexpr int64_t kShortestStepNs = 10 * kSecondNs;
constexpr int64_t kLongestStepNs = 3600 * kSecondNs;
constexpr int64_t kStepsPerRun = 16;
constexpr int kMostSteps = 64;          // per write
constexpr int64_t kThinSeconds = 3600;  // per round

}  // namespace

void HistoryDatabase::charge(int64_t uid, int64_t bytes) {
    int64_t& share = shares_[uid];
    share = std::max<int64_t>(share + bytes, 0);
}

void HistoryDatabase::save_shares() {
    for (auto share = shares_.begin(); share != shares_.end();) {
        connection_.execute("INSERT OR REPLACE INTO shares (uid, bytes) VALUES (?, ?)", share->first,
                            share->second);
        share = share->second == 0 ? shares_.erase(share) : std::next(share);
    }
    connection_.execute("DELETE FROM shares WHERE bytes = 0");
}

int64_t HistoryDatabase::user_with_most() const {
    const auto most = std::max_element(shares_.begin(), shares_.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == shares_.end() ? kNobody : most->first;
}

uint64_t HistoryDatabase::bytes_used() {
    const int64_t pages =
        connection_.value_of("PRAGMA page_count") - connection_.value_of("PRAGMA freelist_count");
    return static_cast<uint64_t>(std::max<int64_t>(pages, 0) * connection_.value_of("PRAGMA page_size"));
}

// A little is removed at each write, so that no write takes long.
void HistoryDatabase::keep_bounds(TwoClocks now) {
    const bool is_too_large = bytes_used() > limits_.bytes;
    if (!is_too_large && bounded_ns_ && now.boot_ns - *bounded_ns_ < kBoundsIntervalNs) {
        return;
    }
    bounded_ns_ = now.boot_ns;
    const uint64_t age_ns = limits_.days * 24 * 3600 * base::kNsPerSecond;
    remove_older_than(now.epoch_ns - std::min(now.epoch_ns, age_ns));
    thin(now);
    for (int step = 0; is_too_large && step < kMostSteps && !connection_.has_problem() &&
                       bytes_used() > limits_.bytes / 20 * 19;
         ++step) {
        remove_oldest_of(user_with_most());
    }
    remove_unused();
    if (static_cast<uint64_t>(connection_.value_of("PRAGMA page_count") *
                              connection_.value_of("PRAGMA page_size")) > limits_.bytes) {
        connection_.run("PRAGMA incremental_vacuum(4096)");
    }
    oldest_ns_ = static_cast<uint64_t>(connection_.value_of("SELECT began_ns FROM runs ORDER BY id LIMIT 1"));
}

void HistoryDatabase::remove_older_than(uint64_t epoch_ns) {
    std::vector<std::pair<int64_t, int64_t>> runs;
    connection_.for_each(
        [&](const SqliteRows& row) {
            runs.emplace_back(row.signed_number(0), static_cast<int64_t>(epoch_ns) - row.signed_number(1));
        },
        "SELECT id, began_ns FROM runs WHERE began_ns < ?", epoch_ns);
    for (const auto& [run, at_ns] : runs) {
        remove_before(run, std::nullopt, at_ns);
    }
}

// Removes an hour of the oldest that is kept for a user.
void HistoryDatabase::remove_oldest_of(int64_t uid) {
    std::vector<std::pair<int64_t, int64_t>> runs;
    connection_.for_each(
        [&](const SqliteRows& row) { runs.emplace_back(row.signed_number(0), row.signed_number(1)); },
        "SELECT id, length_ns FROM runs ORDER BY id");
    for (const auto& [run, length_ns] : runs) {
        std::optional<int64_t> oldest;
        const auto take = [&](const SqliteRows& row) {
            if (!row.is_null(0)) {
                oldest = std::min(oldest.value_or(std::numeric_limits<int64_t>::max()), row.signed_number(0));
            }
        };
        connection_.for_each(take, "SELECT min(at_ns) FROM moments WHERE run = ? AND uid = ?", run, uid);
        connection_.for_each(take, "SELECT min(at_ns) FROM deaths WHERE run = ? AND uid = ?", run, uid);
        connection_.for_each(
            take,
            "SELECT min((SELECT min(second) FROM samples WHERE series = series.id)) * 1000000000 "
            "FROM series WHERE run = ? AND uid = ?",
            run, uid);
        if (oldest) {
            const int64_t step = (length_ns - std::min(length_ns, *oldest)) / kStepsPerRun;
            remove_before(run, uid, *oldest + std::clamp(step, kShortestStepNs, kLongestStepNs));
            return;
        }
    }
    shares_.erase(uid);  // an estimate without rows
    connection_.execute("DELETE FROM shares WHERE uid = ?", uid);
}

void HistoryDatabase::remove_before(int64_t run, std::optional<int64_t> uid, int64_t at_ns) {
    std::vector<std::pair<int64_t, int64_t>> series;
    connection_.for_each(
        [&](const SqliteRows& row) { series.emplace_back(row.signed_number(0), row.signed_number(1)); },
        "SELECT id, uid FROM series WHERE run = ?1 AND (?2 IS NULL OR uid = ?2)", run, uid);
    for (const auto& [id, owner] : series) {
        const auto removed = static_cast<int64_t>(connection_.execute(
            "DELETE FROM samples WHERE series = ? AND second * 1000000000 < ?", id, at_ns));
        charge(owner, -removed * kSampleBytes);
    }
    const auto give_back = [&](const SqliteRows& row) {
        charge(row.signed_number(0), -row.signed_number(1));
    };
    connection_.for_each(give_back,
                         "SELECT uid, sum(?4 + length(name)) FROM moments "
                         "WHERE run = ?1 AND at_ns < ?2 AND (?3 IS NULL OR uid = ?3) GROUP BY uid",
                         run, at_ns, uid, kMomentBytes);
    connection_.execute("DELETE FROM moments WHERE run = ?1 AND at_ns < ?2 AND (?3 IS NULL OR uid = ?3)", run,
                        at_ns, uid);
    connection_.for_each(give_back,
                         "SELECT uid, sum(?4 + length(document) + length(devices)) FROM deaths "
                         "WHERE run = ?1 AND at_ns < ?2 AND (?3 IS NULL OR uid = ?3) GROUP BY uid",
                         run, at_ns, uid, kDeathBytes);
    connection_.execute("DELETE FROM deaths WHERE run = ?1 AND at_ns < ?2 AND (?3 IS NULL OR uid = ?3)", run,
                        at_ns, uid);
}

// Series without samples, processes that nothing names, and runs of which nothing is left.
void HistoryDatabase::remove_unused() {
    std::vector<std::pair<int64_t, int64_t>> series;
    connection_.for_each(
        [&](const SqliteRows& row) { series.emplace_back(row.signed_number(0), row.signed_number(1)); },
        "SELECT id, uid FROM series WHERE NOT EXISTS (SELECT 1 FROM samples WHERE series = series.id)");
    for (const auto& [id, uid] : series) {
        connection_.execute("DELETE FROM series WHERE id = ?", id);
        charge(uid, -kNamedBytes);
        std::erase_if(series_, [removed = id](const auto& each) { return each.second.series == removed; });
    }
    std::vector<std::pair<int64_t, int64_t>> processes;
    connection_.for_each(
        [&](const SqliteRows& row) { processes.emplace_back(row.signed_number(0), row.signed_number(1)); },
        "SELECT id, uid FROM processes WHERE NOT EXISTS (SELECT 1 FROM series WHERE process = processes.id) "
        "AND NOT EXISTS (SELECT 1 FROM deaths WHERE process = processes.id) "
        "AND id NOT IN (SELECT process FROM moments)");
    for (const auto& [id, uid] : processes) {
        connection_.execute("DELETE FROM processes WHERE id = ?", id);
        charge(uid, -kNamedBytes);
        std::erase_if(processes_, [removed = id](const auto& each) { return each.second == removed; });
    }
    connection_.execute(
        "DELETE FROM runs WHERE id <> ? AND NOT EXISTS (SELECT 1 FROM series WHERE run = runs.id) "
        "AND NOT EXISTS (SELECT 1 FROM moments WHERE run = runs.id) "
        "AND NOT EXISTS (SELECT 1 FROM deaths WHERE run = runs.id)",
        run_);
}

void HistoryDatabase::thin(TwoClocks now) {
    struct Part {
        int64_t run = 0;
        int64_t from = 0;
        int64_t to = 0;
    };
    std::vector<Part> parts;
    connection_.for_each(
        [&](const SqliteRows& row) {
            const int64_t old = (static_cast<int64_t>(now.epoch_ns) - row.signed_number(1)) / kSecondNs -
                                static_cast<int64_t>(kThinAfterSeconds);
            const int64_t end = std::min(old, row.signed_number(2) / kSecondNs + 60) / 60 * 60;
            const int64_t from = row.signed_number(3);
            if (end > from) {
                parts.push_back({row.signed_number(0), from, std::min(end, from + kThinSeconds)});
            }
        },
        "SELECT id, began_ns, length_ns, thinned FROM runs");
    for (const Part& part : parts) {
        std::vector<std::pair<int64_t, int64_t>> series;
        connection_.for_each(
            [&](const SqliteRows& row) { series.emplace_back(row.signed_number(0), row.signed_number(1)); },
            "SELECT id, uid FROM series WHERE run = ?", part.run);
        for (const auto& [id, uid] : series) {
            const auto removed = static_cast<int64_t>(connection_.execute(
                "DELETE FROM samples WHERE series = ?1 AND second >= ?2 AND second < ?3 AND second NOT IN "
                "(SELECT highest FROM (SELECT second AS highest, max(used) FROM samples "
                "WHERE series = ?1 AND second >= ?2 AND second < ?3 GROUP BY second / 60))",
                id, part.from, part.to));
            charge(uid, -removed * kSampleBytes);
        }
        connection_.execute("UPDATE runs SET thinned = ? WHERE id = ?", part.to, part.run);
    }
}

}  // namespace ttmem::daemon
