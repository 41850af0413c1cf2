// SPDX-License-Identifier: Apache-2.0
#include "daemon/database/history_database.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/time.hpp"
#include "daemon/database/schema.hpp"

namespace ttmem::daemon {

namespace fs = std::filesystem;
using base::Error;

namespace {

constexpr uint64_t kLongestSilence = 60;  // seconds; a value that does not change is written again after that
constexpr uint64_t kClockToleranceNs = base::kNsPerSecond;

std::string read_boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    file >> id;
    return id;
}

tl::unexpected<Error> failed(const fs::path& path, const char* what) {
    return base::error(Error::Code::failed, path.string() + ": " + what);
}

// The folder and the file are for the daemon alone: they have what users' processes hold.
base::Expected<void> make_file(const fs::path& path) {
    std::error_code ignored;
    fs::create_directories(path.parent_path().parent_path(), ignored);
    if (mkdir(path.parent_path().c_str(), 0700) != 0 && errno != EEXIST) {
        return failed(path.parent_path(), std::strerror(errno));
    }
    const base::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) {
        return failed(path, std::strerror(errno));
    }
    return {};
}

// Another daemon with the same state folder would write the same file.
base::Expected<base::Descriptor> lock_file(const fs::path& path) {
    const std::string name = path.string() + ".lock";
    base::Descriptor lock(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock) {
        return failed(name, std::strerror(errno));
    }
    if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        return base::error(Error::Code::refused, path.string() + ": another ttmemd writes it");
    }
    return lock;
}

// One damaged file is kept, the last.
std::string put_aside(const fs::path& path) {
    std::string aside = path.string() + ".damaged";
    for (const char* part : {"-wal", "-shm", ""}) {
        std::error_code ignored;
        fs::remove(aside + part, ignored);
        fs::rename(path.string() + part, aside + part, ignored);
    }
    return aside;
}

}  // namespace

base::Expected<void> check_history(const HistoryLimits& limits) {
    if (limits.bytes != 0 && (limits.bytes < kLeastHistoryBytes || limits.bytes > kMostHistoryBytes)) {
        return base::error(Error::Code::refused,
                           fmt::format("the bytes of the history must be 0 (keep none) or from {} to {}",
                                       kLeastHistoryBytes, kMostHistoryBytes));
    }
    if (limits.days < 1 || limits.days > kMostHistoryDays) {
        return base::error(Error::Code::refused,
                           fmt::format("the days of the history must be from 1 to {}", kMostHistoryDays));
    }
    return {};
}

TwoClocks TwoClocks::now() { return {base::clock_ns(CLOCK_BOOTTIME), base::realtime_ns()}; }

base::Expected<std::unique_ptr<HistoryDatabase>> HistoryDatabase::open(const fs::path& file,
                                                                       const HistoryLimits& limits,
                                                                       const std::string& version,
                                                                       TwoClocks now,
                                                                       std::string& set_aside) {
    std::unique_ptr<HistoryDatabase> database;
    for (int attempt = 0;; ++attempt) {
        database.reset();  // gives the lock back
        if (auto made = make_file(file); !made) {
            return tl::unexpected(std::move(made.error()));
        }
        auto lock = lock_file(file);
        if (!lock) {
            return tl::unexpected(std::move(lock.error()));
        }
        database.reset(new HistoryDatabase(file, limits, std::move(*lock)));
        auto prepared = database->prepare(now, version);
        if (prepared) {
            return database;
        }
        if (!database->connection_.is_damaged() || attempt != 0) {
            return tl::unexpected(std::move(prepared.error()));
        }
        database->connection_.close();
        set_aside = put_aside(file);
    }
}

HistoryDatabase::HistoryDatabase(fs::path file, HistoryLimits limits, base::Descriptor lock)
    : file_(std::move(file)),
      limits_(limits),
      lock_(std::move(lock)),
      boot_(read_boot_id()),
      connection_(file_.string(), SqliteConnection::Access::write) {}

base::Expected<void> HistoryDatabase::problem() {
    if (!connection_.has_problem()) {
        return {};
    }
    return base::error(connection_.is_damaged() ? Error::Code::refused : Error::Code::failed,
                       connection_.problem_text());
}

