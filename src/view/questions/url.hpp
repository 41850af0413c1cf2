// SPDX-License-Identifier: Apache-2.0
#pragma once

// Both directions of a query's URL from its list of fields. Queries have, beside plain fields, required ones and a limit:
//
//     void fields(auto& io, Like<MapQuery> auto& query) {
//         io.required("device", query.device, "the device");
//         io("kind", query.kind, "only this kind");
//         io.limit("limit", query.limit, "most blocks per pool");
//     }

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "census/device_id_set.hpp"
#include "census/kind.hpp"
#include "view/json/field_lister.hpp"
#include "view/questions/question.hpp"

namespace ttmem::view {

// A value as it stands in a URL: "ttnn::matmul x" is "ttnn%3A%3Amatmul%20x".
std::string escape_url(std::string_view text);

class UrlWriter {
public:
    template <class T>
    void operator()(const char* name, const T& value, const char* /*meaning*/) {
        add(name, value);
    }
    template <class T>
    void required(const char* name, const T& value, const char* /*meaning*/) {
        add(name, value);
    }
    void limit(const char* name, uint64_t value, const char* /*meaning*/) {
        add(name, value == 0 || value > kMostRows ? kMostRows : value);
    }

    const std::string& text() const { return text_; }

private:
    void add_text(const char* name, std::string_view value) {
        text_ += (text_.empty() ? "" : "&") + std::string(name) + "=" + escape_url(value);
    }
    template <class T>
    void add(const char* name, const T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            add_text(name, value ? "true" : "false");
        } else if constexpr (std::is_integral_v<T>) {
            add_text(name, std::to_string(value));
        } else if constexpr (base::NamedEnum<T>) {
            add_text(name, base::name_of(value));
        } else if constexpr (std::is_same_v<T, census::KindSet> || std::is_same_v<T, census::DeviceIdSet>) {
            if (!value.empty()) {
                add_text(name, value.text());
            }
        } else if (!value.empty()) {
            add_text(name, value);
        }
    }
    template <class T>
    void add(const char* name, const std::optional<T>& value) {
        if constexpr (std::is_same_v<T, std::string>) {
            if (value) {
                add_text(name, *value);  // an empty text is a value too
            }
        } else if (value) {
            add(name, *value);
        }
    }

    std::string text_;
};

class UrlReader {
public:
    explicit UrlReader(const Parameters& parameters) : parameters_(parameters) {}

    template <class T>
    void operator()(const char* name, T& value, const char* /*meaning*/) {
        if (const std::string* text = find(name)) {
            read(name, *text, value);
        }
    }
    template <class T>
    void required(const char* name, T& value, const char* meaning) {
        (*this)(name, value, meaning);
        if (!parameters_.contains(name)) {
            refuse("'" + std::string(name) + "' is missing: " + meaning);
        }
    }
    void limit(const char* name, uint64_t& value, const char* /*meaning*/) {
        value = kStandardRows;
        if (const std::string* text = find(name)) {
            read_number<uint64_t>(name, *text, value, 1, kLargestLimit);
            value = std::min(value, kMostRows);
        }
    }

    // The first problem, of a value or of a parameter that no field has.
    base::Expected<void> finish(const std::vector<std::string>& also) const;

private:
    const std::string* find(const char* name) {
        known_.emplace_back(name);
        const auto found = parameters_.find(name);
        return found == parameters_.end() ? nullptr : &found->second;
    }

    template <class T>
    void read(const char* name, const std::string& text, std::optional<T>& value) {
        read(name, text, value.emplace());
    }
    template <class T>
    void read(const char* name, const std::string& text, T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            read_flag(name, text, value);
        } else if constexpr (std::is_integral_v<T>) {
            read_number<T>(name, text, value, 0, std::numeric_limits<T>::max());
        } else if constexpr (base::NamedEnum<T>) {
            const auto names = enum_names(T{});
            const auto known = base::by_name<T>(text);
            known ? void(value = *known) : refuse_word(name, text, {names.begin(), names.end()});
        } else if constexpr (std::is_same_v<T, census::KindSet>) {
            const auto names = enum_names(census::Kind{});
            const auto known = census::KindSet::parse(text);
            known ? void(value = *known) : refuse_word(name, text, {names.begin(), names.end()});
        } else if constexpr (std::is_same_v<T, census::DeviceIdSet>) {
            for (const std::string& device : census::split_device_list(text)) {
                uint32_t id = 0;
                read(name, device, id);
                value.add(id);
            }
        } else {
            value = text;
        }
    }
    template <class T>
    void read_number(const char* name, const std::string& text, T& value, T least, T most) {
        T number{};
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (problem != std::errc() || end != text.data() + text.size() || number < least || number > most) {
            refuse_number(name, text, least, most);
        } else {
            value = number;
        }
    }
    void read_flag(const char* name, const std::string& text, bool& value);

    void refuse(std::string problem);
    void refuse_number(const char* name, const std::string& text, uint64_t least, uint64_t most);
    void refuse_word(const char* name, const std::string& text, const std::vector<std::string>& words);

    const Parameters& parameters_;
    std::vector<std::string> known_;
    std::optional<std::string> problem_;
};

template <class Query>
std::string UrlForm<Query>::write(const Query& query) {
    UrlWriter writer;
    fields(writer, query);
    return writer.text();
}

template <class Query>
base::Expected<Query> UrlForm<Query>::read(const Parameters& parameters,
                                           const std::vector<std::string>& also) {
    Query query;
    UrlReader reader(parameters);
    fields(reader, query);
    const auto done = reader.finish(also);
    return done ? base::Expected<Query>(std::move(query)) : tl::unexpected(done.error());
}

template <class Query>
FieldTables UrlForm<Query>::describe() {
    FieldLister lister;
    const Query query{};
    fields(lister, query);
    return lister.tables();
}

}  // namespace ttmem::view
