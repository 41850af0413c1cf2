// SPDX-License-Identifier: Apache-2.0
#pragma once

// A new SQLite file. The first problem is kept, and nothing is written after it.

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"

namespace ttmem::exports {

class Database {
public:
    using CellValue = std::variant<uint64_t, std::string>;

    explicit Database(const std::string& path);

    void run(const char* statements);
    // Adds a row. Values of all columns, in their order.
    void insert(const std::string& table, const std::vector<CellValue>& values);
    base::Expected<void> finish();

private:
    struct Close {
        void operator()(sqlite3* database) const { sqlite3_close(database); }
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    using Statement = std::unique_ptr<sqlite3_stmt, Close>;

    void note(int result);

    std::string path_;
    std::string problem_;
    std::unique_ptr<sqlite3, Close> database_;
    std::map<std::string, Statement> statements_;  // by table
};

}  // namespace ttmem::exports
