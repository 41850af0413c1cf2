// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes nested dictionaries and lists as a stream: as JSON, or as a pickle of Python.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "exports/output.hpp"

namespace ttmem::exports {

class ValueWriter {
public:
    virtual ~ValueWriter() = default;

    virtual void begin_dict() = 0;
    virtual void end_dict() = 0;
    virtual void begin_list() = 0;
    virtual void end_list() = 0;
    virtual void key(std::string_view name) = 0;
    virtual void text(std::string_view value) = 0;
    virtual void number(uint64_t value) = 0;
    virtual void boolean(bool value) = 0;
    virtual void finish() = 0;

    void field(std::string_view name, std::string_view value) {
        key(name);
        text(value);
    }
    void field(std::string_view name, uint64_t value) {
        key(name);
        number(value);
    }
};

std::unique_ptr<ValueWriter> json_value_writer(Output& to);
// Protocol 4.
std::unique_ptr<ValueWriter> pickle_value_writer(Output& to);

}  // namespace ttmem::exports
