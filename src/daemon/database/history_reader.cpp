// SPDX-License-Identifier: Apache-2.0
#include "daemon/database/history_reader.hpp"

#include <algorithm>
#include <charconv>

#include "base/time.hpp"

namespace ttmem::daemon {

namespace {

// When something of a run happened, since the epoch. Nothing happens after now.
uint64_t time_in(const HistoryReader::Run& run, int64_t at_ns) {
    const auto time = static_cast<int64_t>(run.began_ns) + at_ns;
    return static_cast<uint64_t>(std::max<int64_t>(time, 0));
}

// A time of a period, in a run.
int64_t place_in(const HistoryReader::Run& run, uint64_t time_ns) {
    return static_cast<int64_t>(std::min<uint64_t>(time_ns, INT64_MAX)) - static_cast<int64_t>(run.began_ns);
}

bool overlaps(const HistoryReader::Run& run, const PastPeriod& period) {
    return run.began_ns < period.to_ns && run.ended_ns() >= period.from_ns;
}

std::vector<uint32_t> parse_ids(const std::string& text) {
    std::vector<uint32_t> ids;
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at < end;) {
        uint32_t id = 0;
        const auto [rest, problem] = std::from_chars(at, end, id);
        if (problem != std::errc()) {
            break;
        }
        ids.push_back(id);
        at = rest + 1;
    }
    return ids;
}

// What the file has for an enumeration may be damaged.
template <class T>
T enum_at(const SqliteRows& row, int column) {
    const uint64_t value = row.number(column);
    return value < base::enum_size<T>() ? static_cast<T>(value) : T{};
}

}  // namespace

std::vector<HistoryReader::Run> HistoryReader::runs(uint64_t now_ns) {
    std::vector<Run> runs;
    connection_.for_each(
        [&](const SqliteRows& row) {
            runs.push_back({row.signed_number(0), row.number(1), row.number(2)});
        },
        "SELECT id, began_ns, length_ns FROM runs ORDER BY id DESC");
    for (Run& run : runs) {  // the last first
        if (run.ended_ns() > now_ns) {
            run.began_ns = now_ns - std::min(now_ns, run.length_ns);
        }
        now_ns = run.began_ns;
    }
    std::reverse(runs.begin(), runs.end());
    return runs;
}

std::vector<HistoryReader::DeviceSeries> HistoryReader::device_series() {
    std::vector<DeviceSeries> series;
    connection_.for_each(
        [&](const SqliteRows& row) {
            series.push_back({static_cast<uint32_t>(row.number(0)), row.optional_number<uint64_t>(1),
                              enum_at<census::Kind>(row, 2)});
        },
        "SELECT DISTINCT device, asic, kind FROM series WHERE device IS NOT NULL");
    return series;
}

void HistoryReader::add_samples(std::vector<history::Sample>& samples, int64_t series, const Run& run,
                                const PastPeriod& period) {
    constexpr int64_t kSecond = base::kNsPerSecond;
    connection_.for_each(
        [&](const SqliteRows& row) {
            const uint64_t time_ns = time_in(run, row.signed_number(0) * kSecond);
            if (time_ns >= period.from_ns && time_ns < period.to_ns) {
                samples.push_back({time_ns, row.number(1)});
            }
        },
        "SELECT second, used FROM samples WHERE series = ? AND second >= ? AND second <= ? ORDER BY second",
        series, place_in(run, period.from_ns) / kSecond, place_in(run, period.to_ns) / kSecond);
}

std::vector<history::Sample> HistoryReader::samples_of(const DeviceSeries& series,
                                                       const std::vector<Run>& runs,
                                                       const PastPeriod& period) {
    std::vector<history::Sample> samples;
    for (const Run& run : runs) {
        if (!overlaps(run, period)) {
            continue;
        }
        connection_.for_each(
            [&](const SqliteRows& row) { add_samples(samples, row.signed_number(0), run, period); },
            "SELECT id FROM series WHERE run = ? AND device = ? AND process IS NULL AND kind = ? AND asic IS "
            "?",
            run.id, series.device, static_cast<int>(series.kind), series.asic_id);
    }
    return samples;
}

std::vector<HistoryReader::PastProcess> HistoryReader::processes(uint32_t pid, uint64_t limit) {
    std::vector<PastProcess> processes;
    connection_.for_each(
        [&](const SqliteRows& row) {
            processes.push_back({row.signed_number(0), static_cast<uint32_t>(row.number(1)), row.number(2),
                                 static_cast<uint32_t>(row.number(3)), row.text(4), row.text(5)});
        },
        "SELECT id, pid, start_time_ns, uid, user, comm FROM processes WHERE pid = ? "
        "AND EXISTS (SELECT 1 FROM series WHERE process = processes.id) ORDER BY id DESC LIMIT ?",
        pid, limit);
    return processes;
}

