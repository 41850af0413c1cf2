// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chosen figures of each device, as lines of comma-separated values: for scripts and spreadsheets.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "view/questions/status.hpp"

namespace ttmem::view {

struct QueryField {
    std::string name;   // "dram.used"
    std::string unit;   // "B"; empty: it has none
    std::string about;  // "Reserved bytes of DRAM"
};

// All that can be asked for.
const std::vector<QueryField>& query_fields();

struct QueryFormat {
    bool header = true;
    bool units = true;
};

class FieldQuery {
public:
    // An error that names the field which does not exist.
    static base::Expected<FieldQuery> parse(std::string_view comma_separated);

    // The line of names, where the format has one.
    std::string header(const QueryFormat& format) const;

    // One line per device. Unknown values are empty.
    std::string lines(const View& view, const QueryFormat& format) const;

private:
    std::vector<size_t> fields_;  // in query_fields()
};

}  // namespace ttmem::view
