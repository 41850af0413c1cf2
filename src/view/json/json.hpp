// SPDX-License-Identifier: Apache-2.0
#pragma once

// Views as JSON: sizes in bytes, absent values null, ASIC ids as "0x..." strings. The field lists stand with their views.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "view/json/field_table.hpp"

namespace ttmem::view {

// Defined in view/json/json_document.hpp; each view instantiates it beside its list of fields.
template <class View>
struct JsonForm {
    static std::string write(const View& view);
    // On one line, without a line end: the data of a stream.
    static std::string write_line(const View& view);
    // The same text in pieces of about 64 KiB, so that a long list is never in memory as text. Empty after the last piece.
    static std::function<std::string()> pieces(std::shared_ptr<const View> view);
    // Absent fields keep their default, and fields that this version does not know are skipped.
    static base::Expected<View> read(std::string_view text);
    static FieldTables describe();
};

template <class View>
std::string to_json(const View& view) {
    return JsonForm<View>::write(view);
}

template <class View>
base::Expected<View> from_json(std::string_view text) {
    return JsonForm<View>::read(text);
}

}  // namespace ttmem::view
