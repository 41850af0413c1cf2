// SPDX-License-Identifier: Apache-2.0
#pragma once

// A whole document from its list of fields, and back.

#include <exception>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "view/json_fields.hpp"
#include "view/text_reader.hpp"

namespace ttmem::view {

constexpr int kOnOneLine = -1;
constexpr int kIndented = 2;

// Texts are made printable where they are read; should one not be, it must not cost the whole document.
inline std::string dump(JsonWriter& writer, int indent) {
    return writer.take().dump(indent, ' ', false, Json::error_handler_t::replace);
}

template <class T>
std::string write_document(const T& view, int indent = kIndented) {
    JsonWriter writer;
    fields(writer, view);
    return dump(writer, indent) + "\n";
}

// Reads what says of itself which schema it has, or, with has_schema false, what is only a part of such a document.
template <class T>
base::Expected<T> read_document(std::string_view text, bool has_schema = true) {
    T view;
    try {
        JsonCursor cursor(text);
        TextReader reader(cursor);
        uint32_t schema = kSchema;
        if (has_schema) {
            schema = 0;
            reader("schema", schema);
        }
        if (schema != kSchema) {
            return base::error(base::Error::Code::refused, "the view has schema " + std::to_string(schema) +
                                                               ", and this program knows " +
                                                               std::to_string(kSchema));
        }
        fields(reader, view);
        reader.end();
        if (cursor.peek() != '\0') {
            JsonCursor::fail();  // something stands behind the document
        }
    } catch (const std::exception& problem) {
        return base::error(base::Error::Code::refused,
                           std::string("the view can't be read: ") + problem.what());
    }
    return view;
}

}  // namespace ttmem::view
