// SPDX-License-Identifier: Apache-2.0
#pragma once

// The fields of a document or the parameters of a question, as the manual shows them.

#include <string>
#include <utility>
#include <vector>

namespace ttmem::view {

struct FieldTables {
    struct Row {
        std::string name;
        std::string type;
        std::string meaning;
    };
    // A type that several documents have in common.
    struct TypeTable {
        std::string title;
        std::vector<Row> rows;
    };

    std::string title;  // empty: none
    std::vector<Row> rows;
    std::vector<TypeTable> types;  // that the rows refer to, each before those that it refers to itself

    void add_type(const std::string& name, std::vector<Row> rows_of_type) {
        for (const TypeTable& known : types) {
            if (known.title == name) {
                return;
            }
        }
        types.push_back({name, std::move(rows_of_type)});
    }
};

}  // namespace ttmem::view
