// SPDX-License-Identifier: Apache-2.0
#pragma once

// A whole document from its list of fields, and back.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "view/json/field_lister.hpp"
#include "view/json/json.hpp"
#include "view/json/json_fields.hpp"
#include "view/json/json_reader.hpp"

namespace ttmem::view {

constexpr int kOnOneLine = -1;
constexpr int kIndented = 2;
constexpr size_t kPieceBytes = 64 * 1024;

// How a document is written; a view specialises it where it differs.
template <class View>
struct JsonStyle {
    static constexpr int indent = kIndented;
    static constexpr int row_indent = kIndented;  // of the rows of its lists
    static constexpr bool has_schema = true;      // false: it is a part of a document, or a line of a stream
};

// Texts are made printable where they are read. Should one not be, the rest of the document is still written.
inline std::string dump(JsonWriter& writer, int indent) {
    return writer.take().dump(indent, ' ', false, Json::error_handler_t::replace);
}

// Writes all fields but the lists of rows, which it only remembers. Lists of rows are the last fields of a document.
class PieceWriter : public JsonWriter {
public:
    struct RowList {
        const char* name = nullptr;
        size_t count = 0;
        std::function<std::string(size_t i, int indent)> row;
    };

    // `values` has size() and operator[].
    template <class Rows>
    void rows(const char* name, const Rows& values, const char* /*meaning*/) {
        lists_.push_back({name, values.size(), [&values](size_t i, int indent) {
                              JsonWriter writer;
                              const auto& value = values[i];
                              fields(writer, value);
                              return dump(writer, indent);
                          }});
    }

    const std::vector<RowList>& lists() const { return lists_; }

private:
    std::vector<RowList> lists_;
};

// The text of a view piece by piece: each row is text before the next is taken up.
template <class View>
class JsonPieces {
public:
    explicit JsonPieces(std::shared_ptr<const View> view)
        : JsonPieces(std::move(view), JsonStyle<View>::indent, JsonStyle<View>::row_indent,
                     JsonStyle<View>::has_schema ? "\n" : "") {}
    JsonPieces(std::shared_ptr<const View> view, int indent, int row_indent, const char* end)
        : view_(std::move(view)), indent_(indent), row_indent_(row_indent), end_(end) {}

    // Empty after the last piece.
    std::string next() {
        std::string text = is_begun_ ? "" : begin();
        while (!is_ended_ && text.size() < kPieceBytes) {
            if (list_ == writer_.lists().size()) {
                is_ended_ = true;
                text += new_line("}") + end_;
            } else {
                add_rows(text);
            }
        }
        return text;
    }

private:
    bool is_indented() const { return indent_ != kOnOneLine; }
    std::string new_line(const char* text) const { return (is_indented() ? "\n" : "") + std::string(text); }

    std::string begin() {
        is_begun_ = true;
        fields(writer_, *view_);
        std::string text = dump(writer_, indent_);
        if (writer_.lists().empty()) {
            is_ended_ = true;
            return text + end_;
        }
        text.erase(text.rfind(new_line("}")));
        return text;
    }

    void add_rows(std::string& text) {
        const PieceWriter::RowList& list = writer_.lists()[list_];
        if (!std::exchange(is_list_begun_, true)) {
            text += is_indented() ? ",\n  \"" : ",\"";
            text += std::string(list.name) + (is_indented() ? "\": [" : "\":[");
        }
        for (; row_ < list.count && text.size() < kPieceBytes; ++row_) {
            text += row_ == 0 ? "" : ",";
            add_row(text, list.row(row_, row_indent_));
        }
        if (row_ == list.count) {
            text += (list.count != 0 && is_indented() ? "\n  ]" : "]");
            ++list_;
            row_ = 0;
            is_list_begun_ = false;
        }
    }

    // A row of an indented document begins on a line of its own. Line ends are never part of a JSON string.
    void add_row(std::string& text, const std::string& row) const {
        if (!is_indented()) {
            text += row;
            return;
        }
        constexpr const char* kRowIndent = "\n    ";
        text += kRowIndent;
        for (const char c : row) {
            c == '\n' ? text += kRowIndent : text += c;
        }
    }

    std::shared_ptr<const View> view_;
    const int indent_;
    const int row_indent_;
    const char* const end_;
    PieceWriter writer_;
    size_t list_ = 0;
    size_t row_ = 0;
    bool is_begun_ = false;
    bool is_list_begun_ = false;
    bool is_ended_ = false;
};

template <class View>
std::string all_of(JsonPieces<View> pieces) {
    std::string text;
    for (std::string piece = pieces.next(); !piece.empty(); piece = pieces.next()) {
        text += piece;
    }
    return text;
}

// A pointer to a view that somebody else owns.
template <class View>
std::shared_ptr<const View> borrow(const View& view) {
    return std::shared_ptr<const View>(std::shared_ptr<void>(), &view);
}

template <class View>
std::string JsonForm<View>::write(const View& view) {
    return all_of(JsonPieces<View>(borrow(view)));
}

template <class View>
std::string JsonForm<View>::write_line(const View& view) {
    return all_of(JsonPieces<View>(borrow(view), kOnOneLine, kOnOneLine, ""));
}

template <class View>
std::function<std::string()> JsonForm<View>::pieces(std::shared_ptr<const View> view) {
    return [pieces = std::make_shared<JsonPieces<View>>(std::move(view))] { return pieces->next(); };
}

template <class View>
base::Expected<View> JsonForm<View>::read(std::string_view text) {
    View view;
    uint32_t schema = JsonStyle<View>::has_schema ? 0 : kSchema;
    const auto done = read_json_object(text, [&](const boost::json::object& object) {
        JsonReader reader(object);
        if (JsonStyle<View>::has_schema) {
            reader("schema", schema, "");
        }
        if (schema == kSchema) {
            fields(reader, view);
        }
    });
    if (!done) {
        return tl::unexpected(done.error());
    }
    if (schema != kSchema) {
        return base::error(base::Error::Code::refused, "the document has schema " + std::to_string(schema) +
                                                           ", and this program reads schema " +
                                                           std::to_string(kSchema));
    }
    return view;
}

template <class View>
FieldTables JsonForm<View>::describe() {
    FieldLister lister;
    const View view{};
    fields(lister, view);
    return lister.tables();
}

}  // namespace ttmem::view
