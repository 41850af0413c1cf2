// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records the totals of a process of another user, as everybody may see them: no allocation, no name, no failure.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "recording/block_writer.hpp"
#include "recording/tables.hpp"
#include "segment/reader.hpp"

namespace ttmem::recording {

class TotalsRecorder {
public:
    TotalsRecorder(uint32_t number, std::shared_ptr<const segment::Reader> ledger)
        : number_(number), ledger_(std::move(ledger)) {}

    // Writes the totals where they have changed since the last time.
    base::Expected<void> write_changes(BlockWriter& to);
    // Writes them in any case: a new part begins.
    base::Expected<void> write(BlockWriter& to);

private:
    base::Expected<void> write_last(BlockWriter& to) const;

    const uint32_t number_;
    const std::shared_ptr<const segment::Reader> ledger_;
    std::vector<TableEntry> last_;
};

}  // namespace ttmem::recording
