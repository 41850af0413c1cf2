// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chosen figures of each device or process, as lines of comma-separated values or as JSON: for scripts and spreadsheets.

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

// What a line is about: a device, or what a process holds on one device.
enum class QueryRows : uint8_t { devices, processes };

// All that can be asked for.
const std::vector<QueryField>& query_fields(QueryRows rows = QueryRows::devices);

struct QueryFormat {
    bool header = true;
    bool units = true;
    bool json = false;  // a list of objects on one line
};

class FieldQuery {
public:
    // An error that names the field which does not exist.
    static base::Expected<FieldQuery> parse(std::string_view comma_separated,
                                            QueryRows rows = QueryRows::devices);

    // The line of names, where the format has one.
    std::string header(const QueryFormat& format) const;

    // One line per device or process. Unknown values are empty, in JSON null.
    std::string lines(const View& view, const QueryFormat& format) const;

private:
    QueryRows rows_ = QueryRows::devices;
    std::vector<size_t> fields_;  // in query_fields()
};

}  // namespace ttmem::view