base::Expected<void> HistoryDatabase::prepare(TwoClocks now, const std::string& version) {
    const int64_t application = connection_.value_of("PRAGMA application_id");
    const int64_t written = connection_.value_of("PRAGMA user_version");
    const bool is_empty = connection_.value_of("SELECT count(*) FROM sqlite_schema") == 0;
    if (connection_.has_problem()) {
        return problem();
    }
    if (!is_empty && application != kHistoryApplication) {
        return base::error(Error::Code::refused,
                           file_.string() + ": it is not a history of ttmemd (move it away)");
    }
    if (!is_empty && written > kHistoryVersion) {
        return base::error(
            Error::Code::refused,
            fmt::format(
                "{}: a newer ttmemd wrote it (version {}, this one writes {}): upgrade, or move it away",
                file_.string(), written, kHistoryVersion));
    }
    std::string found = "ok";
    if (!is_empty) {
        connection_.for_each([&](const SqliteRows& row) { found = row.text(0); }, "PRAGMA quick_check(1)");
    }
    if (found != "ok") {
        connection_.note(SQLITE_CORRUPT);
    }
    if (is_empty) {
        // Samples of many series are written at once, each to another page.
        connection_.run("PRAGMA page_size = 1024; PRAGMA auto_vacuum = INCREMENTAL");
    }
    connection_.run(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4096;"
        "PRAGMA journal_size_limit = 8388608; BEGIN IMMEDIATE");
    if (is_empty) {
        connection_.run(kHistorySchema);
        connection_.run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                    kHistoryApplication, kHistoryVersion)
                            .c_str());
    }
    connection_.for_each([&](const SqliteRows& row) { shares_[row.signed_number(0)] = row.signed_number(1); },
                         "SELECT uid, bytes FROM shares");
    begin_run(now, version);
    connection_.run("COMMIT");
    return problem();
}

void HistoryDatabase::begin_run(TwoClocks now, const std::string& version) {
    began_ = now;
    connection_.execute("INSERT INTO runs (began_ns, length_ns, boot, version) VALUES (?, 0, ?, ?)",
                        now.epoch_ns, boot_, version);
    run_ = connection_.last_id();
    oldest_ns_ = static_cast<uint64_t>(connection_.value_of("SELECT began_ns FROM runs ORDER BY id LIMIT 1"));
}

// The beginning of the run, on the wall clock as it is now.
void HistoryDatabase::correct_clock(TwoClocks now) {
    assert(now.boot_ns >= began_.boot_ns);
    const uint64_t length = now.boot_ns - began_.boot_ns;
    const uint64_t began = now.epoch_ns - std::min(now.epoch_ns, length);
    const uint64_t apart = std::max(began, began_.epoch_ns) - std::min(began, began_.epoch_ns);
    if (apart > kClockToleranceNs) {
        began_.epoch_ns = began;
    }
    connection_.execute("UPDATE runs SET began_ns = ?, length_ns = ? WHERE id = ?", began_.epoch_ns, length,
                        run_);
}

base::Expected<void> HistoryDatabase::write(const HistoryBatch& batch, TwoClocks now) {
    connection_.run("BEGIN IMMEDIATE");
    ++writes_;
    correct_clock(now);
    if (batch.sampled_boot_ns) {
        const uint64_t sampled_ns = *batch.sampled_boot_ns;
        write_samples(batch, (sampled_ns - std::min(sampled_ns, began_.boot_ns)) / base::kNsPerSecond);
    }
    for (const MomentRow& row : batch.moments) {
        write_moment(row);
    }
    for (const SeenRow& row : batch.seen) {
        connection_.execute(
            "UPDATE processes SET out_of_memory = ?, cb_clash = ?, unknown_free = ?, marks = ? WHERE id = ?",
            row.seen[0], row.seen[1], row.seen[2], row.seen[3], process_id(row.process));
    }
    for (const DeathRow& row : batch.deaths) {
        write_death(row);
    }
    for (const EndingRow& row : batch.endings) {
        connection_.execute("UPDATE deaths SET ending = ?, code = ? WHERE process = ? AND ending = ?",
                            static_cast<int>(row.ending), row.code, process_id(row.process),
                            static_cast<int>(census::Ending::not_known));
    }
    keep_bounds(now);
    save_shares();
    connection_.run("COMMIT");
    auto result = problem();
    if (!result) {
        connection_.forgive();
        connection_.run("ROLLBACK");
        connection_.forgive();  // SQLite may have rolled back already
        forget();
    }
    return result;
}

void HistoryDatabase::forget() {
    series_.clear();
    processes_.clear();
    shares_.clear();
    connection_.for_each([&](const SqliteRows& row) { shares_[row.signed_number(0)] = row.signed_number(1); },
                         "SELECT uid, bytes FROM shares");
    connection_.forgive();
}

int64_t HistoryDatabase::process_id(const census::Identity& process) {
    int64_t& id = processes_[{process.pid, process.start_time}];
    if (id == 0) {
        id = connection_.value_of("SELECT id FROM processes WHERE pid = ? AND start_time = ? AND boot = ?",
                                  process.pid, process.start_time, boot_);
    }
    if (id == 0) {
        connection_.execute(
            "INSERT INTO processes (boot, pid, start_time, start_time_ns, uid, user, comm) VALUES (?, ?, ?, "
            "?, ?, ?, ?)",
            boot_, process.pid, process.start_time, process.start_time_ns, process.uid, process.user,
            process.comm);
        id = connection_.last_id();
        charge(process.uid, kNamedBytes);
    }
    return id;
}

