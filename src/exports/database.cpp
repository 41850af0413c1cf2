// SPDX-License-Identifier: Apache-2.0
#include "exports/database.hpp"

namespace ttmem::exports {

Database::Database(const std::string& path) : path_(path) {
    sqlite3* database = nullptr;
    const int result =
        sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    database_.reset(database);
    note(result);
    // An export that is cut is thrown away, so nothing must survive a crash.
    run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
}

void Database::note(int result) {
    if (problem_.empty() && result != SQLITE_OK && result != SQLITE_DONE && result != SQLITE_ROW) {
        problem_ = database_ ? sqlite3_errmsg(database_.get()) : sqlite3_errstr(result);
    }
}

void Database::run(const char* statements) {
    if (problem_.empty()) {
        note(sqlite3_exec(database_.get(), statements, nullptr, nullptr, nullptr));
    }
}

void Database::insert(const std::string& table, const std::vector<CellValue>& values) {
    if (!problem_.empty()) {
        return;
    }
    Statement& statement = statements_[table];
    if (!statement) {
        std::string places = "?";
        for (size_t i = 1; i < values.size(); ++i) {
            places += ",?";
        }
        sqlite3_stmt* prepared = nullptr;
        const std::string text = "INSERT INTO " + table + " VALUES (" + places + ")";
        note(sqlite3_prepare_v2(database_.get(), text.c_str(), -1, &prepared, nullptr));
        statement.reset(prepared);
        if (!statement) {
            return;
        }
    }
    int place = 0;
    for (const CellValue& value : values) {
        ++place;
        if (const auto* number = std::get_if<uint64_t>(&value)) {
            note(sqlite3_bind_int64(statement.get(), place, static_cast<int64_t>(*number)));
        } else {
            const std::string& text = std::get<std::string>(value);
            note(sqlite3_bind_text64(statement.get(), place, text.data(), text.size(), SQLITE_STATIC,
                                     SQLITE_UTF8));
        }
    }
    note(sqlite3_step(statement.get()));
    sqlite3_reset(statement.get());
}

base::Expected<void> Database::finish() {
    statements_.clear();
    run("COMMIT");
    if (problem_.empty()) {
        note(sqlite3_close(database_.release()));
    }
    if (!problem_.empty()) {
        return base::error(base::Error::Code::failed, "can't write " + path_ + ": " + problem_);
    }
    return {};
}

}  // namespace ttmem::exports
