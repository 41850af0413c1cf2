// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists what fields() names: of a document, or of a query's parameters.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "census/device_id_set.hpp"
#include "view/json/field_table.hpp"
#include "view/json/json_io.hpp"

namespace ttmem::view {

class FieldLister {
public:
    template <class T>
    void operator()(std::string_view name, const T& /*value*/, const char* meaning) {
        add<T>(std::string(name), meaning);
    }
    template <class T>
    void if_present(const char* name, const std::optional<T>& /*value*/, const char* meaning) {
        add<T>(name, meaning);
    }
    template <class T>
    void rows(const char* name, const std::vector<T>& /*values*/, const char* meaning) {
        add<std::vector<T>>(name, meaning);
    }
    template <std::integral T>
    void unless_unknown(const char* name, const T& /*value*/, const bool& /*is_known*/, const char* meaning) {
        add_row(name, "number or null", meaning);
    }
    void unless_empty(const char* name, const std::string& /*text*/, const char* meaning) {
        add_row(name, "text or null", meaning);
    }
    template <class T>
    void unless_default(const char* name, const T& /*value*/, const char* meaning) {
        add<std::optional<T>>(name, meaning);
    }
    void hex(const char* name, const std::optional<uint64_t>& /*value*/, const char* meaning) {
        add_row(name, "text or null", meaning);
    }
    template <class Names, class T, size_t n>
    void keyed(const char* name, const Names& names, const std::array<T, n>& /*values*/,
               const char* meaning) {
        std::string keys;
        for (size_t i = 0; i < n; ++i) {
            keys += (i == 0 ? "`" : ", `") + std::string(names[i]) + "`";
        }
        if constexpr (JsonScalar<T>) {
            add_row(name, "object of " + type_name<T>() + "s", std::string(meaning) + ", by " + keys);
        } else {
            FieldLister inner;
            const T value{};
            fields(inner, value);
            add_object(name, "object", std::string(meaning) + ", by " + keys, inner, ".*.");
        }
    }
    template <class Names, class T, size_t n>
    void keyed_unless_unknown(const char* name, const Names& names, const std::array<T, n>& values,
                              const bool& /*is_known*/, const char* meaning) {
        keyed(name, names, values, meaning);
        tables_.rows.back().type += " or null";
    }
    void object(const char* name, auto inside, const char* meaning) {
        FieldLister inner;
        inside(inner);
        add_object(name, "object", meaning, inner, ".");
    }
    template <class T>
    void derived(const char* name, const T& /*value*/, const char* meaning) {
        if constexpr (JsonScalar<T>) {
            add_row(name, type_name<T>(), meaning);
        } else if constexpr (std::same_as<T, Json>) {
            add_row(name, "text or null", meaning);
        } else {
            add_row(name, "text", meaning);
        }
    }
    void title(const char* text) { tables_.title = text; }

    // Of queries.
    template <class T>
    void required(const char* name, const T& value, const char* meaning) {
        (*this)(name, value, (std::string(meaning) + " (required)").c_str());
    }
    void limit(const char* name, const uint64_t& /*value*/, const char* meaning) {
        add_row(name, "number", meaning);
    }

    const FieldTables& tables() const { return tables_; }

private:
    template <class T>
    struct Element {
        using Type = T;
        static constexpr bool is_list = false;
        static constexpr bool is_optional = false;
    };
    template <class T>
    struct Element<std::optional<T>> {
        using Type = T;
        static constexpr bool is_list = false;
        static constexpr bool is_optional = true;
    };
    template <class T>
    struct Element<std::vector<T>> {
        using Type = T;
        static constexpr bool is_list = true;
        static constexpr bool is_optional = false;
    };
    template <class T>
    struct Element<std::optional<std::vector<T>>> {
        using Type = T;
        static constexpr bool is_list = true;
        static constexpr bool is_optional = true;
    };

    template <class T>
    static std::string type_name() {
        if constexpr (std::is_same_v<T, bool>) {
            return "true or false";
        } else if constexpr (std::is_arithmetic_v<T>) {
            return "number";
        } else if constexpr (std::is_same_v<T, std::string>) {
            return "text";
        } else if constexpr (std::is_same_v<T, census::Core>) {
            return "`[x, y]`";
        } else if constexpr (std::is_same_v<T, census::KindSet>) {
            return "one or more of " + type_name<census::Kind>() + ", separated by commas";
        } else if constexpr (std::is_same_v<T, census::DeviceIdSet>) {
            return "numbers or ranges (`0-3`), separated by commas";
        } else {
            std::string words;
            for (const std::string_view word : enum_names(T{})) {
                words += (words.empty() ? "`" : ", `") + std::string(word) + "`";
            }
            return words;
        }
    }

    void add_row(std::string name, std::string type, std::string meaning) {
        tables_.rows.push_back({std::move(name), std::move(type), std::move(meaning)});
    }

    void add_object(const std::string& name, const std::string& type, const std::string& meaning,
                    const FieldLister& inner, const char* separator) {
        add_row(name, type, meaning);
        if (inner.tables_.title.empty()) {
            for (const FieldTables::Row& row : inner.tables_.rows) {
                add_row(name + separator + row.name, row.type, row.meaning);
            }
        } else {
            tables_.add_type(inner.tables_.title, inner.tables_.rows);
        }
        for (const FieldTables::TypeTable& one : inner.tables_.types) {
            tables_.add_type(one.title, one.rows);
        }
    }

    template <class T>
    void add(const std::string& name, const std::string& meaning) {
        using E = Element<T>;
        using Type = typename E::Type;
        const std::string null = E::is_optional ? " or null" : "";
        if constexpr (JsonScalar<Type> || base::NamedEnum<Type> || std::is_same_v<Type, census::Core> ||
                      std::is_same_v<Type, census::KindSet> || std::is_same_v<Type, census::DeviceIdSet>) {
            add_row(name, (E::is_list ? "list of " + type_name<Type>() + "s" : type_name<Type>()) + null,
                    meaning);
        } else {
            FieldLister inner;
            const Type value{};
            fields(inner, value);
            const std::string word = inner.tables_.title.empty() ? "object" : inner.tables_.title;
            add_object(name, (E::is_list ? "list of " + word : word) + null, meaning, inner,
                       E::is_list ? "[]." : ".");
        }
    }

    FieldTables tables_;
};

}  // namespace ttmem::view
