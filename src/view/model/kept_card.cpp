// SPDX-License-Identifier: Apache-2.0
#include "view/model/kept_card.hpp"

#include "view/json/json_document.hpp"
#include "view/model/kept_card_fields.hpp"

namespace ttmem::view {

// One line per file: it is made to be read by programs.
template <>
struct JsonStyle<KeptCard> {
    static constexpr int indent = kOnOneLine;
    static constexpr int row_indent = kOnOneLine;
    static constexpr bool has_schema = false;
};

template struct JsonForm<KeptCard>;

}  // namespace ttmem::view
