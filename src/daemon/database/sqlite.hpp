// SPDX-License-Identifier: Apache-2.0
#pragma once

// A connection to an SQLite file. The first problem is kept, and nothing is done after it until forgive(). One thread at a time.

#include <sqlite3.h>

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ttmem::daemon {

class SqliteConnection;

// The rows of a statement. It is reset when this object ends.
class SqliteRows {
public:
    SqliteRows(SqliteConnection& connection, sqlite3_stmt* statement)
        : connection_(connection), statement_(statement) {}
    ~SqliteRows();
    SqliteRows(const SqliteRows&) = delete;
    SqliteRows& operator=(const SqliteRows&) = delete;

    // The next row. False after the last, and after a problem.
    bool next();

    bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
    int64_t signed_number(int column) const { return sqlite3_column_int64(statement_, column); }
    uint64_t number(int column) const { return static_cast<uint64_t>(signed_number(column)); }
    template <class T>
    std::optional<T> optional_number(int column) const {
        return is_null(column) ? std::nullopt : std::optional(static_cast<T>(signed_number(column)));
    }
    std::string text(int column) const;

private:
    friend class SqliteConnection;
    template <class... Values>
    void bind(const Values&... values) {
        int place = 0;
        (bind_at(++place, values), ...);
    }
    template <std::integral T>
    void bind_at(int place, T value) {
        note(sqlite3_bind_int64(statement_, place, static_cast<int64_t>(value)));
    }
    void bind_at(int place, std::string_view text);
    template <class T>
    void bind_at(int place, const std::optional<T>& value) {
        value ? bind_at(place, *value) : note(sqlite3_bind_null(statement_, place));
    }
    void note(int result);

    SqliteConnection& connection_;
    sqlite3_stmt* statement_;  // null after a problem
};

class SqliteConnection {
public:
    enum class Access : uint8_t { read, write };
    SqliteConnection(const std::string& path, Access access);

    // Statements without values.
    void run(const char* statements);
    // Statements are literals, and each is prepared once. Returns the number of rows that it changed.
    template <class... Values>
    uint64_t execute(const char* statement, const Values&... values) {
        {
            SqliteRows rows(*this, prepare(statement));
            rows.bind(values...);
            rows.next();
        }
        return has_problem() ? 0 : static_cast<uint64_t>(sqlite3_changes64(database_.get()));
    }
    // The first number of the first row; 0 without one.
    template <class... Values>
    int64_t value_of(const char* statement, const Values&... values) {
        SqliteRows rows(*this, prepare(statement));
        rows.bind(values...);
        return rows.next() ? rows.signed_number(0) : 0;
    }
    // Calls take(SqliteRows&) for each row.
    template <class Take, class... Values>
    void for_each(Take take, const char* statement, const Values&... values) {
        SqliteRows rows(*this, prepare(statement));
        rows.bind(values...);
        while (rows.next()) {
            take(rows);
        }
    }
    int64_t last_id() const { return sqlite3_last_insert_rowid(database_.get()); }

    bool has_problem() const { return problem_ != SQLITE_OK; }
    // The file is not a database, or it is damaged.
    bool is_damaged() const;
    const std::string& problem_text() const { return problem_text_; }
    void forgive();
    void note(int result);
    // Only has_problem() and its text may be used afterwards.
    void close();

private:
    struct SqliteDeleter {
        void operator()(sqlite3* database) const { sqlite3_close(database); }
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    sqlite3_stmt* prepare(const char* statement);

    std::string path_;
    int problem_ = SQLITE_OK;
    std::string problem_text_;
    std::unique_ptr<sqlite3, SqliteDeleter> database_;
    std::map<std::string_view, std::unique_ptr<sqlite3_stmt, SqliteDeleter>>
        statements_;  // by their text, a literal
};

}  // namespace ttmem::daemon