std::vector<history::Sample> HistoryReader::samples_of(const PastProcess& process, census::Kind kind,
                                                       const std::vector<Run>& runs,
                                                       const PastPeriod& period) {
    std::vector<history::Sample> samples;
    for (const Run& run : runs) {
        if (!overlaps(run, period)) {
            continue;
        }
        connection_.for_each(
            [&](const SqliteRows& row) { add_samples(samples, row.signed_number(0), run, period); },
            "SELECT id FROM series WHERE process = ? AND run = ? AND kind = ?", process.id, run.id,
            static_cast<int>(kind));
    }
    return samples;
}

HistoryReader::Moments HistoryReader::moments(const std::vector<Run>& runs, const PastPeriod& period,
                                              uint64_t limit,
                                              const std::function<bool(uint32_t uid)>& may_see) {
    constexpr int64_t kMark = -1;
    Moments result;
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
        // Something may have happened before the run in which it was read.
        connection_.for_each(
            [&](const SqliteRows& row) {
                const auto uid = static_cast<uint32_t>(row.number(5));
                if (!may_see(uid)) {
                    ++result.hidden;
                    return;
                }
                if (result.moments.size() >= limit) {
                    ++result.left_out;
                    return;
                }
                view::PastMoment& moment = result.moments.emplace_back();
                moment.time_ns = time_in(*run, row.signed_number(0));
                moment.pid = static_cast<uint32_t>(row.number(2));
                moment.comm = row.text(3);
                moment.user = row.text(4);
                moment.uid = uid;
                if (row.number(1) != 0) {
                    moment.type = view::PastMomentType::death;
                    moment.ending = enum_at<census::Ending>(row, 6);
                    return;
                }
                moment.type = row.signed_number(6) == kMark ? view::PastMomentType::mark
                                                            : view::PastMomentType::failure;
                if (moment.type == view::PastMomentType::failure) {
                    moment.failure = enum_at<census::FailureType>(row, 6);
                }
                if (!row.is_null(7)) {
                    moment.kind = enum_at<census::Kind>(row, 7);
                }
                moment.requested = row.optional_number<uint64_t>(8);
                moment.card = row.optional_number<uint64_t>(9);
                moment.name = row.text(10);
            },
            "SELECT at_ns, what, pid, comm, user, processes.uid, type, kind, requested, card, name FROM ("
            "SELECT at_ns, 0 AS what, process, type, kind, requested, card, name FROM moments "
            "WHERE run = ?1 AND at_ns >= ?2 AND at_ns <= ?3 UNION ALL "
            "SELECT at_ns, 1, process, ending, NULL, NULL, NULL, '' FROM deaths "
            "WHERE run = ?1 AND at_ns >= ?2 AND at_ns <= ?3) "
            "JOIN processes ON processes.id = process ORDER BY at_ns DESC",
            run->id, place_in(*run, period.from_ns), place_in(*run, period.to_ns));
    }
    std::stable_sort(result.moments.begin(), result.moments.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    return result;
}

std::vector<HistoryReader::Death> HistoryReader::deaths(const std::vector<Run>& runs,
                                                        std::optional<uint32_t> pid) {
    std::vector<Death> deaths;
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
        connection_.for_each(
            [&](const SqliteRows& row) {
                deaths.push_back({row.signed_number(0), time_in(*run, row.signed_number(1)),
                                  static_cast<uint32_t>(row.number(2)), row.number(3), row.number(4),
                                  static_cast<uint32_t>(row.number(5)), row.text(9),
                                  enum_at<census::Ending>(row, 6), row.optional_number<int>(7),
                                  parse_ids(row.text(8)), run->id == runs.back().id});
            },
            "SELECT deaths.id, at_ns, pid, start_time, start_time_ns, processes.uid, ending, code, devices, "
            "user "
            "FROM deaths JOIN processes ON processes.id = process "
            "WHERE run = ?1 AND (?2 IS NULL OR pid = ?2) ORDER BY at_ns DESC",
            run->id, pid);
    }
    return deaths;
}

std::string HistoryReader::document(const Death& death) {
    std::string document;
    connection_.for_each([&](const SqliteRows& row) { document = row.text(0); },
                         "SELECT document FROM deaths WHERE id = ?", death.id);
    return document;
}

}  // namespace ttmem::daemon
