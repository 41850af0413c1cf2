// SPDX-License-Identifier: Apache-2.0
#pragma once

// The names of a recorded process, block after block.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "recording/recording.hpp"
#include "recording/tables.hpp"

namespace ttmem::recording {

class RecordedNames {
public:
    // Takes the names of a block.
    void add(const std::vector<TableEntry>& entries);
    // With the scopes around it: "decoder.3/ttnn::matmul". What is not known of it is left out.
    std::string full_name(uint32_t name) const;

private:
    struct NamePart {
        uint32_t parent = 0;
        std::string text;
    };
    std::map<uint32_t, NamePart> parts_;
};

// Whether a block may have names or marks that those before it lack. A ledger has all names; after a loss of blocks it may have new
// ones.
bool may_have_new_names(const RecordedProcess& process, const BlockPlace& place);

}  // namespace ttmem::recording