HistoryDatabase::LastSample HistoryDatabase::find_series(const SeriesName& name, int64_t uid) {
    const auto& [device, asic, process, kind] = name;
    LastSample found;
    found.uid = uid;
    found.series = connection_.value_of(
        "SELECT id FROM series WHERE run = ? AND device IS ? AND process IS ? AND kind = ? AND asic IS ?",
        run_, device, process, kind, asic);
    if (found.series == 0) {
        connection_.execute(
            "INSERT INTO series (run, device, asic, process, kind, uid) VALUES (?, ?, ?, ?, ?, ?)", run_,
            device, asic, process, kind, uid);
        found.series = connection_.last_id();
        charge(uid, kNamedBytes);
    }
    return found;
}

void HistoryDatabase::write_sample(const SeriesName& name, int64_t uid, uint64_t used, uint64_t second) {
    auto found = series_.find(name);
    if (found == series_.end()) {
        found = series_.emplace(name, find_series(name, uid)).first;
    }
    LastSample& last = found->second;
    last.write = writes_;
    if (last.used == used && second - last.second < kLongestSilence) {
        return;
    }
    if (last.uid != uid) {
        last.uid = uid;
        connection_.execute("UPDATE series SET uid = ? WHERE id = ?", uid, last.series);
    }
    charge(uid, kSampleBytes * static_cast<int64_t>(connection_.execute(
                                   "INSERT OR REPLACE INTO samples (series, second, used) VALUES (?, ?, ?)",
                                   last.series, second, used)));
    last.used = used;
    last.second = second;
}

void HistoryDatabase::write_samples(const HistoryBatch& batch, uint64_t second) {
    for (const DeviceRow& row : batch.devices) {
        std::optional<int64_t> asic;
        if (row.asic_id) {
            asic = static_cast<int64_t>(*row.asic_id);
        }
        write_sample({row.device, asic, std::nullopt, static_cast<int>(row.kind)}, row.charged_to, row.used,
                     second);
    }
    for (const ProcessRow& row : batch.processes) {
        for (size_t kind = 0; kind < row.used.size(); ++kind) {
            if (row.used[kind]) {
                write_sample({std::nullopt, std::nullopt, process_id(row.process), static_cast<int>(kind)},
                             row.process.uid, *row.used[kind], second);
            }
        }
    }
    std::erase_if(series_, [&](const auto& each) { return each.second.write != writes_; });
    if (batch.processes.size() + 4096 < processes_.size()) {
        processes_.clear();
    }
}

void HistoryDatabase::write_moment(const MomentRow& row) {
    const view::PastMoment& moment = row.moment;
    const auto number_of = [](const auto& value) {
        return value ? std::optional(static_cast<int64_t>(*value)) : std::nullopt;
    };
    const auto type =
        moment.type == view::PastMomentType::mark ? int64_t{-1} : number_of(moment.failure).value_or(0);
    connection_.execute(
        "INSERT INTO moments (run, at_ns, process, uid, type, kind, requested, card, name) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        run_, static_cast<int64_t>(moment.time_ns - began_.epoch_ns), process_id(row.process),
        row.process.uid, type, number_of(moment.kind), number_of(moment.requested), number_of(moment.card),
        moment.name);
    charge(row.process.uid, kMomentBytes + static_cast<int64_t>(moment.name.size()));
}

void HistoryDatabase::write_death(const DeathRow& row) {
    const census::PostMortemSummary& summary = row.post_mortem.summary;
    std::string devices;
    for (const census::DeviceHoldings& held : summary.process.devices) {
        devices += (devices.empty() ? "" : ",") + std::to_string(held.id);
    }
    connection_.execute(
        "INSERT INTO deaths (run, at_ns, process, uid, ending, code, devices, document) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        run_, static_cast<int64_t>(summary.died_ns - began_.epoch_ns), process_id(row.process),
        row.process.uid, static_cast<int>(summary.ending),
        summary.signal ? summary.signal : summary.exit_code, devices, row.document);
    charge(row.process.uid, kDeathBytes + static_cast<int64_t>(row.document.size() + devices.size()));
}

SeenCounts HistoryDatabase::seen(const census::Identity& process) {
    SeenCounts counts{};
    connection_.for_each(
        [&](const SqliteRows& row) {
            for (size_t i = 0; i < counts.size(); ++i) {
                counts[i] = row.number(static_cast<int>(i));
            }
        },
        "SELECT out_of_memory, cb_clash, unknown_free, marks FROM processes "
        "WHERE pid = ? AND start_time = ? AND boot = ?",
        process.pid, process.start_time, boot_);
    connection_.forgive();
    return counts;
}

bool HistoryDatabase::has_death(const census::Identity& process) {
    const bool found = connection_.value_of(
                           "SELECT 1 FROM deaths JOIN processes ON processes.id = deaths.process "
                           "WHERE pid = ? AND start_time = ? AND boot = ?",
                           process.pid, process.start_time, boot_) != 0;
    connection_.forgive();
    return found;
}

uint64_t HistoryDatabase::bytes() const {
    uint64_t sum = 0;
    for (const char* part : {"", "-wal"}) {
        std::error_code problem;
        const uint64_t size = fs::file_size(file_.string() + part, problem);
        sum += problem ? 0 : size;
    }
    return sum;
}

}  // namespace ttmem::daemon
