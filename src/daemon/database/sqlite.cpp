// SPDX-License-Identifier: Apache-2.0
#include "daemon/database/sqlite.hpp"

#include <cerrno>
#include <cstring>

namespace ttmem::daemon {

namespace {

// A reader may be in the middle of a checkpoint's last step, and a writer is never another process.
constexpr int kPatienceMs = 2000;

}  // namespace

SqliteRows::~SqliteRows() {
    if (statement_ != nullptr) {
        sqlite3_reset(statement_);
        sqlite3_clear_bindings(statement_);
    }
}

bool SqliteRows::next() {
    if (statement_ == nullptr || connection_.has_problem()) {
        return false;
    }
    const int result = sqlite3_step(statement_);
    connection_.note(result);
    return result == SQLITE_ROW;
}

std::string SqliteRows::text(int column) const {
    const auto* const bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return bytes == nullptr
               ? std::string()
               : std::string(bytes, static_cast<size_t>(sqlite3_column_bytes(statement_, column)));
}

void SqliteRows::bind_at(int place, std::string_view text) {
    note(sqlite3_bind_text64(statement_, place, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void SqliteRows::note(int result) {
    if (statement_ != nullptr) {
        connection_.note(result);
    }
}

SqliteConnection::SqliteConnection(const std::string& path, Access access) : path_(path) {
    const int how = access == Access::write
                        ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                        : SQLITE_OPEN_READWRITE;  // a reader too shares the index of the log
    sqlite3* database = nullptr;
    const int result =
        sqlite3_open_v2(path.c_str(), &database, how | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, nullptr);
    database_.reset(database);
    note(result);
    if (database != nullptr) {
        sqlite3_busy_timeout(database, kPatienceMs);
    }
    run(access == Access::write ? "PRAGMA cache_size = -2048"
                                : "PRAGMA query_only = 1; PRAGMA cache_size = -512");
}

void SqliteConnection::note(int result) {
    if (has_problem() || result == SQLITE_OK || result == SQLITE_DONE || result == SQLITE_ROW) {
        return;
    }
    problem_ = result & 0xff;  // the rest is more detail
    const int system = database_ ? sqlite3_system_errno(database_.get()) : 0;
    const bool is_of_system = system != 0 && (problem_ == SQLITE_IOERR || problem_ == SQLITE_CANTOPEN ||
                                              problem_ == SQLITE_READONLY);
    problem_text_ = path_ + ": " +
                    (problem_ == SQLITE_FULL || (is_of_system && system == ENOSPC) ? "the disk is full"
                     : is_of_system                                                ? std::strerror(system)
                     : database_ ? sqlite3_errmsg(database_.get())
                                 : sqlite3_errstr(result));
}

void SqliteConnection::forgive() {
    problem_ = SQLITE_OK;
    problem_text_.clear();
}

bool SqliteConnection::is_damaged() const { return problem_ == SQLITE_CORRUPT || problem_ == SQLITE_NOTADB; }

void SqliteConnection::run(const char* statements) {
    if (!has_problem()) {
        note(sqlite3_exec(database_.get(), statements, nullptr, nullptr, nullptr));
    }
}

void SqliteConnection::close() {
    statements_.clear();
    database_.reset();
}

sqlite3_stmt* SqliteConnection::prepare(const char* statement) {
    if (has_problem()) {
        return nullptr;
    }
    auto& prepared = statements_[statement];
    if (!prepared) {
        sqlite3_stmt* made = nullptr;
        note(sqlite3_prepare_v3(database_.get(), statement, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr));
        prepared.reset(made);
    }
    return prepared.get();
}

}  // namespace ttmem::daemon
